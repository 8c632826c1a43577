package matchtest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/transport"
)

// What ends after a panic in a function of the game.
const (
	endsNothing = "nothing"
	endsPlayer  = "the player that it ran for"
	endsAsked   = "what was asked for"
	endsMatch   = "the match"
)

// planted is a function of the game that a server calls, by its name in the guide's table.
type planted struct {
	name, ends string
}

var plantedIn = []planted{
	{"OnJoin", endsPlayer}, {"OnReconnect", endsPlayer}, {"Handle", endsPlayer}, {"OnServer", endsPlayer}, {"OnFinal", endsPlayer},
	{"CheckCommand", endsPlayer}, {"Relevant", endsPlayer}, {"Interest", endsPlayer},
	{"OnLeave", endsNothing}, {"OnDisconnect", endsNothing}, {"Do", endsNothing}, {"OnDrain", endsNothing}, {"OnPanic", endsNothing},
	{"Observe", endsAsked}, // TestTraceHookThatFails tests AllowTrace
	{"Shared", endsMatch}, {"Server", endsMatch}, {"OnTick", endsMatch}, {"NextLevel", endsMatch}, {"Hitbox", endsMatch},
}

// TestFunctionsThatFail: a panic in a function of the game ends what the guide says, and no more:
// another player plays on. Each panic is counted, and one stack of each function is logged.
func TestFunctionsThatFail(t *testing.T) {
	for _, row := range plantedIn {
		t.Run(row.name, func(t *testing.T) {
			var of foretick.PlayerID
			armed := false
			in := func(name string, player foretick.PlayerID) {
				if armed && name == row.name && (of == 0 || player == 0 || player == of) {
					panic("planted in " + name)
				}
			}
			var h *venue
			var talk foretick.Request[Move]
			var hit foretick.Event[Move]
			cfg := server.Config{
				OnTick: func(*foretick.ServerFrame) { in("OnTick", 0) },
				OnPanic: func(p server.Panic) {
					require.NotEmpty(t, p.Stack)
					in("OnPanic", 0)
				},
				OnDrain: func(*foretick.ServerFrame, string) { in("OnDrain", 0) },
				Observe: func(server.Observer) (server.Grant, error) { in("Observe", 0); return server.Public(), nil },
			}
			hook := func(name string) func(*foretick.ServerFrame, foretick.PlayerID) {
				return func(_ *foretick.ServerFrame, player foretick.PlayerID) { in(name, player) }
			}
			h = newVenue(t, cfg, func(h *venue, p *foretick.Protocol) {
				p.OnJoin(hook("OnJoin"))
				p.OnLeave(hook("OnLeave"))
				p.OnDisconnect(hook("OnDisconnect"))
				p.OnReconnect(hook("OnReconnect"))
				foretick.CheckCommand(p, &h.game.Move, func(_ *foretick.Frame, player foretick.PlayerID, _ Move) error {
					in("CheckCommand", player)
					return nil
				})
				foretick.Interest(p, &h.game.Pos, snapshot.AreaConfig{Enter: 50}, func(pos *Position) (x, y, z float32) {
					if pos.X > 80 {
						in("Interest", 0)
					}
					return pos.X, pos.Y, 0
				})
				p.Relevant(func(_ *foretick.Frame, player foretick.PlayerID, _ ecs.Entity) snapshot.Relevance {
					in("Relevant", player)
					return snapshot.ByDistance
				}, &h.game.Player)
				foretick.Hitbox(p, &h.game.Pos, func(pos *Position) lagcomp.Sphere {
					in("Hitbox", 0)
					return lagcomp.Sphere{R: 1}
				})
				talk.Handle(p, func(f *foretick.ServerFrame, player foretick.PlayerID, _ Move) { in("Handle", player) })
				hit.OnServer(p, func(_ *foretick.ServerFrame, by foretick.By, _ Move) { in("OnServer", by.Player) })
				hit.OnFinal(p, func(_ *foretick.ServerFrame, by foretick.By, _ Move) { in("OnFinal", by.Player) })
				p.Server("fails", func(*foretick.ServerFrame, ecs.Rows) { in("Server", 0) }, ecs.Once())
				p.Shared("shares", func(f *foretick.Frame, rows ecs.Rows) {
					in("Shared", 0)
					for _, e := range rows.Entities() {
						if f.Tick%30 == 0 {
							hit.Raise(f, e, Move{})
						}
					}
				}, ecs.Read(&h.game.Pos))
			})
			good, bad := h.enters(""), h.enters("")
			of = foretick.PlayerID(bad.welcome.Owner)
			h.run(12 * time.Second) // a place is held no longer than its player has played
			var ended any
			within := func(d time.Duration) {
				defer func() { ended = recover() }()
				h.run(d)
			}
			armed = true
			switch row.name {
			case "OnJoin":
				of, bad = 0, h.call("")
				bad.plays = true
				bad.say(bad.hello([16]byte{}))
			case "OnPanic":
				require.NoError(t, h.srv.Do("fails", func(*foretick.ServerFrame) { panic("for OnPanic") }))
			case "OnLeave":
				require.NoError(t, bad.e.Close(transport.Closed, ""))
			case "OnDisconnect":
				bad.vanish()
				h.run(6 * time.Second)
			case "OnReconnect":
				bad.vanish()
				h.run(6 * time.Second)
				back := h.call("")
				back.plays = true
				back.say(back.hello(bad.welcome.Resume))
				bad = back
			case "Handle":
				say(bad)
			case "Do":
				for _, name := range []string{"a", "b", "c"} {
					require.NoError(t, h.srv.Do(name, func(*foretick.ServerFrame) { in("Do", 0) }))
				}
			case "NextLevel":
				require.NoError(t, h.srv.Do("it", func(*foretick.ServerFrame) {
					require.NoError(t, h.srv.NextLevel(nil, func(*foretick.ServerFrame) { in("NextLevel", 0) }))
				}))
			case "Observe":
				o := h.call("")
				o.say(func(pk *netcode.Packet) {
					pk.Message(netcode.MessageHello, netcode.Hello{Version: netcode.Version, Protocol: h.hash, Role: netcode.RoleObserve}.Append(nil))
				})
				h.run(time.Second)
				require.NotEmpty(t, o.reject.Text)
			case "OnDrain":
				h.srv.Drain("over")
			case "Interest":
				pos, bodies := &h.game.Pos, ecs.NewQuery(h.srv.World().Types(), ecs.With(&h.game.Pos))
				pos.Get(h.srv.World(), bodies.FirstOwned(h.srv.World(), of)).X = 90
			}
			within(2 * time.Second)
			require.Equal(t, row.ends == endsMatch, ended != nil, "%v", ended)
			if row.ends == endsMatch {
				require.Contains(t, ended, "planted in "+row.name)
				return
			}
			require.Positive(t, h.srv.Stats().Panics)
			require.Equal(t, 1, strings.Count(h.log.String(), "planted in "+row.name+"\""), h.log.String())
			require.Nil(t, good.gone)
			require.Equal(t, row.ends == endsPlayer, bad.gone != nil && bad.gone.Code == transport.Kicked)
			require.True(t, slices.Contains(h.srv.Players(nil), h.srv.Player(foretick.PlayerID(good.welcome.Owner))))
		})
	}
}
