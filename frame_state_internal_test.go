package foretick

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
)

// aloneEnd is an end outside of server and client. It runs shared systems and implements nothing
// optional.
type aloneEnd struct {
	p     *compiled
	world *ecs.World
	frame Frame
}

func newAloneEnd(p *compiled) *aloneEnd {
	a := &aloneEnd{p: p, world: ecs.NewWorld(p.Types, ecs.WorldConfig{})}
	a.frame = Frame{World: a.world, DT: 1 / float32(p.TickRate), state: game.NewState(a.world, p.TickRate, p.NewQueues())}
	a.frame.state.Attach(a)
	return a
}

func (a *aloneEnd) IsServer() bool                             { return false }
func (a *aloneEnd) Simulates(e ecs.Entity) bool                { return a.world.Alive(e) }
func (a *aloneEnd) PrefabOf(ecs.Entity) *ecs.Prefab            { return nil }
func (a *aloneEnd) ShownBefore(PlayerID) uint8                 { return 0 }
func (a *aloneEnd) Final() Tick                                { return a.frame.Tick }
func (a *aloneEnd) Raised(ecs.Entity, PlayerID, int) game.Fate { return game.EventTold }

func (a *aloneEnd) step(player PlayerID) {
	a.frame.Tick++
	a.p.Schedule.ExecutePlayer(a.world, &a.frame, player)
}

// A frame needs six methods of its end. For the others it has defaults.
func TestAThirdEndPlaysSharedSystems(t *testing.T) {
	type spot struct {
		X float32 `net:"min=-8,max=8,step=0.25,lerp"`
	}
	var place ecs.Component[spot]
	var body ecs.Prefab
	var moved Event[float32]
	var said Message[spot]
	p := NewProtocol("alone", 1)
	p.Component(&place, Predicted())
	p.Prefab(&body, "body", &place)
	told := []float32(nil)
	said.OnClient(p, func(*Frame, Tick, spot) {})
	moved.OnPredicted(p, func(_ *Frame, _ By, x float32) { told = append(told, x) })
	p.Shared("move", func(f *Frame, rows ecs.Rows) {
		for i, at := range place.Slice(rows) {
			place.Slice(rows)[i].X = at.X + f.DT*30
			require.True(t, f.Simulates(rows.Entity(i)))
			require.Equal(t, ecs.None, f.forServer().Spawn(&body, rows.Owner()))
			require.False(t, f.Destroy(rows.Entity(i)))
			require.False(t, f.forServer().Kick(rows.Owner(), 0, ""))
			require.False(t, f.forServer().SetVisible(rows.Owner(), rows.Entity(i), false))
			said.Broadcast(f.forServer(), spot{})
			moved.Raise(f, rows.Entity(i), place.Slice(rows)[i].X)
		}
	}, ecs.Write(&place))
	require.NoError(t, p.Err())
	a := newAloneEnd(&p.compiled)
	ecs.Engine(a.world).Manager().Spawn(&body, 1)
	a.step(1)
	a.step(1)
	require.Equal(t, []float32{1, 2}, told)
	require.False(t, a.frame.IsServer())
	require.Zero(t, a.frame.Present())
}
