package server_test

import (
	"math"
	"slices"
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

// TestNetworkIDsComeAgain: a match that has spawned 2³² entities continues. Network ids are used again,
// except those still in use, and clients have the same entities as the server.
func TestNetworkIDsComeAgain(t *testing.T) {
	m := simtest.New(1)
	p, things, prefab := ofThings("ids")
	ids := map[uint32]ecs.Entity{}
	lived := p.Query(ecs.With(things))
	var oldest []ecs.Entity
	p.Server("turn over", func(f *foretick.ServerFrame, _ ecs.Rows) {
		for len(oldest) > 8 {
			f.Destroy(oldest[0])
			oldest = oldest[1:]
		}
		for range 3 {
			e := f.Spawn(prefab, ecs.Nobody)
			things.Get(f.World, e).N = f.Tick
			oldest = append(oldest, e)
		}
	}, ecs.Create(things), ecs.Structural())
	srv, err := m.Serve(server.Config{Protocol: p})
	require.NoError(t, err)
	for i := range uint32(100) { // they have the first ids, and stay
		things.Get(srv.World(), srv.Frame().Spawn(prefab, ecs.Nobody)).N = 1<<20 + i
	}
	srv.SpawnedBefore(math.MaxUint32 - 300)
	q, ours, _ := ofThings("ids")
	seen := q.Query(ecs.With(ours))
	c, err := m.Join(client.Config{Protocol: q}, simtest.Seat{Up: sim.LAN, Down: sim.LAN})
	require.NoError(t, err)
	values := func(w *ecs.World, query *ecs.Query, c *ecs.Component[thing]) (out []uint32) {
		for _, rows := range query.All(w) {
			for _, v := range c.Slice(rows) {
				out = append(out, v.N)
			}
		}
		slices.Sort(out)
		return out
	}
	highest := uint32(0)
	for at := 50 * time.Millisecond; at < 20*time.Second; at += 50 * time.Millisecond {
		m.Run(at)
		clear(ids)
		for _, rows := range lived.All(srv.World()) {
			for i := range rows.Len() {
				id := srv.NetworkID(rows.Entity(i))
				require.NotZero(t, id)
				require.Zero(t, ids[id], "one id, two entities")
				ids[id] = rows.Entity(i)
				highest = max(highest, id)
			}
		}
	}
	require.Equal(t, uint32(math.MaxUint32), highest, "they were used up")
	require.Less(t, srv.LastNetworkID(), uint32(1<<20), "and come again")
	require.Greater(t, srv.LastNetworkID(), uint32(100))
	require.Equal(t, client.Playing, c.View().State)
	require.Zero(t, c.Stats().Malformed)
	// The client has all entities that stay, and the server's other entities with some delay.
	theirs, mine := values(srv.World(), lived, things), values(c.View().World, seen, ours)
	require.Equal(t, theirs[len(theirs)-100:], mine[len(mine)-100:])
	require.InDelta(t, len(theirs), len(mine), 12)
	require.InDelta(t, theirs[0], mine[0], 30)
}
