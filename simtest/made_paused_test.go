package simtest_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/transport/sim"
)

var (
	pausedSeeds = flag.Int("paused", costtest.Count(3, 16), "how many generated games TestMadeGamesThatPause plays; 300 before a release")
	pausedFirst = flag.Uint64("paused-first", 0, "the seed of the first")
)

// told adds a server system that often changes an unpredicted component of players' own entities,
// until the end.
func (p *madePlan) told(r *rand.Rand) {
	p.rate = 128
	free := []int{}
	for i, s := range madeShapes() {
		if !p.predicted[i] && i != madeRefs && !(p.guess && s.coarse()) && !slices.ContainsFunc(p.systems, func(s madeSystem) bool { return s.from == i || s.to == i }) {
			free = append(free, i)
		}
	}
	for range 2 {
		i := free[r.IntN(len(free))]
		for k := range 2 { // avatar and pet
			if !slices.Contains(p.has[k], i) {
				p.has[k] = append(p.has[k], i)
			}
		}
		p.systems = append(p.systems, madeSystem{what: madeTell, to: i, from: i, share: uint64(1 + r.IntN(60))})
	}
}

// playPaused plays a game at 128 Hz in which clients pause, for a frame's length up to longer
// than the timeout of the connection. The game's systems stop during some pauses. It returns what
// differs after 3 and after 20 seconds at rest.
func playPaused(t *testing.T, seed uint64) (faults []string, compared int, pauses int) {
	p := newMadePlan(seed)
	p.told(rand.New(rand.NewPCG(seed, 163)))
	a := newMadeMatchOf(t, p, false)
	r := rand.New(rand.NewPCG(seed, 164))
	for range 1 + r.IntN(3) {
		a.frames = []int{0, 0, 10, 24, 144, 240}[r.IntN(6)]
		a.join(t, nil)
	}
	end := 9 * time.Second
	for at := time.Second; at < end; at += time.Duration(50+r.IntN(1200)) * time.Millisecond {
		a.m.Net.At(at, func() {
			s := a.seats[r.IntN(len(a.seats))]
			long := time.Duration(8+r.IntN(400)) * time.Millisecond
			switch r.IntN(6) {
			case 0:
				long *= 20
			case 1, 2:
				long *= 4
			}
			pauses++
			a.m.Freeze(s.c, true)
			a.m.Net.At(a.m.Net.Now()+long, func() { a.m.Freeze(s.c, false) })
		})
	}
	for at := time.Second; at < end; at += time.Duration(300+r.IntN(2000)) * time.Millisecond {
		a.m.Net.At(at, func() { a.m.Link(a.seats[r.IntN(len(a.seats))].c, a.link(), a.link()) })
	}
	a.m.Run(end)
	if r.IntN(2) == 0 { // otherwise the links stay bad while the match rests
		for _, s := range a.seats {
			a.m.Link(s.c, sim.Link{Latency: 20 * time.Millisecond}, sim.Link{Latency: 20 * time.Millisecond})
		}
	}
	for _, rest := range []time.Duration{end + 11*time.Second, end + 30*time.Second} { // the longest pause ends 8 s after end
		a.m.Run(rest)
		require.NoError(t, a.m.Err())
		for _, s := range a.seats {
			if s.c.View().State != client.Playing {
				continue
			}
			audit := a.m.Audit(s.c)
			compared += audit.Fields
			if audit.Differences > 0 {
				faults = append(faults, fmt.Sprintf("%v after the last change, player %d: %d differences: %s", rest-end, s.c.View().Player, audit.Differences, audit.First))
			}
		}
	}
	return faults, compared, pauses
}

// Components of a player's own entities that only the server computes arrive however long and
// whenever its client paused: at rest both ends have the same values.
func TestMadeGamesThatPause(t *testing.T) {
	compared, pauses := 0, 0
	n := *pausedSeeds
	if raced || debugging { // both are slow
		n = min(n, 3)
	}
	for seed := *pausedFirst; seed < *pausedFirst+uint64(n); seed++ {
		faults, fields, paused := playPaused(t, seed)
		compared, pauses = compared+fields, pauses+paused
		for _, f := range faults {
			t.Errorf("seed %d: %s", seed, f)
		}
	}
	t.Logf("%d games at 128 Hz, %d pauses: %d fields compared at rest", n, pauses, compared)
	require.Positive(t, compared)
	require.GreaterOrEqual(t, pauses, n)
}
