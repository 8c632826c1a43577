package shottest

import (
	"flag"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport/sim"
)

var fullAccuracy = flag.Bool("accuracy", false, "play the accuracy test's whole table, which takes minutes")

// cell is one link in one setting, and the results of its shots.
type cell struct {
	rtt, jitter time.Duration
	loss        float64

	shots, wide, held   int
	heldHits, heldSame  int // hits of held targets on the screen; those for which the server hit the same head
	onScreen, confirmed int // hits on the screen; those for which the server hit the same head
	missed, unseen      int // misses on the screen; those for which the server hit a head
	wideHit             int
	clamped             int
	lost                int // shots whose command did not reach the server in time
	errors              []float64
	median, p99         float64
	rewind              float64 // the greatest rewind, in ticks
}

// setting is the settings of a server and its shooters.
type setting struct {
	name     string
	rate     int
	snapshot int
	cap      time.Duration
	without  bool // no lag compensation
	growth   time.Duration
	taps     bool // the shooters press between ticks, at 240 frames a second
}

func (c *cell) link() sim.Link {
	return sim.Link{Latency: c.rtt / 2, Jitter: c.jitter, Loss: c.loss}
}

// grid returns the links of the table.
func grid(full bool) []*cell {
	var out []*cell
	add := func(rtt int, jitter int, loss float64) {
		out = append(out, &cell{rtt: time.Duration(rtt) * time.Millisecond, jitter: time.Duration(jitter) * time.Millisecond, loss: loss})
	}
	if !full {
		add(0, 0, 0)
		add(100, 20, 0.02)
		add(200, 50, 0)
		add(200, 50, 0.1)
		add(400, 0, 0)
		add(400, 50, 0.1)
		return out
	}
	for _, rtt := range []int{0, 50, 100, 200, 300, 400} {
		add(rtt, 0, 0)
		add(rtt, 20, 0.02)
		add(rtt, 50, 0)
		add(rtt, 50, 0.1)
	}
	return out
}

// play lets one shooter per link shoot, and compares the hits on their screens with the
// server's hits.
func play(t *testing.T, s setting, cells []*cell, d time.Duration) {
	t.Helper()
	m, err := newRangeOf(&shootingRange{taps: s.taps}, 7, s.rate, server.Config{
		SnapshotRate: s.snapshot, MaxRewind: s.cap, NoLagCompensation: s.without, RewindGrowth: s.growth,
	})
	require.NoError(t, err)
	const warm = 6 * time.Second
	for _, c := range cells {
		_, err := m.seat(c.link(), c.link(), warm, warm+d)
		require.NoError(t, err)
	}
	m.Run(warm + d + 2*time.Second)
	for i, c := range cells {
		c.join(m, m.shooters[i], m.judged[m.shooters[i].client.View().Player])
	}
}

// join compares each shot in the client's own log with the server's.
func (c *cell) join(m *rangeMatch, s *shooter, judged map[foretick.Tick]judgedShot) {
	var ticks []foretick.Tick
	for t := range s.seen {
		ticks = append(ticks, t)
	}
	slices.Sort(ticks)
	for _, t := range ticks {
		saw := s.seen[t]
		srv, came := judged[t]
		c.shots++
		switch {
		case !came:
			c.lost++
		case srv.reason != lagcomp.OK:
			c.clamped++
		}
		c.rewind = max(c.rewind, srv.rewind)
		if saw.held {
			c.held++
			if saw.hit {
				c.heldHits++
				if srv.hit && srv.number == saw.number {
					c.heldSame++
				}
			}
			continue
		}
		switch {
		case saw.hit:
			c.onScreen++
			if srv.hit && srv.number == saw.number {
				c.confirmed++
			}
		case saw.kind == aimWide:
			c.wide++
			if srv.hit && srv.number == s.target {
				c.wideHit++
			}
		default:
			c.missed++
			if srv.hit {
				c.unseen++
			}
		}
		if came && saw.shown && srv.exists {
			c.errors = append(c.errors, distance(saw.head, srv.head))
		}
	}
	slices.Sort(c.errors)
	if n := len(c.errors); n > 0 {
		c.median, c.p99 = c.errors[n/2], c.errors[min(n-1, n*99/100)]
	}
}

func distance(a, b lagcomp.Vec) float64 {
	return math.Sqrt(float64((a.X-b.X)*(a.X-b.X) + (a.Y-b.Y)*(a.Y-b.Y) + (a.Z-b.Z)*(a.Z-b.Z)))
}

func percent(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return 100 * float64(n) / float64(of)
}

// table prints the outcome in Markdown.
func table(s setting, cells []*cell) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s\n\n", s.name)
	b.WriteString("| RTT | jitter | loss | shots | hit on screen | confirmed | missed on screen | confirmed | 3 radii off | confirmed | clamped | late | error p50, p99 (mm) |\n")
	b.WriteString("|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, c := range cells {
		fmt.Fprintf(&b, "| %d ms | %d ms | %.0f %% | %d | %d | %.2f %% | %d | %.2f %% | %d | %d | %d | %d | %.2f, %.2f |\n",
			c.rtt.Milliseconds(), c.jitter.Milliseconds(), c.loss*100, c.shots, c.onScreen, percent(c.confirmed, c.onScreen),
			c.missed, percent(c.unseen, c.missed), c.wide, c.wideHit, c.clamped, c.lost, 1000*c.median, 1000*c.p99)
	}
	return b.String()
}

// settings returns the settings of the table.
func settings() []setting {
	return []setting{
		{"30 Hz, cap 1 s", 30, 30, time.Second, false, 0, false},
		{"31 Hz, cap 1 s", 31, 31, time.Second, false, 0, false},
		{"60 Hz, cap 1 s", 60, 60, time.Second, false, 0, false},
		{"60 Hz with 20 Hz snapshots, cap 1 s", 60, 20, time.Second, false, 0, false},
		{"30 Hz, cap 1 s, pressed between ticks at 240 frames a second", 30, 30, time.Second, false, 0, true},
		{"60 Hz, cap 1 s, pressed between ticks at 240 frames a second", 60, 60, time.Second, false, 0, true},
	}
}

func accuracyTime() time.Duration {
	if *fullAccuracy {
		return 4 * time.Minute
	}
	return 40 * time.Second
}

// Heads that a shooter hits on its screen are hit on the server, and no others, if the
// rewind limit is large enough for the latency.
func TestAccuracy(t *testing.T) {
	for i, s := range settings() {
		if small && !*fullAccuracy && i > 0 {
			continue
		}
		cells := grid(*fullAccuracy)
		play(t, s, cells, accuracyTime())
		t.Log(table(s, cells))
		for _, c := range cells {
			c.check(t, s)
		}
	}
}

// check requires that the results of a cell are within their limits.
func (c *cell) check(t *testing.T, s setting) {
	t.Helper()
	name := fmt.Sprintf("%s, RTT %v, jitter %v, loss %v", s.name, c.rtt, c.jitter, c.loss)
	bar := 99.0
	if c.rtt > 200*time.Millisecond {
		bar = 97
	}
	require.Greater(t, c.onScreen, 100, name)
	require.GreaterOrEqual(t, percent(c.confirmed, c.onScreen), bar, name)
	require.Greater(t, c.missed, 20, name)
	require.LessOrEqual(t, c.unseen, max(1, c.missed/100), name) // allows one even if the short form has only fifty misses
	require.Greater(t, c.wide, 50, name)
	require.Zero(t, c.wideHit, name)
	require.LessOrEqual(t, c.median, placeStep/2, name)
	if c.loss == 0 {
		require.LessOrEqual(t, c.p99, placeStep, name)
	}
}

// With the default rewind limit, shots within it are as accurate, and shots
// beyond it are clamped and counted.
func TestAccuracyDefaultCap(t *testing.T) {
	s := setting{"30 Hz, default cap (667 ms)", 30, 30, 0, false, 0, false}
	cells := grid(*fullAccuracy)
	beyond := &cell{rtt: 700 * time.Millisecond}
	play(t, s, append(cells, beyond), accuracyTime())
	t.Log(table(s, append(cells, beyond)))
	for _, c := range cells {
		if c.rtt <= 300*time.Millisecond || c.jitter == 0 {
			c.check(t, s) // the default limit is enough for a round trip of 400 ms
		}
		require.LessOrEqual(t, c.rewind, 0.6*30+2+0.001)
	}
	require.Greater(t, percent(beyond.clamped, beyond.shots), 95.0)
	require.LessOrEqual(t, beyond.rewind, 0.6*30+2+0.001)
	require.Less(t, percent(beyond.confirmed, beyond.onScreen), 50.0)
}

// Without lag compensation hardly a shot at a running target hits.
func TestAccuracyWithoutCompensation(t *testing.T) {
	s := setting{"30 Hz, no lag compensation", 30, 30, 0, true, 0, false}
	cells := grid(*fullAccuracy)
	play(t, s, cells, accuracyTime())
	t.Log(table(s, cells))
	for _, c := range cells {
		if c.rtt >= 100*time.Millisecond {
			require.Less(t, percent(c.confirmed, c.onScreen), 30.0, c.rtt)
		}
	}
}
