package game

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

// Phase is a part of a match.
type Phase uint8

// The phases. A match begins again after Done.
const (
	Waiting Phase = iota // for two players
	Ready
	Fight
	Over // of a round
	Done // of the match
)

// String returns the phase in lower case, such as "ready".
func (p Phase) String() string {
	if p > Done {
		return "?"
	}
	return [...]string{"waiting for two players", "ready", "fight", "round over", "match over"}[p]
}

// How long the phases take, in ticks.
const (
	readyFor = 60
	fightFor = 99 * TickRate
	overFor  = 90
	doneFor  = 240
	toWin    = 2 // rounds
)

// part keeps fighters on the stage and apart, and turns those that are free to each other.
func (g *Game) part(f *foretick.Frame, _ ecs.Rows) {
	_, of, ok := g.both(f.World)
	if !ok {
		return
	}
	l, r := of[0], of[1]
	l.hold()
	r.hold()
	if l.X > r.X || l.X == r.X && l.Left {
		l, r = r, l // as they stand now
	}
	if deep := 500 - (r.X - l.X); deep > 0 && max(l.Y, r.Y)-min(l.Y, r.Y) < 1000 && l.Act != Down && r.Act != Down {
		l.X -= deep / 2
		r.X += deep - deep/2
		l.hold()
		r.hold()
		if deep = 500 - (r.X - l.X); l.X == -edge { // the end of the stage held one of them
			r.X += deep
		} else {
			l.X -= deep
		}
	}
	if l.X == r.X {
		return
	}
	if l.Free() {
		l.Left = false
	}
	if r.Free() {
		r.Left = true
	}
}

// hold keeps a fighter on the stage.
func (a *Fighter) hold() { a.X = min(max(a.X, -edge), edge) }

// judge lets the phases follow one another.
func (g *Game) judge(f *foretick.Frame, _ ecs.Rows) {
	round := g.Round.Get(f.World)
	_, of, ok := g.both(f.World)
	if !ok {
		*round = Round{} // somebody left
		return
	}
	if round.Clock > 0 {
		round.Clock--
	}
	switch {
	case round.Phase == Waiting:
		g.begin(f, of, true)
	case round.Phase == Fight && (of[0].Life == 0 || of[1].Life == 0 || round.Clock == 0):
		for i, a := range of {
			if a.Life > of[1-i].Life {
				a.Wins++
			}
		}
		round.Phase, round.Clock = Over, overFor
	case round.Clock > 0:
	case round.Phase == Ready:
		round.Phase, round.Clock = Fight, fightFor
	case round.Phase == Done:
		g.begin(f, of, true)
	case of[0].Wins == toWin || of[1].Wins == toWin:
		round.Phase, round.Clock = Done, doneFor
	default:
		g.begin(f, of, false)
	}
}

// begin begins a round, or a match.
func (g *Game) begin(f *foretick.Frame, of [2]*Fighter, match bool) {
	round := g.Round.Get(f.World)
	if round.Phase, round.Clock, round.Number = Ready, readyFor, round.Number+1; match {
		round.Number = 1
	}
	for i, a := range of {
		wins := a.Wins
		if match {
			wins = 0
		}
		*a = fresh(i == 1, wins)
	}
	for _, rows := range g.balls.All(f.World) {
		for _, ball := range rows.Entities() {
			f.Destroy(ball)
		}
	}
}
