package main

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/relay"
	"github.com/foretick/foretick/rollback"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// link is each player's path to the server or the relay, one way: a round trip of 60 ms, and 2 % of the packets lost.
var link = sim.Link{Latency: 30 * time.Millisecond, Loss: 0.02}

const (
	frameTime = time.Second / 120 // frameTime is the time of a rendered frame.
	warmUp    = 4 * time.Second   // warmUp is not measured. Players join in it.
)

// match is a match on a simulated network, with the model that it was begun with.
type match struct {
	net     *sim.Network
	rng     *rand.Rand
	end     *counted // end is that of the server or the relay.
	screens []*screen
	rings   map[ring]time.Duration // rings has when a player rang.
	from    time.Duration          // from is when counting begins.

	own, others delays
	check       func() error // check returns an error if the worlds differ.
	computed    func() uint64
}

// ring is a ring of a player's bell.
type ring struct {
	player foretick.PlayerID
	number uint8
}

// delays are the times from a press to a rendered frame that shows it.
type delays struct {
	sum time.Duration
	n   int
}

func (d *delays) mean() time.Duration { return d.sum / time.Duration(max(d.n, 1)) }

// screen is a player: it rings its bell now and then, and looks at all bells.
type screen struct {
	*match
	game   *Game
	world  *ecs.World
	player foretick.PlayerID
	keys   Keys
	rung   uint8 // rung is the number of its newest ring.
	seen   map[foretick.PlayerID]uint8
}

// newMatch returns a match without players.
func newMatch(seed uint64) *match {
	m := &match{net: sim.NewNetwork(seed), rng: rand.New(rand.NewPCG(seed, 1)), rings: map[ring]time.Duration{}, from: warmUp}
	m.end = &counted{Endpoint: m.net.Listen(), match: m}
	return m
}

// now is the time for Step.
func (m *match) now() time.Time { return time.Unix(0, 0).Add(m.net.Now()) }

// every calls fn from a time on, again and again.
func (m *match) every(from, interval time.Duration, fn func()) {
	var next func()
	next = func() {
		fn()
		m.net.At(m.net.Now()+interval, next)
	}
	m.net.At(from, next)
}

// join adds a player's screen. step takes a Step, and says what it shows.
func (m *match) join(g *Game, step func() (w *ecs.World, player foretick.PlayerID, plays bool)) *screen {
	s := &screen{match: m, game: g, seen: map[foretick.PlayerID]uint8{}}
	m.screens = append(m.screens, s)
	first := time.Duration(len(m.screens)) * 7 * time.Millisecond
	m.every(first, frameTime, func() {
		var plays bool
		if s.world, s.player, plays = step(); plays {
			s.look()
		}
	})
	m.every(warmUp/2+first, 250*time.Millisecond, func() {
		s.keys.X, s.keys.Y = int8(m.rng.IntN(3)-1), int8(m.rng.IntN(3)-1)
	})
	var press func()
	press = func() {
		s.rung++
		s.keys.Ring = s.rung
		m.rings[ring{s.player, s.rung}] = m.net.Now()
		m.net.At(m.net.Now()+500*time.Millisecond+time.Duration(m.rng.IntN(400_000))*time.Microsecond, press)
	}
	m.net.At(m.from-time.Second, press)
	return s
}

// read returns what the player presses. A ring is pressed for one rendered frame.
func (s *screen) read() Keys {
	k := s.keys
	s.keys.Ring = 0
	return k
}

// look notes which rings the screen shows for the first time.
func (s *screen) look() {
	for _, rows := range s.game.walkers.All(s.world) {
		of, bell := rows.Owner(), s.game.Bell.Slice(rows)[0]
		at, rang := s.rings[ring{of, bell.Rung}]
		if !rang || s.seen[of] == bell.Rung {
			continue
		}
		s.seen[of] = bell.Rung
		d := &s.others
		if of == s.player {
			d = &s.own
		}
		if at >= s.from {
			d.sum += s.net.Now() - at
			d.n++
		}
	}
}

// counted counts what an end sends, with the headers of IP and UDP.
type counted struct {
	*sim.Endpoint
	match *match
	bytes int
}

// Send implements transport.Endpoint.
func (c *counted) Send(p transport.PeerID, b []byte) error {
	err := c.Endpoint.Send(p, b)
	if err == nil && c.match.net.Now() >= c.match.from {
		c.bytes += len(b) + sim.HeaderBytes
	}
	return err
}

// Unwrap implements transport.Wrapper.
func (c *counted) Unwrap() transport.Endpoint { return c.Endpoint }

// dial connects a player.
func (m *match) dial() *counted {
	return &counted{Endpoint: m.net.Dial(m.end.Endpoint, link, link), match: m}
}

// serve begins a match with a server that decides.
func serve(m *match, players, hares int) (up []*counted, err error) {
	truth := &Game{hares: hares}
	srv, err := server.New(server.Config{Protocol: truth.Protocol(), Transport: m.end, MaxWaitingPerAddress: -1})
	if err != nil {
		return nil, err
	}
	m.every(0, time.Millisecond, func() { srv.Step(m.now()) })
	var all []*client.Client
	for range players {
		g, end := &Game{}, m.dial()
		var s *screen
		c, err := client.New(client.Config{
			Protocol: g.Protocol(), Transport: end,
			Sample: client.Sample(&g.Keys, func(client.View) Keys { return s.read() }),
		})
		if err != nil {
			return nil, err
		}
		s = m.join(g, func() (*ecs.World, foretick.PlayerID, bool) {
			v := c.Step(m.now())
			return v.World, v.Player, v.State == client.Playing
		})
		all, up = append(all, c), append(up, end)
	}
	m.check = func() error { return nil }
	m.computed = func() (sum uint64) {
		for _, c := range all {
			s := c.Stats()
			sum += s.PredictedTicks + s.Resimulated
		}
		return sum
	}
	return up, nil
}

// relayed returns what begins a match without a server that decides. window and above are Window and DelayAbove of
// rollback.Config.
func relayed(window int, above time.Duration) func(m *match, players, hares int) (up []*counted, err error) {
	return func(m *match, players, hares int) (up []*counted, err error) {
		r, err := relay.New(relay.Config{Transport: m.end, Players: players, Rand: rand.NewChaCha8([32]byte{1})})
		if err != nil {
			return nil, err
		}
		m.every(0, time.Millisecond, func() { r.Step(m.now()) })
		var all []*rollback.Peer
		for range players {
			g, end := &Game{hares: hares}, m.dial()
			var s *screen
			p, err := rollback.New(rollback.Config{
				Protocol: g.Protocol(), Transport: end, Window: window, DelayAbove: above,
				Sample: rollback.Sample(&g.Keys, func(rollback.View) Keys { return s.read() }),
			})
			if err != nil {
				return nil, err
			}
			s = m.join(g, func() (*ecs.World, foretick.PlayerID, bool) {
				v := p.Step(m.now())
				return v.World, v.Player, v.State == rollback.Playing
			})
			all, up = append(all, p), append(up, end)
		}
		m.check = func() error {
			if s := r.Stats(); s.Compared == 0 || s.Differed > 0 {
				return fmt.Errorf("the worlds of peers were compared %d times, and differed %d times", s.Compared, s.Differed)
			}
			return nil
		}
		m.computed = func() (sum uint64) {
			for _, p := range all {
				s := p.Stats()
				sum += s.Ticks + s.Reruns
			}
			return sum
		}
		return up, nil
	}
}
