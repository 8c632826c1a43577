package spawntest

import (
	"flag"
	"fmt"
	"math/rand"
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

var (
	staleSeeds = flag.Int("stale", costtest.Count(3, 6), "seeds of TestNothingIsStaleAtRest")
	staleFirst = flag.Int("stale-first", 0, "the first of them")
)

// Components that only the server writes, on entities of players.
type (
	coffer struct{ Coins, Gems uint16 }
	burden struct {
		Weight float32 `net:"min=0,max=100,step=0.1"`
		Of     ecs.Entity
	}
	mood struct {
		Anger uint8 `net:"owner"`
		Seen  uint8
	}
	effort struct {
		X float32 `net:"min=-512,max=512,step=0.01,tol=0.5"`
		N uint8
	}
)

// keep is a game, generated from a seed, whose server writes components of players' entities.
type keep struct {
	pos    ecs.Component[position]
	effort ecs.Component[effort]
	purse  ecs.Component[coffer]
	burden ecs.Component[burden]
	mood   ecs.Component[mood]
	flight ecs.Component[flight]
	cmd    ecs.Component[firing]
	body   ecs.Prefab
	crate  ecs.Prefab
	rocket ecs.Prefab
	crates int
	rate   int
	often  int  // writes happen once in this many ticks and entities
	shoves bool // the server also writes predicted state
	nudges bool // the server also writes predicted state within its tolerance
	comes  bool // the server adds and removes components
	spawns bool
	grudge bool // clients predict the players' foes
	until  foretick.Tick
	all    *ecs.Query
}

func (g *keep) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("keep", 1)
	p.SetTickRate(g.rate)
	p.Component(&g.pos, foretick.Predicted(), foretick.FullPrecision())
	p.Component(&g.effort, foretick.Predicted(), foretick.FullPrecision())
	p.Component(&g.purse)
	p.Component(&g.burden)
	p.Component(&g.mood)
	p.Component(&g.flight, foretick.Predicted())
	p.Command(&g.cmd)
	p.Prefab(&g.body, "body", &g.pos, &g.effort, &g.purse, &g.mood, &g.cmd)
	p.Prefab(&g.crate, "crate", &g.pos, &g.purse)
	p.Prefab(&g.rocket, "rocket", &g.flight, &g.purse)
	p.Spawns(&g.rocket, foretick.SpawnConfig{})
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		f.Spawn(&g.body, player)
		f.Spawn(&g.body, player)
	})
	p.Shared("walk", func(f *foretick.Frame, rows ecs.Rows) {
		pos, work, cmd := g.pos.Slice(rows), g.effort.Slice(rows), g.cmd.Slice(rows)
		for i := range pos {
			pos[i].X += cmd[i].X * 5 * f.DT
			work[i].X += cmd[i].X * f.DT
			if cmd[i].Fire && g.spawns {
				*g.flight.Get(f.World, f.SpawnBy(rows.Entity(i), &g.rocket)) = flight{VX: 5, Fuse: uint8(20 + f.Tick%60)}
			}
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.pos, &g.effort), ecs.Create(&g.flight, &g.purse))
	p.Shared("fly", func(f *foretick.Frame, rows ecs.Rows) {
		at := g.flight.Slice(rows)
		for i := range at {
			at[i].X += at[i].VX * f.DT
			if at[i].Fuse--; at[i].Fuse == 0 {
				f.Destroy(rows.Entity(i))
			}
		}
	}, ecs.Write(&g.flight), ecs.Structural())
	p.Server("rule", g.govern, ecs.Write(&g.purse), ecs.WriteOther(&g.pos, &g.effort, &g.mood), ecs.Create(&g.burden), ecs.Structural())
	if g.grudge {
		foretick.PredictRemote(p, &g.cmd, func(*foretick.Frame, ecs.Entity, int, *firing) {}, foretick.RemoteConfig{})
	}
	g.all = p.Query(ecs.With(&g.purse))
	return p
}

func (g *keep) govern(f *foretick.ServerFrame, rows ecs.Rows) {
	purses := g.purse.Slice(rows)
	for i := range purses {
		e := rows.Entity(i)
		r := f.Rand(uint64(e))
		if f.Tick > g.until || r%uint64(g.often) != 0 {
			continue
		}
		r /= uint64(g.often)
		switch r % 8 {
		case 0, 1:
			purses[i].Coins++
		case 2:
			purses[i].Gems = uint16(r >> 8)
		case 3:
			if m := g.mood.Find(f.World, e); m != nil {
				m.Anger, m.Seen = m.Anger+1, uint8(r>>8)
			}
		case 4:
			if g.burden.Find(f.World, e) == nil && g.comes {
				g.burden.Add(f.World, e, burden{Weight: float32(r>>8%100) / 10, Of: e})
			}
		case 5:
			if g.burden.Find(f.World, e) != nil && g.comes {
				g.burden.Remove(f.World, e)
			}
		case 6:
			if pos := g.pos.Find(f.World, e); pos != nil && g.shoves {
				pos.Y++
			}
		case 7:
			if w := g.effort.Find(f.World, e); w != nil && g.nudges {
				w.X += 0.1
			}
		}
	}
}

// stale plays a match and reports what differs two seconds after the last change.
func stale(seed int64) (string, error) {
	d := rand.New(rand.NewSource(seed))
	rates := []int{128, 128, 128, 60, 30}
	g := keep{
		rate: rates[d.Intn(len(rates))], crates: d.Intn(60), often: 1 + d.Intn(200), shoves: d.Intn(2) == 0,
		nudges: d.Intn(2) == 0, comes: d.Intn(2) == 0, spawns: d.Intn(3) == 0, grudge: d.Intn(4) == 0,
	}
	ms := func(n int) time.Duration { return time.Duration(d.Intn(n)) * time.Millisecond }
	link := sim.Link{Latency: ms(150), Jitter: ms(40), Loss: float64(d.Intn(4)) * 0.02, Duplicate: float64(d.Intn(2)) * 0.05}
	if d.Intn(4) == 0 {
		link = sim.Link{Latency: ms(10)}
	}
	sendRates := []int{0, 0, 6_000, 16_000}
	m, truth := simtest.New(uint64(seed)), g
	cfg := server.Config{Protocol: truth.protocol(), SendRate: sendRates[d.Intn(len(sendRates))]}
	srv, err := m.Serve(cfg)
	if err != nil {
		return "", err
	}
	for range g.crates {
		srv.Frame().Spawn(&truth.crate, ecs.Nobody)
	}
	ends := 6*time.Second + ms(2000)
	truth.until = foretick.Tick(ends.Seconds() * float64(g.rate))
	frames := []int{60, 144, 30, 240}
	var clients []*client.Client
	for range 1 + d.Intn(3) {
		game := g
		cc := client.Config{Protocol: game.protocol(), SnapshotRate: []int{0, 0, 30, 20}[d.Intn(4)], Timeout: 30 * time.Second, Sample: client.Sample(&game.cmd, func(v client.View) firing {
			if m.Net.Now() > ends {
				return firing{}
			}
			return firing{X: float32(v.Tick/7%3) - 1, Fire: v.Tick%9 == 0}
		})}
		c, err := m.Join(cc, simtest.Seat{Up: link, Down: link, FrameRate: frames[d.Intn(4)]})
		if err != nil {
			return "", err
		}
		clients = append(clients, c)
	}
	m.Run(time.Second + ms(1000))
	for n := 1 + d.Intn(3); n > 0; n-- {
		c := clients[d.Intn(len(clients))]
		m.Freeze(c, true)
		pause := 200*time.Millisecond + ms(1200)
		if d.Intn(3) == 0 {
			pause += ms(3600)
		}
		m.Run(m.Net.Now() + pause)
		m.Freeze(c, false)
		m.Run(m.Net.Now() + ms(1500))
	}
	rest := max(ends, m.Net.Now())
	for i := 0; ; i++ {
		m.Run(rest + time.Duration(2+i)*time.Second)
		worst := ""
		for _, c := range clients {
			if a := m.Audit(c); a.Differences > 0 {
				worst = fmt.Sprintf("%d s after the last change, player %d: %d differences: %s", 2+i, c.View().Player, a.Differences, a.First)
			}
		}
		if worst == "" || i == 3 {
			return worst, nil
		}
	}
}

// However a client pauses, two to five seconds after the last change it shows the correct
// state that only the server computes of the client's own entities.
func TestNothingIsStaleAtRest(t *testing.T) {
	for seed := *staleFirst; seed < *staleFirst+*staleSeeds; seed++ {
		worst, err := stale(int64(seed))
		require.NoError(t, err)
		require.Empty(t, worst, "to play it again: go test ./simtest -run TestNothingIsStaleAtRest -stale 1 -stale-first %d", seed)
	}
}
