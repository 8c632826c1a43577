package client

import (
	"fmt"
	"slices"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/cause"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// explain finds the cause of a misprediction.
func (cs *causes) explain() {
	cs.agreedOn = cs.agreedOnWrong(cs.wrong.Tick)
	cs.reasons.Explain(&cs.wrong, cs)
}

// beginTick prepares for the comparison of a tick.
func (cs *causes) beginTick(t foretick.Tick) {
	cs.wrong, cs.perhaps = prediction.Misprediction{Tick: t}, false
	cs.looks.forgetTicks()
}

// Agreed and the exported methods below answer the questions of cause.Explain.
func (cs *causes) Agreed() foretick.Tick           { return cs.agreedOn }
func (cs *causes) SystemName(number uint32) string { return cs.p.SystemName(number) }
func (cs *causes) Late(number uint32) bool         { return int(number) == cs.p.LateCause() }

// Remade returns the newest tick up to t that has two commands of which the server ran the first.
func (cs *causes) Remade(t foretick.Tick) (last foretick.Tick, ticks uint32, certain bool) {
	return cs.input.remadeBy(cs.doubtful(t), t)
}

// Pushed reports whether the ends differ in t in data that a shared system may write in a run for
// another player: a component that systems declare with ecs.WriteOther, or the existence of an entity
// or a component.
func (cs *causes) Pushed(t foretick.Tick) bool {
	r := cs.records.Find(t)
	if r == nil {
		return true
	}
	for _, g := range cs.ghosts.ours {
		s, ok := g.At(t)
		here := g.Data != 0 && r.hasEntity(ecs.Entity(g.Data))
		if cs.ghosts.remotePredicted(g) || !ok && !here {
			continue
		}
		if ok != here {
			return true
		}
		for i := range cs.p.Components {
			comp := &cs.p.Components[i]
			if !comp.Predicted {
				continue
			}
			ours, theirs := r.wordsOf(ecs.Entity(g.Data), i), s.Component(i)
			if (ours == nil) != (theirs == nil) {
				return true
			}
			if ours != nil && comp.ForOthers && comp.Schema.FirstDifference(ours[:comp.Schema.Words()], cs.names.meant(comp, theirs, ours, t)) >= 0 {
				return true
			}
		}
	}
	return false
}

// RemoteWrong reports whether a remote player was predicted wrongly, or no snapshot had its state since
// the last tick on which both ends agree.
func (cs *causes) RemoteWrong(t foretick.Tick) bool {
	if !cs.p.Remote.Predicts || !cs.fromOthers() {
		return false
	}
	_, all, _ := cs.ghosts.receiver.Complete(t)
	return cs.remoteFailed || t-cs.agreed.all > 1 && (cs.remotes || cs.agreed.unsure || !all)
}

// fromOthers reports whether the shared systems compute the differing component from others' state. The
// systems of another build are unknown, so for these it may be.
func (cs *causes) fromOthers() bool {
	return len(cs.ghosts.others) > 0 && (cs.p.OtherBuild || cs.p.FromOthers.Names(&cs.p.Layout, cs.wrong.Component))
}

// OthersDiffered finds an entity that is not predicted here and whose value here was out of date in a
// tick after the last agreement. The server's value then differed from the newest one here, in a
// component that shared systems read of others. The component is "" if the entity appeared or
// disappeared.
func (cs *causes) OthersDiffered(t foretick.Tick) (owner uint16, component string, ok bool) {
	if !cs.fromOthers() {
		return 0, "", false
	}
	for k := cs.doubtful(t); int32(k-t) <= 0; k++ {
		if _, _, ok := cs.scenes.differedIn(k, cs.records.Find(k), cs.ghosts.others); !ok {
			continue
		}
		if read := cs.looks.looked(cs.wrong.Component, k); len(read) > 0 {
			if owner, component, ok = cs.scenes.differedIn(k, cs.records.Find(k), read); ok {
				return owner, component, true
			}
		}
	}
	return 0, "", false
}

// unrest is a number of ticks. For so long after an entity appeared or disappeared, another may have
// done so in a tick without a snapshot.
const unrest = 32

// OthersUnknown reports whether a shared system may have read a value of others that no snapshot had:
// one that did not fit, one in a lost snapshot, one that changed and changed back between two
// snapshots, or a reference that the server could not send yet. Only values that are known to change
// are expected to change back.
func (cs *causes) OthersUnknown(t foretick.Tick) bool {
	if !cs.fromOthers() {
		return false
	}
	before, _, _ := cs.ghosts.receiver.Complete(t - 1)
	here, all, _ := cs.ghosts.receiver.Complete(t)
	whole := before && here
	missing := here && !all || !whole && cs.ghosts.tellsEachTick() // entities that did not fit or were lost may have changed
	changes := missing || !whole && cs.ghosts.restless(t, cs.ghosts.others)
	if !changes && !cs.scenes.holdsBackRefs() {
		return false
	}
	for k := cs.doubtful(t); int32(k-t) <= 0; k++ {
		if read := cs.looks.looked(cs.wrong.Component, k); len(read) > 0 && (missing || changes && cs.ghosts.restless(t, read) || cs.names.untoldAmong(k, read)) {
			return true
		}
	}
	return false
}

// OthersUnseen reports whether a shared system may have read entities on the server that are not sent
// to this client. The server says when it hides some. It does not say which are too far away to be
// sent. These may matter if the near ones matter, or if none is near.
func (cs *causes) OthersUnseen(t foretick.Tick) bool {
	if !cs.fromOthers() {
		return false
	}
	for k := cs.doubtful(t); int32(k-t) <= 0; k++ {
		hidden := cs.reasons.Concealed(k)
		if !hidden && cs.p.Interest == nil {
			continue
		}
		if read := cs.looks.looked(cs.wrong.Component, k); len(read) > 0 && (hidden || cs.looks.swayedByOthers(k, read)) {
			return true
		}
	}
	return false
}

// OwnDiffered finds an unpredicted component of the player's own that changed on the server after the
// newest value that was known here when the tick was predicted. It may also have had a reference that
// the server could not send yet. The component of parents counts if systems asked for parents.
func (cs *causes) OwnDiffered(t foretick.Tick) (component string, ok bool) {
	read, parent := cs.p.Unpredicted.Read, cs.p.ParentIndex()
	if len(read) == 0 && parent < 0 {
		return "", false
	}
	for k := cs.doubtful(t); int32(k-t) <= 0; k++ {
		r := cs.records.Find(k)
		if r == nil {
			continue
		}
		for _, g := range cs.ghosts.ours {
			known, ok := g.At(r.basis)
			if !ok || g.Data == 0 {
				continue
			}
			if i := cs.names.differsFrom(g, known, k, read); i >= 0 {
				return componentName(cs.p, i), true
			}
			if parent >= 0 && cs.names.differsFrom(g, known, k, []int{parent}) >= 0 && cs.looks.askedParents(cs.wrong.Component, k) {
				return game.ParentName, true
			}
		}
	}
	return "", false
}

// doubtful returns the first remembered tick up to t in which the ends may have differed.
func (cs *causes) doubtful(t foretick.Tick) foretick.Tick {
	if oldest := t - foretick.Tick(cs.cfg.History); int32(oldest-cs.agreedOn) > 0 {
		return oldest
	}
	return cs.agreedOn + 1
}

// swayed finds the first of the player's own fields that a wrong prediction of others changed in the
// newest tick. The server's state of that tick will show no difference when it arrives.
func (cs *causes) swayed(before, after *record, newest foretick.Tick) {
	for _, it := range after.items {
		if it.remotePredicted || it.comp == itself {
			continue
		}
		comp, was := &cs.p.Components[it.comp], before.wordsOf(it.e, int(it.comp))
		if was == nil {
			continue
		}
		n := comp.Schema.Words()
		words := after.words[it.off:][:n]
		if f := comp.Schema.FirstDifference(was[:n], words); f >= 0 {
			cs.wrong = prediction.Misprediction{Tick: newest, Entity: uint64(it.e), Component: comp.Name, Cause: prediction.RemoteInput}
			cs.wrong.Prefab = cs.predicted.itemName(recordItem{e: it.e, comp: itself})
			cs.explainField(comp, f, was, words)
			if cs.reports.explains() {
				cs.listFields(comp, it.e, cs.wrong.Prefab, was, words)
			}
			return
		}
	}
}

// checkUntracked checks the values that are not predicted and that shared systems may have read. If the
// client's value differed at t, it is the cause.
func (cs *causes) checkUntracked(t foretick.Tick) {
	w := &cs.wrong
	unsure := w.Cause == prediction.Code || w.Cause == prediction.Input && cs.perhaps
	if w.Component == "" || !unsure || w.Tick != t {
		return
	}
	for _, g := range cs.ghosts.ours {
		s, ok := g.At(t)
		if !ok || g.Data == 0 || cs.ghosts.remotePredicted(g) {
			continue
		}
		for _, i := range cs.p.Unpredicted.Read {
			at := ecs.Engine(cs.world).Pointer(ecs.Entity(g.Data), cs.p.Components[i].ID)
			theirs := s.Component(i)
			if at == nil || theirs == nil {
				continue
			}
			described := cs.p.Components[i].Schema
			ours := cs.names.zeroes(described.Words())
			described.Quantise(at, schema.GridPublic, cs.names, ours)
			if described.FirstDifference(ours, theirs) >= 0 {
				cs.untracked(i)
				return
			}
		}
		if cs.roundedRead(s) {
			return
		}
	}
}

// roundedRead reports whether the differing component is computed from a component of the player's own
// entity that clients receive rounded. The server's systems read the exact value.
func (cs *causes) roundedRead(s snapshot.State) bool {
	w := &cs.wrong
	for i := range cs.p.Unpredicted.Rounded {
		r := &cs.p.Unpredicted.Rounded[i]
		if s.Component(r.Component) == nil || !r.Names(&cs.p.Layout, w.Component) {
			continue
		}
		cs.untracked(r.Component)
		return true
	}
	return false
}

// untracked makes a component that systems read the cause of a misprediction.
func (cs *causes) untracked(component int) {
	w := &cs.wrong
	w.Cause, w.CauseTick, w.CauseTicks, w.StandIn = prediction.Untracked, 0, 0, 0
	w.Read = cs.p.Components[component].Name
}

// explainCode adds the known facts about a misprediction that has no other cause.
func (cs *causes) explainCode(t foretick.Tick) {
	w := &cs.wrong
	if game.DebugBuild {
		w.System, w.CauseTick = cs.trails.blame(cs.doubtful(t), t)
	}
	if cs.serverArchitecture != "" && cs.serverArchitecture != cs.architecture {
		w.Architecture, w.ServerArchitecture = cs.architecture, cs.serverArchitecture
	}
}

// OthersRounded finds a component of others' entities whose rounding in snapshots may be the cause.
func (cs *causes) OthersRounded(t foretick.Tick) (component string, ok bool) {
	if !cs.fromOthers() || cs.p.OtherBuild {
		return "", false
	}
	first := cs.doubtful(t)
	if int32(t-first) >= mostNudged {
		first = t - mostNudged + 1
	}
	var read []int
	for k := t; int32(k-first) >= 0; k-- {
		read = append(read[:0], cs.looks.looked(cs.wrong.Component, k)...)
		read = slices.DeleteFunc(read, func(i int) bool { return !roundedOnItsWay(cs.p.Components[i].Schema) })
		if len(read) == 0 {
			continue
		}
		for _, i := range read {
			if cs.looks.swayedByRounding(k, i) {
				return componentName(cs.p, i), true
			}
		}
	}
	return "", false
}

// untrackedReads counts, in debug builds, the corrections that happened because shared systems read a
// component of the player's own entities that is not predicted.
type untrackedReads map[string]int

// untrackedOften is the number of corrections after which a component is logged. Components that change
// rarely, such as a new weapon's, cost a correction each, which may be intended.
const untrackedOften = 10

// noteRead logs a component once, when it has often been the cause. It logs a warning and no error,
// since the game works.
func (u *untrackedReads) noteRead(m *prediction.Misprediction, warn func(text string, args ...any)) {
	if m.Cause != prediction.Untracked || m.OfOther || m.Player != 0 || m.Read == "" {
		return
	}
	if *u == nil {
		*u = untrackedReads{}
	}
	if (*u)[m.Read]++; (*u)[m.Read] == untrackedOften {
		warn(game.CautionText, "caution", fmt.Sprintf("%d corrections of %s.%s and others have one reason: %s", untrackedOften, m.Component, m.Field, m.Why()))
	}
}

// componentName returns the name of a replicated component. It is "" for itself.
func componentName(p *compiled, i int) string {
	if i < 0 || i >= len(p.Components) {
		return ""
	}
	return p.Components[i].Name
}

// ownEvents renumbers a note's events from another build's numbers to this build's.
func ownEvents(p *compiled, n *cause.Note) {
	if !p.OtherBuild {
		return
	}
	own := n.Raised[:0]
	for _, e := range n.Raised {
		if int(e.Event) < len(p.EventsOf) && p.EventsOf[e.Event] >= 0 {
			own = append(own, cause.Raised{Age: e.Age, Event: uint32(p.EventsOf[e.Event])})
		}
	}
	n.Raised = own
}

// causes finds the faults of a prediction, and their causes.
type causes struct {
	*base
	input     *input
	ghosts    *ghosts
	predicted *predicted
	names     *recordNames
	records   *prediction.History[record]
	scenes    *scenes
	looks     *looks
	agreed    *agreement
	trails    *trails
	reasons   *cause.Log

	wrong prediction.Misprediction // of the newest comparison
	// agreedOn is the newest tick in which the ends agree on everything that wrong can result from.
	agreedOn     foretick.Tick
	remotes      bool           // remote players were compared
	remoteFailed bool           // a remote player was predicted wrongly
	perhaps      bool           // the cause is possible, and not certain
	often        untrackedReads // only in debug builds
}

func (cs *causes) explainField(comp *layout.Component, f int, ours, theirs []int32) {
	cs.wrong.Field = comp.Schema.Field(f).Name
	cs.wrong.Predicted, cs.wrong.Actual = fieldValue(comp, f, ours), fieldValue(comp, f, theirs)
}

// fieldValue returns a field's value on the simulation grid, in its own units.
func fieldValue(comp *layout.Component, field int, words []int32) float64 {
	return comp.Schema.Number(field, words[:comp.Schema.Words()], schema.GridSim)
}

// listDifferences lists every field of the player's own that differs between the prediction r for t and
// the server's state. It allocates, and runs only if the game asked for it.
func (cs *causes) listDifferences(r *record, t foretick.Tick) {
	for _, g := range cs.ghosts.ours {
		s, ok := g.At(t)
		if !ok || g.Data == 0 || cs.ghosts.remotePredicted(g) || !r.hasEntity(ecs.Entity(g.Data)) {
			continue
		}
		for i := range cs.p.Components {
			comp := &cs.p.Components[i]
			ours, theirs := r.wordsOf(ecs.Entity(g.Data), i), s.Component(i)
			if comp.Predicted && (ours != nil || theirs != nil) {
				cs.listFields(comp, ecs.Entity(g.Data), cs.p.Prefabs[g.Prefab].ECS.Name(), ours, cs.names.meant(comp, theirs, ours, t))
			}
		}
	}
}

// listFields lists the fields in which two values of a component differ. A value is nil if there is
// none.
func (cs *causes) listFields(comp *layout.Component, e ecs.Entity, prefab string, ours, theirs []int32) {
	w := &cs.wrong
	d := prediction.Difference{Entity: uint64(e), Prefab: prefab, Component: comp.Name}
	if ours == nil || theirs == nil {
		d.Field, d.Predicted, d.Actual = "(component)", ours != nil, theirs != nil
		w.Differences = append(w.Differences, d)
		return
	}
	ours, theirs = ours[:comp.Schema.Words()], theirs[:comp.Schema.Words()]
	for f, field := range comp.Schema.Fields() {
		if !comp.Schema.Differs(f, ours, theirs) {
			continue
		}
		label := cs.build.Labels.Of(comp.Name, field.Name)
		d.Field, d.Label, d.Unit, d.Values = field.Name, label.Name, label.Unit, label.Values
		d.Predicted, d.Actual = comp.Schema.Value(f, ours, schema.GridSim), comp.Schema.Value(f, theirs, schema.GridSim)
		w.Differences = append(w.Differences, d)
	}
}

// explainEntity explains an entity that only one end has.
func (cs *causes) explainEntity(e ecs.Entity, prefab *layout.Prefab, here bool) {
	w := &cs.wrong
	w.Entity, w.Prefab, w.Component, w.Field = uint64(e), prefab.ECS.Name(), prefab.ECS.Name(), "(entity)"
	w.Predicted, w.Actual = 0, 1
	if here {
		w.Predicted, w.Actual = 1, 0
	}
	cs.explain()
}

// agreedOnWrong returns the newest tick before t in which both ends agree on everything that the
// difference in t can result from. An entity that is longer than a packet is sent rarely. Others of the
// player's may be in every snapshot, and may be computed from themselves alone.
func (cs *causes) agreedOnWrong(t foretick.Tick) foretick.Tick {
	agreed, w := cs.agreed.newest, &cs.wrong
	if len(cs.agreed.parts) == 0 || cs.p.OtherBuild || cs.p.FromOthers.Names(&cs.p.Layout, w.Component) {
		return agreed
	}
	i := slices.IndexFunc(cs.ghosts.ours, func(g *snapshot.Ghost) bool { return g.Data == w.Entity })
	if i < 0 || cs.predicted.spawnsLike(cs.ghosts.ours[i]) {
		return agreed
	}
	for k := t - 1; int32(k-agreed) > 0 && t-k <= 64; k-- {
		if cs.agreed.toldApart(cs.ghosts.ours[i], k) {
			return k
		}
	}
	return agreed
}

// RanFirst runs the ticks again with the first of the two commands that were made for each. If the
// result then equals the server's, the cause is certain. If nothing changes, the commands are not the
// cause.
func (cs *causes) RanFirst(last foretick.Tick, ticks uint32, t foretick.Tick) (certain, may bool) {
	if cs.p.OtherBuild {
		return false, true
	}
	for k := last; last-k < ticks && last-k < mostLooks; k-- {
		in, was := cs.input.history.Find(k), cs.records.Find(k)
		if in == nil || was == nil || in.several {
			return false, true
		}
		cs.swapCommands(in)
		ran := cs.looks.runAside(k, func() bool { return cs.looks.stepper.runUnseeing(k) })
		cs.swapCommands(in)
		switch {
		case !ran:
			return false, true
		case k == t && cs.hasServers(&cs.looks.result, t):
			return true, true
		case cs.looks.result.hash() != was.hash():
			may = true
		}
	}
	cs.perhaps = may
	return false, may
}

// swapCommands exchanges the two commands of a tick.
func (cs *causes) swapCommands(in *tickInput) {
	schema := cs.p.Command.Schema
	second := schema.Pack(in.at, nil)
	if schema.Unpack(in.first, in.at) == nil {
		in.first = second
	}
}

// hasServers reports whether a record equals the server's state of t in the component that the client
// had wrong.
func (cs *causes) hasServers(r *record, t foretick.Tick) bool {
	w := &cs.wrong
	for _, g := range cs.ghosts.ours {
		s, ok := g.At(t)
		if g.Data != w.Entity || !ok {
			continue
		}
		for i := range cs.p.Components {
			comp := &cs.p.Components[i]
			if comp.Name != w.Component || !comp.Predicted {
				continue
			}
			ours, theirs := r.wordsOf(ecs.Entity(g.Data), i), s.Component(i)
			if ours == nil || theirs == nil {
				return (ours == nil) == (theirs == nil)
			}
			ours = ours[:comp.Schema.Words()]
			return comp.Schema.FirstDifference(ours, cs.names.meant(comp, theirs, ours, t)) < 0
		}
	}
	return false
}
