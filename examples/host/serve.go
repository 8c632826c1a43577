package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/flight"
	"github.com/foretick/foretick/host"
	"github.com/foretick/foretick/host/lifecycle"
	"github.com/foretick/foretick/host/lifecycle/agones"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/stats/metrics"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/dtls"
	"github.com/foretick/foretick/transport/multi"
	"github.com/foretick/foretick/transport/ticket"
	"github.com/foretick/foretick/transport/udp"
	"github.com/foretick/foretick/transport/ws"
)

// hosting is a host with its endpoints, its pages and its lifecycle.
type hosting struct {
	o       options
	where   gameServer // where players connect
	host    *host.Host
	joined  *multi.Endpoint // the endpoints of native players and of browsers
	manager lifecycle.Lifecycle
	pages   net.Listener // where the pages are served
	newest  string       // the match that the last allocation named
	gate    *ticket.Gate // checks tickets
	tapes   *tapes       // nil: matches are not recorded
}

// emptyFor is how long a match without players runs on: until its first one joins or one comes back.
const emptyFor = 30 * time.Second

// newHosting opens the sockets, and makes the host.
func newHosting(ctx context.Context, o options) (h *hosting, err error) {
	h = &hosting{o: o, manager: &lifecycle.Files{}}
	if o.files != "" {
		in := func(name string) string { return filepath.Join(o.files, name) }
		h.manager = &lifecycle.Files{ReadyFile: in("ready"), HealthFile: in("health"), StatusFile: in("status"), DrainFile: in("drain")}
	}
	var known lifecycle.State
	if o.agones {
		m, err := agones.New(agones.Config{Logger: o.log})
		if err != nil {
			return nil, err
		}
		h.manager = m
		if known, err = m.GameServer(ctx); err != nil {
			return nil, err
		}
	}
	if o.tapes != "" {
		if h.tapes, err = newTapes(o); err != nil {
			return nil, err
		}
		tapes := h.tapes
		defer func() {
			if err != nil {
				tapes.close()
			}
		}()
	}
	if h.pages, err = net.Listen("tcp", o.page); err != nil {
		return nil, err
	}
	if err = h.listen(ctx, known); err != nil {
		_ = h.pages.Close()
		return nil, err
	}
	h.host, err = host.New(host.Config{
		Transport: h.joined, NewMatch: h.match, OnDemand: true, PlayersPerMatch: o.players, MaxMatches: o.matches, Logger: o.log,
		Kind: func(string) string { return "walk" }, // a game with several modes returns the match's mode
		OnEnd: func(end host.End) {
			if h.tapes != nil {
				h.tapes.add(end)
			}
		},
	})
	if err != nil {
		return nil, errors.Join(err, h.joined.Close(transport.Closed, ""), h.pages.Close())
	}
	return h, nil
}

// listen opens one endpoint for native players and one for browsers, behind the same gate. The gate
// must know the address that tickets name, which is known only once the game's socket is open.
func (h *hosting) listen(ctx context.Context, known lifecycle.State) error {
	most := min(2*h.o.matches*h.o.players+64, 1<<14) // lost connections stay for a while
	var gate atomic.Pointer[ticket.Gate]
	below, err := udp.Listen(h.o.game, udp.Config{MaxPeers: most + 1024, Sealed: true, Linger: -1, Batch: 64,
		Accept: func(_ netip.AddrPort, token []byte) ([]byte, error) { // a client without a ticket starts no handshake
			g := gate.Load()
			if g == nil {
				return nil, errNoServer
			}
			_, _, err := g.Check(token)
			return nil, err
		}})
	if err != nil {
		return err
	}
	h.where.Game = below.LocalAddr()
	switch {
	case h.o.public != "":
		h.where.Game, err = netip.ParseAddrPort(h.o.public)
	case h.o.agones:
		h.where, err = reach(ctx, known.Address, known.Ports)
	}
	if h.o.publicWeb != "" {
		h.where.Web = h.o.publicWeb
	}
	g, err2 := ticket.NewGate(h.o.keys.first(), []netip.AddrPort{h.where.Game}, nil)
	if err2 == nil {
		err2 = g.SetKeys(h.o.keys.all()...)
	}
	if err = errors.Join(err, err2); err != nil {
		return errors.Join(fmt.Errorf("say with -public what players dial: %w", err), below.Close(transport.Closed, ""))
	}
	gate.Store(g)
	h.gate = g
	native, err := dtls.WrapServer(below, dtls.Config{Gate: g, MaxPeers: most})
	if err != nil {
		return errors.Join(err, below.Close(transport.Closed, ""))
	}
	browsers, err := ws.Listen(h.o.web, ws.Config{MaxPeers: most, Accept: g.Accept, AnyOrigin: true, ClientAddr: h.o.clientAddr()})
	if err != nil {
		return errors.Join(err, native.Close(transport.Closed, ""))
	}
	if h.where.Web == "" {
		h.where.Web = "ws://" + browsers.LocalAddr().String() + "/"
	}
	h.joined, err = multi.New(native, browsers)
	return err
}

// match makes a match's server.
func (h *hosting) match(name string, end transport.Endpoint) (host.Match, error) {
	var srv *server.Server
	over, begun, busy := false, time.Now(), time.Now()
	cfg := server.Config{
		Transport: end, MaxClients: h.o.players, Logger: h.o.log.With("match", name),
		OnTick: func(*foretick.ServerFrame) {
			now := time.Now()
			if len(srv.Players(nil)) > 0 {
				busy = now
			}
			if !over && (now.Sub(begun) > h.o.length || now.Sub(busy) > emptyFor) {
				over = true
				_ = srv.Shutdown("the match is over", 2*time.Second)
			}
		},
	}
	if h.tapes != nil {
		rec, err := flight.New(flight.Config{Name: name, Durable: h.tapes.folder})
		if err != nil {
			return nil, err
		}
		cfg.Recorder = rec
	}
	var err error
	srv, err = newMatch(cfg, h.o.drain)
	return srv, err
}

// newMatch makes a match's server, for players and for the replay of its tape. When the process is
// asked to end, the match may go on for the time drain, and its players see that in Notice.
func newMatch(cfg server.Config, drain time.Duration) (*server.Server, error) {
	g := new(Game)
	cfg.Protocol = g.Protocol()
	cfg.OnDrain = func(f *foretick.ServerFrame, _ string) {
		g.Notice.Get(f.World).Ends = f.Tick + uint32(drain.Seconds()*tickRate)
	}
	return server.New(cfg)
}

// serve runs the host until ctx ends and then until its matches have ended. It adds the pages of the
// figures to mux.
func (h *hosting) serve(ctx context.Context, mux *http.ServeMux) error {
	mux.HandleFunc("GET /{$}", h.page)
	mux.HandleFunc("GET /figures", h.json)
	mux.HandleFunc("GET /metrics", h.metrics)
	mux.HandleFunc("GET /livez", h.livez)
	mux.HandleFunc("GET /readyz", h.readyz)
	showing, hide := context.WithCancel(context.Background()) // the pages are served until the host has ended
	var page sync.WaitGroup
	page.Go(func() {
		if err := pages(showing, h.pages, mux); err != nil {
			h.o.log.Error("pages", "err", err)
		}
	})
	go h.o.keys.watch(showing, h.o, func(all [][]byte) error { return h.gate.SetKeys(all...) })
	b := metrics.ReadBuild()
	h.o.log.Info("build", "version", b.Version, "commit", b.Commit, "go", b.Go)
	h.o.log.Info("host", "game", h.where.Game, "web", h.where.Web, "figures", "http://"+h.pages.Addr().String()+"/")
	err := lifecycle.Run(ctx, h.host, h.manager, lifecycle.Config{DrainFor: h.o.drain, OnState: h.placed, Logger: h.o.log})
	hide()
	page.Wait()
	if h.tapes != nil {
		h.tapes.close()
	}
	return err
}
