package simtest_test

import (
	"crypto/sha256"
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

// purse is a component that only its owner may see.
type purse struct {
	Gold int32 `net:"max=1000000,owner"`
	Hat  uint8 `net:"max=9"`
}

// received hashes the packets to one endpoint.
type received struct {
	by    map[int][]byte
	bytes map[int]int
}

func (r *received) Packet(_ *simtest.Match, _, to int, b []byte) error {
	sum := sha256.Sum256(append(r.by[to], b...))
	r.by[to] = sum[:]
	r.bytes[to] += len(b)
	return nil
}
func (r *received) Tick(*simtest.Match) error             { return nil }
func (r *received) Worked(*simtest.Match) (string, error) { return "received", nil }

// TestTwoWorldsOnTheWire: two matches that differ only in state that a player may not
// see send that player the same bytes. Such state is another's private fields, entities
// that are hidden from the start, and entities that come and go out of sight.
func TestTwoWorldsOnTheWire(t *testing.T) {
	play := func(secret int32, seen bool) map[int][]byte {
		m := simtest.New(51)
		g := &mill{}
		var owned ecs.Component[purse]
		extra := func(purses *ecs.Component[purse], run func(*foretick.ServerFrame)) func(*foretick.Protocol) {
			return func(p *foretick.Protocol) {
				p.Component(purses)
				p.Server("secrets", func(f *foretick.ServerFrame, _ ecs.Rows) { run(f) }, ecs.Once(), ecs.WriteOther(purses), ecs.Create(purses))
			}
		}
		var treasure ecs.Prefab
		var hidden []ecs.Entity
		prefabs := func(purses *ecs.Component[purse], k *ecs.Prefab) func(*foretick.Protocol) {
			return func(p *foretick.Protocol) { p.Prefab(k, "treasure", purses) }
		}
		protocol := g.protocol(extra(&owned, func(f *foretick.ServerFrame) {
			if f.Tick == 60 { // spawns an entity for the first player, whose hat all may see
				e := f.Spawn(&treasure, 1)
				*owned.Get(f.World, e) = purse{Gold: 5, Hat: 3}
				hidden = append(hidden, e)
			}
			if len(hidden) == 0 {
				return
			}
			owned.Get(f.World, hidden[0]).Gold = secret * int32(f.Tick%7)
			if secret > 1 && f.Tick%5 == 0 && f.Tick > 60 {
				e := f.Spawn(&treasure, ecs.Nobody)
				f.SetVisible(2, e, seen)
				if hidden = append(hidden, e); len(hidden) > 4 {
					f.Destroy(hidden[1])
					hidden = append(hidden[:1], hidden[2:]...)
				}
			}
		}), prefabs(&owned, &treasure))
		_, err := m.Serve(server.Config{Protocol: protocol})
		require.NoError(t, err)
		r := &received{by: map[int][]byte{}, bytes: map[int]int{}}
		m.Watch(r)
		for range 2 {
			cg := &mill{}
			var cp ecs.Component[purse]
			var ck ecs.Prefab
			_, err := m.Join(client.Config{
				Protocol: cg.protocol(extra(&cp, func(*foretick.ServerFrame) {}), prefabs(&cp, &ck)),
				Sample:   client.Sample(&cg.cmd, func(client.View) lever { return lever{Pull: 1} }),
			}, simtest.Seat{Up: sim.Link{Latency: 20 * time.Millisecond}, Down: sim.Link{Latency: 20 * time.Millisecond}})
			require.NoError(t, err)
			m.Run(m.Net.Now() + 500*time.Millisecond)
		}
		m.Run(10 * time.Second)
		require.NoError(t, m.Err())
		require.Greater(t, r.bytes[2], 5000)
		return r.by
	}
	one, other := play(1, false), play(9000, false)
	require.Equal(t, one[2], other[2], "the second player's packets tell of the first one's secrets")
	require.NotEqual(t, one[1], other[1], "the first one is sent his own")
	require.NotEqual(t, one[2], play(9000, true)[2], "what is not hidden is sent")
}
