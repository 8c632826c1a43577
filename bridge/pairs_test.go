package bridge_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/bridge"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// TestOrder: systems get their entities in the order of ids, on both ends.
func TestOrder(t *testing.T) {
	checked := [2]int{} // number of checks on the client, and on the server
	protocol := func(g *Game) *foretick.Protocol {
		p := g.declare()
		b := bound(g)
		bridge.Convert(b, &g.ID, func(t *thing, v *ID) { t.id = v.N }, func(t *thing, v *ID) { v.N = t.id })
		bridge.Order(b, &g.ID, func(v *ID) uint64 { return uint64(v.N) })
		b.System(p, "look", func(f *foretick.Frame, active []*thing) {
			require.True(t, slices.IsSortedFunc(active, func(a, b *thing) int { return int(a.id) - int(b.id) }))
			if len(active) > 5 {
				end := 0
				if f.IsServer() {
					end = 1
				}
				checked[end]++
			}
		}, ecs.Read(&g.ID), ecs.WriteOther(&g.Body))
		return p
	}
	m, srv, g := simtest.New(1), &Game{}, &Game{}
	s, err := m.Serve(server.Config{Protocol: protocol(srv)})
	require.NoError(t, err)
	for n := range uint32(6) {
		srv.ID.Get(s.World(), s.Frame().Spawn(&srv.Crate, ecs.Nobody)).N = 100 - n
	}
	p := protocol(g)
	_, err = m.Join(client.Config{Protocol: p, Sample: client.Sample(&g.Stick, wander(1))}, simtest.Seat{})
	require.NoError(t, err)
	m.Run(3 * time.Second)
	require.NoError(t, m.Err())
	require.NotZero(t, checked[0]*checked[1])
}

// TestReplayOfAnotherPrefab: a client predicts a shell, and the replay spawns a crate with the same
// handle instead. Every own entity has the prefab of its entity, at once and later.
func TestReplayOfAnotherPrefab(t *testing.T) {
	seen := map[string]int{}
	protocol := func(g *Game) *foretick.Protocol {
		p := g.declare()
		p.Spawns(&g.Crate, foretick.SpawnConfig{})
		b := bridge.New(func(prefab string) *thing { return &thing{prefab: prefab} }, func(*thing) {})
		bridge.Component(b, &g.Body, bodyOf)
		bridge.Component(b, &g.Gun, gunOf)
		check := func(f *foretick.Frame, own *thing) {
			require.Equal(t, f.PrefabOf(b.Entity(own)).Name(), own.prefab)
			seen[own.prefab]++
		}
		b.System(p, "fire", func(f *foretick.Frame, active []*thing) {
			for _, own := range active {
				k := &g.Shell
				if own.gun.Wait > 0 {
					k = &g.Crate
				}
				spawned, ok := b.Own(f, f.SpawnBy(b.Entity(own), k))
				require.True(t, ok)
				check(f, spawned)
			}
		}, ecs.Write(&g.Gun), ecs.Create(&g.Body, &g.ID, &g.Fuse))
		b.System(p, "look", func(f *foretick.Frame, active []*thing) {
			for _, own := range active {
				check(f, own)
				if own.prefab != "tank" && f.Tick%5 == 4 {
					f.Destroy(b.Entity(own))
				}
			}
		}, ecs.Write(&g.Body), ecs.Structural(), ecs.After("fire"))
		p.Server("swap", func(f *foretick.ServerFrame, rows ecs.Rows) {
			for i := range g.Gun.Slice(rows) {
				g.Gun.Slice(rows)[i].Wait = uint8(f.Tick / 17 % 2)
			}
		}, ecs.Write(&g.Gun), ecs.After("look"))
		return p
	}
	m, srv, g := simtest.New(1), &Game{}, &Game{}
	_, err := m.Serve(server.Config{Protocol: protocol(srv)})
	require.NoError(t, err)
	p := protocol(g)
	link := sim.Link{Latency: 50 * time.Millisecond}
	c, err := m.Join(client.Config{Protocol: p, Sample: client.Sample(&g.Stick, wander(1))}, simtest.Seat{Up: link, Down: link})
	require.NoError(t, err)
	m.Run(6 * time.Second)
	require.NoError(t, m.Err())
	require.Positive(t, c.Stats().Resimulated)
	require.NotZero(t, seen["tank"]*seen["shell"]*seen["crate"])
}
