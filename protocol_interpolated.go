package foretick

import (
	"slices"

	"github.com/foretick/foretick/ecs"
)

// Interpolated declares that clients do not predict the entities of a prefab: their owner
// sees them in the past too, as everybody else does. Use it for what a player owns and only
// the server moves, such as a pet or a vehicle on autopilot. [Frame.SetPredicted] switches
// the prediction of one entity on and off. Shared systems run for the entities on the server
// and, while one is predicted, on its owner's client. No client predicts an Interpolated
// prefab as a shared physics object, or for another player. Call it after Prefab.
func (p *Protocol) Interpolated(k *ecs.Prefab) {
	if !p.givenPrefab("Interpolated", k) {
		return
	}
	i := p.compiled.PrefabOf(k)
	switch {
	case slices.Contains(p.unmade, k):
	case i < 0:
		p.faultf("Interpolated names a prefab that is not declared: call Prefab first")
	case p.compiled.Prefabs[i].Interpolated:
		p.faultf("Interpolated(%q) was called twice", k.Name())
	default:
		p.compiled.Prefabs[i].Interpolated = true
	}
}

// checkInterpolated refuses prefabs that shared systems spawn: a client predicts its spawns.
func (p *Protocol) checkInterpolated() {
	for i := range p.compiled.Prefabs {
		if k := &p.compiled.Prefabs[i]; k.Interpolated && (k.Matched() || k.ClientOnly()) {
			p.faultf("prefab %q has Spawns and is Interpolated: clients predict what shared systems spawn; drop one of them", k.ECS.Name())
		}
	}
}

// SetPredicted switches the prediction of an entity by its owner's client on or off. The
// entity's prefab must be declared with [Protocol.Interpolated]; its entities begin without
// prediction. The switch travels with the next snapshot. On the owner's screen the entity
// then slides between the past and the present, at most one and a half times as fast as it
// moves. SetPredicted returns false on a client, and for an entity that does not exist. It
// panics with [UsageError] for one of another prefab.
func (f *Frame) SetPredicted(e ecs.Entity, on bool) bool {
	return f.server != nil && f.server.setPredicted(e, on)
}

func (s *Server) setPredicted(e ecs.Entity, on bool) bool {
	id := s.p.identity.Find(s.sim.world, e)
	if id == nil {
		return false
	}
	if k := &s.p.Prefabs[id.Prefab]; !k.Interpolated {
		misuse("SetPredicted of an entity of prefab %q: declare the prefab with Protocol.Interpolated", k.ECS.Name())
	}
	id.ahead = on
	return true
}
