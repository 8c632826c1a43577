package foretick

import (
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/snapshot"
)

// kept is what the components that hit volumes are built from were, tick by
// tick, as others were sent them. A client interpolates components and builds
// volumes of the outcome; so does the server for the past that a shot is judged
// in. Interpolating the volumes would bend every bone that a clip or a phase
// moves.
type kept struct {
	ring []keptTick
	runs uint32 // numbers the lives
}

type keptTick struct {
	tick  Tick
	items []keptItem
	words []int32
}

type keptItem struct {
	id    uint64
	owner uint32
	epoch uint32
	run   uint32 // which life
	off   int32
	kind  uint16
	grid  snapshot.Grid // of its words
	mask  uint64        // its replicated components; the words of those that volumes need lie at off
}

func newKept(rate int) kept { return kept{ring: make([]keptTick, reach(rate))} }

// reach is how many of the newest ticks a picture may rest on: what a rewind goes
// back, and the three seconds for which an entity may have found no room before.
func reach(rate int) int { return 4*rate + 8 }

func (k *kept) at(t Tick) *keptTick {
	if f := &k.ring[t%Tick(len(k.ring))]; f.tick == t && t != 0 {
		return f
	}
	return nil
}

func (k *kept) begin(t Tick) *keptTick {
	f := &k.ring[t%Tick(len(k.ring))]
	f.tick, f.items, f.words = t, f.items[:0], f.words[:0]
	return f
}

// put adds an entity whose words were added before: it lives on if it was there
// in the tick before, with the same epoch.
func (k *kept) put(f, before *keptTick, it keptItem) {
	if j := before.find(it.id, len(f.items)); j >= 0 && before.items[j].epoch == it.epoch {
		it.run = before.items[j].run
	} else {
		k.runs++
		it.run = k.runs
	}
	f.items = append(f.items, it)
}

// find answers an entity's place, or −1; hint is where it probably is.
func (f *keptTick) find(id uint64, hint int) int {
	if f == nil {
		return -1
	}
	if hint < len(f.items) && f.items[hint].id == id {
		return hint
	}
	for i := range f.items {
		if f.items[i].id == id {
			return i
		}
	}
	return -1
}

// alive tells whether a life that an entity lived is still the one that it has.
func (s *Server) alive(id lagcomp.ID, run uint32) bool {
	f := s.kept.at(s.newest())
	i := f.find(id, 0)
	return i >= 0 && f.items[i].run == run
}

// epochOf is the game's count of the life that an entity has.
func (s *Server) epochOf(id lagcomp.ID) uint32 {
	f := s.kept.at(s.newest())
	if i := f.find(id, 0); i >= 0 {
		return f.items[i].epoch
	}
	return 0
}

// view is one player's picture of the past, built anew for each moment.
type view struct {
	history *lagcomp.History
	number  Tick // of the newest picture in history
	of      lagcomp.Claim
	at      Tick // the tick for which it was built
	past    lagcomp.Past
	bodies  bodies // a set of its own: players' views may be asked in parallel
	mask    uint64 // of the components that they are fit for
}

// between is the past as a client draws it, between two ticks: components
// interpolated, volumes built of them. Where snapshots had put entities off, each
// is taken between ticks of its own. ok is false when a tick is not kept any more.
func (s *Server) between(p *player, out *HitView, whole keys) (past lagcomp.Past, ok bool) {
	v := &p.view
	if v.at == s.frame.Tick && v.of == out.Used {
		return v.past, true
	}
	fa, fb := s.kept.at(whole.a), s.kept.at(whole.b)
	if fa == nil || fb == nil && whole.f != 0 || !v.begin(s) {
		return lagcomp.Past{}, false
	}
	if out.ahead.a != 0 {
		s.putAhead(v, p, out.ahead)
	}
	known, next := s.kept.at(p.basis), s.kept.at(out.ahead.b)
	if next == nil {
		next = s.kept.at(out.ahead.a)
	}
	hint, earlier, is := 0, 0, 0
	for i := range fa.items {
		it, from, to, k := &fa.items[i], fa, fb, whole
		if out.ahead.a != 0 && s.aheadFor(p, it, known, next, &is) {
			continue
		}
		if out.player != nil {
			var shown bool
			if from, to, k, shown = s.ends(out, ecs.Entity(it.id)); !shown {
				continue
			}
			j := from.find(it.id, i)
			if j < 0 {
				continue
			}
			it = &from.items[j]
		}
		v.fit(it.mask)
		s.blend(&v.bodies, s.knots(p, it, from, to, k, &hint, &earlier), it.grid)
		v.put(it)
	}
	v.history.End()
	v.past, v.of, v.at = v.history.At(v.number, 0), out.Used, s.frame.Tick
	return v.past, true
}

// fit readies the bodies for entities with the components of a mask.
func (v *view) fit(mask uint64) {
	if mask != v.mask || mask == 0 {
		v.mask = mask
		v.bodies.fit(mask)
	}
}

// put adds an entity whose components were written into the bodies' values.
func (v *view) put(it *keptItem) {
	if vs := v.bodies.build(v.bodies.value); len(vs) > 0 {
		v.history.Put(it.id, it.owner, it.run, vs...)
	}
}

// ends are the recorded ticks between which lies the picture, in a view, of an entity
// that is shown in the past, and how; false when it was not on the screen.
func (s *Server) ends(out *HitView, e ecs.Entity) (from, to *keptTick, k keys, shown bool) {
	k = out.whole
	if out.player != nil {
		own, shown := s.keysOf(out.player, out.Used, e, k)
		if !shown {
			return nil, nil, k, false
		}
		if from, to = s.kept.at(own.a), s.kept.at(own.b); from != nil && (to != nil || own.f == 0) {
			return from, to, own, true
		}
	}
	return s.kept.at(k.a), s.kept.at(k.b), k, true
}

// knots are what an entity's components are drawn between; hint and earlier are
// where the ticks after and before probably hold it, and move on.
func (s *Server) knots(p *player, it *keptItem, from, to *keptTick, k keys, hint, earlier *int) snapshot.Knots {
	knots := snapshot.Knots{From: from.words[it.off:], Rate: float32(s.p.tickRate)}
	if k.f == 0 {
		return knots
	}
	if j := to.find(it.id, *hint); j >= 0 {
		*hint = j + 1
		if o := &to.items[j]; o.goesOn(it) {
			knots.To, knots.Span, knots.Fraction = to.words[o.off:], float32(to.tick-from.tick), k.f
		}
	}
	if s.p.curved && knots.To != nil && s.bent(p, ecs.Entity(it.id), k.before) {
		at := s.kept.at(k.before)
		if j := at.find(it.id, *earlier); j >= 0 {
			*earlier = j + 1
			if o := &at.items[j]; o.goesOn(it) {
				knots.Before, knots.Lead = at.words[o.off:], float32(from.tick-at.tick)
			}
		}
	}
	return knots
}

// begin starts a new picture.
func (v *view) begin(s *Server) bool {
	if v.history == nil {
		var err error
		v.history, err = lagcomp.NewHistory(lagcomp.Config{TickRate: s.p.tickRate, Depth: s.interval, MaxRewind: s.interval, Shapes: s.p.shapes})
		if err != nil {
			return false // cannot be: the server's own history has the same shapes
		}
		v.bodies = newBodies(s.p)
	}
	v.number++
	v.history.Begin(v.number)
	return true
}

// goesOn tells whether an entity is in another tick what it was: else nothing is
// interpolated.
func (it *keptItem) goesOn(was *keptItem) bool {
	return it.mask == was.mask && it.owner == was.owner && it.epoch == was.epoch
}

// blend writes an entity's components between the knots, of which each holds the
// words of all of them, into the bodies' values; without To it holds.
func (s *Server) blend(bs *bodies, k snapshot.Knots, g snapshot.Grid) {
	for _, comp := range bs.need {
		s.show(comp, k, g, bs.values[comp])
		skip(&k, s.p.components[comp].schema.Words())
	}
}

// show writes the component whose words the knots begin with.
func (s *Server) show(comp int, k snapshot.Knots, g snapshot.Grid, dst unsafe.Pointer) {
	schema := s.p.components[comp].schema
	if k.To == nil {
		schema.DequantiseMasked(k.From[:schema.Words()], g, serverRefs{s}, dst)
		return
	}
	schema.Interpolate(0, k, g, serverRefs{s}, dst)
}

// skip leaves out the first n words of each knot.
func skip(k *snapshot.Knots, n int) {
	k.From = k.From[n:]
	if k.To != nil {
		k.To = k.To[n:]
	}
	if k.Before != nil {
		k.Before = k.Before[n:]
	}
}

// recordHitboxes remembers what others can hit, from the values that others are
// sent.
func (s *Server) recordHitboxes(rows ecs.Rows, f, before *keptTick) {
	var mask uint64
	for i := range s.p.components {
		if rows.Has(s.p.components[i].id) {
			mask |= 1 << i
		}
	}
	s.bodies.fit(mask)
	if len(s.bodies.need) == 0 {
		return
	}
	values, at := s.bodies.values, s.bodies.value
	ids := s.p.identity.Slice(rows)
	for k := range ids {
		off := len(f.words)
		to, grid := snapshot.Audience(0), snapshot.GridPublic
		if rows.Owner() == ecs.Nobody && s.p.prefabs[ids[k].Prefab].common {
			to, grid = snapshot.ToOwner, snapshot.GridSim // which all are
		}
		for _, comp := range s.bodies.need {
			words := s.source.Words(snapshot.NetID(ids[k].Net), comp, to)
			s.p.components[comp].schema.DequantiseMasked(words, grid, serverRefs{s}, values[comp])
			f.words = append(f.words, words...)
		}
		vs := s.bodies.build(at)
		if len(vs) == 0 && len(s.bodies.table) > 0 {
			f.words = f.words[:off]
			continue
		}
		e := rows.Entity(k)
		it := keptItem{id: uint64(e), owner: uint32(rows.Owner()), epoch: s.lifeOf(mask, e), kind: ids[k].Prefab, grid: grid, mask: mask, off: int32(off)}
		s.history.Put(it.id, it.owner, it.epoch, vs...)
		s.kept.put(f, before, it)
	}
}

// lifeOf counts an entity's lives; its components are in the bodies' values.
func (s *Server) lifeOf(mask uint64, e ecs.Entity) uint32 {
	n := uint32(0)
	for _, l := range s.p.lives {
		if mask>>l.comp&1 != 0 {
			n = n*31 + l.epoch(s.bodies.values[l.comp])
		}
	}
	if len(s.cuts) > 0 {
		n += s.cuts[e] * 65537
	}
	return n
}
