package simtest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// cargo is the content of a sliding crate, different in each tick.
type (
	cargo struct {
		X     float32  `net:"min=-64,max=64,step=0.01,lerp"`
		Marks []uint16 `net:"max=4"`
		Name  string   `net:"max=16"`
		Key   uint8    `net:"owner"`
	}
	hook struct {
		Pull bool `net:"oneshot"`
	}
	berth struct{ N uint8 }
)

type harbour struct {
	cargo  ecs.Component[cargo]
	berth  ecs.Component[berth]
	cmd    ecs.Component[hook]
	crate  ecs.Prefab
	docker ecs.Prefab // its hitbox is of another component
	mine   ecs.Entity
	judge  func(f *foretick.Frame, rows ecs.Rows)
}

func (g *harbour) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("harbour", 1)
	p.Component(&g.cargo)
	p.Component(&g.berth)
	p.Command(&g.cmd)
	p.Prefab(&g.crate, "crate", &g.cargo, &g.berth)
	p.Prefab(&g.docker, "docker", &g.cmd, &g.berth)
	foretick.Hitbox(p, &g.berth, func(b *berth) lagcomp.Sphere { return lagcomp.Sphere{X: float32(b.N), R: 1} })
	foretick.TrackHistory(p, &g.cargo)
	foretick.TrackHistory(p, &g.berth)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { g.mine = f.Spawn(&g.docker, player) })
	p.Server("load", func(f *foretick.ServerFrame, rows ecs.Rows) {
		at, n := g.cargo.Slice(rows), g.berth.Slice(rows)
		for i := range at {
			t := uint16(f.Tick)
			at[i] = cargo{
				X: float32(f.Tick%100) / 4, Marks: make([]uint16, 0, 4), Name: fmt.Sprintf("%d of %d", n[i].N, t), Key: 7,
			}
			for k := range 1 + (f.Tick+uint32(n[i].N))%4 {
				at[i].Marks = append(at[i].Marks, t+uint16(k)*1000+uint16(n[i].N)*100)
			}
		}
	}, ecs.Write(&g.cargo), ecs.Read(&g.berth))
	p.Server("judge", func(f *foretick.ServerFrame, rows ecs.Rows) {
		if g.judge != nil {
			g.judge(f.Frame, rows)
		}
	}, ecs.Read(&g.cargo, &g.berth), ecs.After("load"))
	return p
}

// A recorded component is returned whole: its strings and slices are those of the
// requested tick, whatever was recorded since, and fields that others do not
// receive are absent.
func TestRememberedStringsAndSlices(t *testing.T) {
	m := simtest.New(4)
	truth := &harbour{}
	srv, err := m.Serve(server.Config{Protocol: truth.protocol()})
	require.NoError(t, err)
	for n := range 3 {
		truth.berth.Get(srv.World(), srv.Frame().Spawn(&truth.crate, ecs.Nobody)).N = uint8(n)
	}
	g, past, between := &harbour{}, 0, 0
	truth.judge = func(f *foretick.Frame, rows ecs.Rows) {
		if f.Tick < 100 {
			return
		}
		kept := map[uint8]cargo{}
		seen := f.Rewind(1)
		for i := range rows.Len() {
			at, ok := foretick.ComponentAt(seen, &truth.cargo, rows.Entity(i))
			require.True(t, ok)
			n, ok := foretick.ComponentAt(seen, &truth.berth, rows.Entity(i))
			require.True(t, ok)
			kept[n.N] = at
		}
		require.Len(t, kept, 3)
		used := seen.Used.Tick
		for n, at := range kept { // compared only after all were requested
			require.Equal(t, fmt.Sprintf("%d of %d", n, used), at.Name)
			require.Len(t, at.Marks, int(1+(used+uint32(n))%4))
			for k, mark := range at.Marks {
				require.Equal(t, uint16(used)+uint16(k)*1000+uint16(n)*100, mark)
			}
			require.Zero(t, at.Key)
			if from, to := float32(used%100)/4, float32((used+1)%100)/4; to > from {
				require.InDelta(t, from+(to-from)*seen.Used.Fraction, at.X, 0.005)
			}
		}
		if past++; seen.Used.Fraction > 0 {
			between++
		}
		require.Less(t, used+4, f.Tick)
	}
	link := sim.Link{Latency: 60 * time.Millisecond, Jitter: 15 * time.Millisecond}
	sample := client.Sample(&g.cmd, func(client.View) hook { return hook{} })
	_, err = m.Join(client.Config{Protocol: g.protocol(), Sample: sample}, simtest.Seat{Up: link, Down: link})
	require.NoError(t, err)
	m.Run(7 * time.Second)
	require.Greater(t, past, 80)
	require.Greater(t, between, 20)
}

// A player's own body in the past does not block the player's shot.
func TestOwnBodyIsLeftOut(t *testing.T) {
	m := simtest.New(5)
	truth, g, asked := &harbour{}, &harbour{}, 0
	srv, err := m.Serve(server.Config{Protocol: truth.protocol()})
	require.NoError(t, err)
	truth.berth.Get(srv.World(), srv.Frame().Spawn(&truth.crate, ecs.Nobody)).N = 8
	truth.judge = func(f *foretick.Frame, rows ecs.Rows) {
		if f.Tick < 100 {
			return
		}
		asked++
		for _, seen := range []foretick.HitView{f.Rewind(1), f.RewindBehind(1, 2)} {
			_, ok := f.Present().Hitbox(truth.mine, 0)
			require.True(t, ok, "the body is there")
			_, ok = seen.Hitbox(truth.mine, 0)
			require.False(t, ok, "and the player's own view leaves it out")
			_, ok = foretick.ComponentAt(seen, &truth.berth, rows.Entity(0))
			require.True(t, ok)
			hit, ok := seen.Raycast(lagcomp.Ray2D(-5, 0, 0, 60))
			require.True(t, ok)
			require.Equal(t, rows.Entity(0), hit.Entity, "through himself")
		}
	}
	link := sim.Link{Latency: 60 * time.Millisecond}
	sample := client.Sample(&g.cmd, func(client.View) hook { return hook{} })
	_, err = m.Join(client.Config{Protocol: g.protocol(), Sample: sample}, simtest.Seat{Up: link, Down: link})
	require.NoError(t, err)
	m.Run(5 * time.Second)
	require.Greater(t, asked, 30)
}
