package play

import (
	"fmt"
	"strings"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/examples/fighter/game"
	"github.com/foretick/foretick/rollback"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/udp"
	"github.com/foretick/foretick/transport/ws"
)

// Dial connects to a relay. addr is a URL such as ws://192.0.2.7:7790/play for WebSocket, or HOST:PORT for UDP.
// It does not wait: read the state in the player's view.
func Dial(addr string) (transport.Endpoint, error) {
	if strings.Contains(addr, "://") {
		return ws.Dial(addr, ws.Config{})
	}
	return udp.Dial(addr, udp.Config{})
}

// Player is one side of a match: its peer, with its own copy of the game.
type Player struct {
	*rollback.Peer
	Game *game.Game
	// Pressed counts the Steps in which the player pressed an attack.
	Pressed int
	// Hits counts the attacks that met a fighter in a settled tick, blocked ones included.
	Hits int
	// Differs says what made the player's world differ from the other's. It is empty while there was no desync.
	Differs string

	endpoint transport.Endpoint // endpoint is the newest connection's.
}

// Ready returns a channel that is signalled when something has come from the relay. Call it again after each Step,
// which may make a new connection.
func (p *Player) Ready() <-chan struct{} { return p.endpoint.Ready() }

// Join makes a player. dial connects it to the relay, and again after each loss. sample reads its input, once a
// Step.
func Join(dial func() (transport.Endpoint, error), sample func(*game.Game, rollback.View) game.Command) (*Player, error) {
	p := &Player{Game: &game.Game{}}
	p.Game.Settled = func(ecs.Entity, game.Strike) { p.Hits++ }
	redial := func() (transport.Endpoint, error) {
		e, err := dial()
		if err == nil {
			p.endpoint = e
		}
		return e, err
	}
	endpoint, err := redial()
	if err != nil {
		return nil, err
	}
	p.Peer, err = rollback.New(rollback.Config{
		Protocol: p.Game.Protocol(), Transport: endpoint, Redial: redial,
		Sample: rollback.Sample(&p.Game.Command, func(v rollback.View) game.Command {
			c := sample(p.Game, v)
			if c.Punch || c.Kick || c.Special {
				p.Pressed++
			}
			return c
		}),
		OnDesync: func(d rollback.Desync) {
			if d.Cause != nil || p.Differs == "" { // one that follows soon comes without a cause
				p.Differs = differs(d)
			}
		},
	})
	if err != nil {
		_ = endpoint.Close(transport.Closed, "")
		return nil, err
	}
	return p, nil
}

// differs says what is known of a desync.
func differs(d rollback.Desync) string {
	if d.Cause == nil {
		return fmt.Sprintf("the worlds differ since a tick after %d, at the latest since %d", d.Agreed, d.Tick)
	}
	return fmt.Sprintf("the worlds differ: %v", d.Cause)
}

// Bot returns the input of a bot, for Join. Bots with other seeds play otherwise.
func Bot(seed uint64) func(*game.Game, rollback.View) game.Command {
	var bot *game.Bot
	return func(g *game.Game, v rollback.View) game.Command {
		if bot == nil {
			bot = game.NewBot(g, seed)
		}
		return bot.Command(v.World, v.Player, v.Tick)
	}
}
