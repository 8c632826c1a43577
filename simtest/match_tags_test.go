package simtest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/bots"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/observe"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// weather is a game with systems for matches with a storm, and for cold ones.
type weather struct {
	game
	ran   map[string]int
	names []string // further tags, each of one system
	mild  bool     // the game is another build without the tag for winter
}

func (g *weather) protocol() *foretick.Protocol {
	p := g.game.protocol()
	g.ran = map[string]int{}
	count := func(name string) func(*foretick.Frame, ecs.Rows) {
		return func(*foretick.Frame, ecs.Rows) { g.ran[name]++ }
	}
	if g.mild {
		p.Shared("creep", count("creep"), ecs.Once(), ecs.Before("gale"), ecs.Tags("fog"))
	}
	p.Shared("gale", func(f *foretick.Frame, rows ecs.Rows) {
		g.ran["gale"]++
		for i, pos := 0, g.pos.Slice(rows); i < len(pos); i++ {
			pos[i].X += 2 * f.DT
		}
	}, ecs.Write(&g.pos), ecs.After("move"), ecs.Partial(), ecs.Tags("storm"))
	p.Server("thunder", func(f *foretick.ServerFrame, rows ecs.Rows) { count("thunder")(f.Frame, rows) }, ecs.Once(), ecs.Tags("storm"))
	p.Render("lightning", count("lightning"), ecs.Once(), ecs.Tags("storm"))
	p.Render("chart", count("chart"), ecs.Once(), ecs.Tags("chart"))
	if !g.mild {
		p.Shared("blizzard", func(f *foretick.Frame, rows ecs.Rows) {
			g.ran["blizzard"]++
			for i, pos := 0, g.pos.Slice(rows); i < len(pos); i++ {
				pos[i].Y += f.DT
			}
		}, ecs.Write(&g.pos), ecs.After("gale"), ecs.Tags("storm", "deep winter"))
		p.Shared("hum", count("hum"), ecs.Once(), ecs.Tags(foretick.TagClient, "deep winter"))
	}
	for _, name := range g.names {
		p.Shared("system of "+name, count(name), ecs.Once(), ecs.Tags(name))
	}
	return p
}

func (g *weather) sampler() client.Sampler {
	return client.Sample(&g.cmd, func(v client.View) move {
		return move{X: float32(v.Tick*7919%257)/128 - 1, Y: float32(v.Tick/33%2) - 0.5}
	})
}

// runs reports which systems have run since the last call.
func (g *weather) runs() map[string]bool {
	on := map[string]bool{}
	for name := range g.ran {
		on[name] = true
	}
	clear(g.ran)
	return on
}

// TestTagsOfAMatch: clients use the server's tags of shared systems, whatever else the ends do.
// Both ends run the same systems, so only the network causes corrections.
func TestTagsOfAMatch(t *testing.T) {
	type way struct {
		server func(*server.Config)
		client func(*client.Config)
		seat   func(*simtest.Seat)
	}
	ways := map[string]way{
		"plain":         {},
		"sync test":     {seat: func(s *simtest.Seat) { s.SyncTest = 3 }},
		"no prediction": {client: func(c *client.Config) { c.NoPrediction = true }},
		"partial ticks": {client: func(c *client.Config) { c.PartialTicks = true }},
		"late inputs":   {server: func(c *server.Config) { c.Late.Window = 150 * time.Millisecond }},
		"late world": {server: func(c *server.Config) {
			c.Late.Window, c.Late.World = 150*time.Millisecond, true
		}},
		"executor":     {server: func(c *server.Config) { c.Executor = inlineExecutor{} }},
		"other builds": {server: func(c *server.Config) { c.AllowOtherBuilds = true }},
	}
	for name, w := range ways {
		for _, tags := range [][]string{nil, {"storm"}, {"deep winter"}, {"storm", "deep winter"}} {
			t.Run(name, func(t *testing.T) {
				m, srv := simtest.New(3), &weather{}
				m.Watch(&simtest.Agreement{}, &simtest.Causes{})
				sc := server.Config{Protocol: srv.protocol(), Tags: tags}
				if w.server != nil {
					w.server(&sc)
				}
				_, err := m.Serve(sc)
				require.NoError(t, err)
				link := sim.Link{Latency: 40 * time.Millisecond, Jitter: 40 * time.Millisecond, Loss: 0.03}
				if sc.Late.Window > 0 {
					link = sim.Link{Latency: 50 * time.Millisecond, Jitter: 70 * time.Millisecond, Loss: 0.06, Burst: 3}
				}
				var games []*weather
				for range 2 {
					g := &weather{}
					games = append(games, g)
					cc := client.Config{Protocol: g.protocol(), Sample: g.sampler(), Tags: []string{"chart"}}
					if w.client != nil {
						w.client(&cc)
					}
					seat := simtest.Seat{Up: link, Down: link, OnDesync: func(d simtest.Desync) { t.Error(d) }}
					if w.seat != nil {
						w.seat(&seat)
					}
					_, err := m.Join(cc, seat)
					require.NoError(t, err)
				}
				m.Run(6 * time.Second)
				require.NoError(t, m.Err())
				ran := srv.runs()
				storm := len(tags) > 0 && tags[0] == "storm"
				winter := len(tags) > 0 && tags[len(tags)-1] == "deep winter"
				require.Equal(t, []bool{storm, storm && winter, storm, false}, []bool{ran["gale"], ran["blizzard"], ran["thunder"], ran["lightning"]})
				rerun := uint64(0)
				for i, c := range m.Clients(nil) {
					st, own := c.Stats(), games[i].runs()
					require.Zero(t, st.ByCause.Of(prediction.Code))
					require.Equal(t, []bool{storm, storm && winter, storm, winter, true},
						[]bool{own["gale"], own["blizzard"], own["lightning"], own["hum"], own["chart"]})
					require.False(t, own["thunder"])
					of, _ := m.Server().PlayerStats(m.Server().Player(c.View().Player))
					rerun += of.InputsRerun
				}
				if sc.Late.Window > 0 {
					require.Positive(t, rerun)
				}
			})
		}
	}
}

// inlineExecutor runs jobs one after another.
type inlineExecutor struct{}

func (inlineExecutor) Run(n int, job func(int)) {
	for i := range n {
		job(i)
	}
}

// TestTagsFollowTheServer: a new level keeps the tags, and another server brings its own. Between
// two servers the client uses the tags of the last one.
func TestTagsFollowTheServer(t *testing.T) {
	m, srv := simtest.New(4), (*weather)(nil)
	m.Watch(&simtest.Agreement{}, &simtest.Causes{})
	serve := func(tags ...string) {
		srv = &weather{}
		_, err := m.Serve(server.Config{Protocol: srv.protocol(), Tags: tags, Observe: func(server.Observer) (server.Grant, error) {
			return server.Everything(), nil
		}})
		require.NoError(t, err)
	}
	serve("storm")
	g, eye := &weather{}, &weather{}
	link := sim.Link{Latency: 30 * time.Millisecond}
	c, err := m.Join(client.Config{Protocol: g.protocol(), Sample: g.sampler()}, simtest.Seat{Up: link, Down: link})
	require.NoError(t, err)
	watcher, err := m.Join(client.Config{Protocol: eye.protocol(), Observe: &client.Observe{}}, simtest.Seat{Up: link, Down: link})
	require.NoError(t, err)
	expect := func(storm, winter bool) {
		t.Helper()
		require.Equal(t, client.Playing, c.View().State)
		require.Equal(t, client.Playing, watcher.View().State)
		for _, end := range []*weather{srv, g, eye} {
			end.runs()
		}
		m.RunFor(2 * time.Second)
		ran := g.runs()
		require.Equal(t, []bool{storm, storm && winter, storm, winter}, []bool{ran["gale"], ran["blizzard"], ran["lightning"], ran["hum"]})
		ran = eye.runs()
		require.Equal(t, []bool{false, storm, false}, []bool{ran["gale"], ran["lightning"], ran["thunder"]}, "an observer draws, and predicts nothing")
		require.Equal(t, storm, srv.runs()["gale"])
		require.Zero(t, c.Stats().ByCause.Of(prediction.Code))
		require.NoError(t, m.Err())
	}
	m.Run(2 * time.Second)
	expect(true, false)
	require.NoError(t, m.Server().NextLevel(nil, func(f *foretick.ServerFrame) {
		for _, player := range m.Server().Players(nil) {
			f.Spawn(&srv.player, player.ID)
		}
	}))
	m.RunFor(2 * time.Second)
	expect(true, false)
	for _, next := range [][]string{{"deep winter"}, {"storm", "deep winter"}, nil, {"storm"}} {
		require.NoError(t, m.Server().CloseForRestart("update"))
		m.RunFor(500 * time.Millisecond)
		serve(next...)
		m.RunFor(4 * time.Second)
		expect(len(next) > 0 && next[0] == "storm", len(next) > 0 && next[len(next)-1] == "deep winter")
	}
}

// TestMostTags: as many tags as a game may have, each on or off on both ends.
func TestMostTags(t *testing.T) {
	var names, on []string
	for i := range 58 { // the game has three
		name := "tag " + string(rune('!'+i))
		if names = append(names, name); i%3 == 0 || i == 57 {
			on = append(on, name)
		}
	}
	m, srv, g := simtest.New(5), &weather{names: names}, &weather{names: names}
	_, err := m.Serve(server.Config{Protocol: srv.protocol(), Tags: on})
	require.NoError(t, err)
	_, err = m.Join(client.Config{Protocol: g.protocol(), Tags: []string{"chart"}}, simtest.Seat{})
	require.NoError(t, err)
	m.Run(time.Second)
	require.NoError(t, m.Err())
	for _, name := range names {
		var want bool
		for _, n := range on {
			want = want || n == name
		}
		require.Equal(t, []bool{want, want}, []bool{srv.ran[name] > 0, g.ran[name] > 0}, name)
	}
}

// TestTagsOfAnotherBuild: builds number their tags differently, and a client matches the server's
// by name. A tag that only one build has is off on the client, and is reported.
func TestTagsOfAnotherBuild(t *testing.T) {
	m, srv, g := simtest.New(6), &weather{}, &weather{mild: true}
	_, err := m.Serve(server.Config{Protocol: srv.protocol(), Tags: []string{"storm", "deep winter"}, AllowOtherBuilds: true})
	require.NoError(t, err)
	s, err := schema.ReadProtocol(g.protocol().Schema(nil))
	require.NoError(t, err)
	require.Equal(t, []string{"fog", "storm"}, s.Tags)
	g = &weather{mild: true}
	c, err := m.Join(client.Config{Protocol: g.protocol(), Sample: g.sampler()}, simtest.Seat{})
	require.NoError(t, err)
	m.Run(2 * time.Second)
	require.Equal(t, client.Playing, c.View().State)
	require.Equal(t, []bool{true, true, false}, []bool{g.ran["gale"] > 0, g.ran["lightning"] > 0, g.ran["creep"] > 0})
	d := c.BuildDifference()
	require.Contains(t, d.Missing, "tag fog")
	require.Contains(t, d.Unknown, "tag deep winter")
}

// TestTagsReachBotsAndTools: a light bot and a tool that observes read the Welcome of a match
// with tags.
func TestTagsReachBotsAndTools(t *testing.T) {
	m, srv := simtest.New(7), &weather{}
	_, err := m.Serve(server.Config{Protocol: srv.protocol(), Tags: []string{"deep winter"}, Observe: func(server.Observer) (server.Grant, error) {
		return server.Everything(), nil
	}})
	require.NoError(t, err)
	light, err := bots.New((&weather{}).protocol(), func(dst *move, _ int, _ uint32) { dst.X = 1 })
	require.NoError(t, err)
	bot, err := light.Join(0, m.Dial(sim.Link{}, sim.Link{}))
	require.NoError(t, err)
	tool, err := observe.New(observe.Config{Transport: m.Dial(sim.Link{}, sim.Link{})})
	require.NoError(t, err)
	for at := 10 * time.Millisecond; at < 2*time.Second; at += 10 * time.Millisecond {
		m.Net.At(at, func() {
			require.NoError(t, bot.Step(m.Now()))
			require.NoError(t, tool.Step(m.Now()))
		})
	}
	m.Run(2 * time.Second)
	require.True(t, bot.Playing())
	require.Len(t, tool.Entities(), 1)
	require.Equal(t, []string{"storm", "deep winter"}, tool.Schema().Tags)
	require.Zero(t, bot.Stats().Malformed+tool.Malformed())
}
