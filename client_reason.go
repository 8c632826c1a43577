package foretick

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/reason"
	"github.com/foretick/foretick/netcode"
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
			if ours != nil && comp.ForOthers && comp.Schema.FirstDifference(ours[:comp.Schema.Words()], tl.names.meant(comp, theirs, ours, t)) >= 0 {
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
	if !changes && !tl.scenes.holdsBackRefs() {
		return false
	}
	for k := tl.doubtful(t); int32(k-t) <= 0; k++ {
		if read := tl.looked(k); len(read) > 0 && (missing || changes && tl.ghosts.restless(t, read) || tl.names.untoldAmong(k, read)) {
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
			if i := tl.names.differsFrom(g, known, k, read); i >= 0 {
				return tl.p.componentName(i), true
			}
			if parent >= 0 && tl.names.differsFrom(g, known, k, []int{parent}) >= 0 && tl.askedParents(k) {
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
			tl.found.wrong.Prefab = tl.predicted.itemName(recordItem{e: it.e, comp: itself})
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
			ours := tl.names.zeroes(described.Words())
			described.Quantise(at, schema.GridPublic, &tl.names, ours)
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
		tl.tester.hashSystem(tl.tester.due - 1)
		tl.tester.due = 0
	}
}

// noteTrail hashes the current predicted state.
func (tl *timeline) noteTrail() {
	tl.row.take()
	var sum uint32
	for _, e := range tl.predicted.entities() {
		id := tl.p.identity.Find(tl.world, e)
		if id == nil || tl.ghosts.anothers(e) {
			continue // not in this tick, or nothing that the server hashes for us
		}
		name := id.origin
		if name == 0 {
			name = id.Net
		}
		sum += tl.p.entityHash(tl.world, e, name, tl.names.words)
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

// A client has other players' values rounded to their steps, while the server's systems read
// them as they are. Where that may be why a result differs, a tick has another result once
// the values are half a step off. So it runs again with each of the nudges.

// mostNudged is how many ticks run again with nudged values to explain one misprediction.
const mostNudged = 4

// nudges are the directions that the fields of a component are moved in, in turn.
var nudges = [...][2]float32{{1, 1}, {-1, -1}, {1, -1}, {-1, 1}}

// OthersRounded finds a component of others' entities whose rounding on its way here may be
// the cause.
func (e evidence) OthersRounded(t Tick) (component string, ok bool) {
	tl := e.tl
	if !tl.fromOthers() || tl.p.OtherBuild {
		return "", false
	}
	first := tl.doubtful(t)
	if int32(t-first) >= mostNudged {
		first = t - mostNudged + 1
	}
	var read []int
	for k := t; int32(k-first) >= 0; k-- {
		read = append(read[:0], tl.looked(k)...)
		read = slices.DeleteFunc(read, func(i int) bool { return !roundedOnItsWay(tl.p.Components[i].Schema) })
		if len(read) == 0 {
			continue
		}
		for _, i := range read {
			if tl.swayedByRounding(k, i) {
				return tl.p.componentName(i), true
			}
		}
	}
	return "", false
}

// roundedOnItsWay reports whether the server's systems read a component of others more
// finely than clients receive it.
func roundedOnItsWay(s *schema.Schema) bool {
	return s != nil && (s.Coarse() >= 0 || !s.Predicted() && s.Rounded())
}

// swayedByRounding reports whether tick k has another result with a component of others half
// a step off.
func (tl *timeline) swayedByRounding(k Tick, component int) bool {
	if !tl.runNudged(k, component, [2]float32{}) {
		return false
	}
	as := tl.looks.result.hash()
	for _, by := range nudges {
		if tl.runNudged(k, component, by) && tl.looks.result.hash() != as {
			return true
		}
	}
	return false
}

// runNudged runs a tick again, with a component of the entities that are not predicted here
// half a step off, times by.
func (tl *timeline) runNudged(k Tick, component int, by [2]float32) bool {
	return tl.runAside(k, func() bool {
		tl.ghosts.othersNewest()
		for _, g := range tl.ghosts.receiver.Ghosts() {
			if !tl.ghosts.ahead(g) && g.Data != 0 {
				tl.nudge(ecs.Entity(g.Data), component, by)
			}
		}
		return tl.runUnseeing(k)
	})
}

// nudge moves the rounded fields of an entity's component.
func (tl *timeline) nudge(e ecs.Entity, component int, by [2]float32) {
	c := &tl.p.Components[component]
	at := tl.world.Pointer(e, c.ID)
	if at == nil {
		return
	}
	words := tl.names.zeroes(c.Schema.Words())
	c.Schema.Quantise(at, schema.GridSim, &tl.names, words)
	n := 0
	for i := range c.Schema.NumFields() {
		f := c.Schema.Field(i)
		off := f.Step / 2
		if !c.Predicted {
			off = f.Step // its grid has no half of it
		} else if f.Sim == f.Step {
			off = 0
		}
		if off > 0 {
			c.Schema.Displace(i, words, schema.Offset{by[n%2] * float32(off)})
			n++
		}
	}
	c.Schema.Dequantise(words, schema.GridSim, &tl.names, at)
}

// untrackedReads counts, in debug builds, the corrections whose cause is that shared systems
// read a component of the player's own entities which is not predicted.
type untrackedReads map[string]int

// untrackedOften is the number of corrections after which a component is logged. Components
// that change now and then, such as a new weapon's, cost a correction each and may be meant.
const untrackedOften = 10

// note logs a component when it has been the cause often, once. It logs a warning and no
// error, since the game works.
func (u *untrackedReads) note(m *prediction.Misprediction, warn func(text string, args ...any)) {
	if m.Cause != prediction.Untracked || m.OfOther || m.Player != 0 || m.Read == "" {
		return
	}
	if *u == nil {
		*u = untrackedReads{}
	}
	if (*u)[m.Read]++; (*u)[m.Read] == untrackedOften {
		warn(cautionText, "caution", fmt.Sprintf("%d corrections of %s.%s and others have one reason: %s", untrackedOften, m.Component, m.Field, m.Why()))
	}
}

// clientReports tell the server of corrections, while it asks for them.
type clientReports struct {
	until    time.Duration // 0: it never asked
	outgoing reason.Outgoing
	asks     allowance // of the server's questions
	sends    allowance
	report   reason.Report // scratch
}

// explains reports whether somebody wants to know of corrections, so that they are worth an
// explanation.
func (tl *timeline) explains() bool {
	return tl.cfg.OnMisprediction != nil || tl.reports.until > tl.now
}

// tell hands a correction to whoever wants to know.
func (tl *timeline) tell(m *prediction.Misprediction) {
	if tl.reports.until > tl.now {
		tl.reportWrong(m)
	}
	if tl.cfg.OnMisprediction != nil {
		tl.cfg.OnMisprediction(*m)
	}
}

// reportWrong queues a correction for the server.
func (tl *timeline) reportWrong(m *prediction.Misprediction) {
	r := &tl.reports.report
	names := &tl.names
	r.Wrong = *m
	r.Input, r.Executed = tl.reportedCommands(m)
	r.Wrong.Entity, r.Wrong.Differences = uint64(names.Net(m.Entity)), append([]prediction.Difference(nil), m.Differences...)
	for i := range r.Wrong.Differences {
		d := &r.Wrong.Differences[i]
		d.Entity = uint64(names.Net(d.Entity))
	}
	tl.reports.outgoing.Add(r)
}

// reportedCommands returns the packed commands that the client and the server ran, as
// explainInputs found them. A server of another build could not read them.
func (tl *timeline) reportedCommands(m *prediction.Misprediction) (input, executed []byte) {
	if m.Input == nil || tl.p.OtherBuild {
		return nil, nil
	}
	input = tl.input.played(commandTick(m))
	if m.Cause != prediction.Input {
		return input, input
	}
	return input, tl.executed(m)
}

// commandTick returns the tick whose commands a misprediction tells of.
func commandTick(w *prediction.Misprediction) Tick {
	if w.CauseTick == 0 {
		return w.Tick
	}
	return w.CauseTick
}

// executed returns the command that the server ran in place of the player's own, packed; nil if
// it is not known.
func (tl *timeline) executed(w *prediction.Misprediction) []byte {
	t := commandTick(w)
	if in := tl.input.history.Find(t); w.StandIn == prediction.Replaced && in != nil {
		return in.first
	}
	return tl.reasons.StandIn(t)
}

// reportMessage handles the server's question.
func (c *Client) reportMessage(b []byte) error {
	r := &c.reports
	if len(b) != 1 || b[0] != reason.AskReports || !r.asks.take(c.now, traceAskRate, traceAskBurst) {
		return reason.ErrReport
	}
	if !c.cfg.Observe {
		r.until = c.now + traceLapse
	}
	return nil
}

// write puts a report into the packet that is being built.
func (r *clientReports) write(now time.Duration, pk *netcode.Packet) {
	if !r.sends.permits(now, reportRate, reportBurst) {
		return
	}
	if b := r.outgoing.Next(pk.Room()); b != nil && pk.Message(messageReport, b) {
		r.sends.take(now, reportRate, reportBurst)
	}
}

// forget drops what another connection asked for.
func (r *clientReports) forget() {
	r.until = 0
	r.outgoing.Clear()
}

// takeNote reads the note of the snapshot of t.
func (tl *timeline) takeNote(t Tick) {
	n := tl.reasons.Take(t)
	if n.Substituted == 0 {
		return
	}
	newest := t - (n.Substituted - 1)
	tl.input.missed(newest-n.Run, newest)
	if !tl.likeItsOwn(n, newest) {
		tl.reasons.Substituted()
	} else if last, ok := n.EarlierTick(t); ok && !tl.repeatedItself(&n.Earlier, last) {
		tl.reasons.SubstitutedEarlier()
	} else if tl.input.late == 0 { // a late command changes what stands in for those after it
		tl.agreed.standIns = t
	}
}

// ranOwn reports whether a tick that the server ran without the client's command ran with an
// equal one, as an earlier note told, or both ends agree on it anyway.
func (tl *timeline) ranOwn(k Tick) bool {
	return int32(k-tl.agreed.newest) <= 0 || int32(k-tl.agreed.standIns) <= 0
}

// repeatedItself reports whether the client's own commands repeated the one before a run of
// ticks. The run ends at last, and the server ran it with repetitions. Ticks of which an
// earlier note told so, or before the client's first command, do not count.
func (tl *timeline) repeatedItself(run *reason.EarlierRun, last Tick) bool {
	first := last - run.Run
	before := tl.input.unpressed(first - 1)
	for k := last; int32(k-first) >= 0 && !tl.ranOwn(k) && int32(k-tl.input.first) >= 0; k-- {
		if run.How != prediction.Repeated || before == nil || !bytes.Equal(tl.input.played(k), before) {
			return false
		}
	}
	return true
}

// likeItsOwn reports whether the server ran the client's own command anyway, in tick last
// and in the run of ticks before it.
func (tl *timeline) likeItsOwn(n *reason.Note, last Tick) bool {
	if tl.p.Command == nil {
		return false
	}
	if tl.ranOwn(last) {
		return true
	}
	if !n.HasStandIn() { // too old for the note to hold the command
		return tl.repeatedItself(&reason.EarlierRun{Run: n.Run, How: n.How}, last)
	}
	for i := uint32(0); i <= n.Run; i++ {
		if k := last - i; i > 0 && (tl.ranOwn(k) || int32(k-tl.input.first) < 0) {
			break // both ends agreed on it, or neither had a command
		}
		// Earlier ticks of the run ran with the same only where it was repeated, or where the
		// zero command of its end is what was repeated before.
		if !bytes.Equal(tl.input.played(last-i), n.StandIn) || i > 0 && n.How != prediction.Repeated && !tl.repeatsZero(n, last) {
			return false
		}
	}
	return true
}

// repeatsZero reports whether a run that ended with zero commands began with repetitions of
// one, so that all its ticks ran with the same.
func (tl *timeline) repeatsZero(n *reason.Note, last Tick) bool {
	return n.How == prediction.Neutral && tl.p.handlers.decay == nil && bytes.Equal(tl.input.unpressed(last-n.Run-1), n.StandIn)
}

// componentName returns the name of a replicated component, "" for itself.
func (p *compiled) componentName(i int) string {
	if i < 0 || i >= len(p.Components) {
		return ""
	}
	return p.Components[i].Name
}

// sharedSystem returns the name of the i-th system that both ends run.
func (p *compiled) sharedSystem(i int) string {
	for _, s := range p.schedule.Systems() {
		if layout.Shared(s) {
			if i == 0 {
				return s.Name
			}
			i--
		}
	}
	return ""
}

// ownEvents renumbers a note's events from another build's numbers to this build's.
func (p *compiled) ownEvents(n *reason.Note) {
	if !p.OtherBuild {
		return
	}
	own := n.Raised[:0]
	for _, e := range n.Raised {
		if int(e.Event) < len(p.EventsOf) && p.EventsOf[e.Event] >= 0 {
			own = append(own, reason.Raised{Age: e.Age, Event: uint32(p.EventsOf[e.Event])})
		}
	}
	n.Raised = own
}
