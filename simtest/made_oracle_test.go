package simtest_test

import (
	"fmt"
	"slices"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/prediction"
)

// madeTold is a misprediction that a client reported.
type madeTold struct {
	prediction.Misprediction
	alone bool // only a planted fault can have caused it
}

// madeSeen has digests of the inputs of a client's run of a tick: the state before it, and the
// values of others that its systems read. Equal digests on both ends mean equal inputs.
type madeSeen struct {
	own, free uint64 // inputs for the player's rows, and for unowned ones
}

func (d madeSeen) with(own bool, x uint64) madeSeen {
	if own {
		d.own = madeMix(d.own, x)
	} else {
		d.free = madeMix(d.free, x)
	}
	return d
}

// watch records the inputs of the ticks that the seat's client runs.
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

// watch records the inputs of the ticks that the server runs.
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

// snapshot records that a snapshot came. It stores the inputs seen so far, because ticks may run
// again with other values to explain a correction.
func (s *madeSeat) snapshot(t foretick.Tick) {
	s.prior, s.last, s.had = s.last, t, map[foretick.Tick]madeSeen{}
	for k := s.prior + 1; k <= t && s.prior != 0; k++ {
		s.had[k] = s.seen[k]
	}
}

// begin adds the state that a player's client predicts, as it is before a tick, to the inputs.
func (g *made) begin(f *foretick.Frame, p *foretick.Protocol, player foretick.PlayerID) {
	if g.seen == nil {
		return
	}
	defer f.World.Guard(f.World.Guard(false)) // the calling system does not declare these reads
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

// concealed reports whether the tick runs only to find out what its systems read. In such a run
// queries have entities that handles do not find.
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

// saw records the inputs of a system's run for some rows.
func (g *made) saw(f *foretick.Frame, owner foretick.PlayerID, x uint64) {
	if g.seen == nil || g.blind {
		return
	}
	if owner == ecs.Common {
		owner = ecs.Nobody
	}
	g.seen(f, owner, x)
}

// readBy returns a digest of all that a system may read of a shape, whether it uses it or not.
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

// onlyFault reports whether only a planted fault can be the reason of a correction. Then, since the
// snapshot before, the client ran every tick with the same commands as the server, from the same
// state, and read the same values of others. Nobody else wrote its state, and the values of others
// that systems read stayed the same.
func (a *madeMatch) onlyFault(s *madeSeat, w *prediction.Misprediction) bool {
	me := s.c.View().Player
	if !s.fault[w.Tick] || s.prior == 0 || a.g.guess && (a.g.looks || a.g.pushes) {
		return false // a wrong prediction of remote players may be the reason, too
	}
	if a.g.looks && w.Tick != s.prior+1 {
		return false // the client does not know the values of others in the ticks between
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
			if owner != me && a.ahead[t+1][owner] != x { // the value may have been read before or after it changed
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
