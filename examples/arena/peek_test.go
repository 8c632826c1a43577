package main

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
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/examples/arena/game"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport/sim"
)

var wholePeek = flag.Bool("peek", false, "play both whole tables of the peeker's advantage")

// The scene, in metres. The watcher stands exactly below the corner of a wall, so it sees what is
// right of the corner, and the runner sees it from there.
const (
	peekCorner  = 14 // the right end of the second wall of game.Walls, which ends at y 2
	peekRunnerY = 4
	peekWatchY  = -6
	peekSettles = 6 * time.Second
)

// peekRow is a match of two without reaction times, so that only the network is measured. The runner
// runs out from behind the wall and back, again and again. The watcher fires at all that it sees of
// the runner.
type peekRow struct {
	name            string
	rate, frames    int           // ticks and rendered frames a second
	runner, watcher time.Duration // round trips
	jitter          time.Duration // each way
	loss            float64       // each way
	server          server.Config // settings of the server
	client          client.Config // settings of both players

	terms     [6]float64 // milliseconds: see peekTerms
	reach     float64    // milliseconds: the sum of the terms for the longest time in cover
	seen      []float64  // milliseconds from the runner's sight of the watcher to the watcher's of it
	shots     int        // judged shots that hit on the watcher's screen
	confirmed int        // how many of them the server confirmed
	hits      int        // confirmed hits that the runner has heard of
	covered   []float64  // milliseconds that its whole body was in cover then, on its own screen
	metres    float64    // the farthest that it had gone from the corner then
}

var peekTerms = [...]string{"up", "waits for its tick", "own drawing", "down", "read by a frame", "interpolation"}

// peekEnd is one of the two players, with the runner as its screen shows it.
type peekEnd struct {
	game   *game.Game
	client *client.Client
	x      float32
	from   stats.Client // the counts when measuring began
}

// peekScene is the match of a row.
type peekScene struct {
	*simtest.Match
	row             *peekRow
	runner, watcher peekEnd
	way             float32                // the runner's speed, as a share
	came, hid       time.Duration          // when the runner's screen showed it come out, and in cover
	newest          foretick.Tick          // the runner's newest snapshot
	shown           map[foretick.Tick]bool // whether the watcher's shot of a tick hit on its screen
	unheard         []foretick.Tick        // ticks of confirmed hits that the runner has not heard of
}

// measures reports whether what happens now counts.
func (s *peekScene) measures() bool { return s.Net.Now() > peekSettles }

// join adds a player.
func (s *peekScene) join(t *testing.T, e *peekEnd, rtt time.Duration, sample func(client.View) game.Command, after func(client.View)) {
	e.game = game.NewGame(game.Options{TickRate: s.row.rate, Peaceful: true})
	cfg := s.row.client
	var err error
	if e == &s.runner {
		cfg.OnSnapshot = func(t foretick.Tick) { s.newest = t }
	}
	cfg.Protocol, err = e.game.Protocol()
	require.NoError(t, err)
	cfg.Sample = client.Sample(&e.game.Cmd, sample)
	link := sim.Link{Latency: rtt / 2, Jitter: s.row.jitter, Loss: s.row.loss}
	e.client, err = s.Join(cfg, simtest.Seat{Up: link, Down: link, FrameRate: s.row.frames, After: after})
	require.NoError(t, err)
}

// look notes where a screen shows the runner, and returns where it showed it before.
func (s *peekScene) look(e *peekEnd, v client.View) (before float32) {
	before = e.x
	for _, rows := range e.game.Avatars.Owned(v.World, s.runner.client.View().Player) {
		e.x = e.game.Pos.Slice(rows)[0].X
	}
	return before
}

// run is the runner's input. Its speed differs a little each time, so that it comes out at another
// time between two ticks.
func (s *peekScene) run(client.View) game.Command {
	if s.runner.x < peekCorner-4 && s.way <= 0 {
		s.way = 1 - 0.1*s.Rand().Float32()
	} else if s.runner.x > peekCorner+3 {
		s.way = -1
	}
	return game.Command{MoveX: s.way}
}

// watch is the watcher's input: it fires at the middle of what it sees of the runner, at any time.
func (s *peekScene) watch(client.View) game.Command {
	left, right := max(s.watcher.x-game.BodyRadius, peekCorner), s.watcher.x+game.BodyRadius
	if right < peekCorner+0.02 {
		return game.Command{Aim: math.Pi / 2}
	}
	aim := math.Atan2(peekRunnerY-peekWatchY, float64(left+right)/2-peekCorner)
	return game.Command{Aim: float32(aim), Fire: s.Rand().IntN(4) == 0}
}

// inCover reports whether the whole body of the runner is behind the corner.
func inCover(x float32) bool { return x+game.BodyRadius <= peekCorner }

// ran looks at a frame of the runner.
func (s *peekScene) ran(v client.View) {
	before, now := s.look(&s.runner, v), s.Net.Now()
	if before <= peekCorner && s.runner.x > peekCorner {
		s.came = now
	}
	if !inCover(before) && inCover(s.runner.x) {
		s.hid = now
	}
	s.unheard = slices.DeleteFunc(s.unheard, func(t foretick.Tick) bool {
		if int32(t-s.newest) > 0 {
			return false
		}
		s.row.hits++
		if inCover(s.runner.x) {
			s.row.covered = append(s.row.covered, millis(now-s.hid))
			s.row.metres = max(s.row.metres, float64(peekCorner-game.BodyRadius-s.runner.x))
		}
		return true
	})
}

// watched looks at a frame of the watcher.
func (s *peekScene) watched(v client.View) {
	before := s.look(&s.watcher, v)
	if before <= peekCorner && s.watcher.x > peekCorner && s.measures() {
		s.row.seen = append(s.row.seen, millis(s.Net.Now()-s.came))
	}
}

// judged notes the server's verdict.
func (s *peekScene) judged(f *foretick.Frame, by foretick.PlayerID, _ lagcomp.Ray, _ ecs.Entity, ok bool) {
	if !s.measures() {
		return
	}
	if s.shown[f.Tick] {
		s.row.shots++
		if ok {
			s.row.confirmed++
		}
	}
	if ok {
		s.unheard = append(s.unheard, f.Tick)
	}
}

// place puts both players where they belong.
func (s *peekScene) place(srv *server.Server, g *game.Game) {
	f := srv.Frame()
	for _, rows := range g.Avatars.All(f.World) {
		at := game.Position{X: peekCorner, Y: peekWatchY}
		if rows.Owner() == s.runner.client.View().Player {
			at = game.Position{X: peekCorner - 3, Y: peekRunnerY}
		}
		g.Pos.Slice(rows)[0] = at
		f.Teleport(rows.Entity(0))
	}
}

// play plays the row's match.
func (r *peekRow) play(t *testing.T, length time.Duration) {
	t.Helper()
	virtual(t)
	s := &peekScene{Match: simtest.New(5), row: r, way: 1, shown: map[foretick.Tick]bool{}}
	g := game.NewGame(game.Options{TickRate: r.rate, Peaceful: true})
	g.Watch.Judged = s.judged
	p, err := g.Protocol()
	require.NoError(t, err)
	cfg := r.server
	cfg.Protocol = p
	srv, err := s.Serve(cfg)
	require.NoError(t, err)
	s.join(t, &s.runner, r.runner, s.run, s.ran)
	s.join(t, &s.watcher, r.watcher, s.watch, s.watched)
	s.watcher.game.Watch.Fired = func(f *foretick.Frame, _ ecs.Entity, hit foretick.Hit, _ lagcomp.Sphere) {
		s.shown[f.Tick] = hit.ID != 0
	}
	s.Net.At(2*time.Second, func() { s.place(srv, g) })
	s.Run(peekSettles)
	s.runner.from, s.watcher.from = s.runner.client.Stats(), s.watcher.client.Stats()
	s.Run(peekSettles + length)
	require.NoError(t, s.Err())
	s.addUp()
}

// addUp computes the terms from what the clients measured of their connections. None of them uses
// what was drawn.
func (s *peekScene) addUp() {
	r, tick, frame := s.row, 1000/float64(s.row.rate), 1000/float64(s.row.frames)
	lead, delay, _ := s.runner.means()
	shooting, _, behind := s.watcher.means()
	own := tick // the own player is drawn between its newest two ticks
	if r.client.PartialTicks {
		own = 0
	}
	r.terms = [...]float64{millis(r.runner) / 2, lead - millis(r.runner) - frame/2, 0 - own - delay, millis(r.watcher) / 2, frame / 2, behind}
	r.reach = lead - own - delay + shooting + behind
}

// means returns the lead of a player's commands, its input delay, and the interpolation delay of its
// screen.
func (e *peekEnd) means() (lead, delay, interpolation float64) {
	st := e.client.Stats()
	n := float64(st.Frames - e.from.Frames)
	return millis(st.LeadSum-e.from.LeadSum) / n, millis(st.InputDelaySum-e.from.InputDelaySum) / n, millis(st.InterpolationSum-e.from.InterpolationSum) / n
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// sum returns the peeker's advantage by its terms.
func (r *peekRow) sum() (sum float64) {
	for _, term := range r.terms {
		sum += term
	}
	return sum
}

// mean returns the measured advantage.
func (r *peekRow) mean() (mean float64) {
	for _, seen := range r.seen {
		mean += seen / float64(len(r.seen))
	}
	return mean
}

// check compares what was measured with the sums of the terms.
func (r *peekRow) check(t *testing.T) {
	t.Helper()
	frame := 1000 / float64(r.frames)
	require.Greater(t, len(r.seen), 3, r.name)
	require.InDelta(t, r.sum(), r.mean(), frame, "%s: the advantage is that of its terms, within a frame", r.name)
	require.Greater(t, r.hits, 20, r.name)
}

// peekTable writes the terms of the advantage, their sum, and what was measured.
func peekTable(rows []*peekRow) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n| | %s | sum | measured | from, to |\n|:--|%s--:|--:|--:|\n", strings.Join(peekTerms[:], " | "), strings.Repeat("--:|", len(peekTerms)))
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s |", r.name)
		for _, term := range r.terms {
			fmt.Fprintf(&b, " %.0f |", term)
		}
		fmt.Fprintf(&b, " %.0f | **%.0f** | %.0f, %.0f |\n", r.sum(), r.mean(), slices.Min(r.seen), slices.Max(r.seen))
	}
	return b.String()
}

// coverTable writes how often a victim was hit in cover, for each of the limits.
func coverTable(rows [][]*peekRow) string {
	var b strings.Builder
	b.WriteString("\n| | sum | confirmed | in cover | longest | confirmed | in cover | longest | confirmed | in cover | longest |\n|:--|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
	for _, limits := range rows {
		fmt.Fprintf(&b, "\n| %s | %.0f |", limits[0].name, limits[0].reach)
		for _, r := range limits {
			fmt.Fprintf(&b, " %.0f %% | %.0f %% | %.0f ms, %.1f m |", 100*float64(r.confirmed)/float64(max(r.shots, 1)),
				100*float64(len(r.covered))/float64(max(r.hits, 1)), slices.Max(append(r.covered, 0)), r.metres)
		}
	}
	return b.String()
}

// peekLimits are the limits of rewinding in the second table: the default, a low one, and none at all.
var peekLimits = [...]time.Duration{0, 100 * time.Millisecond, -1}

// The peeker's advantage is the sum of its terms, and so is the time for which a victim may be hit in
// cover: for several rates, round trips and limits of rewinding.
func TestPeek(t *testing.T) {
	const ms = time.Millisecond
	rates, trips, length := []int{30}, [][2]time.Duration{{60 * ms, 120 * ms}}, 15*time.Second
	if *wholePeek {
		rates, length = []int{30, 60, 128}, 2*time.Minute
		trips = [][2]time.Duration{{20 * ms, 20 * ms}, {60 * ms, 60 * ms}, {120 * ms, 120 * ms}, {20 * ms, 120 * ms}, {120 * ms, 20 * ms}}
	}
	var peeks []*peekRow
	var covers [][]*peekRow
	for _, rate := range rates {
		for _, trip := range trips {
			var limits []*peekRow
			for _, limit := range peekLimits {
				r := &peekRow{name: fmt.Sprintf("%d Hz, %d and %d ms", rate, trip[0].Milliseconds(), trip[1].Milliseconds()), rate: rate, frames: 144, runner: trip[0], watcher: trip[1]}
				r.server.MaxRewind = limit
				r.play(t, length)
				limits = append(limits, r)
			}
			peeks, covers = append(peeks, limits[0]), append(covers, limits)
		}
	}
	if *wholePeek {
		for _, r := range peekTurns() {
			r.play(t, length)
			peeks = append(peeks, r)
		}
	}
	t.Log("the peeker's advantage, ms", peekTable(peeks), "\nhit in cover", coverTable(covers))
	for _, r := range peeks {
		r.check(t)
	}
	for _, limits := range covers {
		free, low, none := limits[0], limits[1], limits[2]
		require.Greater(t, 100*free.confirmed, 98*free.shots, free.name)
		longest := slices.Max(append(free.covered, 0))
		require.Less(t, longest, free.reach+1000/float64(free.frames), "%s: nobody is hit later than the terms say", free.name)
		require.Greater(t, longest, free.reach/2, free.name)
		require.LessOrEqual(t, slices.Max(append(low.covered, 0)), longest, free.name)
		require.Less(t, none.confirmed, low.confirmed, free.name)
	}
}

// peekTurns are matches at 60 Hz and 60 ms, each with one setting turned.
func peekTurns() (rows []*peekRow) {
	const trip = 60 * time.Millisecond
	add := func(name string, turn func(r *peekRow)) {
		r := &peekRow{name: name, rate: 60, frames: 144, runner: trip, watcher: trip}
		turn(r)
		rows = append(rows, r)
	}
	add("`SnapshotRate: 30`", func(r *peekRow) { r.server.SnapshotRate = 30 })
	add("`SnapshotRate: 20`", func(r *peekRow) { r.server.SnapshotRate = 20 })
	add("`PartialTicks`", func(r *peekRow) { r.client.PartialTicks = true })
	add("`InputDelay` 50 ms", func(r *peekRow) { r.client.InputDelay = 50 * time.Millisecond })
	add("61 rendered frames", func(r *peekRow) { r.frames = 61 }) // 60 would keep step with the ticks
	add("jitter 10 ms", func(r *peekRow) { r.jitter = 10 * time.Millisecond })
	add("jitter 20 ms, loss 2 %", func(r *peekRow) { r.jitter, r.loss = 20*time.Millisecond, 0.02 })
	return rows
}
