package flight_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/flight"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/preview"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// arcade is a game with everything that a tick of a match may depend on.
type (
	arcadePlace struct {
		X, Y float32 `net:"min=-64,max=64,step=0.01,lerp"`
	}
	arcadeBody struct {
		Health int16  `net:"max=100"`
		Gold   uint16 `net:"owner"`
		Prey   ecs.Entity
	}
	arcadeName struct {
		Name string `net:"max=12"`
	}
	arcadeBrain struct{ Mood uint32 }
	arcadeScore struct{ Hits, Deaths, Level uint32 }
	arcadeInput struct {
		X, Y   float32 `net:"min=-1,max=1,step=0.0078125"`
		Aim    float32 `net:"angle,bits=12,press"`
		Fire   bool    `net:"oneshot,press"`
		Launch bool    `net:"oneshot"`
	}
	arcadeShot struct{ Aim float32 }
	arcadeBuy  struct{ Gold uint8 }
	arcadeNews struct{ Hits uint32 }
)

type arcade struct {
	server  *server.Server
	place   ecs.Component[arcadePlace]
	body    ecs.Component[arcadeBody]
	name    ecs.Component[arcadeName]
	brain   ecs.Component[arcadeBrain]
	input   ecs.Component[arcadeInput]
	score   ecs.Singleton[arcadeScore]
	avatar  ecs.Prefab
	rocket  ecs.Prefab
	crate   ecs.Prefab
	turret  ecs.Prefab
	shot    foretick.Event[arcadeShot]
	buy     foretick.Request[arcadeBuy]
	news    foretick.Message[arcadeNews]
	crates  *ecs.Query
	players *ecs.Query

	counts map[string]int // counts of what happened in the match
	drawn  int
	alone  bool // the game kicks nobody
	blank  bool // the game has no render system
}

// count counts that something happened.
func (g *arcade) count(what string) {
	if g.counts == nil {
		g.counts = map[string]int{}
	}
	g.counts[what]++
}

func (g *arcade) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("arcade", 1)
	p.Hierarchy()
	p.Component(&g.place, foretick.Predicted())
	p.Component(&g.body)
	p.Component(&g.name)
	p.LocalComponent(&g.brain)
	p.Singleton(&g.score)
	p.Command(&g.input)
	p.Prefab(&g.avatar, "avatar", &g.place, &g.body, &g.name, &g.input)
	p.Prefab(&g.rocket, "rocket", &g.place)
	p.Prefab(&g.crate, "crate", &g.place, &g.body)
	p.Prefab(&g.turret, "turret", &g.place, &g.brain)
	p.Spawns(&g.rocket, foretick.SpawnConfig{})
	foretick.Hitbox(p, &g.place, func(at *arcadePlace) lagcomp.Sphere { return lagcomp.Sphere{X: at.X, Y: at.Y, R: 1.5} })
	g.crates = p.Query(ecs.With(&g.place), ecs.With(&g.body), ecs.Without(&g.input))
	g.players = p.Query(ecs.With(&g.input))
	p.OnJoin(g.join)
	p.OnLeave(func(f *foretick.ServerFrame, _ foretick.PlayerID) {
		g.count("left")
		g.score.Get(f.World).Deaths++
	})
	p.OnDisconnect(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		g.count("lost")
		g.score.Get(f.World).Deaths += uint32(player) << 8
	})
	p.OnReconnect(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		g.count("back")
		g.score.Get(f.World).Deaths += uint32(player) << 16
	})
	g.buy.Handle(p, func(f *foretick.ServerFrame, player foretick.PlayerID, v arcadeBuy) {
		g.count("bought")
		g.of(f.Frame, player).Gold += uint16(v.Gold)
	})
	g.news.OnClient(p, func(*foretick.Frame, foretick.Tick, arcadeNews) {})
	p.Shared("move", g.move, ecs.Read(&g.input), ecs.Write(&g.place), ecs.Create(&g.place))
	p.Shared("push", g.push, ecs.Read(&g.input), ecs.Read(&g.place), ecs.WriteOther(&g.place))
	p.Server("think", g.think, ecs.Write(&g.brain), ecs.Write(&g.place))
	p.Server("rules", g.rules, ecs.Once(), ecs.Write(&g.score))
	if !g.blank {
		p.Render("paint", func(_ *foretick.Frame, rows ecs.Rows) {
			g.drawn++
			for i := range g.place.Slice(rows) {
				g.place.Slice(rows)[i].X += 9 // a fault of the game that must not reach the next tick
			}
		}, ecs.Write(&g.place))
	}
	g.shot.OnServer(p, g.judge, ecs.ReadOther(&g.input), ecs.WriteOther(&g.body, &g.place), ecs.Write(&g.score))
	return p
}

// of returns the body of a player.
func (g *arcade) of(f *foretick.Frame, player foretick.PlayerID) *arcadeBody {
	for _, rows := range g.players.Owned(f.World, player) {
		return &g.body.Slice(rows)[0]
	}
	return &arcadeBody{}
}

func (g *arcade) build(f *foretick.ServerFrame) {
	for i := range 4 {
		e := f.Spawn(&g.crate, ecs.Nobody)
		*g.place.Get(f.World, e) = arcadePlace{X: float32(i*4 - 6), Y: 2}
	}
	tower := f.Spawn(&g.turret, ecs.Nobody)
	gun := f.Spawn(&g.turret, ecs.Nobody)
	_ = f.World.SetParent(gun, tower)
}

func (g *arcade) join(f *foretick.ServerFrame, player foretick.PlayerID) {
	g.count("joined")
	e := f.Spawn(&g.avatar, player)
	at := g.place.Get(f.World, e)
	at.X, at.Y = float32(player)*3-6, float32(f.Rand(uint64(player))%8)
	*g.body.Get(f.World, e) = arcadeBody{Health: 100}
	g.name.Get(f.World, e).Name = "somebody"
}

func (g *arcade) move(f *foretick.Frame, rows ecs.Rows) {
	at, in := g.place.Slice(rows), g.input.Slice(rows)
	for i := range at {
		at[i].X = min(max(at[i].X+in[i].X*5*f.DT, -60), 60)
		at[i].Y = min(max(at[i].Y+in[i].Y*5*f.DT, -60), 60)
		if in[i].Fire {
			g.shot.Raise(f, rows.Entity(i), arcadeShot{in[i].Aim})
		}
		if in[i].Launch {
			if e := f.SpawnBy(rows.Entity(i), &g.rocket); e != ecs.None {
				*g.place.Get(f.World, e) = at[i]
			}
		}
	}
}

// push turns the crates into shared physics objects.
func (g *arcade) push(f *foretick.Frame, rows ecs.Rows) {
	at := g.place.Slice(rows)
	for i := range at {
		for _, others := range g.crates.All(f.World) {
			there := g.place.Slice(others)
			for k := range there {
				if dx, dy := there[k].X-at[i].X, there[k].Y-at[i].Y; dx*dx+dy*dy < 4 {
					there[k].X = min(max(there[k].X+dx*f.DT, -60), 60)
				}
			}
		}
	}
}

func (g *arcade) think(f *foretick.ServerFrame, rows ecs.Rows) {
	at, mind := g.place.Slice(rows), g.brain.Slice(rows)
	for i := range at {
		mind[i].Mood = mind[i].Mood*1664525 + uint32(f.Rand(7))
		at[i].Y = float32(mind[i].Mood>>24) / 8
	}
}

func (g *arcade) rules(f *foretick.ServerFrame, _ ecs.Rows) {
	s := g.score.Get(f.World)
	if f.Tick%31 == 0 {
		g.news.Broadcast(f, arcadeNews{s.Hits})
	}
	if f.Tick%97 == 0 && s.Hits%3 == 2 && !g.alone {
		for _, player := range g.server.Players(nil)[:1] {
			g.count("kicks")
			f.Kick(player.ID, transport.Kicked, "the lot fell on it")
		}
	}
	if f.Tick%170 == 0 {
		g.count("levels")
		s.Level++
		_ = g.server.NextLevel([]byte{byte(s.Level)}, func(f *foretick.ServerFrame) {
			g.build(f)
			for _, player := range g.server.Players(nil) {
				g.join(f, player.ID)
			}
		})
	}
}

// judge tests a shot against the world that the shooter's screen showed.
func (g *arcade) judge(f *foretick.ServerFrame, by foretick.By, shot arcadeShot) {
	for _, rows := range g.players.Owned(f.World, by.Player) {
		at := g.place.Slice(rows)[0]
		v := f.Rewind(by.Player)
		hit, ok := v.Raycast(lagcomp.Ray2D(at.X, at.Y, shot.Aim, 60))
		if !ok {
			continue
		}
		g.count("hits")
		s := g.score.Get(f.World)
		s.Hits++
		s.Deaths += uint32(hit.Distance * 4096) // depends on each bit of the distance
		s.Deaths += uint32(f.DrawnPart(by.Player) * 64)
		if b := g.body.Find(f.World, hit.Entity); b != nil {
			b.Health -= 15
			b.Prey = rows.Entity(0)
			if b.Health < 0 {
				b.Health = 100
				g.place.Get(f.World, hit.Entity).X = float32(f.Rand(3)%40) - 20
				f.Teleport(hit.Entity)
			}
		}
	}
}

func (g *arcade) sample(n uint32) client.Sampler {
	return client.Sample(&g.input, func(v client.View) arcadeInput { return arcadeMoves(v.Tick, n) })
}

// arcadeMoves returns the input of player n for a tick.
func arcadeMoves(tick foretick.Tick, n uint32) arcadeInput {
	x := (tick/5 + n*977) * 2654435761
	x ^= x >> 15
	return arcadeInput{
		X: float32(x%3) - 1, Y: float32(x/3%3) - 1, Aim: float32(x%628) / 100,
		Fire: (tick+n)%3 == 0, Launch: (tick+n*5)%40 == 0,
	}
}

// record plays a match over a bad network, in which players join late, leave, lose their
// connection and reconnect. It returns the match's tape and the hash of each tick.
func (g *arcade) record(t *testing.T, seed uint64) (tape *flight.Tape, hashes []uint64) {
	m := simtest.New(seed)
	rec, err := flight.New(flight.Config{Name: "arcade"})
	require.NoError(t, err)
	var inside probe.Server
	g.server, err = m.Serve(server.Config{Protocol: g.protocol(), Recorder: rec, OnTick: func(*foretick.ServerFrame) { hashes = append(hashes, inside.StateHash()) }})
	require.NoError(t, err)
	g.build(g.server.Frame())
	inside = probe.OfServer(g.server)
	link := sim.Link{Latency: 50 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.05, Duplicate: 0.02}
	dead := sim.Link{Loss: 1}
	var clients []*client.Client
	for n := range uint32(4) {
		end := &arcade{}
		cfg := client.Config{Protocol: end.protocol(), Timeout: 700 * time.Millisecond, Sample: end.sample(n)}
		c, err := m.Join(cfg, simtest.Seat{Up: link, Down: link, FrameRate: 50 + int(n)*17, After: func(v client.View) {
			if v.State == client.Playing && v.Tick%50 == n {
				_ = end.buy.Send(clients[n], arcadeBuy{Gold: uint8(v.Tick)}) // fails if too many requests are queued
			}
		}})
		require.NoError(t, err)
		clients = append(clients, c)
		m.Run(m.Net.Now() + 900*time.Millisecond)
	}
	m.Run(6 * time.Second)
	m.Link(clients[1], dead, dead)
	m.Run(12 * time.Second)
	m.Link(clients[1], link, link)
	m.Run(16 * time.Second)
	require.NoError(t, m.Leave(clients[2]))
	m.Run(20 * time.Second)
	require.NoError(t, m.Err())
	var b bytes.Buffer
	_, err = rec.WriteTo(&b)
	require.NoError(t, err)
	tape, err = flight.Read(bytes.NewReader(b.Bytes()), int64(b.Len()))
	require.NoError(t, err)
	return tape, hashes
}

// TestArcadeReplays: a match with everything that a tick may depend on replays from its tape,
// tick by tick, with the same states.
func TestArcadeReplays(t *testing.T) {
	met := map[string]int{}
	for seed := range uint64(2) {
		var played arcade
		tape, hashes := played.record(t, seed)
		require.Greater(t, len(hashes), 500)
		again := &arcade{}
		var got []uint64
		r, err := flight.NewReplay(tape, flight.Game{New: func(cfg server.Config) (*server.Server, error) {
			*again, got = arcade{}, nil
			cfg.Protocol = again.protocol()
			cfg.OnTick = func(*foretick.ServerFrame) { got = append(got, probe.OfServer(again.server).StateHash()) }
			srv, err := server.New(cfg)
			if err == nil {
				again.server = srv
				again.build(srv.Frame())
			}
			return srv, err
		}})
		require.NoError(t, err)
		require.NoError(t, r.RunTo(tape.Info().Last))
		require.Equal(t, hashes, got)
		require.Equal(t, played.counts, again.counts)
		for what, n := range again.counts {
			met[what] += n
		}
		r.Close()
	}
	t.Log(met)
	for _, what := range []string{"joined", "left", "lost", "back", "bought", "hits", "kicks", "levels"} {
		require.Positive(t, met[what], what)
	}
}

// TestPreviewDrawsOutsideOfTheMatch: the same game in a preview computes the same ticks, whatever
// its render system writes into the drawn values, and however many frames it draws between ticks.
func TestPreviewDrawsOutsideOfTheMatch(t *testing.T) {
	play := func(g *arcade, frames int, fire bool) (hashes []uint64) {
		var p *preview.Preview
		sample := client.Sample(&g.input, func(client.View) arcadeInput {
			in := arcadeMoves(p.Server().Tick()+1, 3)
			in.Fire = in.Fire && fire // a shot depends on the frame in which it was fired
			return in
		})
		p, err := preview.New(server.Config{Protocol: g.protocol(), OnTick: func(*foretick.ServerFrame) {
			hashes = append(hashes, probe.OfServer(p.Server()).StateHash())
		}}, client.Config{Sample: sample})
		require.NoError(t, err)
		g.server = p.Server()
		g.build(g.server.Frame())
		start := time.Unix(0, 0)
		for i := range 900 * frames {
			p.Step(start.Add(time.Duration(i)*time.Second/30/time.Duration(frames) + time.Duration(min(i, 1))*time.Millisecond)) // the frames are after the time at which the tick is due
		}
		require.Greater(t, len(hashes), 800)
		return hashes
	}
	for _, frames := range []int{1, 3} {
		drawn, blank := &arcade{alone: true}, &arcade{alone: true, blank: true}
		require.Equal(t, play(blank, frames, true), play(drawn, frames, true), "%d frames a tick", frames)
		require.Positive(t, drawn.counts["hits"])
		require.Greater(t, drawn.drawn, 800*frames)
		require.Zero(t, blank.drawn)
	}
	want := play(&arcade{alone: true}, 1, false)
	for _, frames := range []int{2, 3, 7} {
		got := play(&arcade{alone: true}, frames, false)
		n := min(len(got), len(want))
		require.Equal(t, want[:n], got[:n], "%d frames a tick", frames)
	}
}
