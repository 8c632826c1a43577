package client

import (
	"slices"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/prediction"
)

// saves has the predicted rows of past ticks.
type saves struct {
	*base
	ghosts    *ghosts
	predictor *prediction.Predictor
	locals    *locals
	predicted *predicted
	spawning  *spawning

	own     *ecs.History
	common  *ecs.History
	remotes []remotePlayer
}

// beginSession makes the histories for the predicted rows of a new session: one of the player's entities,
// and one of the shared physics objects. It releases those of the session before.
func (sv *saves) beginSession() {
	if sv.own != nil {
		sv.own.Release()
		sv.common.Release()
	}
	sv.own, sv.common = ecs.Engine(sv.world).NewOwnerHistory(sv.view.Player, sv.cfg.History), ecs.Engine(sv.world).NewOwnerHistory(ecs.Common, sv.cfg.History)
}

// saveSlot saves the predicted rows into a slot of each history.
func (sv *saves) saveSlot(slot int) {
	sv.own.Save(slot)
	if sv.p.Common {
		sv.common.Save(slot)
	}
	for i := range sv.remotes {
		sv.remotes[i].history.Save(slot)
	}
}

// loadTick restores the rows of a tick. It returns false if no save of the tick can be used.
func (sv *saves) loadTick(t foretick.Tick) bool {
	slot, ok := sv.predictor.Slot(t)
	if !ok || !sv.restorable(t) {
		return false
	}
	sv.loadSlot(slot)
	return true
}

// loadSlot restores the rows of a save, and adds the names that were given later. It stashes local
// components first; putLocals restores these.
func (sv *saves) loadSlot(slot int) {
	sv.stashLocals()
	sv.own.Restore(slot)
	if sv.p.Common {
		sv.common.Restore(slot)
	}
	for i := range sv.remotes {
		if h := sv.remotes[i].history; h.Holds(slot) {
			h.Restore(slot)
		}
	}
	if len(sv.spawning.named) > 0 {
		sv.spawning.renameSpawns()
	}
}

// restorable reports whether the save of a tick, if there is one, can be used. A change of an entity's
// owner voids all earlier saves.
func (sv *saves) restorable(t foretick.Tick) bool {
	slot, ok := sv.predictor.Slot(t)
	if !ok || sv.cfg.NoPrediction {
		return true
	}
	for i := range sv.remotes { // no save has rows of a player who is new here
		if o := &sv.remotes[i]; o.voids(slot) {
			return false
		}
	}
	return sv.own.Holds(slot) && (!sv.p.Common || sv.common.Holds(slot))
}

// forgetRemotes forgets those remote players for which forgets returns true.
func (sv *saves) forgetRemotes(forgets func(o remotePlayer) bool) {
	sv.remotes = slices.DeleteFunc(sv.remotes, func(o remotePlayer) bool {
		if !forgets(o) {
			return false
		}
		o.history.Release()
		return true
	})
}

// remotePlayer is another player whose entities are predicted here.
type remotePlayer struct {
	owner   foretick.PlayerID
	history *ecs.History
	seen    foretick.Tick // the newest tick in which the player had entities
}

// voids reports whether a save of the player's is void, and not only from before the player's arrival.
func (o *remotePlayer) voids(slot int) bool { return o.history.Saved(slot) && !o.history.Holds(slot) }

// gather lists the ghosts that are predicted here, and the remote players among their owners.
func (sv *saves) gather() {
	sv.ghosts.gatherOurs()
	if !sv.p.Remote.Predicts {
		return
	}
	now := sv.predictor.Tick()
	for _, g := range sv.ghosts.ours {
		if !sv.ghosts.remotePredicted(g) {
			continue
		}
		i := slices.IndexFunc(sv.remotes, func(o remotePlayer) bool { return o.owner == foretick.PlayerID(g.Owner) })
		if i < 0 {
			i = len(sv.remotes)
			owner := foretick.PlayerID(g.Owner)
			sv.remotes = append(sv.remotes, remotePlayer{owner: owner, history: ecs.Engine(sv.world).NewOwnerHistory(owner, sv.cfg.History)})
		}
		sv.remotes[i].seen = now
	}
	sv.forgetRemotes(func(o remotePlayer) bool {
		return int32(now-o.seen) > int32(sv.cfg.History) // no save has its entities
	})
}

// stashLocals saves the local components before the first save is loaded.
func (sv *saves) stashLocals() {
	if sv.locals.stashDue() {
		sv.locals.stash(sv.predicted.entities())
	}
}

// putLocals restores the local components that stashLocals saved. It reports whether an entity got or lost a component.
func (sv *saves) putLocals() (moved bool) {
	return sv.locals.stashed && sv.locals.putBack(sv.predicted.entities())
}
