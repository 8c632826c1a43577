package foretick

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/snapshot"
)

// offsetSteps is in how many steps of a tick a command says how far behind it the
// picture lay of what is shown ahead. Beyond offsetFine of them the steps are
// offsetCoarse times as long: so far behind a picture is where the prediction's
// history ends and input is delayed.
const (
	offsetSteps  = 32
	offsetFine   = 160
	offsetCoarse = 4
)

// packOffset is a distance in steps as a command carries it: 1 to 255. It is rounded
// up, within the picture's tick.
func packOffset(steps float32) uint8 {
	if steps > offsetFine {
		steps = offsetFine + float32(math.Ceil(float64(steps-offsetFine)/offsetCoarse))
	}
	return uint8(min(max(steps, 1), 255))
}

// unpackOffset is the distance that a command carries, in steps.
func unpackOffset(o uint8) int64 {
	if o > offsetFine {
		return offsetFine + int64(o-offsetFine)*offsetCoarse
	}
	return int64(o)
}

// showsAhead tells whether a player's client shows what is somebody's, and of a kind,
// where it will be and not where it was: what is everybody's, and what is foreseen of
// others.
func (s *Server) showsAhead(p *player, owner PlayerID, kind uint16) bool {
	k := &s.p.prefabs[kind]
	switch {
	case p.behind == 0 || owner == p.owner:
		return false
	case owner == ecs.Nobody:
		return k.common
	}
	return k.remotePredicted
}

// aheadFor is showsAhead for an entity that was kept, by what the player's client
// knew of whose it is; next is the tick that it is judged in. hint is where the tick
// that the client knew probably holds it, and moves on.
func (s *Server) aheadFor(p *player, it *keptItem, known, next *keptTick, hint *int) bool {
	if k := &s.p.prefabs[it.kind]; p.behind == 0 || !k.common && !k.remotePredicted {
		return false
	}
	owner := it.owner
	if j := known.find(it.id, *hint); j >= 0 {
		*hint, owner = j+1, known.items[j].owner
	} else if j := next.find(it.id, *hint); j >= 0 {
		owner = next.items[j].owner
	}
	return s.showsAhead(p, PlayerID(owner), it.kind)
}

// aheadNow is showsAhead for an entity of the world.
func (s *Server) aheadNow(p *player, e ecs.Entity) bool {
	if p.behind == 0 {
		return false
	}
	id := s.p.identity.Find(s.world, e)
	if id == nil {
		return false
	}
	it := keptItem{id: uint64(e), owner: uint32(s.world.Owner(e)), kind: id.Prefab}
	hint := 0
	return s.aheadFor(p, &it, s.kept.at(p.basis), nil, &hint)
}

// tookAhead notes how far the picture that a command was given on lay behind it, in
// what is shown ahead, and the newest snapshot that it can have rested on.
func (p *player) tookAhead(t Tick, offset uint8, s *Server) {
	if p.behind = 0; offset == 0 || !s.p.common && s.p.predictRemote == nil {
		return
	}
	p.behind, p.gave = unpackOffset(offset), t
	p.basis = p.deliveries.newest(p.acked, p.every, p.arrived)
}

// newest answers the newest delivered tick, up to one, as known by a moment; 0 when
// there is none.
func (d *deliveries) newest(t Tick, every uint32, by int64) Tick {
	t -= t % every
	for range d.ring {
		if t == 0 || d.has(t, every, by, 0) {
			return t
		}
		t -= every
	}
	return 0
}

// aheadAt is the moment at which a player who gave a command for tick t saw what is
// shown ahead, as two ticks in a row and how far between them: never later than what
// is complete, nor earlier than it saw the others, so that to say another gains
// nothing.
func (s *Server) aheadAt(p *player, t Tick, used lagcomp.Claim) keys {
	least := int64(used.Tick)*offsetSteps + int64(math.Ceil(float64(used.Fraction)*offsetSteps))
	at := min(max(int64(t)*offsetSteps-p.behind, least), int64(s.newest())*offsetSteps)
	return keysAt(at)
}

// keysAt are the ticks around a moment in steps of a tick.
func keysAt(at int64) keys {
	t := Tick(at / offsetSteps)
	return keys{a: t, b: t + 1, f: float32(at%offsetSteps) / offsetSteps}
}

// aheadEnds are the ticks between which what is shown ahead lies; in the newest one
// it stands still.
func (s *Server) aheadEnds(k keys) (from, to *keptTick) {
	from, to = s.kept.at(k.a), s.kept.at(k.b)
	if to == nil {
		to = from
	}
	return from, to
}

// aheadWords are what an entity's components are shown ahead by: as the prediction
// has the two ticks in a row, or, of what is not predicted, as it was last known. Each
// holds the words of all of them.
type aheadWords struct {
	from, to, known []int32 // from and known may be nil
	fraction        float32
	grid            snapshot.Grid
}

// aheadWords finds them for an entity of the later tick; hint is where the earlier
// one probably holds it, and moves on.
func (s *Server) aheadWords(p *player, it *keptItem, from, to *keptTick, f float32, hint *int) aheadWords {
	w := aheadWords{to: to.words[it.off:], fraction: f, grid: it.grid}
	if from != to {
		if j := from.find(it.id, *hint); j >= 0 {
			*hint = j + 1
			if o := &from.items[j]; o.goesOn(it) {
				w.from = from.words[o.off:]
			}
		}
	}
	if s.bodies.unpredicted {
		known := s.knownOf(p, ecs.Entity(it.id))
		if j := known.find(it.id, max(*hint-1, 0)); j >= 0 {
			if o := &known.items[j]; o.mask == it.mask && o.grid == it.grid {
				w.known = known.words[o.off:]
			}
		}
	}
	return w
}

// knownOf is the newest tick of which a player's client knew what an entity was.
func (s *Server) knownOf(p *player, e ecs.Entity) *keptTick {
	t := p.basis
	if d := &p.deliveries; d.late != 0 && int32(t-d.late) < int32(reach(s.p.tickRate)) && p.sender != nil {
		if id := s.p.identity.Find(s.world, e); id != nil {
			if w, since, ok := p.sender.Shown(snapshot.NetID(id.Net)); ok {
				if a, _, ok := d.around(t, p.every, p.arrived, w, since); ok {
					t = a
				}
			}
		}
	}
	return s.kept.at(t)
}

// putAhead adds what is shown ahead to a view.
func (s *Server) putAhead(v *view, p *player, k keys) {
	from, to := s.aheadEnds(k)
	if to == nil {
		return
	}
	known, is, hint := s.kept.at(p.basis), 0, 0
	for i := range to.items {
		it := &to.items[i]
		if !s.aheadFor(p, it, known, to, &is) {
			continue
		}
		v.fit(it.mask)
		w := s.aheadWords(p, it, from, to, k.f, &hint)
		for _, comp := range v.bodies.need {
			w.show(s, comp, v.bodies.values[comp])
			w.skip(s.p.components[comp].schema.Words())
		}
		v.put(it)
	}
}

// wasAhead is was for what is shown ahead.
func (s *Server) wasAhead(seen *HitView, e ecs.Entity, comp int, dst unsafe.Pointer) bool {
	from, to := s.aheadEnds(seen.ahead)
	i := to.find(uint64(e), 0)
	if i < 0 || to.items[i].mask>>comp&1 == 0 {
		return false
	}
	hint := 0
	w := s.aheadWords(seen.by, &to.items[i], from, to, seen.ahead.f, &hint)
	for need := s.bodies.needs(to.items[i].mask) & (1<<comp - 1); need != 0; need &= need - 1 {
		w.skip(s.p.components[bits.TrailingZeros64(need)].schema.Words())
	}
	w.show(s, comp, dst)
	return true
}

// show writes the component that the words begin with, as clients draw it.
func (w *aheadWords) show(s *Server, comp int, dst unsafe.Pointer) {
	c := &s.p.components[comp]
	switch {
	case !c.predicted && w.known != nil:
		c.schema.DequantiseMasked(w.known[:c.schema.Words()], w.grid, serverRefs{s}, dst)
	case !c.predicted || !c.lerped || w.from == nil:
		c.schema.DequantiseMasked(w.to[:c.schema.Words()], w.grid, serverRefs{s}, dst)
	default:
		k := snapshot.Knots{From: w.from, To: w.to, Span: 1, Rate: float32(s.p.tickRate), Fraction: w.fraction}
		c.schema.Interpolate(0, k, w.grid, serverRefs{s}, dst)
	}
}

// skip leaves out the first component, of n words.
func (w *aheadWords) skip(n int) {
	w.to = w.to[n:]
	if w.from != nil {
		w.from = w.from[n:]
	}
	if w.known != nil {
		w.known = w.known[n:]
	}
}

// apart is a filter's knowledge of a view of the volumes' history in which what is
// shown ahead is seen at another moment than the rest.
type apart struct {
	s            *Server
	p            *player
	whole, ahead keys
	of           func(id lagcomp.ID) (a, b Tick, f float32, ok bool)
}

// keysOf answers for the filter.
func (x *apart) keysOf(id lagcomp.ID) (a, b Tick, f float32, ok bool) {
	k := x.whole
	if x.s.aheadNow(x.p, ecs.Entity(id)) {
		k = x.ahead
	}
	return k.a, k.b, k.f, true
}

// aparts lends them for a tick.
type aparts struct {
	all  []*apart
	used int
	at   Tick
}

func (l *aparts) lend(s *Server, p *player, whole, ahead keys) *apart {
	if l.at != s.frame.Tick {
		l.at, l.used = s.frame.Tick, 0
	}
	if l.used == len(l.all) {
		x := &apart{}
		x.of = x.keysOf
		l.all = append(l.all, x)
	}
	x := l.all[l.used]
	l.used++
	x.s, x.p, x.whole, x.ahead = s, p, whole, ahead
	return x
}

// catchUp is [lagcomp.History.CatchUp] in a view that shows some ahead: these stay
// where they were seen, which is in the present.
func (s HitView) catchUp(shot *lagcomp.Projectile, f lagcomp.Filter) (at lagcomp.Claim, hit Hit, ok bool) {
	x := s.by.aparts.lend(s.server, s.by, s.whole, s.ahead)
	f.Keys = x.of
	way := float32(0)
	for at = s.Used; ; {
		to := at.Tick + 1
		x.whole = keys{a: to, b: to + 1, f: at.Fraction}
		if at.Fraction > 0 {
			to++
		}
		before := shot.Position
		next, h, ok := s.server.history.CatchUp(shot, at, min(to, s.server.newest()), f)
		if ok {
			h.Distance += way
			hit, ok = s.hit(h, ok)
			return next, hit, ok
		}
		if next == at {
			return at, Hit{}, false
		}
		way += lagcomp.RayTo(before, shot.Position).Range
		at = next
	}
}

// explainAhead lays open a shot by the moments at which its shooter saw what is shown
// ahead.
func (s HitView) explainAhead(x *lagcomp.Explanation, r lagcomp.Ray, margin float32) {
	claim := func(k keys) lagcomp.Claim { return lagcomp.Claim{Tick: k.a, Fraction: k.f} }
	claimed := claim(keysAt(max(int64(s.by.gave)*offsetSteps-s.by.behind, 0)))
	used := s.Used
	if s.ahead.a != 0 {
		used = claim(s.ahead)
	}
	f := s.filter
	f.Keys = nil
	ahead := s.server.history.Explain(r, claimed, used, s.Reason, f, margin)
	bodies := x.Bodies[:0]
	for _, b := range x.Bodies {
		if !s.server.aheadNow(s.by, ecs.Entity(b.ID)) {
			bodies = append(bodies, b)
		}
	}
	for _, b := range ahead.Bodies {
		if s.server.aheadNow(s.by, ecs.Entity(b.ID)) {
			bodies = append(bodies, b)
		}
	}
	x.Bodies = bodies
}
