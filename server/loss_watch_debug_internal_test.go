//go:build foretick_debug

package server

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/transport/sim"
)

// TestWatchingASystemListsNoSystems: the work of a debug build before and after each system allocates
// nothing, however many systems there are.
func TestWatchingASystemListsNoSystems(t *testing.T) {
	type spot struct {
		X float32 `net:"min=-1,max=1,step=0.01"`
	}
	var pos ecs.Component[spot]
	var body ecs.Prefab
	p := foretick.NewProtocol("watched", 1)
	p.Component(&pos, foretick.Predicted())
	p.Prefab(&body, "body", &pos)
	for _, name := range []string{"one", "two", "three", "four"} {
		p.Server(name, func(*foretick.ServerFrame, ecs.Rows) {}, ecs.Write(&pos))
	}
	s, err := New(Config{Protocol: p, Transport: sim.NewNetwork(1).Listen()})
	require.NoError(t, err)
	e := s.Frame().Spawn(&body, ecs.Nobody)
	pos.Get(s.World(), e).X = 5 // out of the range: it is noted
	tick, run := foretick.Tick(1), &game.SystemRun{}
	l := game.NewLosses(&s.p.Facts, nil, s.World(), &tick, run, new(uint64), new(uint64))
	systems := len(s.p.Schedule.Systems())
	require.GreaterOrEqual(t, systems, 4)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		for system := range systems {
			l.BeforeSystem(run, system)
			l.AfterSystem(run, system)
		}
	}))
	require.NotEmpty(t, l.Before, "the value outside was seen")
}
