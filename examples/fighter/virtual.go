package main

import (
	"bytes"
	"math/rand/v2"
	"time"

	"github.com/foretick/foretick/examples/fighter/play"
	"github.com/foretick/foretick/relay"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// midnight is when virtual time begins.
var midnight = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// virtual is a match of two bots and their relay in virtual time. One seed is one match.
type virtual struct {
	net     *sim.Network
	relay   *relay.Relay
	players [2]*play.Player
}

// newVirtual makes a match, which begins with the first call of run.
func newVirtual(o options) (*virtual, error) {
	net := sim.NewNetwork(o.seed)
	listen, link := net.Listen(), play.Link(o.rtt, o.loss/100)
	var err error
	m := &virtual{net: net}
	m.relay, err = relay.New(relay.Config{Transport: listen, Rand: rand.NewChaCha8([32]byte{byte(o.seed), byte(o.seed >> 8)})})
	if err != nil {
		return nil, err
	}
	every := func(first, pause time.Duration, step func(time.Time)) {
		var again func()
		again = func() {
			step(midnight.Add(net.Now()))
			net.At(net.Now()+pause, again)
		}
		net.At(first, again)
	}
	every(0, time.Millisecond, m.relay.Step)
	for i := range m.players {
		p, err := play.Join(func() (transport.Endpoint, error) { return net.Dial(listen, link, link), nil }, play.Bot(o.seed+uint64(i)))
		if err != nil {
			return nil, err
		}
		m.players[i] = p
		every(time.Duration(5*i)*time.Millisecond, time.Second/60, func(now time.Time) { p.Step(now) })
	}
	return m, nil
}

// run lets time pass.
func (m *virtual) run(d time.Duration) { m.net.Run(m.net.Now() + d) }

// replay returns the match as the first player's peer has it.
func (m *virtual) replay() ([]byte, error) {
	var b bytes.Buffer
	err := m.players[0].WriteReplay(&b)
	return b.Bytes(), err
}
