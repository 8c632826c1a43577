// Package dojo has the code of the guide's page for fighting games: how a process relays a match, joins one, watches
// one, and hosts one that it plays in. The game is that of examples/fighter.
package dojo

import (
	"errors"
	"io"
	"log"
	"time"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/examples/fighter/game"
	"github.com/foretick/foretick/relay"
	"github.com/foretick/foretick/rollback"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/local"
)

// NewRelay returns a relay for matches of two. It runs no game code, so any process can do it: call its Run.
func NewRelay(listen transport.Endpoint) (*relay.Relay, error) {
	return relay.New(relay.Config{Transport: listen, Players: 2})
}

// Player is a player's process.
type Player struct {
	Game *game.Game
	Peer *rollback.Peer
	// Press returns what the player presses. It is called once a rendered frame.
	Press func(v rollback.View) game.Command
	// Fault is where a replay is written if the players' worlds differ.
	Fault io.Writer
	// Differs is true once this world was another one than that of the other player, and Cause is why.
	Differs bool
	Cause   *rollback.Cause
}

// Join joins a match. dial connects to the relay, as in udp.Dial(address, udp.Config{}), also after a connection was
// lost.
func (p *Player) Join(dial func() (transport.Endpoint, error)) error {
	end, err := dial()
	if err != nil {
		return err
	}
	p.Game = &game.Game{}
	p.Peer, err = rollback.New(rollback.Config{
		Protocol: p.Game.Protocol(), Transport: end, Redial: dial,
		Sample:     rollback.Sample(&p.Game.Command, p.Press),
		DelayAbove: 50 * time.Millisecond, // the default: what a longer path takes delays the own input
		OnDesync:   p.differs,
	})
	if err != nil {
		return errors.Join(err, end.Close(transport.Closed, ""))
	}
	return nil
}

// differs notes that the worlds differ. A cause comes once: it has the system, the field and both values.
func (p *Player) differs(d rollback.Desync) {
	p.Differs = true
	if d.Cause == nil {
		return
	}
	p.Cause = d.Cause
	log.Print(d.Cause)
	if p.Fault != nil {
		if err := p.Peer.WriteReplay(p.Fault); err != nil {
			log.Print(err)
		}
	}
}

// Replay plays a match again, and gives each tick's world to draw. g.Heard plays the sounds.
func Replay(from io.Reader, g *game.Game, draw func(w *ecs.World)) error {
	r, err := rollback.NewReplay(rollback.ReplayConfig{Protocol: g.Protocol(), From: from, Effects: true})
	if err != nil {
		return err
	}
	for {
		if more, err := r.Step(); !more {
			return err // a *rollback.Divergence if this build computes otherwise, or rollback.ErrCut
		}
		draw(r.World())
	}
}

// Watch shows a match that others play, some ticks later.
func (p *Player) Watch(end transport.Endpoint, behind int) (err error) {
	p.Game = &game.Game{}
	p.Peer, err = rollback.New(rollback.Config{Protocol: p.Game.Protocol(), Transport: end, Observe: true, Behind: behind})
	return err
}

// Host joins a match that this process relays. Others come by the endpoint that listens, such as that of udp.Listen,
// and the own player through memory. Call the relay's Run in a goroutine, until the game ends. If the host leaves, the
// match ends for all players.
func (p *Player) Host(listen transport.Endpoint) (*relay.Relay, error) {
	both := local.New(listen)
	relay, err := NewRelay(both)
	if err != nil {
		return nil, err
	}
	return relay, p.Join(func() (transport.Endpoint, error) { return both.Dial(nil), nil })
}

// Frame runs one rendered frame, and returns the world to draw, with a line of text over it.
func (p *Player) Frame(now time.Time) (v rollback.View, line string) {
	v = p.Peer.Step(now)
	switch {
	case v.State == rollback.Closed:
		line = "the match has ended"
	case p.Differs:
		line = "the two machines disagree"
	case v.State == rollback.Resuming:
		line = "connection lost, trying again"
	case v.State != rollback.Playing:
		line = "joining"
	case v.Waiting:
		line = "waiting for the other player"
	}
	return v, line
}

// Slower gives the player one tick more of input delay, as from a menu. No press is lost by it.
func (p *Player) Slower() {
	if err := p.Peer.SetDelay(p.Peer.View().Delay + 1); err != nil {
		log.Print(err) // more than 30 ticks
	}
}
