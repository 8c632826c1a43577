package foretick

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/transport/sim"
)

// Handles of entities that are gone are given back as fast as others are spawned.
func TestLateWorldReservedGrows(t *testing.T) {
	type atPos struct{ X float32 }
	type atCmd struct{ X float32 }
	var pos ecs.Component[atPos]
	var cmd ecs.Component[atCmd]
	var kind ecs.Prefab
	p := NewProtocol("handles", 1)
	p.Component(&pos)
	p.Command(&cmd)
	p.Prefab(&kind, "k", &pos)
	var old []ecs.Entity
	p.Server("spawn", func(f *Frame, _ ecs.Rows) {
		for _, e := range old {
			f.Destroy(e)
		}
		old = old[:0]
		for range 20 {
			old = append(old, f.Spawn(&kind, ecs.Nobody))
		}
	}, ecs.Once(), ecs.Structural(), ecs.Create(&pos))
	net := sim.NewNetwork(1)
	srv, err := NewServer(ServerConfig{Protocol: p, Transport: net.Listen(), LateInputs: 200 * time.Millisecond, LateWorld: true, Random: rand.NewChaCha8([32]byte{1})})
	require.NoError(t, err)
	epoch := time.Unix(1_700_000_000, 0)
	for i := range 3000 {
		net.Run(net.Now() + time.Second/30)
		srv.Step(epoch.Add(net.Now()))
		if i%600 == 599 {
			t.Log(srv.Tick(), len(srv.late.world.spawns.reserved), srv.sim.world.Len())
		}
	}
	require.Less(t, len(srv.late.world.spawns.reserved), 2000)
}

// A handle is not given back while a save holds its entity, also if it died before.
func TestLateWorldSweepTooEarly(t *testing.T) {
	type atPos struct{ X float32 }
	type atCmd struct{ X float32 }
	var pos ecs.Component[atPos]
	var cmd ecs.Component[atCmd]
	var kind ecs.Prefab
	p := NewProtocol("handles", 1)
	p.Component(&pos)
	p.Command(&cmd)
	p.Prefab(&kind, "k", &pos)
	var x ecs.Entity
	destroyAt := map[Tick]bool{}
	spawnAt := map[Tick]int{2: 320}
	p.Server("spawn", func(f *Frame, _ ecs.Rows) {
		for range spawnAt[f.Tick] {
			e := f.Spawn(&kind, ecs.Nobody)
			if x == 0 {
				x = e
			}
		}
		if destroyAt[f.Tick] {
			f.Destroy(x)
		}
	}, ecs.Once(), ecs.Structural(), ecs.Create(&pos))
	net := sim.NewNetwork(1)
	srv, err := NewServer(ServerConfig{Protocol: p, Transport: net.Listen(), LateInputs: 200 * time.Millisecond, LateWorld: true, Random: rand.NewChaCha8([32]byte{1})})
	require.NoError(t, err)
	epoch := time.Unix(1_700_000_000, 0)
	step := func() {
		was := srv.Tick()
		for srv.Tick() == was {
			net.Run(net.Now() + time.Second/120)
			srv.Step(epoch.Add(net.Now()))
		}
	}
	w := &srv.late.world
	gone := func() (Tick, bool) {
		for _, r := range w.spawns.reserved {
			if r.e == x {
				return r.gone, true
			}
		}
		return 0, false
	}
	for srv.Tick() < 60 || w.spawns.next%len(w.spawns.reserved) > 0 { // until the next look begins at x
		step()
	}
	d := srv.Tick() + 1
	destroyAt[d] = true
	step() // x dies, and is looked at
	g, ok := gone()
	t.Log("tick", srv.Tick(), "gone", g, ok, "reserved", len(w.spawns.reserved), "next", w.spawns.next)
	require.NotZero(t, g)
	destroyAt[d] = false
	w.from = d // a late command undoes that
	step()
	require.True(t, srv.sim.world.Alive(x))
	for w.spawns.next != 0 && w.spawns.next < len(w.spawns.reserved)-32 {
		step()
	}
	d2 := srv.Tick() + 1
	destroyAt[d2] = true // and it dies again
	for {
		step()
		if _, ok := gone(); !ok || srv.Tick() > d2+4 {
			break
		}
	}
	_, ok = gone()
	t.Log("died again in", d2, "tick", srv.Tick(), "still reserved", ok)
	spawnAt[srv.Tick()+1] = 1
	step()
	destroyAt[d2] = false
	w.from = d2 // a late command undoes that, too
	step()
	t.Log("alive", srv.sim.world.Alive(x), "len", srv.sim.world.Len())
	_, ok = gone()
	require.True(t, ok, "x lives, and its handle was given back")
}

// What is hidden from players is forgotten of entities that are gone, but not of one that a late
// input may bring back.
func TestLateSweepKeepsWhoMayComeBack(t *testing.T) {
	type atPos struct{ X float32 }
	type atCmd struct{ X float32 }
	var pos ecs.Component[atPos]
	var cmd ecs.Component[atCmd]
	p := NewProtocol("sweep", 1)
	p.Component(&pos)
	p.Command(&cmd)
	for _, late := range []time.Duration{0, 200 * time.Millisecond} {
		s, err := NewServer(ServerConfig{Protocol: p, Transport: sim.NewNetwork(1).Listen(), LateInputs: late})
		require.NoError(t, err)
		hides, last := map[ecs.Entity]bool{}, Tick(0)
		for i := range 40 {
			hides[1<<40+ecs.Entity(i)] = true // gone
		}
		at := func(tick Tick) int {
			s.sim.frame.Tick = tick
			sweep(&s.interest, hides, &last)
			return len(hides)
		}
		if late == 0 {
			require.Zero(t, at(100))
			continue
		}
		window := s.late.window
		require.Equal(t, 40, at(100))
		s.interest.appears(ecs.Entity(1<<40), 1) // one came back, and is gone again
		require.Equal(t, 40, at(101+window))
		require.Equal(t, 40, at(100+2*window), "swept not long ago")
		require.Equal(t, 1, at(101+3*window), "but for the one that is gone since")
		require.Contains(t, hides, ecs.Entity(1<<40))
	}
}
