package main

import "slices"

// refEffect is a change to a player that only the server knew of. One of its systems made it, or, if
// late is true, a tick that ran again in the whole world for another player's input.
type refEffect struct {
	tick uint32
	now  uint32 // the server's tick when the change happened
	late bool
}

// refWorld follows the ticks that run again with -late-world.
type refWorld struct {
	// moved has the players whose bodies moved because ticks ran again before the running tick.
	moved []*refPlayer
	// came has the players with late inputs in the running tick.
	came []*refPlayer
}

// now returns the tick that the server runs.
func (r *referee) now() uint32 {
	if r.last == nil {
		return 1
	}
	return r.last.T + 1
}

// undo removes the records of tick t and later ones, which run again.
func (r *referee) undo(t uint32) {
	since := func(k uint32) bool { return k >= t }
	r.stuns = slices.DeleteFunc(r.stuns, since)
	for p, list := range r.deaths {
		r.deaths[p] = slices.DeleteFunc(list, since)
	}
	for p := range r.players {
		for k := t; k < r.now(); k++ {
			delete(r.verdicts, refKey{p, k})
			delete(r.judged, refKey{p, k})
		}
	}
}

// redone records the players whose body moved because ticks ran again.
func (r *referee) redone(f *Fact) {
	for p, state := range r.players {
		was, before := bodyOf(r.ticks[f.T].Bodies, p)
		is, after := bodyOf(f.Bodies, p)
		if before && after && !alike(is, was) {
			r.world.moved = append(r.world.moved, state)
		}
	}
}

// cameLate records a player with late inputs in the running tick.
func (r *referee) cameLate(f *Fact) {
	if f.Late > 0 {
		r.world.came = append(r.world.came, r.player(f))
	}
}

// affect records an effect on every player whose body moved. It leaves out a player whose late inputs
// were the only ones, because that player predicted the move.
func (r *referee) affect(now uint32) {
	w := &r.world
	for _, p := range w.moved {
		if len(w.came) != 1 || w.came[0] != p {
			p.written = append(p.written, refEffect{tick: now, now: now, late: true})
		}
	}
	w.moved, w.came = w.moved[:0], w.came[:0]
}

// barrier ends every wait for late inputs, because nothing before a join runs again.
func (r *referee) barrier() {
	if r.match.World {
		for _, p := range r.players {
			p.late.waits = p.late.waits[:0]
		}
	}
}

// effect returns the cause of a correction in tick t, from the changes that the server had made by then
// since both ends last agreed. The newest change counts.
func effect(list []refEffect, since, t uint32) string {
	newest, cause := uint32(0), "code"
	for _, e := range list {
		if e.tick <= since || e.tick > t || e.now > t || e.tick < newest {
			continue
		}
		if !e.late {
			cause = "server_effect"
		} else if e.tick > newest || cause == "code" {
			cause = "late_input"
		}
		newest = e.tick
	}
	return cause
}
