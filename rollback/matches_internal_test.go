package rollback

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/relay"
	"github.com/foretick/foretick/transport/sim"
)

// row is a kind of match of the campaign. rtt is the round trip between two players, through the relay.
type row struct {
	players int
	rtt     time.Duration
	jitter  time.Duration
	loss    float64
	outages bool
	window  int
}

func (r row) String() string {
	s := fmt.Sprintf("%d players, %v, jitter %v, loss %g %%", r.players, r.rtt, r.jitter, 100*r.loss)
	if r.outages {
		s += ", outages"
	}
	if r.window < 0 {
		s += ", lockstep"
	}
	return s
}

// link returns one of the two links on the way between two players.
func (r row) link() sim.Link {
	l := sim.Link{Latency: r.rtt / 4, Jitter: r.jitter / 2, InOrder: true, Loss: r.loss / 2}
	if r.outages {
		l.Outage, l.OutageEvery = 200*time.Millisecond, 15*time.Second
	}
	return l
}

// rows are the 32 kinds of matches.
func rows() (out []row) {
	const shaky = 30 * time.Millisecond
	for _, players := range []int{2, 4} {
		for _, ms := range []time.Duration{0, 50, 100, 250} {
			rtt := ms * time.Millisecond
			out = append(out, row{players, rtt, 0, 0, false, 0}, row{players, rtt, shaky, 0.02, false, 0}, row{players, rtt, shaky, 0.1, false, 0})
		}
		for _, loss := range []float64{0.02, 0.1} {
			out = append(out, row{players, 100 * time.Millisecond, shaky, loss, true, 0}, row{players, 250 * time.Millisecond, shaky, loss, false, Lockstep})
		}
	}
	return out
}

// TestMatches plays matches over all kinds of networks: no two players ever have different worlds of a settled
// tick. Each row also shows that the players pressed keys, hit one another, and rolled back where the path is
// longer than a tick. Without the rollback in simulation.settle, or if sums are taken of predicted ticks, all rows
// with a path fail.
func TestMatches(t *testing.T) {
	costtest.Figures(t)
	const seconds = 60
	played := 0
	for i, r := range rows() {
		for n := range costtest.Count(1, 4) {
			played++
			if !t.Run(fmt.Sprintf("%v/%d", r, n), func(t *testing.T) { playRow(t, r, uint64(1000*i+n), seconds, n == 0) }) {
				break
			}
		}
	}
	require.True(t, t.Failed() || played == costtest.Count(32, 128), "%d matches", played)
}

func playRow(t *testing.T, r row, seed uint64, seconds int, shown bool) {
	b := newBout(t, seed, relay.Config{Players: r.players})
	for i := range r.players {
		b.join(time.Duration(i)*7*time.Millisecond, r.link(), Config{Window: r.window}, nil)
	}
	b.run(time.Duration(seconds) * time.Second)
	b.compare()
	rs := b.relay.Stats()
	require.Greater(t, int(rs.Compared), 50)
	var line string
	for _, c := range b.corners {
		s, v := c.peer.Stats(), c.peer.View()
		require.Equal(t, Playing, v.State)
		require.Greater(t, c.pressed, 300)
		require.Greater(t, c.presses(), 300)
		require.Greater(t, c.hits(), 5)
		if path := r.rtt > time.Second/60; path && r.window >= 0 {
			require.Positive(t, s.Rollbacks)
		}
		if r.window < 0 {
			require.Zero(t, s.Rollbacks)
		} else if r.rtt <= 100*time.Millisecond && !r.outages {
			require.Zero(t, s.Stalls)
		}
		line += fmt.Sprintf("; delay %d, stalls %d in %d, reruns %.2f, deepest %d, stood in %d", v.Delay, s.Stalls, s.StalledSteps, float64(s.Reruns)/float64(s.Ticks), s.Deepest, s.StandIns)
	}
	if shown {
		t.Logf("%v%s; %d sums", r, line, rs.Compared)
	}
}
