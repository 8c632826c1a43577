package matchtest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// pushed is a match in which the server pushes a walking player now and then.
type pushed struct {
	t      *testing.T
	match  *simtest.Match
	server *server.Server
	client *client.Client
	game   Walk
	truth  map[foretick.Tick]float32
	held   bool
	walked time.Duration // time at which the key was pressed
	moved  time.Duration // time at which the screen showed the move
	shown  []float32     // X of the player in every frame
	other  []float32     // X of the other player, without repeats
}

const halfTrip = 100 * time.Millisecond // latency in each direction

func newPushed(t *testing.T, late time.Duration, link sim.Link) *pushed {
	t.Helper()
	w := &pushed{t: t, match: simtest.New(1), truth: map[foretick.Tick]float32{}}
	srv := &Walk{}
	p := srv.Protocol()
	p.Server("push", func(f *foretick.ServerFrame, rows ecs.Rows) {
		for i := range rows.Len() {
			if rows.Owner() == 1 && f.Tick%60 == 0 {
				srv.Pos.Slice(rows)[i].Y++
			}
		}
	}, ecs.Write(&srv.Pos), ecs.With(&srv.Move))
	var err error
	w.server, err = w.match.Serve(server.Config{Protocol: p, Late: server.Late{Window: late}, OnTick: func(f *foretick.ServerFrame) {
		for _, rows := range p.Query(ecs.With(&srv.Pos)).Owned(f.World, 1) {
			w.truth[f.Tick] = srv.Pos.Slice(rows)[0].Y
		}
	}})
	require.NoError(t, err)
	w.join(&w.game, link, func(client.View) bool { return w.held }, func(v client.View) {
		x := w.at(&w.game, v, true).X
		if w.moved == 0 && w.walked > 0 && len(w.shown) > 0 && x > w.shown[len(w.shown)-1]+0.01 {
			w.moved = w.match.Net.Now()
		}
		w.shown = append(w.shown, x)
		if o := w.at(&w.game, v, false).X; len(w.other) == 0 || w.other[len(w.other)-1] != o {
			w.other = append(w.other, o)
		}
	}, true)
	w.match.Run(time.Second) // so that it is player 1
	w.join(&Walk{}, sim.Link{}, func(v client.View) bool { return v.Tick/30%2 == 0 }, nil, false)
	w.match.Run(3 * time.Second)
	return w
}

func (w *pushed) join(g *Walk, link sim.Link, held func(client.View) bool, after func(client.View), ours bool) {
	c, err := w.match.Join(client.Config{Protocol: g.Protocol(), Sample: client.Sample(&g.Move, func(v client.View) Move {
		if held(v) {
			return Move{X: 1}
		}
		if !ours {
			return Move{X: -1}
		}
		return Move{}
	})}, simtest.Seat{Up: link, Down: link, After: after})
	require.NoError(w.t, err)
	if ours {
		w.client = c
	}
}

// at returns the drawn position of a body.
func (w *pushed) at(g *Walk, v client.View, own bool) Position {
	e := w.body(g, v, own)
	if e == ecs.None {
		return Position{}
	}
	return *g.Pos.Get(v.World, e)
}

func (w *pushed) body(g *Walk, v client.View, own bool) ecs.Entity {
	for _, rows := range ecs.NewQuery(v.World.Types(), ecs.With(&g.Pos)).All(v.World) {
		if (rows.Owner() == v.Player) == own && rows.Len() > 0 {
			return rows.Entity(0)
		}
	}
	return ecs.None
}

// respond presses the key for a while, and returns the time until the screen shows the move.
func (w *pushed) respond() time.Duration {
	w.match.Run(w.match.Net.Now() + time.Second)
	w.held, w.walked, w.moved = true, w.match.Net.Now(), 0
	w.match.Run(w.match.Net.Now() + time.Second)
	w.held = false
	require.NotZero(w.t, w.moved)
	d := w.moved - w.walked
	w.walked = 0
	return d
}

// Prediction, reconciliation and interpolation are switched off and on in mid-match. With
// prediction the player responds at once, without it a round trip later. Without reconciliation
// the server's pushes do not show. Without interpolation others are drawn at the newest snapshot.
func TestTechniquesSwitchInMidMatch(t *testing.T) {
	w := newPushed(t, 0, sim.Link{Latency: halfTrip})
	set := func(to client.Techniques) {
		require.NoError(t, w.client.SetTechniques(to))
		w.match.Run(w.match.Net.Now() + time.Second)
	}
	const tick = time.Second / 30
	require.LessOrEqual(t, w.respond(), 3*tick)
	for range 2 {
		set(client.Techniques{NoPrediction: true})
		before := w.client.Stats()
		require.Greater(t, w.respond(), 2*halfTrip)
		require.Equal(t, before.Mispredictions, w.client.Stats().Mispredictions)
		require.Equal(t, before.PredictedTicks, w.client.Stats().PredictedTicks)
		set(client.Techniques{})
		require.LessOrEqual(t, w.respond(), 3*tick)
		require.Greater(t, w.client.Stats().PredictedTicks, before.PredictedTicks)
	}

	y := func() float32 { return w.at(&w.game, w.client.View(), true).Y }
	set(client.Techniques{NoReconciliation: true})
	was, before := y(), w.client.Stats()
	w.match.Run(w.match.Net.Now() + 5*time.Second)
	require.Equal(t, was, y(), "nothing corrects it")
	require.Equal(t, before.Mispredictions, w.client.Stats().Mispredictions)
	set(client.Techniques{})
	require.InDelta(t, w.truth[w.server.Tick()], y(), 1.01, "in step again")
	require.Greater(t, y(), was+1)

	w.other = w.other[:0]
	set(client.Techniques{NoInterpolation: true})
	w.match.Run(w.match.Net.Now() + time.Second)
	v := w.client.View()
	newest, at, ok := client.Received(w.client, &w.game.Pos, w.body(&w.game, v, false))
	require.True(t, ok)
	require.Equal(t, v.RenderTick, at)
	require.Zero(t, v.RenderFraction)
	require.Equal(t, newest, w.at(&w.game, v, false))
	require.Less(t, len(w.other), 65, "a new place a snapshot, not a frame")
	set(client.Techniques{})
	require.Less(t, w.client.View().RenderTick, at+30)
	require.Zero(t, w.client.Stats().HardResets)
	a := simtest.Audit(w.server, w.client.View().Player, w.client)
	require.NotZero(t, a.Fields)
}

// Without smoothing a correction shows in the frame in which it arrives.
func TestNoSmoothing(t *testing.T) {
	for _, off := range []bool{false, true} {
		w := newPushed(t, 0, sim.Link{Latency: halfTrip})
		require.NoError(t, w.client.SetTechniques(client.Techniques{NoSmoothing: off}))
		var steps []float32
		last := w.at(&w.game, w.client.View(), true).Y
		for range 180 {
			w.match.Run(w.match.Net.Now() + time.Second/60)
			y := w.at(&w.game, w.client.View(), true).Y
			if y != last {
				steps = append(steps, y-last)
			}
			last = y
		}
		require.NotEmpty(t, steps)
		if off {
			require.LessOrEqual(t, len(steps), 4, "%v", steps)
		} else {
			require.Greater(t, len(steps), 10, "%v", steps)
		}
	}
}

// Received returns received values with their tick, and false for values that were not received.
func TestReceived(t *testing.T) {
	w := newPushed(t, 0, sim.Link{Latency: halfTrip})
	v := w.client.View()
	pos, at, ok := client.Received(w.client, &w.game.Pos, w.body(&w.game, v, true))
	require.True(t, ok)
	require.Less(t, at, v.Tick)
	require.InDelta(t, w.truth[at], pos.Y, 0.01)
	_, _, ok = client.Received(w.client, &w.game.Pos, ecs.None)
	require.False(t, ok)
	_, _, ok = client.Received(w.client, &w.game.Move, w.body(&w.game, v, true))
	require.False(t, ok, "commands are not sent back")
}

// Late inputs of one player are switched off and on, without an effect on those of others.
func TestSetLateInputs(t *testing.T) {
	w := newPushed(t, 200*time.Millisecond, sim.Link{Latency: 60 * time.Millisecond, Jitter: 60 * time.Millisecond, Loss: 0.2, Burst: 5})
	w.held = true
	count := func(until uint64) uint64 {
		before := w.server.Stats().InputsRerun
		for n := 0; n < 80 || n < 800 && w.server.Stats().InputsRerun-before < until; n++ { // now and then the link is slower than the client's clock expects
			w.match.Run(w.match.Net.Now() + 500*time.Millisecond)
			w.held = !w.held
		}
		return w.server.Stats().InputsRerun - before
	}
	require.NotZero(t, count(1))
	require.True(t, w.server.SetLateInputs(w.server.Player(1), false))
	require.Zero(t, count(0))
	require.Equal(t, client.Playing, w.client.View().State)
	require.True(t, w.server.SetLateInputs(w.server.Player(1), true))
	require.NotZero(t, count(1))
	require.False(t, w.server.SetLateInputs(w.server.Player(9), false), "nobody")
	without := newPushed(t, 0, sim.Link{}).server
	require.False(t, without.SetLateInputs(without.Player(1), false), "a server without them")
	w.held = false
	w.match.Run(w.match.Net.Now() + 2*time.Second)
	a := simtest.Audit(w.server, 1, w.client)
	require.LessOrEqual(t, a.Differences, 2, a.First) // the other player walks on, and a push may be in transit
}
