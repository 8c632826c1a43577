//go:build !js

package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/examples/arena/game"
	"github.com/foretick/foretick/examples/arena/web"
	"github.com/foretick/foretick/inspect"
	inspector "github.com/foretick/foretick/inspect/web"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/ws"
)

//go:embed web/page
var pageFiles embed.FS

// webLateInputs is how late inputs may arrive. Players of the page can switch late inputs off.
const webLateInputs = 200 * time.Millisecond

// serveWeb plays a match for browsers: the page, the server and bots in one process.
func serveWeb(ctx context.Context, o options, out io.Writer) error {
	at, err := webAddress(o.web)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "building the page's client …")
	cl, err := buildWebClient(ctx)
	if err != nil {
		return err
	}
	return hostWeb(ctx, o, at, cl, out)
}

// webAddress returns the address to listen at: on this machine alone, unless -web names a host. The
// page shows what the server knows, which no other machine should see.
func webAddress(of string) (string, error) {
	host, port, err := net.SplitHostPort(of)
	if err != nil {
		return "", fmt.Errorf("%w: -web %q: use an address such as :8080", errUsage, of)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), nil
}

// hostWeb plays a match for browsers at an address, with a built client.
func hostWeb(ctx context.Context, o options, at string, cl webClient, out io.Writer) error {
	l, err := net.Listen("tcp", at)
	if err != nil {
		return err
	}
	w, err := newWebMatch(o, cl)
	if err != nil {
		_ = l.Close()
		return err
	}
	defer w.close()
	addr := l.Addr().String()
	handler := w.handler()
	if from, err := netip.ParseAddrPort(addr); err == nil && from.Addr().Unmap().IsLoopback() {
		handler = loopback(handler)
	}
	page := &http.Server{
		Handler: handler, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 5 * time.Second, MaxHeaderBytes: 16 << 10,
		ErrorLog: log.New(io.Discard, "", 0),
	}
	go func() { _ = page.Serve(l) }()
	defer func() { _ = page.Close() }()
	fmt.Fprintf(out, "play at http://%s/ (open it in two tabs to play each other)\n", addr)
	fmt.Fprintf(out, "inspect at %s (shows the server and the bots)\n", w.inspector.URL("http://"+addr+"/inspect/"))
	if o.seconds > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, o.duration())
		defer stop()
	}
	bots := make(chan error, 1)
	go func() { bots <- w.bots(ctx, o, addr) }()
	err = w.server.Run(ctx)
	return errors.Join(<-bots, err)
}

// proxies are the headers that proxies add.
var proxies = []string{
	"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Port", "X-Forwarded-Server",
	"X-Real-Ip", "X-Client-Ip", "X-Cluster-Client-Ip", "X-Original-Forwarded-For", "Cf-Connecting-Ip", "True-Client-Ip", "Fastly-Client-Ip", "Fly-Client-Ip",
}

// loopback refuses requests that name another host than this machine, and those that a proxy forwarded.
// Otherwise a foreign page whose name resolves to this machine could play, and see what the server
// knows.
func loopback(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, name := range proxies {
			if _, has := r.Header[name]; has {
				http.Error(w, "a proxy forwarded the request: open the arena on the machine that it runs on", http.StatusForbidden)
				return
			}
		}
		if !local(r.Host) {
			http.Error(w, "use the address that the arena printed", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// local reports whether a host is a name of this machine.
func local(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	if strings.EqualFold(name, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.Unmap().IsLoopback()
}

// webMatch is a match for browsers.
type webMatch struct {
	rate        int
	client      webClient
	game        *game.Game
	server      *server.Server
	play, truth *ws.Server
	pages       map[transport.PeerID]bool // pages that receive the truth
	events      [32]transport.Event
	bodies      []web.TruthBody
	slides      map[foretick.PlayerID]slide
	message     []byte
	in          *inspect.Inspector
	inspector   *inspector.Handler
}

// slide describes a body after a late input: for 0.4 s other players receive it with an offset that
// fades.
type slide struct {
	reruns uint64        // late inputs of the player so far
	until  foretick.Tick // half a second after the newest late input
}

func newWebMatch(o options, cl webClient) (w *webMatch, err error) {
	w = &webMatch{rate: o.tickRate, client: cl, pages: map[transport.PeerID]bool{}, slides: map[foretick.PlayerID]slide{}}
	if w.play, err = ws.NewServer(ws.Config{MaxPeers: o.seats()}); err != nil {
		return nil, err
	}
	if w.truth, err = ws.NewServer(ws.Config{MaxPeers: o.seats()}); err != nil {
		return nil, err
	}
	w.game = game.NewGame(o.webRules())
	w.game.Watch.Explain = w.judged
	w.game.Watch.Wished = func(_ *foretick.Frame, player foretick.PlayerID, wish game.Wish) {
		w.server.SetLateInputs(w.server.Player(player), !wish.NoLateInputs)
	}
	start := time.Now()
	w.in = inspect.New(inspect.Config{Clock: func() time.Duration { return time.Since(start) }})
	w.inspector = inspector.New(w.in, inspector.Config{AllowEdit: true, Logger: slog.New(slog.DiscardHandler)})
	p, err := w.game.Protocol()
	if err != nil {
		return nil, err
	}
	w.server, err = server.New(server.Config{
		Protocol: p, Transport: w.play, MaxClients: o.seats(), MaxWaitingPerAddress: -1, // all come from this machine
		DecayInput: game.HoldAim, Late: server.Late{Window: webLateInputs}, OnTick: w.tell, Logger: slog.New(w.in.LogHandler(nil)).With("end", "server"),
	})
	if err != nil {
		return nil, err
	}
	return w, w.in.AddServer("server", w.server)
}

func (o *options) webRules() game.Options {
	r := o.rules()
	r.Wishes = true
	return r
}

func (w *webMatch) close() {
	w.inspector.Close()
	_ = w.truth.Close(transport.Closed, "")
}

// handler serves the page, the match, the truth and the inspector.
func (w *webMatch) handler() http.Handler {
	files, err := fs.Sub(pageFiles, "web/page")
	if err != nil {
		panic(err) // they are embedded
	}
	mux := http.NewServeMux()
	mux.Handle("/play", w.play)
	mux.Handle("/truth", w.truth)
	mux.Handle("/inspect/", w.inspector)
	mux.HandleFunc("/client.wasm", func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "application/wasm")
		http.ServeFile(rw, r, w.client.wasm)
	})
	mux.HandleFunc("/wasm_exec.js", func(rw http.ResponseWriter, r *http.Request) { http.ServeFile(rw, r, w.client.glue) })
	mux.HandleFunc("/config.js", func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/javascript; charset=utf-8")
		fmt.Fprintf(rw, "window.arenaTickRate = %d;\n", w.rate)
	})
	mux.Handle("/", http.FileServerFS(files))
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		h := rw.Header()
		h.Set("Content-Security-Policy", "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; img-src 'self' data:; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-cache")
		mux.ServeHTTP(rw, r)
	})
}

// tell sends the tick's truth to every page: where the server has each body.
func (w *webMatch) tell(f *foretick.ServerFrame) {
	for n := len(w.events); n == len(w.events); {
		n = w.truth.Recv(w.events[:])
		for i := range w.events[:n] {
			switch ev := &w.events[i]; ev.Kind {
			case transport.Connected:
				w.pages[ev.Peer] = true
			case transport.Disconnected:
				delete(w.pages, ev.Peer)
			}
		}
	}
	if len(w.pages) == 0 {
		return
	}
	g := w.game
	w.bodies = w.bodies[:0]
	for _, rows := range g.Avatars.All(f.World) {
		pos, face, status := g.Pos.Slice(rows), g.Face.Slice(rows), g.Status.Slice(rows)
		slides := w.slide(rows.Owner(), f.Tick)
		for i := range pos {
			w.bodies = append(w.bodies, web.TruthBody{Player: rows.Owner(), Dead: status[i].Dead, Slides: slides, X: pos[i].X, Y: pos[i].Y, Angle: face[i].Angle})
		}
	}
	for left := w.bodies; len(left) > 0; {
		w.message, left = web.PutBodies(w.message[:0], f.Tick, left)
		w.send()
	}
	w.truth.Flush()
}

// slide reports whether a player's body slides after a late input.
func (w *webMatch) slide(player foretick.PlayerID, tick foretick.Tick) bool {
	st, ok := w.server.PlayerStats(w.server.Player(player))
	if !ok {
		return false
	}
	s := w.slides[player]
	if st.InputsRerun != s.reruns {
		s = slide{st.InputsRerun, tick + foretick.Tick(w.rate/2)}
		w.slides[player] = s
	}
	return int32(s.until-tick) > 0
}

func (w *webMatch) send() {
	for peer := range w.pages {
		_ = w.truth.Send(peer, w.message) // a slow page misses some
	}
}

// judged sends how a shot was judged.
func (w *webMatch) judged(f *foretick.Frame, by foretick.PlayerID, seen foretick.HitView, ray lagcomp.Ray) {
	if len(w.pages) == 0 {
		return
	}
	x := seen.Explain(ray, 3)
	shot := web.TruthShot{
		Player: by, Tick: f.Tick, X: ray.X, Y: ray.Y, X2: ray.X + ray.DX*ray.Range, Y2: ray.Y + ray.DY*ray.Range, Rewound: x.Used.Behind(f.Tick),
	}
	if x.Hit.ID != 0 {
		shot.Hit = f.World.Owner(ecs.Entity(x.Hit.ID))
	}
	for _, b := range x.Bodies {
		if b.Owner != uint64(by) {
			shot.Used, shot.Had = spheres(shot.Used, b.Used), spheres(shot.Had, b.Present)
		}
	}
	w.message = web.PutShot(w.message[:0], &shot)
	w.send()
}

func spheres(to []lagcomp.Sphere, of []lagcomp.Hitbox) []lagcomp.Sphere {
	for _, v := range of {
		if ball, ok := v.Sphere(); ok {
			to = append(to, ball)
		}
	}
	return to
}

// bots plays the bots' clients, over WebSocket like the pages.
func (w *webMatch) bots(ctx context.Context, o options, addr string) error {
	var players []*client.Client
	defer func() {
		for _, p := range players {
			_ = p.Close()
		}
	}()
	for n := range o.clients {
		rules := o.webRules()
		rules.Bias = o.plant == "code" && n == 0
		g := game.NewGame(rules)
		p, err := g.Protocol()
		if err != nil {
			return err
		}
		bot := game.NewBot(g, o.seed, uint64(n))
		open := func() (transport.Endpoint, error) {
			return dial(o, func() (transport.Endpoint, error) { return ws.Dial("ws://"+addr+"/play", ws.Config{}) }, uint64(n))
		}
		e, err := open()
		if err != nil {
			return err
		}
		c, err := client.New(client.Config{Protocol: p, Transport: e, Redial: open, Sample: client.Sample(&g.Cmd, bot.Sample)})
		if err != nil {
			return err
		}
		players = append(players, c)
		if err := w.in.AddClient(fmt.Sprint("bot ", n+1), c); err != nil {
			return err
		}
	}
	ticker := time.NewTicker(frame)
	defer ticker.Stop()
	for {
		for _, p := range players {
			v := p.Step(time.Now())
			if v.State == client.Closed && ctx.Err() == nil { // when ctx ends, the server may end first
				return v.Err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}
