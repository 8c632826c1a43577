package late

import (
	"bytes"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
)

// part is the state for running a player's own part of the world again.
type part struct {
	fields [][]leaf // fields has the fields of predicted components, by index in the Layout.
	fixed  []ecs.ID // fixed are components that no client predicts: a run does not change them.
	runs   func(system int) bool
	match  matchState
	shapes []uint64 // scratch, by player
	moved  []write  // scratch

	player *Player // player is the one whose part runs again. nil means that none does.
	at     *playerTick
	next   int  // next is the next entry of the player's journal.
	now    Tick // now is the present tick, while an older one runs.
}

// leaf is the memory of one field in a component.
type leaf struct{ offset, size uintptr }

// write is a field of a player's part that was set by something other than the player's own shared
// systems.
type write struct {
	system int // system is the one that set the field. −1 means before all systems.
	e      ecs.Entity
	comp   int
	offset uintptr
	from   int     // from is where the value begins in playerTick.bytes.
	size   uintptr // size is the length of the value in bytes.
}

func newPart(cfg *Config, shared []bool) part {
	s := part{match: newMatchState(cfg.Singletons, cfg.Window), fixed: cfg.Fixed, runs: func(system int) bool { return shared[system] }}
	for i := range cfg.Layout.Components {
		c := &cfg.Layout.Components[i]
		var fields []leaf
		switch {
		case c.Unknown:
		case c.Predicted:
			for _, f := range cfg.Layout.Types.Info(c.ID).Fields {
				fields = append(fields, leaf{f.Offset, f.Type.Size()})
			}
		default:
			s.fixed = append(s.fixed, c.ID)
		}
		s.fields = append(s.fields, fields)
	}
	for _, c := range cfg.Layout.Locals {
		s.fixed = append(s.fixed, c.ID)
	}
	return s
}

// RunsWithPart reports whether a system runs again with a player's part.
func (r *Room) RunsWithPart() func(system int) bool { return r.part.runs }

// RerunParts runs again the ticks whose commands came late, each for its player's part.
func (r *Room) RerunParts() {
	if !r.KeepsParts() {
		return
	}
	for _, p := range *r.Players {
		if r.ready(p) {
			r.noteOutside(p)
		}
	}
	for _, p := range *r.Players {
		if r.ready(p) && p.from != 0 {
			r.rerunPart(p)
		}
	}
	if r.test.ticks == 0 {
		return
	}
	for _, p := range *r.Players {
		if r.ready(p) && p.from == 0 {
			r.testRuns(partRuns{r, p})
		}
	}
}

// saveParts saves the end of the present tick for each player.
func (r *Room) saveParts(now Tick) {
	r.part.match.save(now)
	for _, p := range *r.Players {
		if !r.ready(p) {
			continue
		}
		p.history.Save(r.Slot(now))
		p.shape, p.outside = ecs.Engine(r.World).Structure(p.owner), false
		if at := p.at(now); at.tick == now {
			at.used = p.shooter.Used()
		}
		p.spawns.sweep(r.World, now)
	}
}

// noteOutside adds to the journal what changed in a player's part since the end of the tick before.
func (r *Room) noteOutside(p *Player) {
	now := *r.Tick
	if ecs.Engine(r.World).Structure(p.owner) != p.shape || !p.history.Holds(r.Slot(now-1)) {
		r.Block(p)
		return
	}
	if !p.outside {
		return
	}
	at := p.at(now)
	for i, fields := range r.part.fields {
		if len(fields) == 0 {
			continue
		}
		c := &r.Layout.Components[i]
		p.history.Diff(r.Slot(now-1), c.ID, func(rows ecs.Rows, k int, was unsafe.Pointer) {
			if was != nil {
				at.writeDifference(fields, write{system: -1, e: rows.Entity(k), comp: i}, was, unsafe.Add(rows.Column(c.ID), uintptr(k)*c.Size))
			}
		})
	}
}

// writeDifference adds to the journal the fields of a component that differ.
func (at *playerTick) writeDifference(fields []leaf, w write, was, now unsafe.Pointer) {
	for _, f := range fields {
		a, b := unsafe.Slice((*byte)(unsafe.Add(was, f.offset)), f.size), unsafe.Slice((*byte)(unsafe.Add(now, f.offset)), f.size)
		if bytes.Equal(a, b) {
			continue
		}
		w.offset, w.size, w.from = f.offset, f.size, len(at.bytes)
		at.bytes = append(at.bytes, b...)
		at.journal = append(at.journal, w)
	}
}

// Wrote adds to the journal what a server system did to a column of a player's entities. was is the
// column's image from before. p may be nil.
func (r *Room) Wrote(p *Player, rows ecs.Rows, c *layout.Component, was []byte, system int) {
	if !r.KeepsParts() || !r.ready(p) {
		return
	}
	at, again := p.at(*r.Tick), r.part.player
	if at.tick != *r.Tick {
		return
	}
	switch {
	case p == again: // a handler of an event that the rerun tick raised wrote to the player's own part
		at, system = r.part.at, r.Handlers
	case again != nil: // such a handler wrote to another player's part: it counts as before the systems
		system = -1
	}
	from, comp := len(at.journal), r.Layout.Index(c.ID)
	base := rows.Column(c.ID)
	for k, e := range rows.Entities() {
		off := uintptr(k) * c.Size
		at.writeDifference(r.part.fields[comp], write{system: system, e: e, comp: comp}, unsafe.Pointer(&was[off]), unsafe.Add(base, off))
	}
	if p == again {
		r.part.putAhead(from)
	}
}

// putAhead moves the journal entries from index from on ahead of the entries of the tick's own
// handlers, and counts them as applied.
func (s *part) putAhead(from int) {
	journal, n := s.at.journal, len(s.at.journal)-from
	s.moved = append(s.moved[:0], journal[from:]...)
	copy(journal[s.next+n:], journal[s.next:from])
	copy(journal[s.next:], s.moved)
	s.next += n
}

// setWrites applies the journal's writes of all systems up to one of the tick.
func (r *Room) setWrites(upto int) {
	s := &r.part
	for ; s.next < len(s.at.journal) && s.at.journal[s.next].system <= upto; s.next++ {
		w := &s.at.journal[s.next]
		if to := ecs.Engine(r.World).Pointer(w.e, r.Layout.Components[w.comp].ID); to != nil {
			layout.CopyBytes(unsafe.Add(to, w.offset), unsafe.Pointer(&s.at.bytes[w.from]), w.size)
		}
	}
}

// enterPart restores a player's part to the end of the tick before from. It saves the present part in
// the scratch slot.
func (r *Room) enterPart(p *Player, from Tick) {
	p.history.Save(r.scratch())
	p.history.Restore(r.Slot(from - 1))
	r.keepFixed(p)
	r.part.player, r.part.now = p, *r.Tick
}

// rerunPart restores a player's part to the tick before its oldest late command, and runs it again up
// to the tick before the present.
func (r *Room) rerunPart(p *Player) {
	from, now := p.from, *r.Tick
	if p.from = 0; !p.history.Holds(r.Slot(from-1)) || p.find(from) == nil {
		r.Block(p)
		return
	}
	r.enterPart(p, from)
	for t := from; t != now; t++ {
		at := p.at(t)
		if at.tick != t {
			break // cannot happen: each tick in which the player plays has a place
		}
		r.rerunTick(p, at)
		p.history.Save(r.Slot(t))
	}
	r.keepFixed(p)
	p.shape = ecs.Engine(r.World).Structure(p.owner)
	r.part.at, r.part.next = p.at(now), 0
	r.setWrites(len(r.Systems))
	r.noteJumps(p)
	r.part.player, r.part.at = nil, nil
}

// keepFixed sets components that no client predicts to their present values.
func (r *Room) keepFixed(p *Player) {
	for _, id := range r.part.fixed {
		p.history.RestoreComponent(r.scratch(), id)
	}
}

// rerunTick runs the shared systems of one tick again for one player.
func (r *Room) rerunTick(p *Player, at *playerTick) {
	s := &r.part
	s.at, s.next = at, 0
	r.setWrites(-1)
	entered := s.match.enter(at.tick - 1)
	command, offset := r.host.Swap(p, at.command, at.offset)
	r.host.RunPart(p, at.tick, r.test.running)
	r.host.Swap(p, command, offset)
	if entered {
		s.match.leave()
	}
	r.setWrites(r.Handlers - 1)
	if at.state == came {
		at.state = decided
		used := float64(-1)
		if before := p.find(at.tick - 1); before != nil {
			used = before.used
		}
		p.shooter.TakeLate(at.shot, s.now, used)
		r.host.HandleEvents()
		p.shooter.Forget()
	}
	r.setWrites(len(r.Systems))
	r.host.RoundPart(p.owner)
	at.used = max(at.used, p.shooter.Used())
}

// noteJumps adds to the fades what changed in a player's part that ran again.
func (r *Room) noteJumps(p *Player) {
	for i := range r.Layout.Components {
		c := &r.Layout.Components[i]
		if !c.Lerped || len(r.part.fields[i]) == 0 {
			continue
		}
		p.history.Diff(r.scratch(), c.ID, func(rows ecs.Rows, k int, was unsafe.Pointer) {
			if e := rows.Entity(k); was != nil && !r.fades.hasCut(e) {
				r.fades.add(r.World, e, i, was, unsafe.Add(rows.Column(c.ID), uintptr(k)*c.Size))
			}
		})
	}
}

// BlockShape blocks a player's reruns: something that does not run again spawned or removed an entity
// of the player.
func (r *Room) BlockShape(p *Player) {
	if !r.Whole {
		r.Block(p)
	}
}

// BeginShape records the structure of each player's entities before a server system. With EndShape it
// finds players whose entities the system added, removed, or gave other components.
func (r *Room) BeginShape() {
	if !r.KeepsParts() {
		return
	}
	r.part.shapes = r.part.shapes[:0]
	for _, p := range *r.Players {
		r.part.shapes = append(r.part.shapes, ecs.Engine(r.World).Structure(p.owner))
	}
}

// EndShape blocks the reruns of the players that BeginShape describes. Call it after the system's
// commands were applied.
func (r *Room) EndShape() {
	if !r.KeepsParts() {
		return
	}
	for i, p := range *r.Players {
		if i < len(r.part.shapes) && ecs.Engine(r.World).Structure(p.owner) != r.part.shapes[i] {
			r.Block(p)
		}
	}
	r.part.shapes = r.part.shapes[:0]
}
