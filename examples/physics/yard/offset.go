package yard

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
)

// offset compares what screens showed with what the server had in the same tick. It is not part
// of the game.
type offset struct {
	was   map[moment]place // where the server had each body
	shown []frame          // where screens showed bodies
	off   [3][]float64     // the distances in metres, by frame.what
}

type (
	// moment names a body in a tick.
	moment struct {
		tick foretick.Tick
		id   uint32
	}
	place struct{ x, y float64 }
	// frame is where a screen showed a body. It was drawn at fraction between the tick before
	// moment.tick and that tick.
	frame struct {
		moment
		what     int // 0: the player's own car, 1: another player's, 2: a crate
		fraction float64
		at       place
	}
)

var whats = [3]string{"own car", "other cars", "crates"}

func (g *Game) places(w *ecs.World, found func(id uint32, owner foretick.PlayerID, car bool, at place)) {
	for _, rows := range g.bodies.All(w) {
		body := g.Body.Slice(rows)
		for i, id := range g.ID.Slice(rows) {
			found(id.N, rows.Owner(), rows.Has(g.Drive.ID()), place{float64(body[i].X), float64(body[i].Y)})
		}
	}
}

// note records the server's positions in a tick.
func (o *offset) note(g *Game, f *foretick.Frame) {
	g.places(f.World, func(id uint32, _ foretick.PlayerID, _ bool, at place) { o.was[moment{f.Tick, id}] = at })
}

// look records what a screen shows.
func (o *offset) look(g *Game, v client.View) {
	if v.State != client.Playing {
		return
	}
	g.places(v.World, func(id uint32, owner foretick.PlayerID, car bool, at place) {
		what := 2
		if car && owner == v.Player {
			what = 0
		} else if car {
			what = 1
		}
		o.shown = append(o.shown, frame{moment{v.Tick, id}, what, float64(v.Fraction), at})
	})
}

// print prints the mean distance, and the distance that 1 frame in 100 exceeds.
func (o *offset) print(w io.Writer) {
	for _, s := range o.shown {
		from, was := o.was[moment{s.tick - 1, s.id}]
		to, is := o.was[s.moment]
		if was && is {
			x, y := from.x+(to.x-from.x)*s.fraction, from.y+(to.y-from.y)*s.fraction
			o.off[s.what] = append(o.off[s.what], math.Hypot(s.at.x-x, s.at.y-y))
		}
	}
	_, _ = fmt.Fprintln(w, "distance from the server's position, mean and worst of 100 frames:")
	for what, off := range o.off {
		slices.Sort(off)
		mean, worst := 0.0, 0.0
		for _, d := range off {
			mean, worst = mean+d/float64(len(off)), off[len(off)*99/100]
		}
		_, _ = fmt.Fprintf(w, "  %-10s %5.2f m %5.2f m\n", whats[what], mean, worst)
	}
}
