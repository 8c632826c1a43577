package foretick

import (
	"errors"
	"slices"
	"strings"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
)

// Err ends the declaration and returns all of its faults, joined, or nil. It lists every
// faulty field of every type, and every faulty system, in the order of the calls. It may be
// called again.
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
	p.compiled.schedule.Stages(append(p.stages[:len(p.stages):len(p.stages)], stageEvents, stageFinal)...)
	p.fault(p.compiled.schedule.Build())
	for _, s := range p.compiled.schedule.Systems() {
		p.compiled.Systems = append(p.compiled.Systems, s.Name)
	}
	p.checkSystems()
	p.checkMatches()
	p.checkInterpolated()
	p.checkAudiences()
	p.checkInterest()
	p.compiled.FindUnpredictedReads(p.compiled.schedule.Systems())
	p.compiled.FindWrittenForOthers(p.compiled.schedule.Systems())
	p.compiled.FindFromOthers(p.compiled.schedule.Systems())
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
	p.compiled.Hash, p.compiled.description = hashText(p.Describe()), new(description)
	return p.err
}

// checkRegistered refuses components that were registered without the protocol. A client
// would roll them back with the predicted state, and lose their values.
func (p *Protocol) checkRegistered() {
	known := map[ecs.ID]bool{p.compiled.identity.ID(): true}
	for i := range p.compiled.Components {
		known[p.compiled.Components[i].ID] = true
	}
	for _, l := range p.compiled.Locals {
		known[l.ID] = true
	}
	if p.compiled.Command != nil {
		known[p.compiled.Command.ID] = true
	}
	for _, id := range p.spoilt { // said already
		known[id] = true
	}
	for id := range p.compiled.Types.Len() {
		if info := p.compiled.Types.Info(ecs.ID(id)); !known[ecs.ID(id)] {
			p.faultf("component %s was registered with Types().Register: declare it with Protocol.LocalComponent where each end keeps its own, or with Protocol.Component", info.Name)
		}
	}
}

// checkSystems refuses shared systems that read values which a client does not have. Such
// reads are the worst cause of mispredictions, and this finds them before the first tick.
func (p *Protocol) checkSystems() {
	for _, s := range p.compiled.schedule.Systems() {
		if !layout.Shared(s) {
			continue
		}
		p.checkSingletonUse(s)
		for i, id := range append(append([]ecs.ID{}, s.Reads...), s.OtherReads...) {
			if !p.known(id) && (i >= len(s.Reads) || !p.ofLocalKinds(id)) {
				p.faultf("shared system %q reads %s, which a client does not have: declare it with Component, or make the system Server", s.Name, p.fieldsOf(id))
			}
		}
		if p.compiled.Command != nil && slices.Contains(s.OtherReads, p.compiled.Command.ID) {
			p.faultf("shared system %q reads %s of other entities, which a client does not have: commands travel to the server alone. Where a thing needs the input of the player who holds it, list the command in the thing's own prefab: every entity of a player is given it", s.Name, p.fieldsOf(p.compiled.Command.ID))
		}
		for i, id := range append(append([]ecs.ID{}, s.Writes...), s.OtherWrites...) {
			if c := p.compiled.Index(id); !slices.Contains(p.spoilt, id) && (c < 0 || !p.compiled.Components[c].Predicted) && (i >= len(s.Writes) || !p.ofLocalKinds(id)) {
				p.faultf("shared system %q writes %s, which is not predicted: declare it with Component(…, Predicted()), or make the system Server", s.Name, p.compiled.Types.Info(id).Name)
			}
		}
	}
}

// checkMatches refuses shared systems that would run for no entity: no prefab has all of the
// components that their rows need, and no system declares to add the missing ones.
func (p *Protocol) checkMatches() {
	if len(p.unmade) > 0 || len(p.spoilt) > 0 {
		return // the missing one is reported already
	}
	var added ecs.Mask
	for _, s := range p.compiled.schedule.Systems() {
		for _, id := range s.Creates {
			added.Set(id)
		}
	}
	for _, s := range p.compiled.schedule.Systems() {
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
	return p.compiled.Index(id) >= 0 || slices.Contains(p.spoilt, id) || id == p.compiled.identity.ID() || (p.compiled.Command != nil && id == p.compiled.Command.ID)
}
