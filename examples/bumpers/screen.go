package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/stats"
)

// The rest is not part of the game: it compares what screens showed and which crashes
// players felt with the server's state in the same ticks.
type (
	// moment names a body in a tick. The player of the ball is ecs.Nobody.
	moment struct {
		tick   foretick.Tick
		player foretick.PlayerID
	}
	place struct{ x, y float64 }
	// frame is where a screen showed a body. It was drawn at fraction between the tick before
	// moment.tick and that tick.
	frame struct {
		moment
		fraction float64
		at       place
	}
	// bang is a crash: the car of by hit the car of with.
	bang struct {
		tick     foretick.Tick
		by, with foretick.PlayerID
	}
	// screen records what one client showed, and which crashes its player felt.
	screen struct {
		me    foretick.PlayerID
		tick  foretick.Tick // the tick of the last frame
		shown []frame
		felt  []bang
	}
	// referee records the server's positions and crashes.
	referee struct {
		was     map[moment]place
		bangs   []bang
		screens []*screen
	}
	// report is the result.
	report struct {
		own, cars, ball  []float64 // how far screens were from the server, in metres, sorted by size
		both, felt, real int       // crashes: on both ends, felt only on a client, only on the server
		score            Score
		trace            [32]byte // the hash of all packets, states and frames; see simtest.Match.Trace
		stats            stats.Client
		audits           []simtest.AuditReport // once all is at rest
	}
)

// near is the largest number of ticks between two reports of the same crash.
const near = 3

// places calls found with the position of every body in a world or on a screen.
func (g *Game) places(w *ecs.World, found func(foretick.PlayerID, place)) {
	for _, rows := range g.bodies.All(w) {
		player := rows.Owner()
		if rows.Has(g.Score.ID()) {
			player = ecs.Nobody // on clients the ball belongs to ecs.Common
		}
		for _, b := range g.Body.Slice(rows) {
			found(player, place{float64(b.X), float64(b.Y)})
		}
	}
}

// look records what a screen shows.
func (s *screen) look(g *Game, v client.View) {
	if s.me, s.tick = v.Player, v.Tick; v.State == client.Playing {
		g.places(v.World, func(player foretick.PlayerID, at place) {
			s.shown = append(s.shown, frame{moment{v.Tick, player}, float64(v.Fraction), at})
		})
	}
}

// feel records a crash in the tick in which the player felt it: a corrected prediction may
// report it late.
func (s *screen) feel(tick foretick.Tick, by, with foretick.PlayerID) {
	s.felt = add(s.felt, bang{max(tick, s.tick), by, with})
}

// note records all positions on the server.
func (r *referee) note(g *Game, f *foretick.Frame) {
	g.places(f.World, func(player foretick.PlayerID, at place) { r.was[moment{f.Tick, player}] = at })
}

// judge records a crash on the server.
func (r *referee) judge(tick foretick.Tick, by, with foretick.PlayerID) {
	r.bangs = add(r.bangs, bang{tick, by, with})
}

func (b bang) is(o bang) bool {
	return b.by == o.by && b.with == o.with && b.tick+near >= o.tick && o.tick+near >= b.tick
}

// add adds a crash, unless it was reported just before: two cars that touch twice crash once.
func add(to []bang, b bang) []bang {
	if slices.ContainsFunc(to, b.is) {
		return to
	}
	return append(to, b)
}

// report compares all screens with the server.
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

// off returns the distance between a body on a screen and on the server. It returns false if
// the server's position is unknown, or if the body teleports in that tick, as at a kick-off.
func (r *referee) off(p frame) (float64, bool) {
	from, was := r.was[moment{p.tick - 1, p.player}]
	to, is := r.was[p.moment]
	x, y := to.x-from.x, to.y-from.y
	return math.Hypot(p.at.x-from.x-x*p.fraction, p.at.y-from.y-y*p.fraction), was && is && math.Hypot(x, y) < 5
}

func (r *report) print(w io.Writer) {
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	say("distance from the server's position, mean and worst of 100 frames:")
	for _, b := range []struct {
		what string
		off  []float64
	}{{"own car", r.own}, {"other cars", r.cars}, {"the ball", r.ball}} {
		mean, worst := sum(b.off)
		say("  %-10s %5.2f m %5.2f m", b.what, mean, worst)
	}
	say("%d crashes on both ends, %d felt only on a client, %d only on the server", r.both, r.felt, r.real)
	var causes []string
	for c, n := range r.stats.ByCause.All() {
		causes = append(causes, fmt.Sprintf("%v %d", c, n))
	}
	say("%d mispredictions in %d ticks compared: %s", r.stats.Mispredictions, r.stats.Compared, strings.Join(causes, ", "))
	say("%d of %d ticks were shown wrongly at first", r.stats.MispredictedTicks, r.stats.PredictedTicks)
	say("%d of %d predicted states of other players were wrong, in any field by any step", r.stats.RemoteMispredicted, r.stats.RemotePredicted)
	say("score %d:%d", r.score.Right, r.score.Left)
	say("trace %x", r.trace)
}

// sum returns the mean of off, and the value that 1 in 100 exceeds. It sorts off.
func sum(off []float64) (mean, worst float64) {
	slices.Sort(off)
	for _, v := range off {
		mean += v / float64(len(off))
	}
	return mean, off[len(off)*99/100]
}
