package client

import (
	"bytes"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/cause"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// Amend adds the small differences at t, which are within the tolerance, to the prediction for k, which
// the world has. See prediction.World.
func (tl *timeline) Amend(t, k foretick.Tick) {
	r := tl.records.Find(k)
	if k == t {
		tl.remember(t)
		tl.correction.predicted.copyFrom(r)
	}
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
			later, predicted, actual := r.wordsOf(e, i), tl.correction.predicted.wordsOf(e, i), []int32(nil)
			if predicted != nil {
				actual = tl.names.stated(g, s, i, predicted[:n], t)
			}
			at := ecs.Engine(tl.world).Pointer(e, comp.ID)
			if later == nil || predicted == nil || actual == nil || at == nil {
				continue
			}
			if comp.Schema.Carry(later[:n], predicted[:n], actual) {
				comp.Schema.Dequantise(later[:n], schema.GridSim, &tl.names, at)
			}
		}
	}
}

// Compare returns the result of compareTick. See prediction.Authority.
func (tl *timeline) Compare(int, foretick.Tick) prediction.Verdict { return tl.comparison.verdict }

// Adopt writes the server's state of the local player at t into the world.
func (tl *timeline) Adopt(t foretick.Tick) {
	tl.remember(t)
	tl.causes.checkUntracked(t)
	for _, g := range tl.ghosts.ours {
		s, ok := g.At(t)
		switch {
		case ok:
			if tl.bodies.embody(g) {
				tl.spawning.restored = append(tl.spawning.restored, ecs.Entity(g.Data))
			}
			tl.writeState(g, s, t)
		case g.Data != 0 && g.Gone != 0 && int32(g.Gone-t) <= 0:
			tl.bodies.bury(ecs.Entity(g.Data))
			g.Data = 0
		default: // left for later: the save that was loaded for t may be older than what is known
			tl.ghosts.takeUnpredictedOf(g)
		}
	}
	if _, _, own := tl.ghosts.receiver.Complete(t); own && tl.spawning.waiting.Len() > 0 {
		tl.spawning.waiting.Open(func(k foretick.Tick, s spawned) bool {
			if int32(k-t) <= 0 { // settle reports it to the game
				ecs.Engine(tl.world).Manager().Destroy(s.e)
			}
			return true
		})
	}
	tl.ghosts.othersNewest() // as in a first run: the world may have the values of the last frame
}

// restartFrom makes the server's state at t the prediction for t, and runs the later ticks again.
func (tl *timeline) restartFrom(t foretick.Tick) {
	tl.saves.stashLocals()
	tl.Adopt(t)
	tl.predictor.Restart(t)
	tl.saves.putLocals()
	tl.spawning.noteBack()
	tl.tester.since = t
}

// writeState writes a ghost's state at t into the world as it is.
func (tl *timeline) writeState(g *snapshot.Ghost, s snapshot.State, t foretick.Tick) {
	r := tl.records.Find(t)
	for i := range tl.p.Components {
		comp := &tl.p.Components[i]
		if comp.Unknown {
			continue
		}
		if words := s.Component(i); words != nil {
			if comp.Predicted && r != nil {
				words = tl.names.named(comp, words, r.wordsOf(ecs.Entity(g.Data), i), t)
			}
			at := tl.ghosts.pointer(g, i)
			tl.ghosts.withdraw(g, s, i, at)
			comp.Schema.DequantiseFor(s.Audience, words, s.Grid(i), &tl.names, at)
		} else if at := ecs.Engine(tl.world).Pointer(ecs.Entity(g.Data), tl.p.Components[i].ID); at != nil {
			tl.ghosts.takeAway(ecs.Entity(g.Data), tl.p.Components[i].ID)
		}
	}
}

// takeUnpredicted updates the components that only the server computes, on every entity that is
// predicted here. It writes them into the newest predicted tick. After a rollback Adopt writes them
// again.
func (tl *timeline) takeUnpredicted() {
	if tl.ghosts.takeUnpredicted() {
		tl.predictor.Rewrite()
		tl.tester.since = tl.predictor.Tick()
	}
}

// remember copies what was predicted for the newest tick, because a correction of t may replace it.
func (tl *timeline) remember(t foretick.Tick) {
	co, r := &tl.correction, tl.records.Find(tl.predictor.Tick())
	co.replacing = r != nil
	if co.replacing {
		co.before.items = append(co.before.items[:0], r.items...)
		co.before.words = append(co.before.words[:0], r.words...)
	}
	co.cuts.noteCuts(tl.records, tl.agreed.newest, t, tl.predictor.Tick(), foretick.Tick(tl.cfg.History))
}

// replaces reports whether a tick that has a command gets another one, and keeps the earlier one, which
// the server may have instead. A command that was never sent does not count.
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

// sending notes that the packet seq has the commands from tick oldest on.
func (ip *input) sending(seq netcode.Seq, oldest foretick.Tick) {
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

// delivered notes that the server had received a packet when it wrote the snapshot of t. A command that
// was made a second time is sent in several packets, one after another.
func (ip *input) delivered(seq netcode.Seq, t foretick.Tick) {
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

// lost notes that a packet counts as lost. It may still arrive later, and no snapshot reports that.
func (ip *input) lost(seq netcode.Seq) {
	for _, k := range ip.remade {
		in := ip.history.Find(k)
		if in != nil && in.sent && !precedes(seq, in.seq) && !precedes(in.end, seq) {
			in.suspect = true
		}
	}
}

// ran notes, for the ticks up to that of a snapshot, that the server ran them without the packets that
// the snapshot does not acknowledge.
func (ip *input) ran(t foretick.Tick) {
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

// mayHaveHad reports whether the server may have had a packet with the second command of a tick
// although no snapshot acknowledged that packet. After a stall the server receives many packets at
// once, and its next acknowledgement covers only the newest. A packet that counts as lost may have
// arrived, and so may one that was sent before the same command was made again.
func (ip *input) mayHaveHad(in *tickInput) bool {
	return in.suspect || in.sent && ip.hasHad && netcode.Distance(ip.had, in.seq) > netcode.AckReach
}

// ranFirst reports whether the server ran the first of two commands made for tick t: certainly, or
// perhaps. It certainly ran the second if it had that one at the snapshot of an earlier tick.
func (in *tickInput) ranFirst(t foretick.Tick) (certain, perhaps bool) {
	if !in.replaced || in.missed {
		return false, false
	}
	certain = in.late || in.stays && !in.suspect
	return certain, certain || in.stays || in.arrived == 0 || int32(in.arrived-t) >= 0
}

// missed notes that the server ran the ticks from … to without any command of the client. A server with
// late inputs may have run a command in its tick since.
func (ip *input) missed(from, to foretick.Tick) {
	if ip.late > 0 {
		return
	}
	for k := to; int32(k-from) >= 0 && to-k < foretick.Tick(ip.commandsKept()); k-- {
		if in := ip.history.Find(k); in != nil {
			in.missed = true
		}
	}
}

// remadeBy returns the newest tick in from … to that has two commands of which the server ran the
// first, and the number of such ticks in a row. It returns 0 if there is none. If none is certain, it
// returns the newest tick for which that may be so.
func (ip *input) remadeBy(from, to foretick.Tick) (last foretick.Tick, ticks uint32, certain bool) {
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
	for k := last; last != 0 && ticks <= cause.MaxRun; k-- {
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

// correction has the values that a correction replaces.
type correction struct {
	// predicted is the record of the tick whose small differences are being added.
	predicted record
	before    record // what was predicted for the newest tick, if replacing is true
	replacing bool   // something was predicted for the newest tick
	cuts      predictedCuts
}

// present writes the predicted values of the newest tick back into the world.
func (tl *timeline) present() {
	tl.predictor.Present()
	if tl.saves.putLocals() {
		tl.predictor.Rewrite() // so that the next frame finds them there
	}
	tl.clientOnly.undrawLocalEntities()
	tl.row.Give()
}
