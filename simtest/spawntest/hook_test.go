package spawntest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

type position struct {
	X, Y float32 `net:"min=-100,max=100,step=0.01,lerp"`
}

// rope is a predicted component that refers to an entity that prediction spawned.
type rope struct {
	Hook  ecs.Entity
	Chain [2]struct{ End ecs.Entity }
	Loose []ecs.Entity `net:"max=2"`
	Jam   uint8        `net:"max=60"` // remaining ticks of a jam, which only the server begins
	Shot  uint16
}

// bollard is a component of a common entity: a player whose hook hits it is tied to it.
type bollard struct {
	Tied ecs.Entity
	N    uint8
}

// anglers is a game of players that throw hooks, one at a time, and are pulled along.
type anglers struct {
	pos    ecs.Component[position]
	rope   ecs.Component[rope]
	tie    ecs.Component[bollard]
	cmd    ecs.Component[firing]
	flight ecs.Component[flight]
	body   ecs.Prefab
	hook   ecs.Prefab
	post   ecs.Prefab
	posts  *ecs.Query
	shared bool // there is a bollard
	remote bool // clients predict remote players
	jams   bool
	thrown int
}

type firing struct {
	X    float32 `net:"min=-1,max=1,step=0.0078125"`
	Fire bool    `net:"oneshot"`
}

func (g *anglers) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("anglers", 1)
	p.Component(&g.pos, foretick.Predicted(), foretick.FullPrecision())
	p.Component(&g.rope, foretick.Predicted(), foretick.FullPrecision())
	p.Component(&g.flight, foretick.Predicted(), foretick.FullPrecision())
	p.Component(&g.tie, foretick.Predicted(), foretick.FullPrecision())
	p.Command(&g.cmd)
	p.Prefab(&g.body, "body", &g.pos, &g.rope, &g.cmd)
	p.Prefab(&g.hook, "hook", &g.flight)
	p.Prefab(&g.post, "post", &g.tie)
	p.Spawns(&g.hook, foretick.SpawnConfig{})
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.body, player) })
	p.Server("jam", func(f *foretick.ServerFrame, rows ecs.Rows) {
		for i, r := 0, g.rope.Slice(rows); g.jams && i < len(r); i++ {
			if f.Rand(uint64(rows.Owner()))%60 == 0 {
				r[i].Jam = 12
			}
		}
	}, ecs.Write(&g.rope), ecs.Before("throw"))
	access := []ecs.Access{ecs.Read(&g.cmd), ecs.Write(&g.rope, &g.pos), ecs.Create(&g.flight), ecs.Before("fly")}
	if g.shared {
		access = append(access, ecs.WriteOther(&g.tie))
	}
	p.Shared("throw", g.throw, access...)
	p.Shared("fly", g.fly, ecs.Write(&g.flight), ecs.Structural())
	if g.remote {
		foretick.PredictRemote(p, &g.cmd, func(*foretick.Frame, ecs.Entity, int, *firing) {}, foretick.RemoteConfig{})
	}
	g.posts = p.Query(ecs.With(&g.tie))
	return p
}

func (g *anglers) throw(f *foretick.Frame, rows ecs.Rows) {
	pos, ropes, cmd := g.pos.Slice(rows), g.rope.Slice(rows), g.cmd.Slice(rows)
	for i := range ropes {
		r := &ropes[i]
		if r.Hook != ecs.None && !f.World.Alive(r.Hook) {
			*r = rope{Jam: r.Jam, Shot: r.Shot}
		}
		pos[i].X += cmd[i].X * f.DT
		if r.Hook != ecs.None {
			pos[i].Y += 2 * f.DT // a tied player is pulled
		}
		switch {
		case r.Jam > 0:
			r.Jam--
		case cmd[i].Fire && r.Hook == ecs.None:
			r.Hook = f.SpawnBy(rows.Entity(i), &g.hook)
			*g.flight.Get(f.World, r.Hook) = flight{VX: 3, Fuse: 23}
			r.Chain[1].End, r.Loose = r.Hook, append(r.Loose[:0], rows.Entity(i), r.Hook)
			r.Shot++
			if f.IsServer() {
				g.thrown++
			}
			if g.shared && rows.Owner() == 1 {
				for _, posts := range g.posts.All(f.World) {
					for k, tie := 0, g.tie.Slice(posts); k < len(tie); k++ {
						tie[k].Tied, tie[k].N = r.Hook, tie[k].N+1
					}
				}
			}
		}
	}
}

func (g *anglers) fly(f *foretick.Frame, rows ecs.Rows) {
	at := g.flight.Slice(rows)
	for i := range at {
		at[i].X += at[i].VX * f.DT
		if at[i].Fuse--; at[i].Fuse == 0 {
			f.Destroy(rows.Entity(i))
		}
	}
}

// play plays a match of two anglers, which rest from until on.
func (g anglers) play(t *testing.T, seed uint64, link sim.Link, until time.Duration) (*simtest.Match, *anglers, []*client.Client) {
	m, truth := simtest.New(seed), g
	srv, err := m.Serve(server.Config{Protocol: truth.protocol()})
	require.NoError(t, err)
	if g.shared {
		srv.Frame().Spawn(&truth.post, ecs.Nobody)
	}
	var clients []*client.Client
	for range 2 {
		cl := g
		c, err := m.Join(client.Config{Protocol: cl.protocol(), Sample: client.Sample(&cl.cmd, func(v client.View) firing {
			if now := m.Net.Now(); now < 2*time.Second || now > until {
				return firing{}
			}
			return firing{X: float32(v.Tick/7%3) - 1, Fire: v.Tick%5 == 0}
		}), OnMisprediction: func(x prediction.Misprediction) {
			if testing.Verbose() {
				fmt.Println(x.Tick, x.Component, x.Field, x.Predicted, x.Actual, x.Cause)
			}
		}}, simtest.Seat{Up: link, Down: link})
		require.NoError(t, err)
		clients = append(clients, c)
	}
	m.Run(until + 4*time.Second)
	for _, c := range clients {
		a := m.Audit(c)
		require.Zero(t, a.Differences, a.First)
	}
	return m, &truth, clients
}

// A reference to a predicted spawn, in a field, a nested array or a slice, causes no
// misprediction while the server's number for the entity is in transit.
func TestReferencesToPredictedSpawns(t *testing.T) {
	bad := sim.Link{Latency: 50 * time.Millisecond, Jitter: 10 * time.Millisecond, Loss: 0.02}
	for name, g := range map[string]anglers{
		"own":            {},
		"shared":         {shared: true},
		"remote players": {remote: true},
	} {
		t.Run(name, func(t *testing.T) {
			clean := 0
			for seed := range uint64(3) {
				_, srv, clients := g.play(t, seed, bad, 14*time.Second)
				require.Greater(t, srv.thrown, 25)
				for _, c := range clients {
					st := c.Stats()
					require.Zero(t, st.ByCause.Of(prediction.Code))
					require.Greater(t, st.SpawnsMatched, uint64(12))
					if g.shared && c.View().Player != 1 {
						continue // this client does not predict how the other player changes the bollard
					}
					require.Zero(t, st.SpawnsUnpredicted+st.SpawnsCancelled)
					require.Equal(t, st.ByCause.Of(prediction.Input), st.Mispredictions, "but where a command was lost")
					if st.Mispredictions == 0 {
						require.Zero(t, st.MispredictedTicks)
						clean++
					}
				}
			}
			require.NotZero(t, clean)
		})
	}
}

// A spawn that the server refuses is still a misprediction. References to it become none.
func TestReferencesToSpawnsThatTheServerRefuses(t *testing.T) {
	link := sim.Link{Latency: 60 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.05}
	var cancelled, wrong uint64
	for seed := range uint64(3) {
		_, _, clients := anglers{jams: true}.play(t, seed, link, 14*time.Second)
		for _, c := range clients {
			st := c.Stats()
			cancelled, wrong = cancelled+st.SpawnsCancelled, wrong+st.Mispredictions
			require.Zero(t, st.ByCause.Of(prediction.Code))
		}
	}
	require.Greater(t, cancelled, uint64(8))
	require.GreaterOrEqual(t, wrong, cancelled)
}

// If the server ties players to an entity that it has just spawned, and that they do not draw
// yet, that causes no misprediction. The end of the tie does, because prediction cannot know
// it.
func TestReferencesToWhatIsNotDrawnYet(t *testing.T) {
	link := sim.Link{Latency: 50 * time.Millisecond, Jitter: 10 * time.Millisecond, Loss: 0.02}
	var at ecs.Entity
	game := func(rope *ecs.Component[rope], body, pet *ecs.Prefab, pos *ecs.Component[position]) *foretick.Protocol {
		p := foretick.NewProtocol("pets", 1)
		p.Component(rope, foretick.Predicted())
		p.Component(pos)
		p.Prefab(body, "body", rope)
		p.Prefab(pet, "pet", pos)
		p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(body, player) })
		p.Shared("walk", func(*foretick.Frame, ecs.Rows) {}, ecs.Write(rope))
		p.Server("adopt", func(f *foretick.ServerFrame, rows ecs.Rows) {
			switch f.Tick % 60 {
			case 1:
				at = f.Spawn(pet, ecs.Nobody)
			case 40:
				f.Destroy(at)
			}
			for i, r := 0, rope.Slice(rows); i < len(r) && f.Tick%60 == 1; i++ {
				r[i].Hook, r[i].Chain[0].End = at, at
			}
		}, ecs.Write(rope), ecs.Create(pos), ecs.Structural())
		return p
	}
	m := simtest.New(1)
	var ropes [2]ecs.Component[rope]
	var positions [2]ecs.Component[position]
	var prefabs [4]ecs.Prefab
	_, err := m.Serve(server.Config{Protocol: game(&ropes[0], &prefabs[0], &prefabs[1], &positions[0])})
	require.NoError(t, err)
	causes := map[prediction.Cause]int{}
	c, err := m.Join(client.Config{Protocol: game(&ropes[1], &prefabs[2], &prefabs[3], &positions[1]), OnMisprediction: func(x prediction.Misprediction) {
		causes[x.Cause]++
	}}, simtest.Seat{Up: link, Down: link})
	require.NoError(t, err)
	m.Run(20*time.Second + 500*time.Millisecond)
	require.Zero(t, causes[prediction.Code], causes)
	require.LessOrEqual(t, causes[prediction.ServerEffect], 10, causes)
	require.LessOrEqual(t, causes[prediction.Untracked], 10, causes)
	for _, rows := range ecs.NewQuery(c.View().World.Types(), ecs.With(&ropes[1])).All(c.View().World) {
		for _, r := range ropes[1].Slice(rows) {
			require.True(t, c.View().World.Alive(r.Hook))
			require.Equal(t, r.Hook, r.Chain[0].End)
		}
	}
	a := m.Audit(c)
	require.Zero(t, a.Differences, a.First)
}
