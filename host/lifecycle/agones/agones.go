package agones

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/foretick/foretick/host/lifecycle"
)

// PortVariable is the environment variable in which Agones names the port of its REST API.
const PortVariable = "AGONES_SDK_HTTP_PORT"

// DefaultPort is the port where the environment names none.
const DefaultPort = 9358

// Config configures a Manager. The zero value works on Agones.
type Config struct {
	// Port is the port of the REST API on this machine. 0 means that of PortVariable, or
	// DefaultPort. Negative is an error. At most 65535.
	Port int
	// Rooms is the name of the counter or list of matches. Empty means "rooms".
	Rooms string
	// Players is the name of the counter or list of players. Empty means "players".
	Players string
	// FirstState is the longest time that Watch waits for the first state. 0 means 5 s. Negative is an error. At
	// most 1 h.
	FirstState time.Duration
	// Logger logs what the fleet does not declare. nil is silent.
	Logger *slog.Logger
}

// Manager is a lifecycle.Lifecycle by Agones. New makes one. Any goroutine may call its methods.
type Manager struct {
	base    string
	client  *http.Client
	first   time.Duration
	log     *slog.Logger
	mu      sync.Mutex // guards the tallies
	rooms   *tally
	players *tally
}

var _ lifecycle.Lifecycle = (*Manager)(nil)

const (
	longestAnswer = 1 << 20 // bytes, of a call and of a line of the watch
	longestError  = 512     // bytes of an error's text
)

// New returns a manager. It does not connect: the SDK server may start after the game. The error
// lists every fault of the configuration, the environment's port included.
func New(cfg Config) (*Manager, error) {
	var errs []error
	if cfg.Port == 0 {
		cfg.Port = DefaultPort
		if text := os.Getenv(PortVariable); text != "" {
			n, err := strconv.Atoi(text)
			if err != nil || n < 1 || n > 65535 {
				errs = append(errs, fmt.Errorf("agones: %s is %q: it must be a port, 1 to 65535", PortVariable, text))
			}
			cfg.Port = n
		}
	}
	if len(errs) == 0 && (cfg.Port < 0 || cfg.Port > 65535) {
		errs = append(errs, fmt.Errorf("agones: Config.Port is %d: use 1 to 65535, or 0 for that of %s", cfg.Port, PortVariable))
	}
	if cfg.FirstState < 0 || cfg.FirstState > time.Hour {
		errs = append(errs, fmt.Errorf("agones: Config.FirstState is %v: use up to 1h, or 0 for 5 s", cfg.FirstState))
	}
	if cfg.FirstState == 0 {
		cfg.FirstState = 5 * time.Second
	}
	if cfg.Rooms == "" {
		cfg.Rooms = "rooms"
	}
	if cfg.Players == "" {
		cfg.Players = "players"
	}
	if cfg.Rooms == cfg.Players {
		errs = append(errs, fmt.Errorf("agones: Config.Rooms and Config.Players are both %q: give each its own counter or list", cfg.Rooms))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	m := &Manager{base: fmt.Sprintf("http://localhost:%d", cfg.Port), first: cfg.FirstState, log: cfg.Logger,
		rooms: &tally{name: cfg.Rooms}, players: &tally{name: cfg.Players}}
	if m.log == nil {
		m.log = slog.New(slog.DiscardHandler)
	}
	m.client = &http.Client{
		// No proxy: the SDK server is on this machine.
		Transport:     &http.Transport{MaxIdleConnsPerHost: 2, MaxConnsPerHost: 16, IdleConnTimeout: 30 * time.Second, DisableCompression: true, MaxResponseHeaderBytes: 64 << 10},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return m, nil
}

// Ready implements lifecycle.Lifecycle.
func (m *Manager) Ready(ctx context.Context) error { return m.post(ctx, "/ready") }

// Health implements lifecycle.Lifecycle.
func (m *Manager) Health(ctx context.Context) error { return m.post(ctx, "/health") }

// Allocated implements lifecycle.Lifecycle.
func (m *Manager) Allocated(ctx context.Context) error { return m.post(ctx, "/allocate") }

// Shutdown implements lifecycle.Lifecycle. Agones then deletes the pod.
func (m *Manager) Shutdown(ctx context.Context) error { return m.post(ctx, "/shutdown") }

// Draining implements lifecycle.Lifecycle. It sets the label agones.dev/sdk-draining.
func (m *Manager) Draining(ctx context.Context) error {
	return m.call(ctx, http.MethodPut, "/metadata/label", map[string]string{"key": "draining", "value": "true"}, nil)
}

// GameServer returns the state of the game server. It asks until the SDK server replies, or ctx
// ends.
func (m *Manager) GameServer(ctx context.Context) (lifecycle.State, error) {
	wait := 100 * time.Millisecond
	for {
		var gs gameServer
		once, cancel := context.WithTimeout(ctx, m.first)
		err := m.call(once, http.MethodGet, "/gameserver", nil, &gs)
		cancel()
		if err == nil {
			return gs.state(), nil
		}
		select {
		case <-ctx.Done():
			return lifecycle.State{}, fmt.Errorf("%w: %w", ctx.Err(), err)
		case <-time.After(wait):
			wait = min(2*wait, 2*time.Second)
		}
	}
}

func (m *Manager) post(ctx context.Context, path string) error {
	return m.call(ctx, http.MethodPost, path, struct{}{}, nil)
}

// call sends a request with a JSON body, and reads the answer into out.
func (m *Manager) call(ctx context.Context, method, path string, body, out any) error {
	var send io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("agones: %s %s: %w", method, path, err)
		}
		send = bytes.NewReader(b)
	}
	r, err := http.NewRequestWithContext(ctx, method, m.base+path, send)
	if err != nil {
		return fmt.Errorf("agones: %w", err)
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := m.client.Do(r)
	if err != nil {
		return fmt.Errorf("agones: %w", err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, longestAnswer+1))
	switch {
	case err != nil:
		return fmt.Errorf("agones: %s %s: %w", method, path, err)
	case resp.StatusCode != http.StatusOK:
		return &callError{Method: method, Path: path, Status: resp.StatusCode, Text: message(b)}
	case len(b) > longestAnswer:
		return fmt.Errorf("agones: %s %s: the answer is longer than %d bytes", method, path, longestAnswer)
	}
	if out == nil {
		out = &struct{}{}
	}
	if err := json.Unmarshal(b, out); err != nil {
		return fmt.Errorf("agones: %s %s: the answer is not what Agones sends: %w", method, path, err)
	}
	return nil
}

// callError is a refusal of the SDK server.
type callError struct {
	Method, Path string
	Status       int
	Text         string // the server's reason
}

func (e *callError) Error() string {
	return fmt.Sprintf("agones: %s %s: %d: %s", e.Method, e.Path, e.Status, e.Text)
}

// message returns the reason in a refusal.
func message(b []byte) string {
	var refusal struct{ Message string }
	if json.Unmarshal(b, &refusal) != nil || refusal.Message == "" {
		refusal.Message = strings.TrimSpace(string(b[:min(len(b), longestError)]))
	}
	return strings.ToValidUTF8(refusal.Message[:min(len(refusal.Message), longestError)], "?")
}
