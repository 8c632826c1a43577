package ship

import (
	"testing"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
)

// The corner of a square rock is hit, and a round one has none.
func TestSquareRocks(t *testing.T) {
	for _, square := range []bool{false, true} {
		g := &Game{Square: square}
		m := simtest.New(1)
		srv, err := m.Serve(server.Config{Protocol: g.Protocol()})
		if err != nil {
			t.Fatal(err)
		}
		rock := srv.Frame().Spawn(&g.Boulder, ecs.Nobody)
		*g.Place.Get(srv.World(), rock) = Place{X: 300, Y: 200}
		m.RunFor(time.Second)
		hits := map[float32]bool{}
		if err := srv.Do("look", func(f *foretick.ServerFrame) {
			at := g.Place.Get(f.World, rock)
			for _, x := range []float32{0, 0.9, 1.1} { // of half a rock, to the right of the middle
				_, hits[x] = f.Present().Only(rock).Raycast(lagcomp.Ray{X: at.X + x*RockSize/2, Y: at.Y + 0.9*RockSize/2, DY: -1, Range: 1})
			}
		}); err != nil {
			t.Fatal(err)
		}
		m.RunFor(time.Second)
		if !hits[0] || hits[0.9] != square || hits[1.1] {
			t.Errorf("square %v: %v", square, hits)
		}
	}
	simtest.SyncTest(t, func() simtest.Player {
		g := &Game{Square: true}
		return simtest.Player{Protocol: g.Protocol(), Sample: client.Sample(&g.Keys, script)}
	}, simtest.SyncConfig{})
}
