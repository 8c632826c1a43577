package simtest_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport/sim"
)

// wares is a component in which each field loses values, or seems to.
type wares struct {
	Speed  float32 `net:"min=-100,max=100,step=1,sim=1"`
	Regen  float32 `net:"min=0,max=1000,step=1,sim=1"`
	Spread float32 `net:"angle,bits=8"`
	Near   float32 `net:"min=-100,max=100,step=0.01"`
	Noise  float32 `net:"min=-1000,max=1000,step=0.01"`
	Shiver float32 `net:"min=-100,max=100,step=1,sim=1"`
	Rest   float32 `net:"min=-100,max=100,step=0.5"`
	Edge   float32 `net:"min=-1,max=1,step=0.01"`
	Ammo   uint8   `net:"max=30"`
	Shots  [2]int16
	Wall   float32 `net:"min=-100,max=100,step=0.01"` // moves against a wall, pushes, and moves back
	Crawl  float32 `net:"min=-100,max=100,step=0.01"` // moves against a wall slowly
	Height float32 `net:"min=-100,max=100,step=0.01"` // falls to the ground, and jumps
	Slide  float32 `net:"min=-100,max=100,step=0.01"` // slows down by friction
	Skid   float32 `net:"min=-100,max=100,step=0.01"` // slows down by strong friction
}

type wallet struct {
	Gold int32 `net:"min=0,max=50"`
	Luck float32
}

// losing is a game whose tags lose values if faults is set.
type losing struct {
	wares  ecs.Component[wares]
	wallet ecs.Component[wallet]
	player ecs.Prefab
	faults bool
}

func (g *losing) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("losing", 1)
	p.Component(&g.wares, foretick.Predicted())
	p.Component(&g.wallet)
	p.Prefab(&g.player, "player", &g.wares, &g.wallet)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		w := g.wares.Get(f.World, f.Spawn(&g.player, player))
		w.Speed, w.Near, w.Noise, w.Rest, w.Ammo, w.Height = 60, 50, 777.77, 3, 30, 4
	})
	each := func(fn func(f *foretick.Frame, w *wares)) func(*foretick.Frame, ecs.Rows) {
		return func(f *foretick.Frame, rows ecs.Rows) {
			for i := range rows.Len() {
				fn(f, &g.wares.Slice(rows)[i])
			}
		}
	}
	p.Shared("sound", each(func(f *foretick.Frame, w *wares) {
		w.Near += 5 * f.DT * float32(math.Cos(float64(f.Tick)/30))                        // moves
		w.Noise = float32(math.Sqrt(float64(w.Noise*0.1)*float64(w.Noise*0.1)) * 10.0000) // the same, except for the float's own rounding
		w.Shiver += 0.3 * float32(1-2*int(f.Tick/16%2))                                   // moves back and forth
		w.Edge = float32(math.Sin(float64(f.Tick) / 10))                                  // reaches both ends of its range
		w.Shots[0]++
		run := float32(1)
		switch f.Tick / 100 % 4 {
		case 1:
			run = 0
		case 3:
			run = -1
		}
		w.Wall = max(min(w.Wall+run*5*f.DT, 7.33345), -3.11167)
		w.Crawl = max(min(w.Crawl+run*0.45*f.DT, 0.73345), -0.51167)
		if w.Height -= 3 * f.DT; w.Height < 1.2345 {
			w.Height = 1.2345
		}
		if f.Tick%150 == 0 {
			w.Height += 2
		}
	}), ecs.Write(&g.wares))
	p.Shared("brake", each(func(f *foretick.Frame, w *wares) {
		if g.faults {
			w.Speed *= 0.99
			w.Slide *= 0.92
			w.Skid *= 0.8
			if f.Tick%120 == 0 {
				w.Slide, w.Skid = 2, 40
			}
		}
	}), ecs.Write(&g.wares))
	p.Shared("heal", each(func(f *foretick.Frame, w *wares) {
		if g.faults {
			w.Regen += 3 * f.DT
			w.Spread += 0.0005
		}
	}), ecs.Write(&g.wares))
	p.Shared("reload", each(func(f *foretick.Frame, w *wares) {
		if g.faults {
			w.Ammo++
		}
	}), ecs.Write(&g.wares))
	p.Server("pay", func(f *foretick.ServerFrame, rows ecs.Rows) {
		for i := range rows.Len() {
			if w := &g.wallet.Slice(rows)[i]; g.faults {
				w.Gold, w.Luck = 60, float32(math.NaN())
			} else {
				w.Gold = 50
			}
		}
	}, ecs.Write(&g.wallet))
	return p
}

// lossesOf plays for a while and returns what both ends found.
func lossesOf(t *testing.T, faults bool, d time.Duration) (truth, cl []stats.Loss, st stats.Counters, ct stats.Client) {
	t.Helper()
	m := simtest.New(1)
	srv, err := m.Serve(server.Config{Protocol: (&losing{faults: faults}).protocol()})
	require.NoError(t, err)
	link := sim.Link{Latency: 50 * time.Millisecond, Jitter: 10 * time.Millisecond, Loss: 0.05}
	c, err := m.Join(client.Config{Protocol: (&losing{faults: faults}).protocol()}, simtest.Seat{Up: link, Down: link})
	require.NoError(t, err)
	m.Run(d)
	require.Equal(t, client.Playing, c.View().State)
	return srv.Losses(nil), c.Losses(nil), srv.Stats(), c.Stats()
}

// Values that leave their range, and changes that the grid undoes, are counted and
// named; a debug build also names the system.
func TestLosses(t *testing.T) {
	srv, cl, st, ct := lossesOf(t, true, 10*time.Second)
	type field struct{ component, field, system string }
	system := func(s string) string {
		if debugging {
			return s
		}
		return ""
	}
	found := func(list []stats.Loss) (outside, swallowed map[field]uint64) {
		outside, swallowed = map[field]uint64{}, map[field]uint64{}
		for _, l := range list {
			k := field{l.Component, l.Field, l.System}
			if l.Outside > 0 {
				outside[k] = l.Outside
			}
			if l.Swallowed > 0 {
				swallowed[k] = l.Swallowed
			}
		}
		return outside, swallowed
	}
	total := func(m map[field]uint64) (n uint64) {
		for _, k := range m {
			n += k
		}
		return n
	}
	ammo, gold, luck := field{"wares", "Ammo", system("reload")}, field{"wallet", "Gold", system("pay")}, field{"wallet", "Luck", system("pay")}
	speed, regen, spread := field{"wares", "Speed", system("brake")}, field{"wares", "Regen", system("heal")}, field{"wares", "Spread", system("heal")}
	slide, skid := field{"wares", "Slide", system("brake")}, field{"wares", "Skid", system("brake")}

	outside, swallowed := found(srv)
	t.Logf("server: outside %v, swallowed %v", outside, swallowed)
	require.Len(t, outside, 3)
	require.Greater(t, outside[ammo], uint64(250), "once a tick")
	require.Greater(t, outside[gold], uint64(250), "once a tick")
	require.Equal(t, outside[gold], outside[luck])
	require.Equal(t, total(outside), st.ValuesOutside+outside[luck], "two fields of one component")
	require.Len(t, swallowed, 5)
	for _, k := range []field{speed, regen, spread} {
		require.InDelta(t, 300/16, float64(swallowed[k]), 6, "%v", k)
	}
	for _, k := range []field{slide, skid} {
		require.NotZero(t, swallowed[k], "%v", k)
	}
	require.Equal(t, total(swallowed), st.ChangesSwallowed)

	outside, swallowed = found(cl)
	t.Logf("client: outside %v, swallowed %v", outside, swallowed)
	require.Len(t, outside, 1, "what is predicted")
	require.Greater(t, outside[ammo], uint64(200))
	require.Equal(t, total(outside), ct.ValuesOutside)
	require.Len(t, swallowed, 5)
	for _, k := range []field{speed, regen, spread} {
		require.InDelta(t, 300/16, float64(swallowed[k]), 8, "%v", k)
	}
	require.Equal(t, total(swallowed), ct.ChangesSwallowed)
}

// Values that rest, move, shiver, touch the end of their range, or differ by a float's own
// rounding lose nothing.
func TestNothingLost(t *testing.T) {
	srv, cl, st, ct := lossesOf(t, false, time.Minute)
	require.Empty(t, srv)
	require.Empty(t, cl)
	require.Zero(t, st.ValuesOutside+st.ChangesSwallowed+ct.ValuesOutside+ct.ChangesSwallowed)
}
