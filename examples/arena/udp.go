package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/examples/arena/game"
	"github.com/foretick/foretick/flight"
	"github.com/foretick/foretick/inspect"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/impair"
)

// frame is the interval of a bot's rendered frames.
const frame = time.Second / 60

// dial connects a bot, over the bad link chosen in the options.
func dial(o options, open func() (transport.Endpoint, error), n uint64) (transport.Endpoint, error) {
	e, err := open()
	if err != nil {
		return nil, err
	}
	if !o.impaired() {
		return e, nil
	}
	return impair.Wrap(e, o.link(), o.link(), o.seed+n), nil
}

// playUDP plays the match over real sockets in real time. It uses one process,
// so that both ends can be compared.
func playUDP(ctx context.Context, o options, live io.Writer) (*Report, error) {
	m := newMatch(o)
	endpoint, err := listen(o, "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer func() { _ = m.close(endpoint) }()
	start := time.Now()
	if err := m.openLog(func() time.Duration { return time.Since(start) }); err != nil {
		return nil, err
	}
	cfg, err := m.serverConfig()
	if err != nil {
		return nil, err
	}
	logTick := cfg.OnTick
	cfg.Transport, cfg.OnTick = endpoint.Endpoint, func(f *foretick.ServerFrame) {
		m.hashTick(f.Frame)
		if logTick != nil {
			logTick(f)
		}
	}
	if m.server, err = server.New(cfg); err != nil {
		return nil, err
	}
	m.logSent()
	for n := range o.clients {
		if err := m.seatUDP(o, endpoint.dialer(n), n); err != nil {
			return nil, err
		}
	}
	if err := m.loop(ctx, endpoint.Ready(), o.duration(), live); err != nil {
		return nil, err
	}
	m.end()
	for rest, step := restLimit, quietTime; step == quietTime || rest > 0 && !m.agreed(); rest -= step {
		if err := m.loop(ctx, endpoint.Ready(), step, nil); err != nil {
			return nil, err
		}
		step = quietTime / 10
	}
	return m.report(hexDigest([32]byte(m.state.Sum(nil))))
}

func (m *match) seatUDP(o options, open func() (transport.Endpoint, error), n int) error {
	seat, cfg, err := m.clientConfig(n)
	if err != nil {
		return err
	}
	cfg.Redial = func() (transport.Endpoint, error) { return dial(o, open, uint64(n)) }
	if cfg.Transport, err = cfg.Redial(); err != nil {
		return err
	}
	seat.client, err = client.New(cfg)
	return err
}

func (m *match) close(endpoint transport.Endpoint) error {
	for _, s := range m.seats {
		if s.client != nil {
			_ = s.client.Close()
		}
	}
	return endpoint.Close(transport.Closed, "")
}

// loop steps the server when a tick is due or a datagram has arrived, and every bot once per rendered
// frame.
func (m *match) loop(ctx context.Context, mail <-chan struct{}, d time.Duration, live io.Writer) error {
	start := time.Now()
	frames := make([]time.Time, len(m.seats))
	for i := range frames {
		frames[i] = start.Add(frame * time.Duration(i) / time.Duration(len(m.seats)))
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	shown := newProgress(live)
	for now := time.Now(); now.Sub(start) < d; now = time.Now() {
		m.around(func() { m.server.Step(now) })
		next := m.server.Next()
		for i, s := range m.seats {
			if !now.Before(frames[i]) {
				v := s.client.Step(time.Now())
				if v.State == client.Closed {
					return v.Err
				}
				m.log.frame(v)
				frames[i] = frames[i].Add(frame)
			}
			if frames[i].Before(next) {
				next = frames[i]
			}
		}
		if played := now.Sub(start); live != nil && played > shown.told+200*time.Millisecond {
			shown.print(played, m.liveLine(played))
		}
		timer.Reset(max(time.Until(next), 0))
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-mail:
		case <-timer.C:
		}
	}
	shown.end()
	return nil
}

// serve is a dedicated server in its own process.
func serve(ctx context.Context, o options, out io.Writer) error {
	m := newMatch(o)
	endpoint, err := listen(o, o.serve)
	if err != nil {
		return err
	}
	cfg, err := m.serverConfig()
	if err != nil {
		_ = endpoint.Close(transport.Closed, "")
		return err
	}
	m.game.Watch = game.Watch{}
	cfg.Transport = endpoint.Endpoint
	in := inspect.New(inspect.Config{})
	cfg.Logger = slog.New(in.LogHandler(slog.NewTextHandler(out, nil)))
	var rec *flight.Recorder
	if o.record != "" {
		if rec, err = record(o.record, o.rules()); err != nil {
			_ = endpoint.Close(transport.Closed, "")
			return err
		}
		cfg.Recorder = rec
	}
	srv, err := server.New(cfg)
	if err != nil {
		_ = endpoint.Close(transport.Closed, "")
		return err
	}
	fmt.Fprintf(out, "serving on %v at %d Hz\n", endpoint.addr, o.tickRate)
	if endpoint.pin != "" {
		fmt.Fprintf(out, "join it with -transport dtls -pin %s\n", endpoint.pin)
	}
	if o.inspect != "" {
		stop, err := inspectServer(o, in, srv, out)
		if err != nil {
			return errors.Join(err, srv.Close(""))
		}
		defer stop()
	}
	running, stop := drainFirst(ctx, srv, out)
	defer stop()
	if o.seconds > 0 {
		var stop context.CancelFunc
		running, stop = context.WithTimeout(running, o.duration())
		defer stop()
	}
	if err := srv.Run(running); err != nil {
		return err
	}
	st := srv.Stats()
	if rec != nil {
		path, err := rec.File()
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "replay it with -replay %s\n", path)
	}
	fmt.Fprintf(out, "served %d ticks: %d players joined, %d left, %d B out, %d B in, %d of %d inputs missing\n",
		st.Ticks, st.Joined, st.Left, st.BytesOut, st.BytesIn, st.InputsMissing, st.InputsMissing+st.InputsTaken)
	return nil
}

// drainFirst returns a context for a server's Run. When ctx ends, by SIGTERM or an interrupt, the
// server takes no more newcomers and runs until its last player leaves. A second signal ends the
// returned context.
func drainFirst(ctx context.Context, srv *server.Server, out io.Writer) (running context.Context, stop func()) {
	running, cancel := context.WithCancel(context.Background())
	go func() {
		select {
		case <-ctx.Done():
		case <-running.Done():
			return
		}
		again, stop := signal.NotifyContext(running, os.Interrupt, syscall.SIGTERM)
		defer stop()
		srv.Drain("this server takes no new players any more")
		fmt.Fprintln(out, "draining: the server ends with its last player, or at once by another signal")
		<-again.Done()
		cancel()
	}()
	return running, cancel
}

// join is a process of bots.
func join(ctx context.Context, o options, out io.Writer) error {
	m := newMatch(o)
	defer func() {
		for _, s := range m.seats {
			if s.client != nil {
				_ = s.client.Close()
			}
		}
	}()
	open := func() (transport.Endpoint, error) { return reach(o, o.join) }
	for n := range o.clients {
		if err := m.seatUDP(o, open, n); err != nil {
			return err
		}
	}
	if o.inspect != "" {
		stop, err := m.inspectBots(out)
		if err != nil {
			return err
		}
		defer stop()
	}
	start, shown := time.Now(), newProgress(out)
	defer shown.end()
	ticker := time.NewTicker(frame)
	defer ticker.Stop()
	for o.seconds == 0 || time.Since(start) < o.duration() {
		for _, s := range m.seats {
			if v := s.client.Step(time.Now()); v.State == client.Closed {
				return v.Err
			}
		}
		if played := time.Since(start); played > time.Second && !o.json {
			shown.print(played, m.joinLine())
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
	if o.json {
		return m.joinReport().JSON(out)
	}
	return nil
}

// joinLine returns the figures of the clients that joined a server.
func (m *match) joinLine() string {
	var wrong, predicted, resets uint64
	var rtt time.Duration
	for _, s := range m.seats {
		cs := s.client.Stats()
		wrong, predicted = wrong+cs.Mispredictions, predicted+cs.PredictedTicks
		resets += cs.HardResets
		rtt = max(rtt, cs.Connection.RTT)
	}
	v := m.seats[0].client.View()
	return fmt.Sprintf("%v  tick %d  %d entities  rtt %v  %d of %d predictions corrected  %d hard resets",
		v.State, v.Tick, v.World.Len(), rtt.Round(time.Millisecond), wrong, predicted, resets)
}

// joinReport returns the figures that clients know of a match. The server's counts are zero.
func (m *match) joinReport() *Report {
	m.countClients()
	r := m.atEnd
	r.ShotsVoidByReason = map[string]int{}
	for _, s := range m.seats {
		r.EventsDelivered += s.got
		r.Ticks = max(r.Ticks, s.client.View().Tick)
		r.Entities = max(r.Entities, s.client.View().World.Len())
	}
	return &r
}

// countByTransport prepares the counts of shots by transport.
func (m *match) countByTransport(r *Report) {
	if m.opt.transport != "all" {
		return
	}
	r.ByTransport, m.shots.kind = map[string]*Shots{}, map[foretick.PlayerID]*Shots{}
	for n, s := range m.seats {
		kind := kinds[n%len(kinds)]
		if r.ByTransport[kind] == nil {
			r.ByTransport[kind] = &Shots{}
		}
		r.ByTransport[kind].Clients++
		m.shots.kind[s.client.View().Player] = r.ByTransport[kind]
	}
}
