package main

import (
	"bytes"
	"math/rand/v2"
	"time"

	"github.com/foretick/foretick/examples/fighter/play"
	"github.com/foretick/foretick/rollback"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// midnight is when virtual time begins.
var midnight = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// virtual is a match of two bots and their relay in virtual time. One seed is one match.
type virtual struct {
	relay   *rollback.Relay
	players [2]*play.Player
	replay  bytes.Buffer // replay is what the first player's peer wrote.
}

// playVirtual lets two bots play for some seconds.
func playVirtual(o options) (*virtual, error) {
	net := sim.NewNetwork(o.seed)
	listen, link := net.Listen(), play.Link(o.rtt, o.loss/100)
	var err error
	m := &virtual{}
	m.relay, err = rollback.NewRelay(rollback.RelayConfig{Transport: listen, Rand: rand.NewChaCha8([32]byte{byte(o.seed), byte(o.seed >> 8)})})
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
	net.Run(time.Duration(o.seconds) * time.Second)
	for _, p := range m.players {
		if v := p.View(); v.Err != nil {
			return nil, v.Err
		}
	}
	return m, m.players[0].WriteReplay(&m.replay)
}
