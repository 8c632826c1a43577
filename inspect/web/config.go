package web

import (
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/inspect"
	"github.com/foretick/foretick/internal/misuse"
	"github.com/foretick/foretick/server"
)

// Config configures a Handler. Zero in a field means the default that its comment names.
type Config struct {
	// Authorize decides who may look, in place of the key. It is called for each request, from
	// many goroutines. nil lets in who brings the key: see [Handler.URL].
	Authorize func(r *http.Request) bool
	// Logger logs the key, one line when the handler is made. nil means [slog.Default]. With
	// Authorize nothing is logged.
	Logger *slog.Logger
	// AllowEdit lets whoever may look set values in servers' worlds.
	AllowEdit bool
	// Linger is the time for which figures are collected after the last request, so that a
	// page that is loaded again finds them. 0 means 10 s. Negative means none. At most an hour.
	Linger time.Duration
	// MaxStreams is how many pages may be open at once. More are refused. 0 means 16.
	// Negative is an error. At most 1024.
	MaxStreams int
}

// Handler serves the page and its endpoints. It is safe for concurrent use.
type Handler struct {
	in    *inspect.Inspector
	cfg   Config
	key   key
	token string
	gate  gate
	watch watch
	ended chan struct{}
	once  sync.Once
}

// New returns a handler for the servers and clients of an inspector. It panics with a
// foretick.UsageError when a number of the config is out of its bounds.
func New(in *inspect.Inspector, cfg Config) *Handler {
	if cfg.MaxStreams < 0 || cfg.MaxStreams > 1024 || cfg.Linger > time.Hour {
		misuse.Panicf("inspect/web: Config.MaxStreams is %d and Linger %v: use up to 1024 and 1h, or 0 for 16 and 10s", cfg.MaxStreams, cfg.Linger)
	}
	if cfg.Linger == 0 {
		cfg.Linger = 10 * time.Second
	}
	if cfg.MaxStreams == 0 {
		cfg.MaxStreams = 16
	}
	h := &Handler{
		in: in, cfg: cfg, key: newKey(), token: random(), ended: make(chan struct{}),
		gate: newGate(), watch: watch{in: in, linger: max(cfg.Linger, 0)},
	}
	if cfg.Authorize == nil {
		log := cfg.Logger
		if log == nil {
			log = slog.Default()
		}
		log.Info("the inspector's page opens with its key", "query", "?"+h.key.query())
	}
	return h
}

// URL returns the address of the page with the key, for a page that is mounted at an address
// such as http://127.0.0.1:8080/inspect/. With [Config.Authorize] it returns the address alone.
func (h *Handler) URL(page string) string {
	if h.cfg.Authorize != nil {
		return page
	}
	return page + "?" + h.key.query()
}

// Server returns a handler for one server. It panics if the server is nil.
func Server(s *server.Server, cfg Config) *Handler {
	in := inspect.New(inspect.Config{})
	if err := in.AddServer("server", s); err != nil {
		misuse.Panic(err)
	}
	return New(in, cfg)
}

// Client returns a handler for one client. It panics if the client is nil.
func Client(c *client.Client, cfg Config) *Handler {
	start := time.Now()
	in := inspect.New(inspect.Config{Clock: func() time.Duration { return time.Since(start) }})
	if err := in.AddClient("client", c); err != nil {
		misuse.Panic(err)
	}
	return New(in, cfg)
}

// Close ends all streams and collects nothing more. Later requests are refused. Pass it to
// [http.Server.RegisterOnShutdown]: a shutdown waits for streams otherwise.
func (h *Handler) Close() {
	h.once.Do(func() { close(h.ended) })
	h.watch.endWatch()
}

// watch keeps an inspector open while somebody looks.
type watch struct {
	in     *inspect.Inspector
	linger time.Duration

	mu    sync.Mutex
	users int
	stop  func() // nil: it is closed
	timer *time.Timer
	over  bool
}

// beginRequest opens the inspector for a request. The function that it returns ends the request.
func (w *watch) beginRequest() (end func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.users++
	if w.stop == nil && !w.over {
		w.stop = w.in.Open()
	}
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.users--; w.users == 0 {
			w.timer = time.AfterFunc(w.linger, w.lapse)
		}
	}
}

func (w *watch) lapse() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.users == 0 && w.stop != nil {
		w.stop()
		w.stop = nil
	}
}

func (w *watch) endWatch() {
	w.mu.Lock()
	w.over, w.users = true, 0
	w.mu.Unlock()
	w.lapse()
}
