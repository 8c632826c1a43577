package spawntest

import (
	"flag"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/simtest/campaign"
	"github.com/foretick/foretick/transport/sim"
)

var fullSpawns = flag.Bool("spawns", false, "play the spawn matching test at its full length, 10 000 projectiles")

type trigger struct {
	Rockets bool `net:"oneshot"`
	Bullets bool `net:"oneshot"`
}

// turret is a gun: a player has two, whose rows are in different orders on the two
// ends.
type turret struct {
	Seat uint8 `net:"max=3"`
	Jam  uint8 `net:"max=60"` // remaining ticks of a jam, which only the server begins
}

type flight struct {
	X, Y   float32 `net:"min=-512,max=512,step=0.01,lerp"`
	VX, VY float32 `net:"min=-64,max=64,step=0.01"`
	Fuse   uint8   `net:"max=255"` // remaining ticks
}

// artillery is a game of slow rockets, which burst into fragments, and of bullets
// that each end spawns for itself.
type artillery struct {
	late     time.Duration // server.Config.Late.Window
	world    bool          // server.Config.Late.World
	turret   ecs.Component[turret]
	flight   ecs.Component[flight]
	shrapnel ecs.Component[shrapnel]
	cmd      ecs.Component[trigger]
	gun      ecs.Prefab
	rocket   ecs.Prefab
	fragment ecs.Prefab
	bullet   ecs.Prefab

	newer                bool // the end is a later build, with more components and prefabs
	decal                ecs.Prefab
	paint                ecs.Component[paint]
	volley, fuse, pieces int
	jams                 bool

	made                            int // rockets and fragments that the server spawned
	predicted, confirmed, cancelled map[ecs.Entity]int
	bullets                         int

	onPredicted, onConfirmed func(*foretick.Frame, ecs.Entity)
}

type paint struct {
	Colour uint8 `net:"max=9"`
}

type shrapnel struct {
	Pieces uint8 `net:"max=9"`
}

func newArtillery() *artillery {
	return &artillery{volley: 5, fuse: 20, predicted: map[ecs.Entity]int{}, confirmed: map[ecs.Entity]int{}, cancelled: map[ecs.Entity]int{}}
}

func (g *artillery) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("artillery", 1)
	if g.newer {
		p.Component(&g.paint)
	}
	p.Component(&g.turret, foretick.Predicted())
	p.Component(&g.flight, foretick.Predicted())
	p.Component(&g.shrapnel, foretick.Predicted())
	p.Command(&g.cmd)
	if g.newer {
		p.Prefab(&g.decal, "decal", &g.paint)
	}
	p.Prefab(&g.gun, "gun", &g.turret, &g.cmd)
	p.Prefab(&g.rocket, "rocket", &g.flight, &g.shrapnel)
	p.Prefab(&g.fragment, "fragment", &g.flight)
	p.Prefab(&g.bullet, "bullet", &g.flight)
	told := foretick.SpawnConfig{
		OnPredicted: func(f *foretick.Frame, e ecs.Entity) {
			g.predicted[e]++
			if g.onPredicted != nil {
				g.onPredicted(f, e)
			}
		},
		OnConfirmed: func(f *foretick.Frame, e ecs.Entity) {
			g.confirmed[e]++
			if g.onConfirmed != nil {
				g.onConfirmed(f, e)
			}
		},
		OnCancelled: func(_ *foretick.Frame, e ecs.Entity) { g.cancelled[e]++ },
	}
	p.Spawns(&g.rocket, told)
	p.Spawns(&g.fragment, told)
	p.Spawns(&g.bullet, foretick.SpawnConfig{ClientOnly: true})
	p.OnJoin(g.arm)
	p.Server("jam", func(f *foretick.ServerFrame, rows ecs.Rows) {
		for i, t := 0, g.turret.Slice(rows); g.jams && f.Time() < 14*time.Second && i < len(t); i++ {
			if f.Rand(uint64(rows.Owner())*8+uint64(t[i].Seat))%60 == 0 {
				t[i].Jam = 12
			}
		}
	}, ecs.Write(&g.turret), ecs.Before("fire"))
	p.Shared("fire", g.fire, ecs.Read(&g.cmd), ecs.Write(&g.turret), ecs.Create(&g.flight, &g.shrapnel), ecs.Before("fly"))
	p.Shared("fly", g.fly, ecs.Write(&g.flight), ecs.Optional(&g.shrapnel), ecs.Create(&g.flight))
	return p
}

// arm gives a player two guns whose rows have another order than on the client.
func (g *artillery) arm(f *foretick.ServerFrame, player foretick.PlayerID) {
	spare := f.Spawn(&g.gun, player)
	for seat := range 2 {
		g.turret.Get(f.World, f.Spawn(&g.gun, player)).Seat = uint8(seat)
	}
	f.Destroy(spare) // the last row moves to the place of the first
}

func (g *artillery) fire(f *foretick.Frame, rows ecs.Rows) {
	t, cmd := g.turret.Slice(rows), g.cmd.Slice(rows)
	for i := range t {
		if t[i].Jam > 0 {
			t[i].Jam--
			continue
		}
		for n := range g.volley {
			if cmd[i].Rockets {
				g.launch(f, rows.Entity(i), &g.rocket, float32(n)*4+1, float32(t[i].Seat)*20+5, g.fuse)
			}
			if cmd[i].Bullets {
				g.launch(f, rows.Entity(i), &g.bullet, float32(n)*4-60, 40, 25)
			}
		}
	}
}

func (g *artillery) launch(f *foretick.Frame, by ecs.Entity, k *ecs.Prefab, vx, vy float32, fuse int) {
	e := f.SpawnBy(by, k)
	*g.flight.Get(f.World, e) = flight{VX: vx, VY: vy, Fuse: uint8(fuse)}
	if k == &g.rocket {
		g.shrapnel.Get(f.World, e).Pieces = uint8(g.pieces)
	}
	switch {
	case k == &g.bullet && !f.Replay:
		g.bullets++
	case k != &g.bullet && f.IsServer():
		g.made++
	}
}

func (g *artillery) fly(f *foretick.Frame, rows ecs.Rows) {
	at := g.flight.Slice(rows)
	for i := range at {
		at[i].X += at[i].VX * f.DT
		at[i].Y += at[i].VY * f.DT
		if at[i].Fuse--; at[i].Fuse > 0 {
			continue
		}
		if rows.Has(g.shrapnel.ID()) { // the rocket bursts, and is destroyed in the same tick
			for n := range int(g.shrapnel.Slice(rows)[i].Pieces) {
				g.launch(f, rows.Entity(i), &g.fragment, float32(n)*3-6, at[i].VY, 15)
			}
		}
		f.Destroy(rows.Entity(i))
	}
}

// gunner presses once in each of the given ticks.
type gunner struct {
	last    foretick.Tick
	every   foretick.Tick
	until   time.Duration
	bullets bool
	pressed int
}

func (s *gunner) sample(m *simtest.Match, v client.View) trigger {
	if m.Net.Now() < 2*time.Second || m.Net.Now() > s.until || v.Tick/s.every == s.last {
		return trigger{}
	}
	s.last = v.Tick / s.every
	s.pressed++
	return trigger{Rockets: !s.bullets, Bullets: s.bullets}
}

type battery struct {
	m       *simtest.Match
	srv     *server.Server
	server  *artillery
	clients []*client.Client
	games   []*artillery
	gunners []*gunner
}

func newBattery(t testing.TB, seed uint64, players int, link sim.Link, set func(*artillery), g gunner) *battery {
	b := &battery{m: simtest.New(seed), server: newArtillery()}
	set(b.server)
	var err error
	b.srv, err = b.m.Serve(server.Config{
		Protocol: b.server.protocol(), SendRate: 200_000, AllowOtherBuilds: b.server.late == 0, Late: server.Late{Window: b.server.late, World: b.server.world},
	})
	require.NoError(t, err)
	for range players {
		cg, s := newArtillery(), g
		set(cg)
		c, err := b.m.Join(client.Config{Protocol: cg.protocol(), Sample: client.Sample(&cg.cmd, func(v client.View) trigger {
			return s.sample(b.m, v)
		})}, simtest.Seat{Up: link, Down: link})
		require.NoError(t, err)
		b.clients, b.games, b.gunners = append(b.clients, c), append(b.games, cg), append(b.gunners, &s)
	}
	return b
}

// rest compares both ends when all rockets have burst.
func (b *battery) rest(t testing.TB) {
	for i, c := range b.clients {
		a := b.m.Audit(c)
		require.Zero(t, a.Differences, a.First)
		st, g := c.Stats(), b.games[i]
		require.Equal(t, st.SpawnsPredicted, uint64(sum(g.predicted)))
		require.Equal(t, st.SpawnsCancelled, uint64(sum(g.cancelled)))
		require.Equal(t, sum(g.predicted), sum(g.confirmed)+sum(g.cancelled), "each is told of once, and then of its fate")
		for e, n := range g.predicted {
			require.Equal(t, 1, n, "%v: a handle is one entity's", e)
			require.Equal(t, 1, g.confirmed[e]+g.cancelled[e], "%v", e)
		}
	}
}

func sum(m map[ecs.Entity]int) int {
	n := 0
	for _, k := range m {
		n += k
	}
	return n
}

// Eight players fire volleys of ten in the same ticks, from two turrets whose rows
// are swapped on the server: every rocket of the server matches its prediction,
// none twice, and none is left over.
func TestSpawnsMatch(t *testing.T) {
	volleys := 12
	if *fullSpawns {
		volleys = 125
	}
	const every = 6
	link := sim.Link{Latency: 50 * time.Millisecond, Jitter: 10 * time.Millisecond, Loss: 0.05}
	until := 2*time.Second + time.Duration(volleys*every)*time.Second/30
	b := newBattery(t, 3, 8, link, func(*artillery) {}, gunner{every: every, until: until})
	b.m.Run(until + 5*time.Second)
	b.rest(t)
	var matched, cancelled, unpredicted, mispredicted uint64
	for _, c := range b.clients {
		st := c.Stats()
		matched, cancelled, unpredicted = matched+st.SpawnsMatched, cancelled+st.SpawnsCancelled, unpredicted+st.SpawnsUnpredicted
		mispredicted += st.Mispredictions
		require.Zero(t, st.ByCause.Of(prediction.Code), "a rocket that took another's place would fly elsewhere")
	}
	t.Logf("%d made, %d matched, %d cancelled, %d unforeseen, %d mispredictions", b.server.made, matched, cancelled, unpredicted, mispredicted)
	require.GreaterOrEqual(t, b.server.made, 8*10*(volleys-2))
	require.EqualValues(t, b.server.made, matched, "every one that the server made")
	require.Zero(t, unpredicted)
	if *fullSpawns {
		require.GreaterOrEqual(t, b.server.made, 9800)
	}
}

// Rockets burst into fragments in their last tick, the server jams guns without warning, and
// the network is worse. Predicted spawns that the server did not make disappear,
// unpredicted ones appear, each with its cause, and at the end both ends agree.
func TestSpawnsThatTheServerRefuses(t *testing.T) {
	link := sim.Link{Latency: 80 * time.Millisecond, Jitter: 30 * time.Millisecond, Loss: 0.1, Duplicate: 0.05}
	causes := map[prediction.Cause]int{}
	var cancelled, matched, unpredicted uint64
	seeds := uint64(costtest.Count(1, 2))
	for seed := range seeds {
		until := 12 * time.Second
		b := newBattery(t, seed, 2, link, func(g *artillery) { g.jams, g.pieces, g.fuse = true, 3, 40 }, gunner{every: 7, until: until})
		named := 0
		for now := 3 * time.Second; now < until; now += 100 * time.Millisecond {
			b.m.Run(now)
			for i, c := range b.clients {
				for e := range b.games[i].confirmed { // confirmed spawns are the server's, even after rollbacks
					at := b.games[i].flight.Find(c.View().World, e)
					if at == nil || at.Fuse > 15 || b.games[i].shrapnel.Find(c.View().World, e) == nil { // the server may not know yet that the spawn arrived
						continue
					}
					named++
					_, ok := campaign.ServerEntity(b.srv, c.View().Player, c, e)
					require.True(t, ok, "%v", e)
				}
			}
		}
		require.Greater(t, named, 300)
		b.m.Run(until + 5*time.Second)
		b.rest(t)
		for i, c := range b.clients {
			st := c.Stats()
			cancelled, matched, unpredicted = cancelled+st.SpawnsCancelled, matched+st.SpawnsMatched, unpredicted+st.SpawnsUnpredicted
			for cause, n := range st.ByCause.All() {
				causes[cause] += int(n)
			}
			require.NotZero(t, b.gunners[i].pressed)
		}
	}
	t.Logf("%d matched, %d cancelled, %d unforeseen; causes %v", matched, cancelled, unpredicted, causes)
	require.Greater(t, matched, 500*seeds)
	require.Greater(t, cancelled, 25*seeds)
	require.NotZero(t, causes[prediction.ServerEffect])
	require.Zero(t, causes[prediction.Code])
}

// Levels begin while rockets fly, a client has no network for longer than its history, and
// another loses its connection. Every predicted rocket is still confirmed or cancelled, and none
// is left over.
func TestSpawnsAcrossLevelsAndLosses(t *testing.T) {
	link := sim.Link{Latency: 40 * time.Millisecond, Jitter: 10 * time.Millisecond, Loss: 0.02}
	levels := time.Duration(costtest.Count(3, 5))
	until := (levels + 1) * 5 * time.Second
	b := newBattery(t, 5, 3, link, func(g *artillery) { g.pieces = 3 }, gunner{every: 5, until: until})
	dead := sim.Link{Loss: 1}
	stalls := uint64(0)
	for k := time.Duration(1); k <= levels; k++ {
		b.m.Run(k * 5 * time.Second)
		require.NoError(t, b.srv.NextLevel(nil, func(f *foretick.ServerFrame) {
			for _, player := range b.srv.Players(nil) {
				b.server.arm(f, player.ID)
			}
		}))
		b.m.Run(k*5*time.Second + 2*time.Second)
		b.m.Link(b.clients[1], dead, dead)
		b.m.Link(b.clients[2], dead, dead)
		b.m.Run(k*5*time.Second + 3500*time.Millisecond)
		b.m.Link(b.clients[1], link, link)
	}
	b.m.Run(until + 6*time.Second) // the third client is silent for longer than the timeout of its connection
	b.m.Link(b.clients[2], link, link)
	b.m.Run(until + 15*time.Second)
	b.rest(t)
	for _, c := range b.clients {
		require.Greater(t, c.Stats().SpawnsMatched, uint64(60*levels))
		stalls += c.Stats().Stalls
		require.Zero(t, c.Stats().ByCause.Of(prediction.Code))
	}
	require.NotZero(t, stalls)
	require.Greater(t, b.clients[2].Stats().Connections, uint64(1))
}

// Spawns match between two builds of a game whose components and prefabs have different numbers.
func TestSpawnsBetweenBuilds(t *testing.T) {
	link := sim.Link{Latency: 40 * time.Millisecond}
	for _, newer := range []bool{false, true} {
		for _, bullets := range []bool{false, true} {
			first := true
			b := newBattery(t, 6, 2, link, func(g *artillery) {
				g.newer = first == newer
				first = false
			}, gunner{every: 9, until: 6 * time.Second, bullets: bullets})
			b.m.Run(9 * time.Second)
			b.rest(t)
			for i, c := range b.clients {
				require.NotNil(t, c.BuildDifference())
				st := c.Stats()
				require.Zero(t, st.Mispredictions)
				require.Zero(t, st.SpawnsCancelled+st.SpawnsUnpredicted)
				if bullets {
					require.Greater(t, b.games[i].bullets, 80)
				} else {
					require.Greater(t, st.SpawnsMatched, uint64(80))
				}
			}
		}
	}
}
