package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/simtest/pair"
)

// TestRockets: whatever the network, everything that was fired meets its fate, and
// nothing but the server's jams is ever corrected on a good one.
func TestRockets(t *testing.T) {
	for _, rtt := range []time.Duration{0, 100 * time.Millisecond, 300 * time.Millisecond} {
		for _, loss := range []float64{0, 0.05} {
			r, st, err := play(options{rtt: rtt, loss: loss, seconds: 20, flight: "catchup"})
			require.NoError(t, err)
			require.Greater(t, r.predicted, 200)
			require.Equal(t, r.predicted, r.confirmed+r.cancelled)
			require.Greater(t, r.confirmed, r.predicted*9/10)
			require.GreaterOrEqual(t, r.waited, time.Duration(r.confirmed)*rtt)
			require.Greater(t, r.bullets, 150)
			require.Zero(t, st.ByCause.Of(prediction.Code))
			require.Zero(t, st.ByCause.Of(prediction.Untracked))
			if loss == 0 {
				require.Equal(t, st.ByCause.Of(prediction.ServerEffect), st.Mispredictions)
			}
		}
	}
}

// TestBulletsHitWhatTheirShooterSaw: at 150 ms drones have long moved on when the
// server fires a bullet. Both ways of compensation honour hits on the screen, and
// only those; without compensation hardly any is honoured.
func TestBulletsHitWhatTheirShooterSaw(t *testing.T) {
	o := options{rtt: 150 * time.Millisecond, seconds: 24}
	took := map[string]float64{}
	for _, c := range []struct {
		flight      string
		loss        float64
		least, most float64 // percentage of the hits on the screen
	}{
		{"catchup", 0, 94, 100}, {"delayed", 0, 94, 100}, {"present", 0, 0, 25}, {"catchup", 0.05, 88, 100},
	} {
		o.flight, o.loss = c.flight, c.loss
		r, _, err := play(o)
		require.NoError(t, err)
		honoured := 100 * float64(r.honoured) / float64(r.onScreen)
		t.Logf("%-8s loss %2.0f %%: %d hit on the screen, %d of them on the server (%.1f %%) after %.1f ticks, and %d others",
			o.flight, 100*o.loss, r.onScreen, r.honoured, honoured, r.ticks(), r.unseen)
		require.Greater(t, r.onScreen, 40)
		require.GreaterOrEqual(t, honoured, c.least)
		require.LessOrEqual(t, honoured, c.most)
		if o.flight != "present" {
			require.LessOrEqual(t, r.unseen, r.onScreen/10)
		}
		if o.loss == 0 {
			took[o.flight] = r.ticks()
		}
	}
	require.Less(t, took["catchup"], took["delayed"]-2, "who is caught up with is hit as soon as the server knows")
}

func TestRun(t *testing.T) {
	var out, errs bytes.Buffer
	require.Zero(t, run([]string{"-rtt", "100ms", "-seconds", "10"}, &out, &errs))
	require.Contains(t, out.String(), "confirmed by the server")
	require.Contains(t, out.String(), "hit on the screen")
	require.Empty(t, errs.String())
	require.Zero(t, run([]string{"-help"}, &out, &errs))
	for _, bad := range [][]string{{"-seconds", "0"}, {"-rtt", "1h"}, {"-loss", "2"}, {"-flight", "away"}, {"-what"}} {
		errs.Reset()
		require.Equal(t, 2, run(bad, &out, &errs))
		require.NotEmpty(t, errs.String())
	}
}

func newPlayer() simtest.Player {
	begin := time.Now()
	g := &Game{struck: map[foretick.Tick]uint8{}, fired: map[ecs.Entity]time.Duration{}, now: func() time.Duration { return time.Since(begin) }}
	fire := func(v client.View) Command { return Command{Rocket: v.Tick%10 == 0, Bullet: v.Tick%60 < 20} }
	return simtest.Player{
		Protocol: g.Protocol(), Sample: client.Sample(&g.Cmd, fire),
		Begin: func(s *server.Server) {
			for lane := range uint8(3) {
				e := s.Frame().Spawn(&g.Target, ecs.Nobody)
				g.Drone.Get(s.World(), e).Lane = lane + 1
			}
		},
	}
}

// TestPair plays over UDP; with flags it is one end, on a machine of its own: see package pair.
func TestPair(t *testing.T) { pair.Test(t, newPlayer) }

// The costs of a match for a player are the same in every run. The limits are 1.3 times the measured values.
func BenchmarkGame(b *testing.B) {
	limits := map[string]float64{"down-B/s": 19000, "corrections/min": 34, "server-allocs/tick": 59, "client-allocs/step": 16}
	simtest.Bench(b, newPlayer, simtest.BenchConfig{Seconds: 5, Seeds: 1, Limits: limits})
}
