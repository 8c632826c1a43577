package main

import (
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/examples/swarm/game"
	"github.com/foretick/foretick/rollback"
	"github.com/foretick/foretick/transport"
)

const (
	// every is after how many ticks a bot gives an order: 120 in a minute.
	every = game.TickRate / 2
	// frame is the time of a rendered frame, in which a peer steps.
	frame = time.Second / 60
)

// player is a bot and its peer, which computes the whole world.
//
// The peer runs in lockstep: a tick runs once the orders of all players are known. So an order does nothing before
// it has travelled to the relay and back, and nothing is ever taken back.
type player struct {
	game *game.Game
	bot  *game.Bot
	line line
	peer *rollback.Peer
	next foretick.Tick // next is the tick from which on the bot gives another order.
	figures
}

// figures are what a player counts.
type figures struct {
	orders  int
	frames  int // frames counts rendered frames.
	waits   int // waits counts frames in which the world stood still, because orders were missing.
	delays  int // delays is the sum of the delays of all frames, in ticks: see rollback.View.Delay.
	longest int // longest is the longest of these delays.
}

// delay returns the mean time from a command to its tick. An order also waits for its command: half a tick on average.
func (f *figures) delay() time.Duration {
	return time.Duration(f.delays) * time.Second / game.TickRate / time.Duration(max(f.frames, 1))
}

// newPlayer makes a player, which dials the relay, and again if the connection is lost.
func newPlayer(dial func() (transport.Endpoint, error), seed uint64) (*player, error) {
	g := &game.Game{}
	p := &player{game: g, bot: game.NewBot(g, seed), line: line{dial: dial}}
	proto := g.Protocol()
	end, err := p.line.redial()
	if err != nil {
		return nil, err
	}
	p.peer, err = rollback.New(rollback.Config{
		Protocol: proto, Transport: end, Redial: p.line.redial, Window: rollback.Lockstep,
		Sample: rollback.Sample(&g.Order, p.sample),
	})
	return p, err
}

// sample returns the order of a rendered frame.
func (p *player) sample(v rollback.View) game.Order {
	switch {
	case v.State != rollback.Playing:
		return p.bot.Idle()
	case p.next == 0:
		p.next = v.Tick + foretick.Tick(v.Player) // not all players in one tick
	}
	if v.Tick < p.next {
		return p.bot.Idle()
	}
	p.next = v.Tick + every
	order := p.bot.Order(v.World, v.Player)
	if order.Kind != game.NoOrder {
		p.orders++
	}
	return order
}

// count counts a frame.
func (p *player) count(v rollback.View) {
	p.frames++
	p.delays, p.longest = p.delays+v.Delay, max(p.longest, v.Delay)
	if v.Waiting {
		p.waits++
	}
}

// restart begins to count.
func (p *player) restart() { p.figures, p.line.bytes, p.line.packets = figures{}, 0, 0 }

// state is what a world has come to in a tick.
type state struct {
	hash uint64
	left [game.Players + 1]int // left has the number of units of each player.
}

// look returns the state of the player's world.
func (p *player) look() (s state) {
	w := p.peer.View().World
	for i := 1; i <= game.Players; i++ {
		s.left[i] = p.game.Count(w, foretick.PlayerID(i))
	}
	s.hash = w.Hash(nil)
	return s
}
