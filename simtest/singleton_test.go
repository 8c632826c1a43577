package simtest_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// tally, countdown and hidden are singletons: server systems write tally, clients predict
// countdown, and only referees receive hidden.
type (
	scores struct {
		Red, Blue uint16
		Round     string `net:"max=12"`
	}
	countdown struct {
		Left  uint16
		Kicks uint16
		Sun   float32 `net:"min=0,max=10000,step=0.01,lerp"`
	}
	hidden struct {
		Seed   uint32 `net:"to=referees"`
		Public uint8
	}
)

// rounds is the walking game with a state of the match.
type rounds struct {
	game
	scores   ecs.Singleton[scores]
	count    ecs.Singleton[countdown]
	hidden   ecs.Singleton[hidden]
	referees schema.Audience

	crates ecs.Prefab
	shots  []scores // the state in rendered frames
	suns   []float32
	resets int // how often a server system sets the countdown
}

func (g *rounds) protocol() *foretick.Protocol {
	p := g.game.protocol()
	g.referees = p.Audience("referees")
	p.Singleton(&g.scores)
	p.Singleton(&g.count, foretick.Predicted())
	p.Singleton(&g.hidden)
	p.Prefab(&g.crates, "crate", &g.pos)
	p.Server("score", func(f *foretick.ServerFrame, _ ecs.Rows) {
		s := g.scores.Get(f.World)
		s.Red, s.Blue = uint16(f.Tick), uint16(2*f.Tick)
		s.Round = fmt.Sprint("round ", f.Tick/30)
		*g.hidden.Get(f.World) = hidden{Seed: f.Tick, Public: 7}
	}, ecs.Once(), ecs.Write(&g.scores, &g.hidden))
	p.Server("reset", func(f *foretick.ServerFrame, _ ecs.Rows) {
		if g.resets > 0 {
			g.resets--
			g.count.Get(f.World).Left = 9999
		}
	}, ecs.Once(), ecs.Write(&g.count))
	p.Shared("count", func(f *foretick.Frame, _ ecs.Rows) {
		if c := g.count.Get(f.World); c.Left > 0 {
			c.Left--
		} else {
			c.Left = 600
		}
		g.count.Get(f.World).Sun += 0.5
	}, ecs.Once(), ecs.Write(&g.count))
	p.Shared("kick", func(f *foretick.Frame, rows ecs.Rows) { // one player's command changes the state for all
		for _, cmd := range g.cmd.Slice(rows) {
			if cmd.Y > 0.9 {
				g.count.Get(f.World).Kicks++
			}
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.count), ecs.After("count"))
	p.Server("judge", func(*foretick.ServerFrame, ecs.Rows) {}, // may write, but does not, so no correction may name it
		ecs.Once(), ecs.Write(&g.count), ecs.After("kick"))
	p.Server("churn", func(f *foretick.ServerFrame, rows ecs.Rows) {
		for i, pos := 0, g.pos.Slice(rows); i < len(pos); i++ {
			pos[i].X = float32(int(f.Tick)*7919%10000)/100 - 50
			pos[i].Y = float32(int(f.Tick)*104729%10000)/100 - 50
		}
	}, ecs.Write(&g.pos), ecs.Without(&g.cmd))
	p.Render("look", func(f *foretick.Frame, _ ecs.Rows) {
		g.shots = append(g.shots, *g.scores.Get(f.World))
		g.suns = append(g.suns, g.count.Get(f.World).Sun)
	}, ecs.Once(), ecs.Read(&g.scores, &g.count))
	return p
}

// kickoff is a match with a state.
type kickoff struct {
	m     *simtest.Match
	g     *rounds
	srv   *server.Server
	wrong []prediction.Misprediction
}

func newKickoff(t *testing.T, seed uint64, cfg server.Config) *kickoff {
	k := &kickoff{m: simtest.New(seed), g: &rounds{}}
	cfg.Protocol = k.g.protocol()
	var err error
	k.srv, err = k.m.Serve(cfg)
	require.NoError(t, err)
	return k
}

// join adds a client. kicks says in which ticks it kicks.
func (k *kickoff) join(t *testing.T, link sim.Link, kicks func(foretick.Tick) bool) (*client.Client, *rounds) {
	g := &rounds{}
	c, err := k.m.Join(client.Config{Protocol: g.protocol(),
		OnMisprediction: func(w prediction.Misprediction) { k.wrong = append(k.wrong, w) },
		Sample: client.Sample(&g.cmd, func(v client.View) move {
			if kicks != nil && kicks(v.Tick) {
				return move{Y: 1}
			}
			return move{X: 0.5}
		})}, simtest.Seat{Up: link, Down: link})
	require.NoError(t, err)
	return c, g
}

// Singletons reach every client, whatever packets are lost, and equal the server's once the match
// rests.
func TestSingletonsArrive(t *testing.T) {
	for seed := range uint64(costtest.Count(1, 5)) {
		k := newKickoff(t, seed, server.Config{})
		link := sim.Link{Latency: 60 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.05}
		_, a := k.join(t, link, nil)
		_, b := k.join(t, link, nil)
		k.m.Run(10 * time.Second)
		for _, g := range []*rounds{a, b} {
			changes := 0
			for i := 1; i < len(g.shots); i++ {
				require.GreaterOrEqual(t, g.shots[i].Red, g.shots[i-1].Red)
				require.Equal(t, 2*g.shots[i].Red, g.shots[i].Blue, "one tick's")
				if g.shots[i] != g.shots[i-1] {
					changes++
				}
			}
			require.Greater(t, changes, 200, "it arrives in nearly every tick")
			between := 0
			for _, sun := range g.suns {
				if sun != float32(int(sun*2))/2 {
					between++
				}
			}
			require.Greater(t, between, len(g.suns)/3, "frames show it between two ticks")
			last := g.shots[len(g.shots)-1]
			require.Less(t, int(k.srv.Tick())-int(last.Red), 12, "and is no older than the path")
			require.Equal(t, fmt.Sprint("round ", last.Red/30), last.Round)
		}
		require.NoError(t, k.m.Err())
		require.Empty(t, k.wrong, "every client computes the countdown as the server does")
	}
}

// A late joiner has the singletons in its first frame, even if a small budget postpones hundreds
// of entities. Their age never exceeds that on a link without these entities.
func TestSingletonsAreNeverPostponed(t *testing.T) {
	k := newKickoff(t, 1, server.Config{SendRate: 4000})
	for range 400 {
		k.srv.Frame().Spawn(&k.g.crates, ecs.Nobody)
	}
	link := sim.Link{Latency: 40 * time.Millisecond}
	k.join(t, link, nil)
	k.m.Run(5 * time.Second)
	late, g := k.join(t, link, nil)
	for late.View().State != client.Playing {
		k.m.Run(k.m.Net.Now() + 5*time.Millisecond)
	}
	require.NotEmpty(t, g.shots)
	require.NotZero(t, g.shots[0].Red, "the first frame has it")
	require.Less(t, late.View().World.Len(), 300, "and the budget is too small for all")
	k.m.Run(k.m.Net.Now() + 10*time.Second)
	seen := g.shots[len(g.shots)-1].Red
	require.Less(t, int(k.srv.Tick())-int(seen), 8)
	stale := 0
	for i := 1; i < len(g.shots)-60; i++ {
		if g.shots[i] == g.shots[i-1] {
			stale++
		}
	}
	require.Less(t, stale, len(g.shots)*6/10, "60 frames a second show 30 ticks")
}

// A predicted singleton is computed ahead of the server, and each correction names its
// cause: a system of the server's, another player, an edit.
func TestPredictedSingletonNamesItsCauses(t *testing.T) {
	link := sim.Link{Latency: 60 * time.Millisecond}
	for name, c := range map[string]struct {
		do     func(k *kickoff)
		kicks  func(player int) func(foretick.Tick) bool
		cause  prediction.Cause
		system string
	}{
		"a server's system": {do: func(k *kickoff) { k.g.resets = 1 }, cause: prediction.ServerEffect, system: "reset"},
		"an edit": {do: func(k *kickoff) {
			_ = k.srv.Do("editor", func(f *foretick.ServerFrame) { _ = f.World.SetSingletonValue("countdown.Left", 7777) })
		}, cause: prediction.ServerEffect, system: "(an edit of the running server)"},
		"the program": {do: func(k *kickoff) { k.g.count.Get(k.srv.World()).Left = 5555 }, cause: prediction.ServerEffect, system: "(outside of systems)"},
		"another player": {kicks: func(player int) func(foretick.Tick) bool {
			return func(t foretick.Tick) bool { return player == 1 && t%30 == 0 }
		}, cause: prediction.RemoteInput},
		"nobody": {},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKickoff(t, 3, server.Config{})
			var games []*rounds
			for player := range 2 {
				var kicks func(foretick.Tick) bool
				if c.kicks != nil {
					kicks = c.kicks(player)
				}
				_, g := k.join(t, link, kicks)
				games = append(games, g)
			}
			k.m.Run(3 * time.Second)
			k.wrong = nil
			for range 4 {
				if c.do != nil {
					c.do(k)
				}
				k.m.Run(k.m.Net.Now() + time.Second)
			}
			if name == "nobody" {
				require.Empty(t, k.wrong)
				return
			}
			require.GreaterOrEqual(t, len(k.wrong), 3)
			for _, w := range k.wrong {
				require.Equal(t, c.cause, w.Cause, w.String())
				require.Equal(t, c.system, w.System, w.String())
				require.Equal(t, "countdown", w.Component)
			}
			require.NotZero(t, games[0].count.Get(k.m.Clients(nil)[0].View().World).Left)
		})
	}
}

// Only members of an audience receive the fields for it.
func TestSingletonAudiences(t *testing.T) {
	k := newKickoff(t, 1, server.Config{})
	link := sim.Link{Latency: 20 * time.Millisecond}
	a, ga := k.join(t, link, nil)
	b, gb := k.join(t, link, nil)
	k.m.Run(2 * time.Second)
	k.srv.Frame().SetAudience(a.View().Player, ecs.None, k.g.referees, true)
	k.m.Run(4 * time.Second)
	require.NotZero(t, ga.hidden.Get(a.View().World).Seed)
	require.Zero(t, gb.hidden.Get(b.View().World).Seed)
	require.EqualValues(t, 7, gb.hidden.Get(b.View().World).Public)
}

// Singletons keep their values in a new level. Values that the level's build function sets are
// there in the level's first frame.
func TestSingletonsInALevel(t *testing.T) {
	k := newKickoff(t, 1, server.Config{})
	c, g := k.join(t, sim.Link{Latency: 40 * time.Millisecond, Loss: 0.05}, func(t foretick.Tick) bool { return t < 60 && t%10 == 0 })
	k.m.Run(4 * time.Second)
	kicks := g.count.Get(c.View().World).Kicks
	require.NotZero(t, kicks)
	require.NoError(t, k.srv.NextLevel(nil, func(f *foretick.ServerFrame) {
		k.g.count.Get(f.World).Left = 50_000
		for _, player := range k.srv.Players(nil) {
			f.Spawn(&k.g.player, player.ID)
		}
	}))
	k.m.Run(6 * time.Second)
	require.Equal(t, client.Playing, c.View().State)
	require.Equal(t, kicks, g.count.Get(c.View().World).Kicks)
	require.Greater(t, g.count.Get(c.View().World).Left, uint16(49_000))
	require.NoError(t, k.m.Err())
}

// Ticks of both ends with a state of the match allocate nothing.
func TestSingletonAllocatesNothing(t *testing.T) {
	costtest.Allocations(t)
	g := &calm{}
	m := simtest.New(1)
	_, err := m.Serve(server.Config{Protocol: g.protocol()})
	require.NoError(t, err)
	for range 4 {
		cg := &calm{}
		_, err := m.Join(client.Config{Protocol: cg.protocol(), Sample: client.Sample(&cg.cmd, func(client.View) move { return move{X: 0.1} })},
			simtest.Seat{Up: sim.Link{Latency: 30 * time.Millisecond}, Down: sim.Link{Latency: 30 * time.Millisecond}})
		require.NoError(t, err)
	}
	m.Run(10 * time.Second)
	var memory runtime.MemStats
	var mallocs uint64
	first := m.Server().Tick()
	m.AroundServer = func(step func()) {
		runtime.ReadMemStats(&memory)
		before := memory.Mallocs
		step()
		runtime.ReadMemStats(&memory)
		mallocs += memory.Mallocs - before
	}
	m.Run(20 * time.Second)
	ticks := m.Server().Tick() - first
	require.Greater(t, ticks, uint32(250))
	require.Less(t, float64(mallocs)/float64(ticks), 0.1)
}

// calm is the walking game with a state whose systems allocate nothing themselves.
type calm struct {
	game
	count ecs.Singleton[countdown]
}

func (g *calm) protocol() *foretick.Protocol {
	p := g.game.protocol()
	p.Singleton(&g.count, foretick.Predicted())
	p.Shared("count", func(f *foretick.Frame, _ ecs.Rows) { g.count.Get(f.World).Left++ }, ecs.Once(), ecs.Write(&g.count))
	return p
}

// Replays of the state agree with its first run.
func TestSyncTestFindsNothingInSingletons(t *testing.T) {
	faults, err := simtest.FindDesyncs(func() simtest.Player {
		g := &calm{}
		return simtest.Player{Protocol: g.protocol(), Sample: client.Sample(&g.cmd, func(v client.View) move { return move{X: float32(v.Tick%3) / 2} })}
	}, simtest.SyncConfig{})
	require.NoError(t, err)
	require.Empty(t, faults)
}
