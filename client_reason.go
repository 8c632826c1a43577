package foretick

import (
	"reflect"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/reason"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// corrected counts a misprediction and reports it, and starts the fading of its correction.
func (tl *timeline) corrected(t Tick) {
	if tl.found.wrong.Component == "" && tl.found.remoteFailed {
		tl.swayed()
	}
	if tl.found.wrong.Component != "" && !tl.reasons.Counted(&tl.found.wrong) {
		tl.stats.Mispredictions++
		tl.stats.ByCause[tl.found.wrong.Cause]++
		if debugBuild {
			tl.found.untracked.note(&tl.found.wrong, tl.cfg.Logger.Warn)
		}
		if tl.explains() {
			if tl.found.wrong.Cause == prediction.Code {
				tl.explainCode(t)
			}
			tl.explainInputs()
			tl.tell(&tl.found.wrong)
		}
	}
}

// explain finds the cause of a misprediction.
func (tl *timeline) explain() {
	tl.found.agreed = tl.agreedOnWrong(tl.found.wrong.Tick)
	tl.reasons.Explain(&tl.found.wrong, evidence{tl})
}

// evidence is everything that the client knows about the mispredicted tick.
type evidence struct{ tl *timeline }

func (e evidence) Agreed() Tick                    { return e.tl.found.agreed }
func (e evidence) SystemName(number uint32) string { return e.tl.p.systemName(number) }
func (e evidence) Late(number uint32) bool         { return int(number) == e.tl.p.lateCause() }

// Remade returns the newest tick up to t of whose two commands the server ran the first.
func (e evidence) Remade(t Tick) (last Tick, ticks uint32, certain bool) {
	return e.tl.input.remadeBy(e.tl.doubtful(t), t)
}

// Pushed reports whether the ends differ in t in something that a run of a shared system
// for another player may write: a component that systems declare with ecs.WriteOther, or
// the existence of an entity or a component.
func (e evidence) Pushed(t Tick) bool {
	tl := e.tl
	r := tl.records.Find(t)
	if r == nil {
		return true
	}
	for _, g := range tl.ghosts.ours {
		s, ok := g.At(t)
		here := g.Data != 0 && r.has(ecs.Entity(g.Data))
		if tl.ghosts.remotePredicted(g) || !ok && !here {
			continue
		}
		if ok != here {
			return true
		}
		for i := range tl.p.Components {
			comp := &tl.p.Components[i]
			if !comp.Predicted {
				continue
			}
			ours, theirs := r.find(ecs.Entity(g.Data), i), s.Component(i)
			if (ours == nil) != (theirs == nil) {
				return true
			}
			if ours != nil && comp.ForOthers && comp.Schema.FirstDifference(ours[:comp.Schema.Words()], tl.meant(comp, theirs, ours, t)) >= 0 {
				return true
			}
		}
	}
	return false
}

// RemoteWrong reports whether a remote player was predicted wrongly, or no snapshot had its
// state since the ends agreed.
func (e evidence) RemoteWrong(t Tick) bool {
	tl := e.tl
	if !tl.p.Remote.Predicts || !tl.fromOthers() {
		return false
	}
	_, all, _ := tl.ghosts.receiver.Complete(t)
	return tl.found.remoteFailed || t-tl.agreed.all > 1 && (len(tl.saves.remotes) > 0 || tl.agreed.unsure || !all)
}

// fromOthers reports whether the shared systems compute what differs from others' state. Of
// another build's systems nothing is known.
func (tl *timeline) fromOthers() bool {
	return len(tl.ghosts.others) > 0 && (tl.p.OtherBuild || tl.p.FromOthers.Names(&tl.p.Layout, tl.found.wrong.Component))
}

// OthersDiffered finds an entity that is not predicted here and whose value was out of
// date. Since the ends last agreed, the server's value differed from the newest one known
// here, in a component that shared systems read of others. The component is "" for an entity
// that came or went.
func (e evidence) OthersDiffered(t Tick) (owner uint16, component string, ok bool) {
	tl := e.tl
	if !tl.fromOthers() {
		return 0, "", false
	}
	for k := tl.doubtful(t); int32(k-t) <= 0; k++ {
		if _, _, ok := tl.differedIn(k, tl.ghosts.others); !ok {
			continue
		}
		if read := tl.looked(k); len(read) > 0 {
			if owner, component, ok = tl.differedIn(k, read); ok {
				return owner, component, true
			}
		}
	}
	return 0, "", false
}

// unrest is for how many ticks after another came or went a next one may have done so in a tick
// of which no snapshot came.
const unrest = 32

// OthersUnknown reports whether a shared system may have read of others what no snapshot
// had: a value that found no room, one that was in a lost snapshot, one that changed and changed
// back between two, or a reference that the server could not send yet. It expects a change
// back only of values that are known to change.
func (e evidence) OthersUnknown(t Tick) bool {
	tl := e.tl
	if !tl.fromOthers() {
		return false
	}
	before, _, _ := tl.ghosts.receiver.Complete(t - 1)
	here, all, _ := tl.ghosts.receiver.Complete(t)
	whole := before && here
	missing := here && !all || !whole && tl.ghosts.tellsEachTick() // what found no room, or was lost, may have changed
	changes := missing || !whole && tl.ghosts.restless(t, tl.ghosts.others)
	if !changes && !tl.holdsBackRefs() {
		return false
	}
	for k := tl.doubtful(t); int32(k-t) <= 0; k++ {
		if read := tl.looked(k); len(read) > 0 && (missing || changes && tl.ghosts.restless(t, read) || tl.untoldAmong(k, read)) {
			return true
		}
	}
	return false
}

// OthersUnseen reports whether a shared system may have read entities on the server that are
// not sent to this client. The server says when it hides some. Which of them are too far away
// to be sent, it does not say: they matter where those do that are near, or where none is.
func (e evidence) OthersUnseen(t Tick) bool {
	tl := e.tl
	if !tl.fromOthers() {
		return false
	}
	for k := tl.doubtful(t); int32(k-t) <= 0; k++ {
		hidden := tl.reasons.Concealed(k)
		if !hidden && tl.p.handlers.interest == nil {
			continue
		}
		if read := tl.looked(k); len(read) > 0 && (hidden || tl.swayedByOthers(k, read)) {
			return true
		}
	}
	return false
}

// OwnDiffered finds an unpredicted component of the player's own that changed on the server
// after the newest value known here when the tick was predicted, or that may have had a
// reference which the server could not send yet. The component of parents counts where
// systems looked for any.
func (e evidence) OwnDiffered(t Tick) (component string, ok bool) {
	tl := e.tl
	read, parent := tl.p.Unpredicted.Read, tl.p.parentIndex()
	if len(read) == 0 && parent < 0 {
		return "", false
	}
	for k := tl.doubtful(t); int32(k-t) <= 0; k++ {
		r := tl.records.Find(k)
		if r == nil {
			continue
		}
		for _, g := range tl.ghosts.ours {
			known, ok := g.At(r.basis)
			if !ok || g.Data == 0 {
				continue
			}
			if i := tl.differsFrom(g, known, k, read); i >= 0 {
				return tl.p.componentName(i), true
			}
			if parent >= 0 && tl.differsFrom(g, known, k, []int{parent}) >= 0 && tl.askedParents(k) {
				return parentName, true
			}
		}
	}
	return "", false
}

// doubtful returns the first remembered tick up to t on which the ends may have differed.
func (tl *timeline) doubtful(t Tick) Tick {
	if oldest := t - Tick(tl.cfg.History); int32(oldest-tl.found.agreed) > 0 {
		return oldest
	}
	return tl.found.agreed + 1
}

// swayed finds the first of the player's own fields that a wrong prediction of others
// changed in the newest tick. When the server's state of that tick arrives, it will show no
// difference.
func (tl *timeline) swayed() {
	after := tl.records.Find(tl.predictor.Tick())
	if !tl.correction.replacing || after == nil {
		return
	}
	for _, it := range after.items {
		if it.remotePredicted || it.comp == itself {
			continue
		}
		comp, before := &tl.p.Components[it.comp], tl.correction.before.find(it.e, int(it.comp))
		if before == nil {
			continue
		}
		n := comp.Schema.Words()
		words := after.words[it.off:][:n]
		if f := comp.Schema.FirstDifference(before[:n], words); f >= 0 {
			tl.found.wrong = prediction.Misprediction{Tick: tl.predictor.Tick(), Entity: uint64(it.e), Component: comp.Name, Cause: prediction.RemoteInput}
			tl.found.wrong.Prefab = tl.itemName(recordItem{e: it.e, comp: itself})
			tl.explainField(comp, f, before, words)
			if tl.explains() {
				tl.listFields(comp, it.e, tl.found.wrong.Prefab, before, words)
			}
			return
		}
	}
}

// checkUntracked checks values that shared systems may have read and that are not
// predicted. If the client's value differed at t, it is the cause.
func (tl *timeline) checkUntracked(t Tick) {
	w := &tl.found.wrong
	unsure := w.Cause == prediction.Code || w.Cause == prediction.Input && tl.found.perhaps
	if w.Component == "" || !unsure || w.Tick != t {
		return
	}
	for _, g := range tl.ghosts.ours {
		s, ok := g.At(t)
		if !ok || g.Data == 0 || tl.ghosts.remotePredicted(g) {
			continue
		}
		for _, i := range tl.p.Unpredicted.Read {
			at := tl.world.Pointer(ecs.Entity(g.Data), tl.p.Components[i].ID)
			theirs := s.Component(i)
			if at == nil || theirs == nil {
				continue
			}
			described := tl.p.Components[i].Schema
			ours := tl.zeroes(described.Words())
			described.Quantise(at, schema.GridPublic, recordRefs{tl}, ours)
			if described.FirstDifference(ours, theirs) >= 0 {
				tl.untracked(i)
				return
			}
		}
		if tl.roundedRead(s) {
			return
		}
	}
}

// roundedRead reports whether what differs is computed from a component of an entity of the
// player's own that clients receive rounded. The server's systems read it as it is.
func (tl *timeline) roundedRead(s snapshot.State) bool {
	w := &tl.found.wrong
	for i := range tl.p.Unpredicted.Rounded {
		r := &tl.p.Unpredicted.Rounded[i]
		if s.Component(r.Component) == nil || !r.Names(&tl.p.Layout, w.Component) {
			continue
		}
		tl.untracked(r.Component)
		return true
	}
	return false
}

// untracked makes a component that was read the cause of a misprediction.
func (tl *timeline) untracked(component int) {
	w := &tl.found.wrong
	w.Cause, w.CauseTick, w.CauseTicks, w.StandIn = prediction.Untracked, 0, 0, 0
	w.Read = tl.p.Components[component].Name
}

// explainCode adds what is known of a misprediction that has no other cause.
func (tl *timeline) explainCode(t Tick) {
	w := &tl.found.wrong
	if debugBuild {
		w.System, w.CauseTick = tl.blame(t)
	}
	if tl.serverArchitecture != "" && tl.serverArchitecture != tl.architecture {
		w.Architecture, w.ServerArchitecture = tl.architecture, tl.serverArchitecture
	}
}

// explainInputs adds the commands that both ends used to the record.
func (tl *timeline) explainInputs() {
	w, cmd := &tl.found.wrong, tl.p.Command
	if cmd == nil {
		return
	}
	t := commandTick(w)
	if in := tl.input.history.Find(t); in != nil {
		w.Input = cmd.Value(in.at)
	}
	if w.Cause != prediction.Input {
		w.Executed = w.Input // where it ran with another one, that is the cause
		return
	}
	if executed := tl.executed(w); len(executed) > 0 {
		at := reflect.New(cmd.Handle.Type())
		if cmd.Schema.Unpack(executed, at.UnsafePointer()) == nil {
			w.Executed = at.Elem().Interface()
		}
	}
}

// settleTrail is settleTrails for a client, and for a sync test.
func (tl *timeline) settleTrail() {
	if debugBuild && tl.reasons.due {
		tl.reasons.due = false
		tl.noteTrail()
	}
	if tl.tester.due > 0 {
		tl.hashSystem(tl.tester.due - 1)
		tl.tester.due = 0
	}
}

// noteTrail hashes the current predicted state.
func (tl *timeline) noteTrail() {
	tl.row.take()
	var sum uint32
	for _, e := range tl.predictedHere() {
		id := tl.p.identity.Find(tl.world, e)
		if id == nil || tl.ghosts.anothers(e) {
			continue // not in this tick, or nothing that the server hashes for us
		}
		name := id.origin
		if name == 0 {
			name = id.Net
		}
		sum += tl.p.entityHash(tl.world, e, name, tl.scratch.words)
	}
	tl.reasons.ours.Note(sum)
}

// blame returns the system, and its tick, after which the ends first differed, since they
// last agreed and up to tick t. It is for corrections that are caused by code.
func (tl *timeline) blame(t Tick) (system string, at Tick) {
	if tl.p.OtherBuild {
		return "", 0 // another build has other systems
	}
	k, i, found := reason.FirstDifference(&tl.reasons.ours, &tl.reasons.theirs, tl.doubtful(t), t)
	switch {
	case !found:
		return "", 0
	case i == 0:
		return "(ahead of the tick's systems)", k
	}
	return tl.p.sharedSystem(i - 1), k
}
