package main

import "slices"

// refEffect is a change to a player that only the server knew of: by one of its systems, or,
// if late, because a tick ran again in the whole world for another player's input.
type refEffect struct {
	tick uint32
	now  uint32 // the server's tick when that happened
	late bool
}

// refWorld follows what runs again, with -late-world.
type refWorld struct {
	moved []*refPlayer // whose bodies the running tick found elsewhere than the one before left them
	came  []*refPlayer // whose inputs came late in it
}

// now returns the tick that the server runs.
func (r *referee) now() uint32 {
	if r.last == nil {
		return 1
	}
	return r.last.T + 1
}

// undo forgets what ticks from t on did: they run again.
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

// redone notes whose body is elsewhere since ticks ran again.
func (r *referee) redone(f *Fact) {
	for p, state := range r.players {
		was, before := bodyOf(r.ticks[f.T].Bodies, p)
		is, after := bodyOf(f.Bodies, p)
		if before && after && !alike(is, was) {
			r.world.moved = append(r.world.moved, state)
		}
	}
}

// cameLate notes a player with late inputs in the running tick.
func (r *referee) cameLate(f *Fact) {
	if f.Late > 0 {
		r.world.came = append(r.world.came, r.player(f))
	}
}

// affect notes an effect on everybody whose body is elsewhere. A player whose late inputs were
// the only ones has nothing to be told: it predicted them.
func (r *referee) affect(now uint32) {
	w := &r.world
	for _, p := range w.moved {
		if len(w.came) != 1 || w.came[0] != p {
			p.written = append(p.written, refEffect{tick: now, now: now, late: true})
		}
	}
	w.moved, w.came = w.moved[:0], w.came[:0]
}

// barrier ends every wait for late inputs: nothing before a join runs again.
func (r *referee) barrier() {
	if r.match.World {
		for _, p := range r.players {
			p.late.waits = p.late.waits[:0]
		}
	}
}

// effect returns the cause of a correction in tick t by what the server had done by then,
// since both ends agreed: the newest counts.
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
