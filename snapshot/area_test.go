package snapshot_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
	"github.com/stretchr/testify/require"
)

// TestArea holds views against the definition: near enters, far leaves, between
// stays; whatever the cells, and however many eyes.
func TestArea(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, cell := range []float32{0, 3, 40, 1000} {
		a, err := snapshot.NewArea(snapshot.AreaConfig{Enter: 30, Leave: 40, Cell: cell})
		require.NoError(t, err)
		v := a.NewView()
		at := make([][3]float32, 400)
		for i := range at {
			at[i] = [3]float32{r.Float32()*300 - 150, r.Float32()*300 - 150, r.Float32() * 10}
		}
		eyes := [][3]float32{{0, 0, 0}, {90, 90, 5}}
		in := map[snapshot.NetID]bool{}
		entered, left := 0, 0
		for tick := schema.Tick(1); tick < 60; tick++ {
			a.Begin()
			for i := range at {
				at[i][0] += r.Float32()*8 - 4
				a.Put(snapshot.NetID(i+1), at[i][0], at[i][1], at[i][2], i%50 == 0)
			}
			a.Put(998, float32(math.NaN()), 0, 0, false)
			a.Put(999, float32(math.Inf(1)), 0, 0, false)
			eyes[0][0] += 2
			last := snapshot.NetID(0)
			was := map[snapshot.NetID]bool{}
			for id := range in {
				was[id] = true
			}
			v.Look(eyes, func(id snapshot.NetID) snapshot.Relevance {
				return []snapshot.Relevance{snapshot.Always, snapshot.Never}[id%4/2]
			}, func(id snapshot.NetID, relevant bool) {
				require.NotEqual(t, in[id], relevant)
				if relevant {
					entered++
					require.Greater(t, id, last, "in their order")
					last = id
					in[id] = true
				} else {
					left++
					delete(in, id)
				}
			})
			for i := range at {
				id := snapshot.NetID(i + 1)
				d := math.Inf(1)
				for _, e := range eyes {
					d = min(d, math.Sqrt(float64((at[i][0]-e[0])*(at[i][0]-e[0])+(at[i][1]-e[1])*(at[i][1]-e[1])+(at[i][2]-e[2])*(at[i][2]-e[2]))))
				}
				want := d <= 30 || d <= 40 && was[id]
				if i%50 == 0 {
					want = id%4/2 == 0
				}
				if math.Abs(d-30) > 1e-3 && math.Abs(d-40) > 1e-3 {
					require.Equal(t, want, in[id], "entity %d at %g", id, d)
				}
				ok := v.Has(id)
				require.Equal(t, in[id], ok)
				if p := v.Priority(id); ok && i%50 != 0 {
					require.InDelta(t, 1+15*(1-d/40), p, 1.001)
				} else if !ok {
					require.Equal(t, 1, p)
				}
			}
			require.NotContains(t, in, snapshot.NetID(998))
		}
		require.Greater(t, entered, 25)
		require.Greater(t, left, 10)
	}
	for _, cfg := range []snapshot.AreaConfig{{}, {Enter: -1}, {Enter: 2, Leave: 1}, {Enter: float32(math.Inf(1))}, {Enter: 10, Cell: 0.01}} {
		_, err := snapshot.NewArea(cfg)
		require.Error(t, err)
	}
}

// TestRelevant: what does not matter is not sent, what is owned always is, and wire
// ids follow network ids.
func TestRelevant(t *testing.T) {
	p := newPlay(t, 1)
	p.sender = p.src.NewSender(1, snapshot.SenderConfig{Relevant: true})
	p.sender.SetRelevant(4, true) // before it is put
	p.add(1, 0)
	b := p.add(2, 1)
	p.add(3, 0)
	p.add(4, 0)
	p.pass(2)
	_, known := p.sender.Known(1)
	require.False(t, known)
	require.Equal(t, []schema.WireID{1, 2}, []schema.WireID{p.wire(2), p.wire(4)})
	p.sender.SetRelevant(3, true)
	p.sender.SetRelevant(1, true)
	p.pass(1)
	require.Equal(t, []schema.WireID{3, 4}, []schema.WireID{p.wire(1), p.wire(3)}, "in the order of network ids")
	p.sender.SetVisible(3, false)
	p.sender.SetRelevant(4, false)
	c := p.pass(1)
	require.Len(t, c, 2)
	require.Equal(t, []snapshot.What{snapshot.Hidden, snapshot.Hidden}, []snapshot.What{c[0].What, c[1].What})
	b.owner = 0 // given away: it mattered for being his
	c = p.pass(1)
	require.Equal(t, snapshot.Hidden, c[0].What)
	b.owner = 1
	c = p.pass(1)
	require.Equal(t, snapshot.Spawned, c[0].What)
}

// TestLookAllocatesNothing: ticks in which everything moves, and much comes near and
// goes, from filling the area to a snapshot of what is relevant.
func TestLookAllocatesNothing(t *testing.T) {
	costtest.Allocations(t)
	area, err := snapshot.NewArea(snapshot.AreaConfig{Enter: 60, Leave: 70})
	require.NoError(t, err)
	view := area.NewView()
	c := newCrowd(t, 600, 0, snapshot.SenderConfig{Relevant: true, Priority: view.Priority})
	ask := func(id snapshot.NetID) snapshot.Relevance {
		return []snapshot.Relevance{snapshot.Always, snapshot.Never, snapshot.ByDistance}[(id/50+snapshot.NetID(c.tick)/8)%3]
	}
	entered, left := 0, 0
	set := func(id snapshot.NetID, relevant bool) {
		if c.sender.SetRelevant(id, relevant); relevant {
			entered++
		} else {
			left++
		}
	}
	eyes := make([][3]float32, 2)
	turn := func() {
		a := float64(c.tick) / 20
		eyes[0] = [3]float32{float32(150 + 100*math.Cos(a)), float32(20 * math.Sin(a)), 0}
		eyes[1] = [3]float32{float32(150 - 100*math.Cos(a)), 0, 0}
		area.Begin()
		for i, b := range c.boxes {
			area.Put(snapshot.NetID(i+1), b.X, b.Y, b.Z, i%50 == 0)
		}
		view.Look(eyes, ask, set)
		c.step(1100, 3)
		for _, ch := range c.recv.Changes() {
			if ch.What == snapshot.Hidden {
				c.recv.Release(ch.Ghost)
			}
		}
	}
	for range 1000 {
		turn()
	}
	entered, left = 0, 0
	allocs := testing.AllocsPerRun(200, turn)
	require.Less(t, allocs, 0.5) // maps may be put in order now and then
	require.Greater(t, entered, 500)
	require.Greater(t, left, 500)
	t.Logf("%d came near and %d went, %.2f allocations a tick", entered, left, allocs)
}
