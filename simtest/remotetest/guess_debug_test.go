//go:build foretick_debug

package remotetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// A debug build reports a guess that writes predicted state.
func TestGuessThatWrites(t *testing.T) {
	d := newDerby(t, 9, 2, both(sim.Link{Latency: 40 * time.Millisecond}), func(g *bumpers) {
		g.guess = func(f *foretick.Frame, e ecs.Entity, _ int, _ *ride) { g.pedal.Get(f.World, e).X = 1 }
	}, func(*simtest.Match, foretick.PlayerID, client.View, chassis) ride { return ride{} }, nil)
	defer func() {
		require.ErrorContains(t, recover().(error), "the function given to PredictRemote wrote pedals")
	}()
	d.m.Run(4 * time.Second)
	t.Fatal("nobody minded")
}
