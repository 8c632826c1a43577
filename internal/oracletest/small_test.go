package oracletest

import (
	"math/rand/v2"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	arena "github.com/foretick/foretick/examples/arena/game"
	"github.com/foretick/foretick/server"
)

// small is one end of a game in which bodies walk.
type small struct {
	note  noter
	place ecs.Component[place]
	cmd   ecs.Component[command]
	body  ecs.Prefab
}

func newSmall(note noter) game { return &small{note: note} }

func (g *small) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("small", 1)
	p.Component(&g.place, foretick.Predicted())
	p.Command(&g.cmd)
	p.Prefab(&g.body, "body", &g.place, &g.cmd)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		g.note("join", uint64(player))
		f.Spawn(&g.body, player)
	})
	p.Shared("walk", func(f *foretick.Frame, rows ecs.Rows) {
		at, cmd := g.place.Slice(rows), g.cmd.Slice(rows)
		for i := range at {
			at[i].X = within(at[i].X + float32(cmd[i].X*f.DT))
			at[i].Y = within(at[i].Y + float32(cmd[i].Y*f.DT))
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.place))
	return p
}

func (g *small) sampler(seed uint64) client.Sampler {
	r := rand.New(rand.NewPCG(seed, 5))
	return client.Sample(&g.cmd, func(client.View) command {
		return command{X: float32(r.IntN(3) - 1), Y: float32(r.IntN(3) - 1)}
	})
}

func (g *small) serves(*serverEnd)                            {}
func (g *small) level(*foretick.ServerFrame, []server.Player) {}
func (g *small) call(string) func(*foretick.ServerFrame)      { return nil }
func (g *small) send(*clientEnd, uint16)                      {}

// arenaEnd is one end of the game of examples/arena, which bots play.
type arenaEnd struct {
	small
	game *arena.Game
}

func newArena(note noter) game {
	g := arena.NewGame(arena.Options{TickRate: 30})
	g.Watch = arena.Watch{
		Received: func(f *foretick.Frame, sent foretick.Tick, kind string, id uint32) {
			note(kind, uint64(f.Tick), uint64(sent), uint64(id))
		},
		Hurt: func(f *foretick.Frame, sent foretick.Tick, h arena.Hurt) {
			note("hurt", uint64(f.Tick), uint64(sent), uint64(h.By), uint64(h.Rewound))
		},
		Died:    func(f *foretick.Frame, who ecs.Entity) { note("died", uint64(f.Tick), uint64(who)) },
		Stunned: func(f *foretick.Frame, player foretick.PlayerID) { note("stunned", uint64(f.Tick), uint64(player)) },
	}
	return &arenaEnd{small{note: note}, g}
}

func (g *arenaEnd) protocol() *foretick.Protocol {
	p, err := g.game.Protocol()
	if err != nil {
		p.Fail(err)
	}
	return p
}

func (g *arenaEnd) sampler(seed uint64) client.Sampler {
	return client.Sample(&g.game.Cmd, arena.NewBot(g.game, seed, seed%256).Sample)
}
