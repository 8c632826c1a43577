package simtest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// fuse counts down on a thrown ball.
type (
	fuse  struct{ Left uint8 }
	armed struct{}
	throw struct {
		X   float32 `net:"min=-1,max=1,step=0.0078125"`
		Now bool    `net:"oneshot"`
	}
)

// juggler is a game in which players throw balls ahead of the server, and the server makes
// and removes crates.
type juggler struct {
	pos   ecs.Component[position]
	fuse  ecs.Component[fuse]
	armed ecs.Component[armed]
	cmd   ecs.Component[throw]
	body  ecs.Prefab
	ball  ecs.Prefab
	crate ecs.Prefab
	balls *ecs.Query
	crats *ecs.Query
	arms  *ecs.Query

	deny bool // the server throws no balls, so those that clients predicted are cancelled
	told map[string]map[ecs.Entity]int
	up   map[string]map[ecs.Entity]bool
	bad  string
}

func (g *juggler) note(what string, appeared bool) func(*foretick.Frame, ecs.Entity) {
	g.told[what], g.up[what] = map[ecs.Entity]int{}, map[ecs.Entity]bool{}
	return func(f *foretick.Frame, e ecs.Entity) {
		if g.up[what][e] == appeared {
			g.bad = fmt.Sprint(what, " ", e, " twice in a row: appeared ", appeared)
		}
		if g.up[what][e] = appeared; appeared {
			g.told[what][e]++
			if !g.pos.Has(f.World, e) {
				g.bad = fmt.Sprint(what, " ", e, " has nothing yet")
			}
		}
	}
}

func (g *juggler) protocol() *foretick.Protocol {
	g.told, g.up = map[string]map[ecs.Entity]int{}, map[string]map[ecs.Entity]bool{}
	p := foretick.NewProtocol("juggler", 1)
	p.Component(&g.pos, foretick.Predicted())
	p.Component(&g.fuse, foretick.Predicted())
	p.Component(&g.armed)
	p.Command(&g.cmd)
	p.Prefab(&g.body, "body", &g.pos, &g.cmd)
	p.Prefab(&g.ball, "ball", &g.pos, &g.fuse)
	p.Prefab(&g.crate, "crate", &g.pos)
	p.Spawns(&g.ball, foretick.SpawnConfig{})
	for what, terms := range map[string][]ecs.Term{
		"all": nil, "ball": {foretick.OfPrefab(&g.ball)}, "crate": {foretick.OfPrefab(&g.crate)},
		"armed": {ecs.With(&g.armed)}, "safe crate": {foretick.OfPrefab(&g.crate), ecs.Without(&g.armed)},
	} {
		appear := g.note(what, true)
		p.OnAppear(appear, terms...)
		vanish := g.vanish(what)
		p.OnVanish(vanish, terms...)
	}
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.body, player) })
	p.Shared("walk", func(f *foretick.Frame, rows ecs.Rows) {
		pos, cmd := g.pos.Slice(rows), g.cmd.Slice(rows)
		for i := range pos {
			pos[i].X += cmd[i].X * f.DT
			if cmd[i].Now && !(g.deny && f.IsServer()) {
				e := f.SpawnBy(rows.Entity(i), &g.ball)
				g.fuse.Get(f.World, e).Left = 20
			}
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.pos), ecs.Create(&g.fuse, &g.pos))
	p.Shared("burn", func(f *foretick.Frame, rows ecs.Rows) {
		for i, fuse := 0, g.fuse.Slice(rows); i < len(fuse); i++ {
			if fuse[i].Left--; fuse[i].Left == 0 {
				f.Destroy(rows.Entity(i))
			}
		}
	}, ecs.Write(&g.fuse), ecs.Structural())
	g.balls = p.Query(ecs.With(&g.fuse))
	g.crats = p.Query(ecs.With(&g.pos), ecs.Without(&g.fuse, &g.cmd))
	g.arms = p.Query(ecs.With(&g.armed))
	return p
}

func (g *juggler) vanish(what string) func(*foretick.Frame, ecs.Entity) {
	return func(_ *foretick.Frame, e ecs.Entity) {
		if !g.up[what][e] {
			g.bad = fmt.Sprint(what, " ", e, " vanished and was not there")
		}
		g.up[what][e] = false
	}
}

// there counts the entities that have appeared and not vanished.
func (g *juggler) there(what string) (n int) {
	for _, up := range g.up[what] {
		if up {
			n++
		}
	}
	return n
}

func count(q *ecs.Query, w *ecs.World) (n int) {
	for _, rows := range q.All(w) {
		n += rows.Len()
	}
	return n
}

// Whether entities come and go by prediction, by the server or by visibility, OnAppear and
// OnVanish run once for each. In each frame the client's world has exactly those that appeared.
func TestAppearAndVanishOnceEach(t *testing.T) {
	for _, deny := range []bool{false, true} {
		for seed := range uint64(costtest.Count(1, 4)) {
			m := simtest.New(seed)
			truth := &juggler{deny: deny}
			srv, err := m.Serve(server.Config{Protocol: truth.protocol()})
			require.NoError(t, err)
			link := sim.Link{Latency: 60 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.05}
			var games []*juggler
			for range 2 {
				g := &juggler{}
				_, err := m.Join(client.Config{Protocol: g.protocol(), Sample: client.Sample(&g.cmd, func(v client.View) throw {
					return throw{X: float32(v.Tick%3)/2 - 0.5, Now: v.Tick%30 == 0 && m.Net.Now() < 12*time.Second}
				})}, simtest.Seat{Up: link, Down: link})
				require.NoError(t, err)
				games = append(games, g)
			}
			m.Run(2 * time.Second)
			var crates []ecs.Entity
			made, r := 0, m.Rand()
			for m.Net.Now() < 12*time.Second {
				f := srv.Frame()
				switch n := r.IntN(5); {
				case n == 0 || len(crates) == 0:
					crates = append(crates, f.Spawn(&truth.crate, ecs.Nobody))
					made++
				case n == 1 && len(crates) > 3:
					f.Destroy(crates[0])
					crates = crates[1:]
				case n == 2:
					f.SetVisible(foretick.PlayerID(1+r.IntN(2)), crates[r.IntN(len(crates))], r.IntN(2) == 0)
				case n == 3:
					truth.armed.Add(f.World, crates[r.IntN(len(crates))], armed{})
				case n == 4:
					truth.armed.Remove(f.World, crates[r.IntN(len(crates))])
				}
				m.Run(m.Net.Now() + time.Duration(r.IntN(200))*time.Millisecond)
				for i, c := range m.Clients(nil) {
					g := games[i]
					require.Equal(t, count(g.crats, c.View().World), g.there("crate"))
					require.Equal(t, count(g.balls, c.View().World), g.there("ball"))
					require.Equal(t, count(g.arms, c.View().World), g.there("armed"))
					require.Equal(t, c.View().World.Len(), g.there("all"))
				}
			}
			for player := range 2 {
				for _, e := range crates {
					srv.Frame().SetVisible(foretick.PlayerID(1+player), e, true)
				}
			}
			m.Run(15 * time.Second)
			for i, g := range games {
				require.Empty(t, g.bad)
				require.Equal(t, len(crates), g.there("crate"))
				require.Equal(t, count(truth.arms, srv.World()), g.there("armed"))
				require.Equal(t, g.there("crate"), g.there("safe crate")+g.there("armed"))
				require.Zero(t, g.there("ball"))
				require.Greater(t, len(g.told["crate"]), 10)
				st := m.Clients(nil)[i].Stats()
				if again := total(g.told["ball"]) - len(g.told["ball"]); !deny {
					require.Greater(t, len(g.told["ball"]), 12)
					require.LessOrEqual(t, again, int(st.Mispredictions), "only what a correction brought back appears again")
				} else {
					require.NotZero(t, st.SpawnsCancelled)
				}
			}
			require.NoError(t, m.Err())
		}
	}
}

func total(m map[ecs.Entity]int) (n int) {
	for _, k := range m {
		n += k
	}
	return n
}

// The entities of a level vanish with it.
func TestVanishWithTheLevel(t *testing.T) {
	m := simtest.New(1)
	truth, g := &juggler{}, &juggler{}
	srv, err := m.Serve(server.Config{Protocol: truth.protocol()})
	require.NoError(t, err)
	_, err = m.Join(client.Config{Protocol: g.protocol()}, simtest.Seat{Up: sim.Link{Latency: 40 * time.Millisecond}, Down: sim.Link{Latency: 40 * time.Millisecond}})
	require.NoError(t, err)
	for range 5 {
		srv.Frame().Spawn(&truth.crate, ecs.Nobody)
	}
	m.Run(2 * time.Second)
	require.Equal(t, 5, g.there("crate"))
	require.NoError(t, srv.NextLevel(nil, func(f *foretick.ServerFrame) { f.Spawn(&truth.crate, ecs.Nobody) }))
	m.Run(4 * time.Second)
	require.Equal(t, 1, g.there("crate"))
	require.Equal(t, 6, total(g.told["crate"]))
	require.Empty(t, g.bad)
}

// On a client without hooks for the entities that move nothing is called, and nothing is allocated.
func TestAppearAllocatesNothing(t *testing.T) {
	costtest.Allocations(t)
	m := simtest.New(1)
	truth, g := &juggler{}, &juggler{}
	srv, err := m.Serve(server.Config{Protocol: truth.protocol()})
	require.NoError(t, err)
	c, err := m.Join(client.Config{Protocol: g.protocol()}, simtest.Seat{})
	require.NoError(t, err)
	for range 50 {
		srv.Frame().Spawn(&truth.crate, ecs.Nobody)
	}
	m.Run(3 * time.Second)
	require.Equal(t, 50, g.there("crate"))
	now := m.Now()
	per := testing.AllocsPerRun(200, func() {
		now = now.Add(time.Millisecond)
		c.Step(now)
	})
	require.Less(t, per, 1.0)
}
