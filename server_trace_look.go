package foretick

import (
	"cmp"
	"slices"

	"github.com/foretick/foretick/internal/tape"
	"github.com/foretick/foretick/internal/trace"
)

// traceSet holds the ports of players that were traced, and their armed traces.
type traceSet struct {
	ports map[PlayerID]*trace.Port
	armed []*playerTrace
}

// of returns a player's armed trace, nil if it has none.
func (set *traceSet) of(p *player) *playerTrace {
	for _, a := range set.armed {
		if a.p == p && p != nil {
			return a
		}
	}
	return nil
}

// pollTraces takes what the server's own program asked of the traces, and ends those that
// nobody looks at. What it asked of the match's goes through the recorder: their packets make
// clients send records, and these are input.
func (s *Server) pollTraces() {
	t := &s.traces
	for _, set := range [...]*traceSet{&t.match, &t.aside} {
		looks := s.lookedAt(set)
		if set == &t.match {
			looks = s.askReports(looks)
			t.looks = looks
		}
		if r := s.sink; r != nil && set == &t.match {
			looks = r.Looked(looks)
		}
		for i := range looks {
			s.look(set, &looks[i])
		}
		for i := len(set.armed) - 1; i >= 0; i-- {
			a := set.armed[i]
			if !a.p.traceable() || s.sessions.player(a.p.owner) != a.p || max(a.client, a.operator) <= s.clock.now {
				s.disarm(set, a)
			}
		}
	}
}

// lookedAt returns what was asked of the ports of a set since the last call, in the order of
// the players.
func (s *Server) lookedAt(set *traceSet) []tape.Look {
	t := &s.traces
	looks := t.looks[:0]
	t.mu.Lock()
	for player, port := range set.ports {
		if state, _ := port.Status(); state == trace.Off || state == trace.No {
			continue
		}
		if told := port.Poll(); told.Looked || told.Stop {
			looks = append(looks, tape.Look{Player: uint16(player), Looked: told.Looked, Stop: told.Stop, Renamed: told.Renamed, Entities: told.Entities})
		}
	}
	t.mu.Unlock()
	slices.SortFunc(looks, func(a, b tape.Look) int { return cmp.Compare(a.Player, b.Player) })
	for i := range looks {
		l := &looks[i]
		a := set.of(s.sessions.player(PlayerID(l.Player)))
		if l.Renamed = l.Renamed || a == nil || a.operator <= s.clock.now; !l.Renamed {
			l.Entities = nil // the trace has them
		}
	}
	t.looks = looks
	return looks
}

// look does what the server's own program asks of a player's trace.
func (s *Server) look(set *traceSet, l *tape.Look) {
	p, now := s.sessions.player(PlayerID(l.Player)), s.clock.now
	if l.Reports {
		s.askReport(p)
	}
	a := set.of(p)
	switch {
	case l.Looked && a == nil && (p == nil || !p.traceable()):
		s.traces.refuse(set, l, "the player does not play")
		return
	case l.Looked && a == nil && len(set.armed) == serverTraceMost:
		s.traces.refuse(set, l, "the server has four traces already: end one of them")
		return
	case l.Looked && a == nil:
		a = s.arm(set, p)
	case a == nil:
		return
	}
	if l.Looked {
		a.operator, a.watched = now+traceLapse, true
		if set == &s.traces.match {
			p.tracing.late = a.operator + traceLate
		}
	}
	if l.Renamed && a.operator > now {
		a.rename(l.Entities)
		a.asked = 0
	}
	if l.Stop && a.operator > now {
		a.operator = 0
		if set == &s.traces.match {
			p.tracing.stop = true
		}
	}
}

// refuse tells whoever looks why there is no trace.
func (t *serverTraces) refuse(set *traceSet, l *tape.Look, why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if port := set.ports[PlayerID(l.Player)]; port != nil { // a tape may name players that never were
		port.Set(trace.No, why)
	}
}
