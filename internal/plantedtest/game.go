// Package plantedtest holds a small game and the faults that the tests of SyncTest, of traces
// and of the inspector's page plant in it.
package plantedtest

import (
	"slices"
	"sync"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/simtest"
)

// The lower-case names of the types appear in faults and traces. Tests use the exported names.
type (
	position struct {
		X, Y float32 `net:"min=-100,max=100,step=0.01,lerp" name:"place" unit:"m"`
	}
	secret struct {
		N int32 `net:"min=0,max=1000,owner"`
	}
	local struct{ N int32 }
	move  struct {
		X, Y float32 `net:"min=-1,max=1,step=0.0078125"`
	}
)

type (
	// Position is the predicted component of a player.
	Position = position
	// Secret is a component that is sent only to its owner.
	Secret = secret
	// Local is a component that is not sent.
	Local = local
	// Move is the command.
	Move = move
)

// Game is a game with room for a fault.
type Game struct {
	Pos    ecs.Component[Position]
	Secret ecs.Component[Secret]
	Local  ecs.Component[Local]
	Cmd    ecs.Component[Move]
	Player ecs.Prefab
	All    *ecs.Query // matches the entities with a Secret

	Count int     // state outside of the world
	Ran   *Record // records what Nudge writes; nil records nothing
}

// Plant declares a fault in a game.
type Plant func(g *Game, p *foretick.Protocol)

// End returns an end of the game with a fault; nil is the game without one.
func (g *Game) End(fault Plant) simtest.Player {
	p := foretick.NewProtocol("planted", 1)
	p.Component(&g.Pos, foretick.Predicted())
	p.Component(&g.Secret)
	p.LocalComponent(&g.Local)
	p.Command(&g.Cmd)
	p.Prefab(&g.Player, "player", &g.Pos, &g.Secret, &g.Cmd, &g.Local)
	p.Shared("move", func(f *foretick.Frame, rows ecs.Rows) {
		pos, cmd := g.Pos.Slice(rows), g.Cmd.Slice(rows)
		for i := range pos {
			pos[i].X += float32(cmd[i].X * 5 * f.DT)
			pos[i].Y += float32(cmd[i].Y * 5 * f.DT)
		}
	}, ecs.Read(&g.Cmd), ecs.Write(&g.Pos))
	g.All = p.Query(ecs.With(&g.Secret))
	if fault != nil {
		fault(g, p)
	}
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		e := f.Spawn(&g.Player, player)
		g.Secret.Get(f.World, e).N = int32(player) * 100
		g.Local.Get(f.World, e).N = int32(player) * 100
	})
	return simtest.Player{Protocol: p, Sample: client.Sample(&g.Cmd, func(v client.View) Move {
		return Move{X: float32(v.Tick*7919%257)/128 - 1, Y: float32(v.Tick/9%3) - 1}
	})}
}

// Nudge declares a shared system "planted" that adds what by returns to each position.
func Nudge(p *foretick.Protocol, g *Game, by func(f *foretick.Frame, rows ecs.Rows, i int) float32, access ...ecs.Access) {
	p.Shared("planted", func(f *foretick.Frame, rows ecs.Rows) {
		for i, pos := 0, g.Pos.Slice(rows); i < len(pos); i++ {
			before := pos[i].X
			pos[i].X += by(f, rows, i)
			switch x := &pos[i].X; { // the position must not stay at an end of its range
			case *x > 20:
				*x -= 40
			case *x < -20:
				*x += 40
			}
			g.Ran.addWrite(f.Tick, rows.Owner(), Write{before, pos[i].X})
		}
	}, append(access, ecs.Write(&g.Pos), ecs.After("move"))...)
}

// Write is a position's X before and after the system "planted" ran.
type Write struct{ Before, After float32 }

// Record holds what an end's system "planted" wrote. A tick that ran several times has several
// entries. It is safe for concurrent use.
type Record struct {
	mu     sync.Mutex
	writes map[run][]Write
}

type run struct {
	tick  foretick.Tick
	owner foretick.PlayerID
}

func (r *Record) addWrite(tick foretick.Tick, owner foretick.PlayerID, w Write) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.writes == nil {
		r.writes = map[run][]Write{}
	}
	r.writes[run{tick, owner}] = append(r.writes[run{tick, owner}], w)
}

// Of returns the writes to a player's entity in a tick.
func (r *Record) Of(tick foretick.Tick, owner foretick.PlayerID) []Write {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.writes[run{tick, owner}])
}
