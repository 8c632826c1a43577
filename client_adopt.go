package foretick

import (
	"bytes"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/reason"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// Amend adds the small differences at t, which are within the tolerance, to the prediction
// for k, which the world holds. See prediction.World.
func (tl *timeline) Amend(t, k Tick) {
	if k == t {
		tl.remember(tl.records.Find(tl.predictor.Tick()))
	}
	r := tl.records.Find(k)
	if r == nil {
		return
	}
	for _, g := range tl.ghosts.ours {
		s, ok := g.At(t)
		if !ok || g.Data == 0 {
			continue
		}
		e := ecs.Entity(g.Data)
		for i := range tl.p.Components {
			comp := &tl.p.Components[i]
			if !comp.Predicted || !comp.Tolerant {
				continue
			}
			n := comp.Schema.Words()
			later, predicted, actual := r.find(e, i), tl.correction.predicted.find(e, i), []int32(nil)
			if predicted != nil {
				actual = tl.stated(g, s, i, predicted[:n], t)
			}
			at := tl.world.Pointer(e, comp.ID)
			if later == nil || predicted == nil || actual == nil || at == nil {
				continue
			}
			if comp.Schema.Carry(later[:n], predicted[:n], actual) {
				comp.Schema.Dequantise(later[:n], schema.GridSim, recordRefs{tl}, at)
			}
		}
	}
}

// Adopt writes the server's state of the local player at t into the world.
func (tl *timeline) Adopt(t Tick) {
	tl.remember(tl.records.Find(tl.predictor.Tick()))
	tl.checkUntracked(t)
	for _, g := range tl.ghosts.ours {
		s, ok := g.At(t)
		switch {
		case ok:
			tl.embody(g)
			tl.write(g, s, t)
		case g.Data != 0 && g.Gone != 0 && int32(g.Gone-t) <= 0:
			tl.bury(ecs.Entity(g.Data))
			g.Data = 0
		default: // put off: the save loaded for t may be older than what is known
			tl.takeFrom(g)
		}
	}
	if _, _, own := tl.ghosts.receiver.Complete(t); own && tl.spawning.waiting.Len() > 0 {
		tl.spawning.waiting.Open(func(k Tick, s spawned) bool {
			if int32(k-t) <= 0 { // settle tells of it
				tl.world.Manager().Destroy(s.e)
			}
			return true
		})
	}
	tl.ghosts.othersNewest() // as for a first run: the world may hold the last frame's
}

// write puts a ghost's state of t into the world as it is.
func (tl *timeline) write(g *snapshot.Ghost, s snapshot.State, t Tick) {
	r := tl.records.Find(t)
	for i := range tl.p.Components {
		comp := &tl.p.Components[i]
		if comp.Unknown {
			continue
		}
		if words := s.Component(i); words != nil {
			if comp.Predicted && r != nil {
				words = tl.named(comp, words, r.find(ecs.Entity(g.Data), i), t)
			}
			comp.Schema.DequantiseFor(s.Audience, words, s.Grid(i), recordRefs{tl}, tl.ghosts.pointer(g, i))
		} else if at := tl.world.Pointer(ecs.Entity(g.Data), tl.p.Components[i].ID); at != nil {
			tl.ghosts.takeAway(ecs.Entity(g.Data), tl.p.Components[i].ID)
		}
	}
}

// takeUnpredicted updates the components that only the server computes, on every entity
// that is predicted here. It writes the newest predicted tick. After a rollback Adopt
// writes them again.
func (tl *timeline) takeUnpredicted() {
	if len(tl.p.Unpredicted.Components) == 0 {
		return
	}
	changed := false
	if tl.overdue {
		tl.overdue = false
		for _, g := range tl.ghosts.ours {
			changed = tl.takeFrom(g) || changed
		}
	} else {
		for _, ch := range tl.ghosts.receiver.Changes() {
			if tl.ghosts.ahead(ch.Ghost) {
				changed = tl.takeFrom(ch.Ghost) || changed
			}
		}
	}
	if changed {
		tl.predictor.Rewrite()
		tl.tester.since = tl.predictor.Tick()
	}
}

// takeFrom writes a ghost's newest unpredicted components and removes those that it no
// longer has. It reports whether it touched anything.
func (tl *timeline) takeFrom(g *snapshot.Ghost) bool {
	e := ecs.Entity(g.Data)
	if !tl.world.Alive(e) {
		return false
	}
	s, changed := g.Newest(), false
	for _, i := range tl.p.Unpredicted.Components {
		if s.Component(i) != nil {
			changed = tl.rewrite(g, s, i) || changed
		} else if id := tl.p.Components[i].ID; tl.world.Pointer(e, id) != nil {
			tl.ghosts.takeAway(e, id)
			changed = true
		}
	}
	return changed
}

// rewrite writes a ghost's component and reports whether its value changed. If nothing
// changed, a sync test may go back past the tick.
func (tl *timeline) rewrite(g *snapshot.Ghost, s snapshot.State, i int) bool {
	comp := &tl.p.Components[i]
	at := tl.world.Pointer(ecs.Entity(g.Data), comp.ID)
	if at == nil || comp.Varies {
		tl.ghosts.writeComponent(g, s, i)
		return true
	}
	tl.scratch.was = append(tl.scratch.was[:0], unsafe.Slice((*byte)(at), comp.Size)...)
	tl.ghosts.writeComponent(g, s, i)
	return !bytes.Equal(tl.scratch.was, unsafe.Slice((*byte)(at), comp.Size))
}

// bornHere notes that a ghost now has an entity. References to it that arrived earlier are
// then looked up again.
func (tl *timeline) bornHere() {
	if tl.p.Unpredicted.Refs {
		tl.overdue = true
	}
}

// remember keeps what was predicted for the newest tick until a correction may replace it.
func (tl *timeline) remember(r *record) {
	tl.correction.replacing = r != nil
	if tl.correction.replacing {
		tl.correction.before.items = append(tl.correction.before.items[:0], r.items...)
		tl.correction.before.words = append(tl.correction.before.words[:0], r.words...)
	}
}

// record holds the predicted values of one tick, on the simulation grid.
type record struct {
	items []recordItem
	words []int32
	cuts  []ecs.Entity // what was teleported in this tick
	basis Tick         // the newest snapshot when it was predicted
	shown Tick         // the render time of others then
	scene uint64       // … and how much had appeared and gone
	some  bool         // the first prediction had an entity

	next     int    // where to look for an item first
	replayed bool   // it is not the first prediction any more
	first    uint64 // hash of the first prediction, once it was replayed
}

// recordItem is a component of an entity. The entity is named by its handle, which stays
// the same whatever the server calls it.
type recordItem struct {
	e               ecs.Entity
	comp            uint8
	remotePredicted bool // another player's
	off             int32
}

// find returns the words of an entity's component, nil if it did not have the component. A
// tag's are empty.
func (r *record) find(e ecs.Entity, comp int) []int32 {
	i := r.item(e, comp)
	if i < 0 {
		return nil
	}
	if words := r.words[r.items[i].off:]; words != nil {
		return words
	}
	return []int32{} // nothing in the record has any words
}

// item returns the index of an entity's component, −1 if it had none. Callers visit
// entities in the order of the record, so the search starts after the last one found. The
// items of one entity are adjacent.
func (r *record) item(e ecs.Entity, comp int) int {
	n := len(r.items)
	if r.next >= n {
		r.next = 0
	}
	for k := range n {
		i := r.next + k
		if i >= n {
			i -= n
		}
		if r.items[i].e != e {
			continue
		}
		for i > 0 && r.items[i-1].e == e {
			i--
		}
		r.next = i
		for ; i < n && r.items[i].e == e; i++ {
			if int(r.items[i].comp) == comp {
				return i
			}
		}
		return -1
	}
	return -1
}

// itself, as a component, notes that the entity existed.
const itself = 0xFF

func (r *record) has(e ecs.Entity) bool { return r.item(e, itself) >= 0 }

func (r *record) clear() { r.items, r.words, r.next = r.items[:0], r.words[:0], 0 }

func (r *record) copy(from *record) {
	if from == nil {
		r.items, r.words = r.items[:0], r.words[:0]
		return
	}
	items, words, cuts := append(r.items[:0], from.items...), append(r.words[:0], from.words...), append(r.cuts[:0], from.cuts...)
	*r = *from
	r.items, r.words, r.cuts = items, words, cuts
}

// hash covers the player's own items and their words, in any order. See hashItem for the
// server's side.
func (r *record) hash() uint64 {
	h := uint64(0)
	for i, it := range r.items {
		end := len(r.words)
		if i+1 < len(r.items) {
			end = int(r.items[i+1].off)
		}
		if !it.remotePredicted {
			h += hashItem(it.e, int(it.comp), r.words[it.off:end])
		}
	}
	return h
}

func hashItem(e ecs.Entity, comp int, words []int32) uint64 {
	h := ((fnvOffset^uint64(e))*fnvPrime ^ uint64(comp)) * fnvPrime
	for _, w := range words {
		h = (h ^ uint64(uint32(w))) * fnvPrime
	}
	return h
}

// replaces reports whether the command of a tick that has one becomes another one, and keeps
// the one that the server may have instead. One that never left this client is none.
func (in *tickInput) replaces(packed []byte, view uint64) bool {
	same := bytes.Equal(in.packed, packed)
	switch {
	case in.replaced && !in.sent:
		in.several = in.several || in.suspect && !same
		if !in.several && bytes.Equal(in.first, packed) {
			return false
		}
	case !same:
		in.several, in.suspect = in.replaced, false
		in.first, in.firstView = append(in.first[:0], in.packed...), in.view
	case !in.replaced:
		return false
	default:
		in.suspect = true // it was sent, and is sent again
	}
	in.sent, in.arrived, in.late, in.stays = false, 0, false, int64((view-in.firstView)<<24) <= 0
	return true
}

// sending notes the number of a packet that carries the commands from tick oldest on.
func (ip *input) sending(seq netcode.Seq, oldest Tick) {
	for _, t := range ip.remade {
		in := ip.history.Find(t)
		if in == nil || int32(t-oldest) < 0 {
			continue
		}
		if in.end = seq; !in.sent {
			in.sent, in.seq = true, seq
		}
	}
}

// delivered notes that the server had a packet when it wrote the snapshot of t. A command
// that was made again travels in several, one after the other.
func (ip *input) delivered(seq netcode.Seq, t Tick) {
	if !ip.hasHad || precedes(ip.had, seq) {
		ip.had, ip.hasHad = seq, true
	}
	for _, k := range ip.remade {
		in := ip.history.Find(k)
		if in != nil && in.sent && in.arrived == 0 && !precedes(seq, in.seq) && !precedes(in.end, seq) {
			in.arrived = t
		}
	}
}

// lost notes that a packet counts as lost. It may arrive later, and no snapshot says so then.
func (ip *input) lost(seq netcode.Seq) {
	for _, k := range ip.remade {
		in := ip.history.Find(k)
		if in != nil && in.sent && !precedes(seq, in.seq) && !precedes(in.end, seq) {
			in.suspect = true
		}
	}
}

// ran notes, for the ticks up to that of a snapshot, that the server ran them without the
// packets that it does not acknowledge yet.
func (ip *input) ran(t Tick) {
	live := ip.remade[:0]
	for _, k := range ip.remade {
		in := ip.history.Find(k)
		switch {
		case in == nil || !in.replaced || in.arrived != 0:
		case int32(k-t) > 0:
			live = append(live, k)
		default:
			in.late = !ip.mayHaveHad(in)
		}
	}
	ip.remade = live
}

// mayHaveHad reports whether the server may have had a packet with the second command of a
// tick, although no snapshot acknowledged it. After a stall it receives many packets at once, and
// its next acknowledgement reaches the newest alone. A packet that counts as lost may have
// arrived, and so may one that was sent before the command was made once more as it was.
func (ip *input) mayHaveHad(in *tickInput) bool {
	return in.suspect || in.sent && ip.hasHad && netcode.Distance(ip.had, in.seq) > netcode.AckReach
}

// ranFirst reports whether the server ran the first of two commands made for tick t: for
// certain, or perhaps. It ran the second for certain if it had it at an earlier tick's
// snapshot.
func (in *tickInput) ranFirst(t Tick) (certain, perhaps bool) {
	if !in.replaced || in.missed {
		return false, false
	}
	certain = in.late || in.stays && !in.suspect
	return certain, certain || in.stays || in.arrived == 0 || int32(in.arrived-t) >= 0
}

// missed notes that the server ran the ticks from … to without any command of the client's. A server that takes late
// commands may have run one in its tick since.
func (ip *input) missed(from, to Tick) {
	if ip.late > 0 {
		return
	}
	for k := to; int32(k-from) >= 0 && to-k < Tick(ip.commandsKept()); k-- {
		if in := ip.history.Find(k); in != nil {
			in.missed = true
		}
	}
}

// remadeBy returns the newest tick in from … to of whose two commands the server ran the
// first, and the number of such ticks in a row. It returns 0 if there is none. If none is
// certain, it returns the newest for which that may be so.
func (ip *input) remadeBy(from, to Tick) (last Tick, ticks uint32, certain bool) {
	for k := to; int32(k-from) >= 0; k-- {
		in := ip.history.Find(k)
		if in == nil {
			continue
		}
		sure, perhaps := in.ranFirst(k)
		if sure || perhaps && last == 0 {
			last = k
		}
		if certain = sure; certain {
			break
		}
	}
	for k := last; last != 0 && ticks <= reason.MaxRun; k-- {
		in := ip.history.Find(k)
		if in == nil {
			break
		}
		if _, perhaps := in.ranFirst(k); !perhaps {
			break
		}
		ticks++
	}
	return last, ticks, certain
}
