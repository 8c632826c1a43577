package door

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// shots plays a match in which a player fires every third of a second, and returns what each shot hit on
// its screen, in the server's past and in its present.
func shots(t *testing.T, rtt time.Duration, loss float64) (screen, past, present map[foretick.Tick]bool) {
	t.Helper()
	screen, past, present = map[foretick.Tick]bool{}, map[foretick.Tick]bool{}, map[foretick.Tick]bool{}
	m := simtest.New(7)
	truth, g := &Game{}, &Game{}
	truth.judged = func(by foretick.By, shown, now bool) { past[by.Tick], present[by.Tick] = shown, now }
	g.judged = func(by foretick.By, shown, _ bool) { screen[by.Tick] = shown }
	srv, err := m.Serve(server.Config{Protocol: truth.Protocol()})
	require.NoError(t, err)
	truth.Fill(srv)
	link := sim.Link{Latency: rtt / 2, Loss: loss}
	frames := 0
	_, err = m.Join(client.Config{Protocol: g.Protocol(), Sample: client.Sample(&g.Cmd, func(client.View) Command {
		frames++
		return Command{Fire: m.Net.Now() > 5*time.Second && frames%47 == 0}
	})}, simtest.Seat{Up: link, Down: link, FrameRate: 144})
	require.NoError(t, err)
	m.Run(65 * time.Second)
	require.NoError(t, m.Err())
	return screen, past, present
}

// A shot through the opening of the door, as a screen with a round trip of 100 ms shows it, hits the target
// behind it. In the present the door is elsewhere.
func TestDoorIsShotThroughAsOnTheScreen(t *testing.T) {
	for _, line := range []struct {
		rtt  time.Duration
		loss float64
	}{{100 * time.Millisecond, 0}, {100 * time.Millisecond, 0.02}} {
		screen, past, present := shots(t, line.rtt, line.loss)
		through, wrong, now := 0, 0, 0
		for tick, hit := range past {
			shown, known := screen[tick]
			require.True(t, known, "tick %d", tick)
			if shown {
				through++
			}
			if shown != hit {
				wrong++
			}
			if shown != present[tick] {
				now++
			}
		}
		t.Logf("%v, %.0f %% loss: %d shots, %d through the door on the screen; judged otherwise in the past %d, in the present %d", line.rtt, line.loss*100, len(past), through, wrong, now)
		require.Greater(t, len(past), 150)
		require.Greater(t, through, 30)
		require.Less(t, through, len(past)-30)
		require.Zero(t, wrong)
		require.Greater(t, now, 30, "judged in the present")
	}
}

// A query in the past leaves no trace: an engine that is asked steps like one that is not.
func TestQueriesChangeNothing(t *testing.T) {
	asked, left := newEngine(), newEngine()
	widest := 0.0
	for tick := range 600 {
		ray := lagcomp.Ray2D(0, 0, 0, 20)
		require.Equal(t, float32(20), asked.reach(ray, float32(closed+swings)), "it is open")
		require.InDelta(t, wallX, asked.reach(ray, closed), 0.1, "it is closed")
		asked.space.Step(1. / 30)
		left.space.Step(1. / 30)
		require.Equal(t, left.door.Angle(), asked.door.Angle(), "tick %d", tick)
		widest = max(widest, math.Abs(asked.door.Angle()-closed))
	}
	require.InDelta(t, swings, widest, 0.2, "it swings to the end")
	require.Greater(t, widest, 1.1)
}
