package simtest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// Check names a server system that moves predicted bodies in each tick, and the field. The same
// system is no fault as a shared one, or if it moves the bodies only now and then.
func TestCheckNamesTheServerSystemThatMovesPredictedBodies(t *testing.T) {
	for name, row := range map[string]struct {
		every  foretick.Tick
		link   sim.Link
		shared bool
		faulty bool
	}{
		"each tick":              {every: 1, link: sim.WiFi, faulty: true},
		"each tick, bad network": {every: 1, link: sim.Hell, faulty: true},
		"each second":            {every: 60, link: sim.WiFi},
		"each tick, but shared":  {every: 1, link: sim.WiFi, shared: true},
	} {
		t.Run(name, func(t *testing.T) {
			plan := simtest.Plan{Clients: 2, Play: 10 * time.Second, Rest: -1, Links: []sim.Link{row.link}, SyncTest: -1, New: func() simtest.Player {
				return (&planted{}).End(func(g *planted, p *foretick.Protocol) {
					declare := func(name string, run func(*foretick.Frame, ecs.Rows), access ...ecs.Access) {
						p.Server(name, func(f *foretick.ServerFrame, rows ecs.Rows) { run(f.Frame, rows) }, access...)
					}
					if row.shared {
						declare = p.Shared
					}
					declare("drift", func(f *foretick.Frame, rows ecs.Rows) {
						for i, pos := 0, g.Pos.Slice(rows); f.Tick%row.every == 0 && i < len(pos); i++ {
							if pos[i].Y += 0.25; pos[i].Y > 20 {
								pos[i].Y -= 40
							}
						}
					}, ecs.Write(&g.Pos), ecs.After("move"))
				})
			}}
			_, err := plan.Run(1)
			if !row.faulty {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, `because "drift", which only the server runs, wrote position.Y, which clients predict`)
			require.ErrorContains(t, err, "do that in a shared system")
			require.ErrorContains(t, err, "declare position without foretick.Predicted")
		})
	}
}
