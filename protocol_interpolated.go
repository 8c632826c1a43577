package foretick

import (
	"slices"

	"github.com/foretick/foretick/ecs"
)

// Interpolated marks a prefab whose entities no client predicts: their owner sees them
// interpolated and in the past too, like every other player. Use it for entities that a
// player owns and only the server moves, such as a pet or a vehicle on autopilot. Shared
// systems run for these entities on the server alone. [Frame.SetPredicted] switches the
// prediction of one entity on: while it is on, shared systems run for that entity on its
// owner's client too. Clients never predict an Interpolated prefab as a shared physics
// object (see [Protocol.Shared]) or for another player (see [PredictRemote]). Call it after
// Prefab.
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
