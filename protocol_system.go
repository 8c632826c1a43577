package foretick

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/schema"
)

// Stages declares the stages of a tick, in order. [ecs.Stage] puts a system into one.
// Without Stages there is a single stage. Call it at most once.
func (p *Protocol) Stages(names ...string) {
	switch {
	case p.late("Stages"):
	case p.stages != nil:
		p.faultf("Stages was declared twice: name all stages in one call")
	case len(names) == 0:
		p.faultf("Stages names none: name at least one, or leave the call out")
	default:
		p.stages = names
	}
}

// InOrder makes the systems run in their order of declaration, stage by stage, whatever
// they read and write. [ecs.Before] and [ecs.After] still apply. Without InOrder the
// declared accesses set the order: creators of a component run before its writers, and
// writers before systems that only read it. Two systems that both write a component, or
// that have no component in common, run in order of declaration, whether they are Shared or
// Server. [ecs.Before] and [ecs.After] change that, and [Protocol.Graph] shows the result.
// Server and clients must have the same order of shared systems: it is part of the hash.
func (p *Protocol) InOrder() {
	if !p.late("InOrder") {
		p.compiled.Schedule.InOrder()
	}
}

// stageMain is the stage of a game that declares none.
const stageMain = "tick"

// Shared declares a system that both ends run. The server runs it for every row. A client
// runs it for its own player's rows, and for those of other players that it predicts (see
// [PredictRemote]). run is called several times a tick, each time with rows of one owner and
// one set of components, and must loop over them. access declares the components of its rows, and everything that the
// system reads and writes: see [ecs.Read] and the other options there.
//
// Shared physics objects are unowned entities that shared systems write with
// [ecs.WriteOther]: a crate that players push, a ball. Spawn them for [ecs.Nobody]. Every
// client predicts them together with its own player. It runs the shared systems for them,
// compares them with each snapshot, and rolls them back and replays them with the player.
// On a client their rows have the owner [ecs.Common]. An unowned entity without such a
// write is drawn in the past, like remote players.
//
// A shared system reads other entities with [ecs.ReadOther]. On a client they have the
// values of the newest snapshot, from the end of a tick. On the server they have their
// values at that point of the running tick. Entities that the client predicts are the
// exception: both ends run the systems for them. So let systems that read other bodies run
// before those that move them, and let each body write only itself. Bodies that touch then
// get the same result on both ends, in any order of rows.
//
// With [ecs.ReadOwn] it reads other entities of the same player alone, such as the holder of a
// weapon. That client predicts them, and receives their fields with the tag owner too.
//
// If a shared system writes to an entity that its client does not predict, the values last for that
// tick. The next tick finds the newest snapshot's values again, in every run.
//
// With [ecs.Tags] both ends run it in matches whose server.Config.Tags has all of its tags.
//
// With [ecs.Partial] the system also draws the own player between two ticks: see
// client.Config.PartialTicks.
//
// A client runs it again in each correction, so it plays no sounds, writes no logs and sends
// nothing: raise an [Event], and do that in [Event.OnPredicted].
//
// An [ecs.Once] system gets no rows. On a client its queries find every entity. Its writes
// to values that are not predicted last for one rendered frame.
func (p *Protocol) Shared(name string, run func(*Frame, ecs.Rows), access ...ecs.Access) {
	if run != nil && slices.ContainsFunc(access, ecs.Access.IsStructural) {
		run = act(run)
	}
	if run != nil && slices.ContainsFunc(access, func(a ecs.Access) bool { return a.IsWriteOther() || a.IsWriteSingleton() }) {
		run = pushing(run)
	}
	if run != nil && slices.ContainsFunc(access, ecs.Access.IsPartial) {
		run = p.partial(name, run)
	}
	if run != nil {
		s := &game.SharedSystem{Name: name}
		p.shared = append(p.shared, s)
		run = runningAs(s, run)
	}
	p.system(name, run, access)
}

// Server declares a system that only the server runs, in each tick. run gets the rows of all
// players, and of entities that no player owns, in the same way as in [Protocol.Shared]. With
// [ecs.Once] it is called once a tick and gets no rows. Its place among all systems, Shared
// ones too, follows from the declared accesses: see [Protocol.InOrder].
//
// It may write predicted components. No client can know that in advance, so the owner's
// client is corrected when the snapshot arrives, with the cause [prediction.ServerEffect].
func (p *Protocol) Server(name string, run func(*ServerFrame, ecs.Rows), access ...ecs.Access) {
	var system func(*Frame, ecs.Rows)
	if run != nil {
		system = func(f *Frame, rows ecs.Rows) { run(f.forServer(), rows) }
	}
	p.system(name, system, append(access[:len(access):len(access)], ecs.Tags(TagServer)))
}

// Render declares a system that a client runs once per rendered frame, after everything
// else, on the values that are drawn. A server runs it in server.Server.Draw, if it asks for that.
// With the tag [TagClient] or [TagServer] it runs on one end alone.
func (p *Protocol) Render(name string, run func(*Frame, ecs.Rows), access ...ecs.Access) {
	p.system(name, run, append(access[:len(access):len(access)], ecs.Tags(TagRender), ecs.Render()))
}

func (p *Protocol) system(name string, run func(*Frame, ecs.Rows), access []ecs.Access) {
	if !p.able(fmt.Sprintf("system %q", name), run != nil) || !p.named("a system", name) {
		return
	}
	p.systems = append(p.systems, name)
	p.compiled.Schedule.Add(name, run, access...)
}

// Err checks the protocol and returns all of its faults, joined, or nil. It lists every
// faulty field of every type, and every faulty system, in the order of the calls. Call it
// after all declarations. A later declaration has no effect and is a fault, which the next
// call of Err returns too.
func (p *Protocol) Err() error {
	if p.built {
		return p.err
	}
	p.declareSingletonRow()
	p.declareDrains()
	p.built = true
	p.checkCounts()
	p.registerPrefabs()
	p.registerAssets()
	if len(p.stages) == 0 {
		p.stages = []string{stageMain}
	}
	p.compiled.Schedule.Stages(append(p.stages[:len(p.stages):len(p.stages)], stageEvents, stageFinal)...)
	p.addFault(p.compiled.Schedule.Build())
	for _, s := range p.compiled.Schedule.Systems() {
		p.compiled.Systems = append(p.compiled.Systems, s.Name)
	}
	p.checkSystems()
	p.checkMatches()
	p.checkInterpolated()
	p.checkAudiences()
	p.checkInterest()
	p.compiled.FindUnpredictedReads(p.compiled.Schedule.Systems())
	p.compiled.FindWrittenForOthers(p.compiled.Schedule.Systems())
	p.compiled.FindFromOthers(p.compiled.Schedule.Systems())
	p.compiled.FindUnpredicted()
	p.findCompared()
	p.checkRegistered()
	p.checkRecords()
	p.compiled.PlaceLocals()
	p.findCommon()
	p.checkRemotePrediction()
	p.checkTags()
	p.checkPartial()
	p.err = errors.Join(p.errs...)
	p.compiled.Hash, p.compiled.Description = game.HashText(p.Describe()), new(game.Description)
	return p.err
}

// checkRegistered refuses components that were registered without the protocol. A client would roll
// them back with the predicted state, and lose their values.
func (p *Protocol) checkRegistered() {
	known := map[ecs.ID]bool{p.compiled.Identity.ID(): true}
	for i := range p.compiled.Components {
		known[p.compiled.Components[i].ID] = true
	}
	for _, l := range p.compiled.Locals {
		known[l.ID] = true
	}
	if p.compiled.Command != nil {
		known[p.compiled.Command.ID] = true
	}
	for _, id := range p.spoilt { // the fault was noted before
		known[id] = true
	}
	for id := range p.compiled.Types.Len() {
		if info := p.compiled.Types.Info(ecs.ID(id)); !known[ecs.ID(id)] {
			p.faultf("component %s was registered with Types().Register: declare it with Protocol.LocalComponent where each end keeps its own, or with Protocol.Component", info.Name)
		}
	}
}

// checkSystems refuses shared systems that read values which a client does not have. Such reads are the
// worst cause of mispredictions. This check finds them before the first tick.
func (p *Protocol) checkSystems() {
	for _, s := range p.compiled.Schedule.Systems() {
		if !layout.Shared(s) {
			continue
		}
		p.checkSingletonUse(s)
		for i, id := range append(append([]ecs.ID{}, s.Reads...), s.OtherReads...) {
			if !p.known(id) && (i >= len(s.Reads) || !p.ofLocalKinds(id)) {
				p.faultf("shared system %q reads %s, which a client does not have: declare it with Component, or, with a server, make the system Server", s.Name, p.fieldsOf(id))
			}
		}
		if p.compiled.Command != nil && slices.Contains(s.OtherReads, p.compiled.Command.ID) {
			p.faultf("shared system %q reads %s of other entities, which a client does not have: commands travel to the server alone. Where a thing needs the input of the player who holds it, list the command in the thing's own prefab: every entity of a player is given it", s.Name, p.fieldsOf(p.compiled.Command.ID))
		}
		for i, id := range append(append([]ecs.ID{}, s.Writes...), s.OtherWrites...) {
			if c := p.compiled.Index(id); !slices.Contains(p.spoilt, id) && (c < 0 || !p.compiled.Components[c].Predicted) && (i >= len(s.Writes) || !p.ofLocalKinds(id)) {
				p.faultf("shared system %q writes %s, which is not predicted: declare it with Component(…, Predicted()), or, with a server, make the system Server", s.Name, p.compiled.Types.Info(id).Name)
			}
		}
	}
}

// checkMatches refuses shared systems that would run for no entity: no prefab has all of the
// components that their rows need, and no system declares to add the missing ones.
func (p *Protocol) checkMatches() {
	if len(p.unmade) > 0 || len(p.spoilt) > 0 {
		return // the missing one is already reported
	}
	var added ecs.Mask
	for _, s := range p.compiled.Schedule.Systems() {
		for _, id := range s.Creates {
			added.Set(id)
		}
	}
	for _, s := range p.compiled.Schedule.Systems() {
		if layout.Shared(s) && !s.Once && s.With != (ecs.Mask{}) {
			p.checkMatch(s, added)
		}
	}
}

func (p *Protocol) checkMatch(s ecs.SystemInfo, added ecs.Mask) {
	nearest, lacks := "", []string(nil)
	for _, k := range p.compiled.Prefabs {
		has, missing := k.ECS.Mask().Or(added), []string(nil)
		for _, id := range s.With.IDs() {
			if !has.Has(id) {
				missing = append(missing, p.compiled.Types.Info(id).Name)
			}
		}
		if len(missing) == 0 {
			return
		}
		if nearest == "" || len(missing) < len(lacks) {
			nearest, lacks = k.ECS.Name(), missing
		}
	}
	if nearest == "" {
		p.faultf("shared system %q runs for no entity: the protocol has no prefab: declare one with Prefab", s.Name)
		return
	}
	p.faultf("shared system %q runs for no entity: no prefab has all components that it reads and writes, and %q lacks %s: list it in Prefab, read it with ecs.Optional, or let a system that adds it declare ecs.Create", s.Name, nearest, strings.Join(lacks, ", "))
}

// fieldsOf returns the names of a component and its first field, for errors.
func (p *Protocol) fieldsOf(id ecs.ID) string {
	info := p.compiled.Types.Info(id)
	if len(info.Fields) == 0 {
		return info.Name
	}
	return info.Fields[0].Path
}

// ofLocalKinds reports whether only ClientOnly prefabs carry a component that is not sent.
// Then each client has its own values, and none are missing.
func (p *Protocol) ofLocalKinds(id ecs.ID) bool {
	n := 0
	for i := range p.compiled.Prefabs {
		if k := &p.compiled.Prefabs[i]; k.ECS.Mask().Has(id) {
			if n++; !k.ClientOnly() {
				return false
			}
		}
	}
	return n > 0 && p.compiled.Index(id) < 0
}

// known reports whether a client has the component's value: it is replicated, the player's
// own command, or the identity.
func (p *Protocol) known(id ecs.ID) bool {
	return p.compiled.Index(id) >= 0 || slices.Contains(p.spoilt, id) || id == p.compiled.Identity.ID() || (p.compiled.Command != nil && id == p.compiled.Command.ID)
}

// CheckCommand calls fn on the server for every received command before its tick runs, to
// refuse commands against the rules of the game: a move, or an item that the player does not
// have. fn sees the world as of the end of the tick before, and must not change it. A
// player who joins in this tick owns nothing in it yet. fn is not called in a tick without a
// command of the player.
//
// If fn returns an error, the tick runs as if the command were missing: with the last
// command repeated (see server.Config.RepeatInput and [Decay]). The refusal is counted
// (stats.Player.InputsRejected), and the client receives the error's text, cut to 200 bytes
// (client.Config.OnRefused). Ranges need no check: a command with a value outside of a
// field's tag is refused before fn is called.
func CheckCommand[T any](p *Protocol, c *ecs.Component[T], fn func(f *Frame, player PlayerID, cmd T) error) {
	if !p.able("CheckCommand", fn != nil) {
		return
	}
	if p.isCommand("CheckCommand", c) {
		if p.compiled.Handlers.Check != nil {
			p.faultf("CheckCommand was declared twice: ask everything in one function")
		}
		p.compiled.Handlers.Check = func(f *Frame, player PlayerID, at unsafe.Pointer) error { return fn(f, player, *(*T)(at)) }
	}
}

// Decay calls fn on the server once a tick on the command that replaces a missing one, to
// let it fade: a ship that lets go of the throttle slowly, for example. The last command is
// repeated for server.Config.RepeatInput first. fn then runs for server.Config.DecayInput.
// cmd is the command of the tick before, with its one-shot fields false and its sums 0.
// missing counts the ticks since the last command received, from 1. Without Decay the
// command is zero at once.
func Decay[T any](p *Protocol, c *ecs.Component[T], fn func(cmd *T, missing int)) {
	if !p.able("Decay", fn != nil) {
		return
	}
	if p.isCommand("Decay", c) {
		if p.compiled.Decay != nil {
			p.faultf("Decay was declared twice: do everything in one function")
		}
		p.compiled.Decay = func(at unsafe.Pointer, missing int) { fn((*T)(at), missing) }
	}
}

// isCommand reports whether a component is the protocol's command, and notes a fault if not.
func (p *Protocol) isCommand(caller string, h ecs.Handle) bool {
	if !p.given(caller, h) {
		return false
	}
	if p.compiled.Command == nil || !p.compiled.Types.Has(h) || p.compiled.Command.ID != h.ID() {
		if !p.spoils(h) {
			p.faultf("%s of %s, which is not the protocol's command: call Command first", caller, game.TypeName(h.Type()))
		}
		return false
	}
	return true
}

// partial wraps a system that also runs for parts of ticks. The screen then knows which components of
// which entities a part has computed.
func (p *Protocol) partial(name string, run func(*Frame, ecs.Rows)) func(*Frame, ecs.Rows) {
	components := new(schema.MaskBuilder)
	p.partials = append(p.partials, partialSystem{name, components})
	return func(f *Frame, rows ecs.Rows) {
		if f.run.Partial {
			f.in().Screen.DrawsPartly(rows, components)
		}
		run(f, rows)
	}
}

// partialSystem is a shared system declared with ecs.Partial.
type partialSystem struct {
	name       string
	components *schema.MaskBuilder // components that the system writes in its rows
}

// checkPartial refuses systems that cannot run for a part of a tick, and records what the others write.
func (p *Protocol) checkPartial() {
	for _, s := range p.compiled.Schedule.Systems() {
		if !s.Partial {
			continue
		}
		if s.Once || !layout.Shared(s) {
			p.faultf("system %q is declared with ecs.Partial, and only shared systems with rows can run for a part of a tick: leave it out", s.Name)
			continue
		}
		for _, of := range p.partials {
			for _, id := range s.Writes {
				if i := p.compiled.Index(id); of.name == s.Name && i >= 0 {
					of.components.Set(i)
				}
			}
		}
	}
}
