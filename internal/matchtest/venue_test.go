package matchtest

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// venue is a server in virtual time. A test chooses the addresses of its peers, and makes the
// packets of some peers by hand.
type venue struct {
	t       *testing.T
	net     *sim.Network
	listen  *addressed
	srv     *server.Server
	hash    uint64
	heard   []string // calls of hooks, in order
	log     bytes.Buffer
	clients []*client.Client
	callers []*caller
	game    Walk
}

// addressed is an endpoint whose peers have the addresses that a test chooses.
type addressed struct {
	*sim.Endpoint
	from map[string]string // chosen addresses by the network's own addresses
}

func (a *addressed) Info(p transport.PeerID, out *transport.Info) bool {
	ok := a.Endpoint.Info(p, out)
	if addr := a.from[out.Addr]; addr != "" {
		out.Addr = addr
	}
	return ok
}

// newVenue makes a venue. The functions more add declarations to the game.
func newVenue(t *testing.T, cfg server.Config, more ...func(*venue, *foretick.Protocol)) *venue {
	t.Helper()
	h := &venue{t: t, net: sim.NewNetwork(1)}
	h.listen = &addressed{h.net.Listen(), map[string]string{}}
	p := h.game.Protocol()
	note := func(what string) func(*foretick.ServerFrame, foretick.PlayerID) {
		return func(_ *foretick.ServerFrame, player foretick.PlayerID) {
			h.heard = append(h.heard, what+" "+string(rune('0'+player)))
		}
	}
	p.OnJoin(note("join"))
	p.OnLeave(note("leave"))
	p.OnDisconnect(note("absent"))
	p.OnReconnect(note("return"))
	for _, fn := range more {
		fn(h, p)
	}
	cfg.Protocol, cfg.Transport = p, h.listen
	cfg.Logger = slog.New(slog.NewTextHandler(&h.log, nil))
	var err error
	h.srv, err = server.New(cfg)
	require.NoError(t, err)
	h.hash = p.Hash()
	h.srv.Step(h.now())
	return h
}

func (h *venue) now() time.Time { return simtest.Epoch.Add(h.net.Now()) }

// run lets time pass, in steps of a tick.
func (h *venue) run(d time.Duration) {
	for end := h.net.Now() + d; h.net.Now() < end; {
		h.net.Run(h.net.Now() + time.Second/30)
		h.srv.Step(h.now())
		for _, c := range h.clients {
			c.Step(h.now())
		}
		for _, c := range h.callers {
			c.step()
		}
	}
}

// join adds an honest client with this address.
func (h *venue) join(addr string) *client.Client {
	h.t.Helper()
	g := &Walk{}
	c, err := client.New(client.Config{Protocol: g.Protocol(), Transport: h.dial(addr),
		Sample: client.Sample(&g.Move, func(client.View) Move { return Move{X: 1} })})
	require.NoError(h.t, err)
	h.clients = append(h.clients, c)
	return c
}

func (h *venue) dial(addr string) *sim.Endpoint {
	e := h.net.Dial(h.listen.Endpoint, sim.Link{Latency: time.Millisecond}, sim.Link{Latency: time.Millisecond})
	h.listen.from[sim.Addr(e.ID())] = addr
	return e
}

// comes reports whether an honest client from an address plays within d.
func (h *venue) comes(addr string, d time.Duration) bool {
	c := h.join(addr)
	for end := h.net.Now() + d; h.net.Now() < end && c.View().State != client.Playing && c.View().Err == nil; {
		h.run(time.Second / 30)
	}
	plays := c.View().State == client.Playing
	_ = c.Close()
	h.clients = h.clients[:len(h.clients)-1]
	h.run(100 * time.Millisecond)
	return plays
}

// caller is a peer whose packets the test makes by hand.
type caller struct {
	h       *venue
	e       transport.Endpoint
	conn    *netcode.Conn
	peer    transport.PeerID
	welcome netcode.Welcome
	reject  netcode.Reject
	gone    *transport.Event
	plays   bool                     // the caller sends a command in every tick
	asleep  bool                     // the caller sends nothing
	deaf    func(packet []byte) bool // reports whether to ignore a received packet
	events  [32]transport.Event
}

// call connects a caller with this address.
func (h *venue) call(addr string) *caller {
	c := &caller{h: h, e: h.dial(addr)}
	h.callers = append(h.callers, c)
	h.run(100 * time.Millisecond)
	return c
}

func (c *caller) step() {
	for n := c.e.Recv(c.events[:]); n > 0; n = c.e.Recv(c.events[:]) {
		for _, ev := range c.events[:n] {
			switch ev.Kind {
			case transport.Connected:
				c.peer, c.conn = ev.Peer, netcode.NewConn(netcode.Config{MTU: 1180})
			case transport.Disconnected:
				ev.Data = nil
				c.gone = &ev
			case transport.Data:
				if c.asleep || c.deaf != nil && c.deaf(ev.Data) || c.conn.Receive(c.h.net.Now(), ev.Data) != nil {
					continue
				}
				for m, ok := c.conn.NextMessage(); ok; m, ok = c.conn.NextMessage() {
					if w, err := netcode.ParseWelcome(m.Body); m.Type == netcode.MessageWelcome && err == nil {
						c.welcome = w
					}
					if r, err := netcode.ParseReject(m.Body); m.Type == netcode.MessageReject && err == nil {
						c.reject = r
					}
				}
			}
		}
	}
	if c.plays && !c.asleep && c.gone == nil && c.welcome.Owner != 0 {
		c.say(func(pk *netcode.Packet) {
			s := netcode.NewCommandSender(int(c.welcome.CommandSize), netcode.CommandConfig{})
			s.Push(netcode.Command{Tick: c.h.srv.Tick() + 2, Data: make([]byte, c.welcome.CommandSize)})
			pk.Message(netcode.MessageCommands, s.Append(nil, 500))
		})
	}
}

// say sends one packet, to which what adds messages.
func (c *caller) say(what func(*netcode.Packet)) {
	pk := c.conn.Begin(c.h.net.Now())
	what(pk)
	_, b := pk.Finish()
	_ = c.e.Send(c.peer, b)
	c.e.Flush()
}

// hello returns a function that adds a hello with this resume token, which may be zero.
func (c *caller) hello(token [16]byte) func(*netcode.Packet) {
	return func(pk *netcode.Packet) {
		pk.Message(netcode.MessageHello, netcode.Hello{Version: netcode.Version, Protocol: c.h.hash, Resume: token}.Append(nil))
	}
}

// enters connects a caller that sends a hello and plays.
func (h *venue) enters(addr string) *caller {
	h.t.Helper()
	c := h.call(addr)
	c.plays = true
	c.say(c.hello([16]byte{}))
	h.run(100 * time.Millisecond)
	return c
}

// vanish acts like a killed process: the caller sends and reads nothing more.
func (c *caller) vanish() { c.asleep = true }

// sealed returns a packet with a checksum and these bytes.
func sealed(b []byte) []byte {
	out := append(make([]byte, 4), b...)
	table := crc32.MakeTable(crc32.Castagnoli)
	var magic [8]byte
	binary.LittleEndian.PutUint32(out, crc32.Update(crc32.Update(0, table, magic[:]), table, out[4:]))
	return out
}
