package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/examples/swarm/game"
	"github.com/foretick/foretick/relay"
	"github.com/foretick/foretick/rollback"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// outcome is what a match has come to.
type outcome struct {
	state
	figures         // figures are those of all players.
	bytes    int    // bytes is what a player sent and received in a second, with all headers.
	packets  int    // packets is how many datagrams a player sent and received in a second.
	compared uint64 // compared counts the seconds after which the relay compared the worlds.
	differed uint64 // differed counts those after which a world differed.
}

// match is a match of bots in virtual time: a relay, and players that each compute the world.
type match struct {
	net     *sim.Network
	relay   *relay.Relay
	players []*player
	failed  error
	records bool                      // records is true while the states of ticks are kept.
	states  []map[foretick.Tick]state // states has the states of ticks, by player.
}

// now returns the virtual time.
func (m *match) now() time.Time { return time.Unix(0, 0).Add(m.net.Now()) }

// newMatch makes a match of bots, each with a link to the relay and one back.
func newMatch(link sim.Link, seed uint64) (*match, error) {
	m := &match{net: sim.NewNetwork(seed)}
	end := m.net.Listen()
	var err error
	m.relay, err = relay.New(relay.Config{Transport: end, Players: game.Players, Rand: rand.NewChaCha8([32]byte{byte(seed)})})
	if err != nil {
		return nil, err
	}
	m.repeat(0, time.Millisecond, func() { m.relay.Step(m.now()) })
	dial := func() (transport.Endpoint, error) { return m.net.Dial(end, link, link), nil }
	for i := range game.Players {
		p, err := newPlayer(dial, seed+uint64(i))
		if err != nil {
			return nil, err
		}
		m.players, m.states = append(m.players, p), append(m.states, map[foretick.Tick]state{})
		m.repeat(time.Duration(i)*7*time.Millisecond, frame, func() { m.step(i) })
	}
	return m, nil
}

// repeat calls fn at a time, and then again and again.
func (m *match) repeat(at, interval time.Duration, fn func()) {
	var again func()
	again = func() {
		fn()
		m.net.At(m.net.Now()+interval, again)
	}
	m.net.At(at, again)
}

// step runs a frame of a player.
func (m *match) step(i int) {
	p := m.players[i]
	v := p.peer.Step(m.now())
	if v.Err != nil && m.failed == nil {
		m.failed = fmt.Errorf("player %d: %w", i+1, v.Err)
	}
	p.count(v)
	if _, seen := m.states[i][v.Tick]; m.records && !seen {
		m.states[i][v.Tick] = p.look()
	}
}

// run runs the match for a time.
func (m *match) run(d time.Duration) error {
	m.net.Run(m.net.Now() + d)
	return m.failed
}

// begin lets all players join.
func (m *match) begin() error {
	for range 10 * game.TickRate {
		if err := m.run(time.Second / game.TickRate); err != nil {
			return err
		}
		playing := 0
		for _, p := range m.players {
			if p.peer.View().State == rollback.Playing {
				playing++
			}
		}
		if playing == len(m.players) {
			return nil
		}
	}
	return errors.New("not all players could join")
}

// play lets bots play for some seconds of virtual time, each with a link to the relay and one back.
func play(seconds int, link sim.Link, seed uint64) (o outcome, err error) {
	m, err := newMatch(link, seed)
	if err != nil {
		return o, err
	}
	if err := m.begin(); err != nil {
		return o, err
	}
	for _, p := range m.players {
		p.restart()
	}
	if err := m.run(time.Duration(seconds-1) * time.Second); err != nil {
		return o, err
	}
	m.records = true // the last second is long enough for a tick that all have seen
	if err := m.run(time.Second); err != nil {
		return o, err
	}
	if o.state, err = m.agreed(); err != nil {
		return o, err
	}
	for _, p := range m.players {
		o.orders, o.frames, o.waits = o.orders+p.orders, o.frames+p.frames, o.waits+p.waits
		o.delays, o.longest = o.delays+p.delays, max(o.longest, p.longest)
		o.bytes, o.packets = o.bytes+p.line.bytes, o.packets+p.line.packets
		o.differed += p.peer.Stats().Desyncs
	}
	each := seconds * len(m.players)
	o.bytes, o.packets = o.bytes/each, o.packets/each
	s := m.relay.Stats()
	o.compared, o.differed = s.Compared, o.differed+s.Differed
	return o, nil
}

// agreed returns the state of the newest tick that all players have seen. It returns an error if they saw different
// ones.
func (m *match) agreed() (s state, err error) {
	newest := foretick.Tick(0)
	for t := range m.states[0] {
		all := t > newest
		for _, of := range m.states {
			_, seen := of[t]
			all = all && seen
		}
		if all {
			newest = t
		}
	}
	if newest == 0 {
		return s, errors.New("no tick was seen by all players")
	}
	s = m.states[0][newest]
	for i, of := range m.states {
		if of[newest] != s {
			return s, fmt.Errorf("players 1 and %d have different worlds after tick %d", i+1, newest)
		}
	}
	return s, nil
}
