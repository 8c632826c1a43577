package spawntest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

type doorTag struct{ N uint16 }

// TestReplacedIsDrawnWithoutAGap: a server replaces an entity by another in one tick, again and again, over links that
// lose its snapshots. On the screen there is one of them in each frame: never none, and never both.
func TestReplacedIsDrawnWithoutAGap(t *testing.T) {
	for _, rate := range []int{30, 10} {
		for _, link := range []sim.Link{
			{Latency: 50 * time.Millisecond},
			{Latency: 50 * time.Millisecond, Loss: 0.05},
			{Latency: 80 * time.Millisecond, Jitter: 40 * time.Millisecond, Loss: 0.2, Reorder: 0.05},
		} {
			t.Run(fmt.Sprintf("%d a second, %v loss", rate, link.Loss), func(t *testing.T) {
				none, both, seen := 0, 0, map[uint16]bool{}
				for seed := range uint64(3) {
					m := simtest.New(seed + 1)
					var tag, drawn ecs.Component[doorTag]
					_, err := m.Serve(server.Config{Protocol: newDoors(&tag).protocol, SnapshotRate: rate})
					require.NoError(t, err)
					theirs := newDoors(&drawn)
					c, err := m.Join(client.Config{Protocol: theirs.protocol}, simtest.Seat{Up: link, Down: link})
					require.NoError(t, err)
					m.Run(3 * time.Second)
					for m.Net.Now() < 33*time.Second {
						m.Run(m.Net.Now() + time.Second/60)
						k := 0
						for _, rows := range theirs.all.All(c.View().World) {
							for _, d := range drawn.Slice(rows) {
								k, seen[d.N] = k+1, true
							}
						}
						if k == 0 {
							none++
						} else if k > 1 {
							both++
						}
					}
				}
				t.Logf("%d replaced, %d frames without one, %d with two", len(seen), none, both)
				require.Greater(t, len(seen), 25)
				require.Zero(t, none)
				require.Zero(t, both)
			})
		}
	}
}

// doors is a game with a door, which the server replaces by another one now and then.
type doors struct {
	protocol *foretick.Protocol
	prefab   ecs.Prefab
	all      *ecs.Query
}

func newDoors(tag *ecs.Component[doorTag]) *doors {
	d, now, n := &doors{protocol: foretick.NewProtocol("doors", 1)}, ecs.None, uint16(0)
	d.protocol.Component(tag)
	d.protocol.Prefab(&d.prefab, "door", tag)
	d.all = d.protocol.Query(ecs.With(tag))
	d.protocol.Server("replace", func(f *foretick.ServerFrame, _ ecs.Rows) {
		if now == ecs.None || f.Tick%31 == 0 {
			f.Destroy(now)
			now, n = f.Spawn(&d.prefab, ecs.Nobody), n+1
			tag.Get(f.World, now).N = n
		}
	}, ecs.Once(), ecs.Create(tag), ecs.WriteOther(tag))
	return d
}
