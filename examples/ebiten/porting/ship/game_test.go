package ship

import (
	"testing"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// script turns, flies and shoots.
func script(v client.View) Keys {
	return Keys{Left: v.Tick/90%3 == 0, Right: v.Tick/90%3 == 1, Up: v.Tick/50%2 == 0, Fire: v.Tick/20%2 == 0}
}

func newPlayer() simtest.Player {
	g := &Game{}
	return simtest.Player{Protocol: g.Protocol(), Sample: client.Sample(&g.Keys, script)}
}

// Rocks never rest.
func TestMatches(t *testing.T) {
	simtest.Check(t, simtest.Plan{New: newPlayer, Clients: 4, Play: 10 * time.Second, Rest: -1, Extremes: true}, 2)
}

func TestSync(t *testing.T) { simtest.SyncTest(t, newPlayer, simtest.SyncConfig{Ticks: 300}) }

// A player at 100 ms gets the sound of its own gun, hits rocks, and is corrected only for crashes,
// which the server decides.
func TestRocksAreHit(t *testing.T) {
	m, truth, cl := simtest.New(1), &Game{}, &Game{}
	bangs := 0
	cl.Bang = func() { bangs++ }
	srv, err := m.Serve(server.Config{Protocol: truth.Protocol()})
	if err != nil {
		t.Fatal(err)
	}
	line := sim.Link{Latency: 50 * time.Millisecond}
	cli, err := m.Join(client.Config{Protocol: cl.Protocol(), Sample: client.Sample(&cl.Keys, script)}, simtest.Seat{Up: line, Down: line})
	if err != nil {
		t.Fatal(err)
	}
	m.Run(60 * time.Second)
	points := 0
	for _, rows := range truth.players.All(srv.World()) {
		points = int(truth.Score.Slice(rows)[0].Points)
	}
	st := cli.Stats()
	t.Logf("%d shots, %d points, corrections %v of %d ticks", bangs, points, st.ByCause, st.PredictedTicks)
	if bangs < 50 || points < 30 {
		t.Errorf("%d shots made %d points", bangs, points)
	}
	if n := st.Mispredictions - st.ByCause.Of(prediction.ServerEffect); n > 0 {
		t.Errorf("corrections %v", st.ByCause)
	}
}

// Two shots that meet a rock in one tick count once.
func TestOneRockOnePoint(t *testing.T) {
	g := &Game{}
	p := g.Protocol()
	twice := true
	p.Server("twice", func(f *foretick.ServerFrame, rows ecs.Rows) {
		for _, rocks := range g.rocks.All(f.World) {
			if twice && rows.Len() > 0 {
				twice = false
				g.struck.Raise(f.Frame, rows.Entity(0), Struck{rocks.Entity(0)})
				g.struck.Raise(f.Frame, rows.Entity(0), Struck{rocks.Entity(0)})
			}
		}
	}, ecs.With(&g.Ship))
	m := simtest.New(1)
	srv, err := m.Serve(server.Config{Protocol: p})
	if err != nil {
		t.Fatal(err)
	}
	c := &Game{}
	if _, err := m.Join(client.Config{Protocol: c.Protocol()}, simtest.Seat{}); err != nil {
		t.Fatal(err)
	}
	m.Run(10 * time.Second)
	for _, rows := range g.players.All(srv.World()) {
		if points := g.Score.Slice(rows)[0].Points; points != 10 {
			t.Errorf("%d points", points)
		}
	}
}

// The costs of a match for a player are the same in every run. The limits are 1.3 times the measured values.
func BenchmarkGame(b *testing.B) {
	limits := map[string]float64{"down-B/s": 12000, "corrections/min": 290, "server-allocs/tick": 6.8, "client-allocs/step": 4.9}
	simtest.Bench(b, newPlayer, simtest.BenchConfig{Seconds: 5, Seeds: 1, Limits: limits})
}
