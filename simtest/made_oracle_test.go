package simtest_test

import (
	"fmt"
	"slices"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/prediction"
)

// madeTold is a misprediction that a client told of.
type madeTold struct {
	prediction.Misprediction
	alone bool // nothing but a planted fault can have caused it
}

// madeSeen is what a client's run of a tick computed with: the state ahead of it, and what its
// systems read of others. Equal digests on both ends mean equal inputs.
type madeSeen struct {
	own, free uint64 // for the player's rows, and for unowned ones
}

func (d madeSeen) with(own bool, x uint64) madeSeen {
	if own {
		d.own = madeMix(d.own, x)
	} else {
		d.free = madeMix(d.free, x)
	}
	return d
}

// watch notes what the seat's client computes with.
func (s *madeSeat) watch() {
	s.g.fresh = func(f *foretick.Frame, player foretick.PlayerID) {
		if player == s.c.View().Player {
			s.seen[f.Tick] = madeSeen{}
		}
	}
	s.g.seen = func(f *foretick.Frame, owner foretick.PlayerID, x uint64) {
		if me := s.c.View().Player; owner == me || owner == ecs.Nobody {
			s.seen[f.Tick] = s.seen[f.Tick].with(owner == me, x)
		}
	}
}

// watch notes what the server computes with.
func (a *madeMatch) watch() {
	a.g.fresh = func(f *foretick.Frame, _ foretick.PlayerID) {
		if a.ahead[f.Tick] != nil {
			return
		}
		all := map[foretick.PlayerID]uint64{}
		for _, sys := range a.g.systems {
			if sys.what != madeLook {
				continue
			}
			for _, rows := range a.g.queries[sys.from].All(f.World) {
				all[rows.Owner()] += a.g.readBy([]ecs.Rows{rows}, a.g.shapes[sys.from])
			}
		}
		a.ahead[f.Tick] = all
	}
	a.g.seen = func(f *foretick.Frame, owner foretick.PlayerID, x uint64) {
		if a.seen[f.Tick] == nil {
			a.seen[f.Tick] = map[foretick.PlayerID]uint64{}
		}
		a.seen[f.Tick][owner] = madeMix(a.seen[f.Tick][owner], x)
	}
}

// snapshot notes that one came. To explain what it shows, ticks run again with other values.
func (s *madeSeat) snapshot(t foretick.Tick) {
	s.prior, s.last, s.had = s.last, t, map[foretick.Tick]madeSeen{}
	for k := s.prior + 1; k <= t && s.prior != 0; k++ {
		s.had[k] = s.seen[k]
	}
}

// begin notes the predicted state that a player's client has, ahead of a tick.
func (g *made) begin(f *foretick.Frame, p *foretick.Protocol, player foretick.PlayerID) {
	if g.seen == nil {
		return
	}
	defer f.World.Guard(f.World.Guard(false)) // the system that asks declares none of this
	if g.blind = g.concealed(f, p); g.blind {
		return
	}
	g.fresh(f, player)
	own := uint64(0)
	for i, s := range g.shapes {
		if !g.predicted[i] || !g.used[i] {
			continue
		}
		for _, rows := range g.query(p, i).Owned(f.World, player) {
			for k := range rows.Len() {
				own += madeMix(uint64(i)+1, s.digest(rows, k))
			}
		}
	}
	g.saw(f, player, own)
}

// concealed reports whether the tick runs to find out what its systems look at: queries have
// entities that no handle finds.
func (g *made) concealed(f *foretick.Frame, p *foretick.Protocol) bool {
	for i := range g.shapes {
		if !g.used[i] {
			continue
		}
		for _, rows := range g.query(p, i).All(f.World) {
			if !f.World.Alive(rows.Entity(0)) {
				return true
			}
		}
	}
	return false
}

// saw notes what a system's run for some rows computes with.
func (g *made) saw(f *foretick.Frame, owner foretick.PlayerID, x uint64) {
	if g.seen == nil || g.blind {
		return
	}
	if owner == ecs.Common {
		owner = ecs.Nobody
	}
	g.seen(f, owner, x)
}

// readBy is what a system may read of a shape, whatever it makes of it.
func (g *made) readBy(all []ecs.Rows, s shape) (sum uint64) {
	if g.seen == nil {
		return 0
	}
	for _, rows := range all {
		for i := range rows.Len() {
			sum += madeMix(7, s.digest(rows, i))
		}
	}
	return sum
}

// onlyFault reports whether a planted fault is the only reason that a correction can have:
// since the snapshot before, the client ran every tick with the same commands as the server,
// ahead of it had the same state, and read the same of others. Nobody else wrote its state,
// and what systems read of others stayed the same.
func (a *madeMatch) onlyFault(s *madeSeat, w *prediction.Misprediction) bool {
	me := s.c.View().Player
	if !s.fault[w.Tick] || s.prior == 0 || a.g.guess && (a.g.looks || a.g.pushes) {
		return false // a guess of others that went wrong may be the reason, too
	}
	if a.g.looks && w.Tick != s.prior+1 {
		return false // what others had in the ticks between is not known to the client
	}
	for t := s.prior + 1; t <= w.Tick; t++ {
		ran, ok := a.ran[t][me]
		if !ok || len(s.ran[t]) != 1 || s.ran[t][0] != ran || t != w.Tick && s.fault[t] {
			return false
		}
		if (madeSeen{a.seen[t][me], a.seen[t][ecs.Nobody]}) != s.had[t] || len(a.ruled[t][me])+len(a.ruled[t][ecs.Nobody]) > 0 {
			return false
		}
		for player := range a.pushed[t] {
			if player != me {
				return false
			}
		}
		for owner, x := range a.ahead[t] {
			if owner != me && a.ahead[t+1][owner] != x { // it may have been read before or after it changed
				return false
			}
		}
	}
	return true
}

// happened reports whether the statements of a cause are true; why names a false one.
func (a *madeMatch) happened(s *madeSeat, w *prediction.Misprediction) (why string) {
	me := s.c.View().Player
	switch w.Cause {
	case prediction.Input:
		for t := w.CauseTick - min(w.CauseTicks, w.CauseTick); t <= w.CauseTick; t++ {
			ran, ok := a.ran[t][me]
			if !ok || len(s.ran[t]) != 1 || s.ran[t][0] != ran {
				return ""
			}
		}
		return "the server ran the same commands"
	case prediction.ServerEffect:
		if w.System == "(hidden from its own player)" && a.hidden[me] {
			return ""
		}
		by := append(slices.Clone(a.ruled[w.CauseTick][me]), a.ruled[w.CauseTick][ecs.Nobody]...)
		if len(by) == 0 {
			return "the server did nothing then"
		}
		if !slices.Contains(by, w.System) {
			return fmt.Sprintf("it was %v", by)
		}
	case prediction.RemoteInput:
		if w.CauseTick == 0 && a.g.guess {
			return ""
		}
		for player := range a.pushed[w.CauseTick] {
			if player != me {
				return ""
			}
		}
		return "nobody else pushed then"
	case prediction.Untracked:
		if !a.g.looks && !a.g.reads && !a.g.pushes {
			return "nothing is read that is not tracked"
		}
	case prediction.Code:
		for t := w.Tick; t+64 > w.Tick; t-- {
			if s.fault[t] {
				return ""
			}
		}
		return "nobody planted a fault"
	}
	return ""
}

func (a *madeMatch) judge(s *madeSeat) {
	for i := range s.told {
		w := &s.told[i].Misprediction
		a.by[w.Cause]++
		why := a.happened(s, w)
		if why != "" && w.Cause == prediction.Code {
			a.faults = append(a.faults, why+": "+w.String())
		} else if why != "" {
			a.wrong = append(a.wrong, why+": "+w.String())
		}
		if w.Cause == prediction.Unknown {
			a.unknown++
		}
		switch {
		case !s.fault[w.Tick]:
		case s.told[i].alone:
			a.alone++
			if w.Cause == prediction.Code {
				a.named++
			}
		}
		switch {
		case !s.fault[w.Tick]:
		case w.Cause == prediction.Code:
			a.good++
		case why == "" && w.Cause != prediction.Unknown:
			a.other++
		default:
			a.bad++
		}
	}
}
