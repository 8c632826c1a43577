package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/prediction"
)

// What follows is no part of the game: it holds what screens showed and players felt
// against what the server had in the same ticks.
type (
	// moment is a body in a tick; the ball is nobody's.
	moment struct {
		tick   foretick.Tick
		player foretick.PlayerID
	}
	place struct{ x, y float64 }
	// picture is a body as a screen showed it, a fraction of the way to its tick.
	picture struct {
		moment
		fraction float64
		at       place
	}
	bang struct {
		tick     foretick.Tick
		by, with foretick.PlayerID
	}
	// screen is what one client showed and its player felt.
	screen struct {
		me    foretick.PlayerID
		tick  foretick.Tick
		shown []picture
		felt  []bang
	}
	// referee is what the server had.
	referee struct {
		was     map[moment]place
		bangs   []bang
		screens []*screen
	}
	// report is what comes of it.
	report struct {
		own, cars, ball  []float64 // metres off, in order
		both, felt, real int       // crashes: on both ends, felt alone, on the server alone
		score            Score
		stats            foretick.ClientStats
		audits           []foretick.AuditReport // at rest
	}
)

// near is within how many ticks two crashes of the same cars are one.
const near = 3

// places gives where everything stands in a world, or on a screen.
func (g *Game) places(w *ecs.World, found func(foretick.PlayerID, place)) {
	for _, rows := range g.bodies.All(w) {
		player := rows.Owner()
		if rows.Has(g.Score.ID()) {
			player = ecs.Nobody // clients have the ball on the island
		}
		for _, b := range g.Body.Slice(rows) {
			found(player, place{float64(b.X), float64(b.Y)})
		}
	}
}

// look remembers what a screen shows.
func (s *screen) look(g *Game, v foretick.View) {
	if s.me, s.tick = v.Player, v.Tick; v.State == foretick.Playing {
		g.places(v.World, func(player foretick.PlayerID, at place) {
			s.shown = append(s.shown, picture{moment{v.Tick, player}, float64(v.Fraction), at})
		})
	}
}

// feel remembers a crash, in the tick in which it was felt: a corrected prediction may
// tell of one late.
func (s *screen) feel(tick foretick.Tick, by, with foretick.PlayerID) {
	s.felt = add(s.felt, bang{max(tick, s.tick), by, with})
}

// note remembers where the server has everything.
func (r *referee) note(g *Game, f *foretick.Frame) {
	g.places(f.World, func(player foretick.PlayerID, at place) { r.was[moment{f.Tick, player}] = at })
}

// judge remembers a crash on the server.
func (r *referee) judge(tick foretick.Tick, by, with foretick.PlayerID) {
	r.bangs = add(r.bangs, bang{tick, by, with})
}

func (b bang) is(o bang) bool {
	return b.by == o.by && b.with == o.with && b.tick+near >= o.tick && o.tick+near >= b.tick
}

// add adds a crash, unless it was there just now: cars that bump twice crash once.
func add(to []bang, b bang) []bang {
	if slices.ContainsFunc(to, b.is) {
		return to
	}
	return append(to, b)
}

// report compares.
func (r *referee) report() (out report) {
	for _, s := range r.screens {
		for _, p := range s.shown {
			switch off, ok := r.off(p); {
			case !ok:
			case p.player == ecs.Nobody:
				out.ball = append(out.ball, off)
			case p.player == s.me:
				out.own = append(out.own, off)
			default:
				out.cars = append(out.cars, off)
			}
		}
		had := slices.DeleteFunc(slices.Clone(r.bangs), func(b bang) bool { return b.by != s.me })
		for _, b := range s.felt {
			if i := slices.IndexFunc(had, b.is); i >= 0 {
				had = slices.Delete(had, i, i+1)
				out.both++
			} else {
				out.felt++
			}
		}
		out.real += len(had)
	}
	return out
}

// off is how far from where the server had it a body was shown; false for the tick of
// a kick-off, in which it has no way.
func (r *referee) off(p picture) (float64, bool) {
	from, was := r.was[moment{p.tick - 1, p.player}]
	to, is := r.was[p.moment]
	x, y := to.x-from.x, to.y-from.y
	return math.Hypot(p.at.x-from.x-x*p.fraction, p.at.y-from.y-y*p.fraction), was && is && math.Hypot(x, y) < 5
}

func (r *report) print(w io.Writer) {
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	say("shown off from where the server had it, on the mean and in the worst of 100 pictures:")
	for _, b := range []struct {
		what string
		off  []float64
	}{{"own car", r.own}, {"other cars", r.cars}, {"the ball", r.ball}} {
		mean, worst := sum(b.off)
		say("  %-10s %5.2f m %5.2f m", b.what, mean, worst)
	}
	say("%d crashes felt that were the server's, %d felt alone, %d on the server alone", r.both, r.felt, r.real)
	var causes []string
	for c, n := range r.stats.ByCause {
		causes = append(causes, fmt.Sprintf("%v %d", prediction.Cause(c), n))
	}
	say("%d mispredictions in %d ticks compared: %s", r.stats.Mispredictions, r.stats.Compared, strings.Join(causes, ", "))
	say("%d of %d ticks shown otherwise at first than they came out", r.stats.MispredictedFrames, r.stats.PredictedTicks)
	say("%d of %d others' states foreseen wrongly, in any field by any step", r.stats.RemoteMispredicted, r.stats.RemotePredicted)
	say("score %d:%d", r.score.Right, r.score.Left)
}

// sum is the mean, and what 1 in 100 is worse than.
func sum(off []float64) (mean, worst float64) {
	slices.Sort(off)
	for _, v := range off {
		mean += v / float64(len(off))
	}
	return mean, off[len(off)*99/100]
}
