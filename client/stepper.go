package client

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
)

// stepper runs the shared systems over the entities that are predicted here.
type stepper struct {
	*base
	ghosts     *ghosts
	spawning   *spawning
	saves      *saves
	controls   *controls
	clientOnly *localEntities
	row        *game.SingletonRow
	parents    *game.Hierarchy

	runs  func(system int, o foretick.PlayerID) bool // runsFor
	parts []foretick.PlayerID                        // scratch
}

// runSystems runs the shared systems over the entities that are predicted here.
func (sr *stepper) runSystems(t foretick.Tick) {
	if !sr.p.Common && !sr.p.ClientOnly && len(sr.saves.remotes) == 0 {
		sr.p.Schedule.ExecutePlayer(sr.world, &sr.frame, sr.view.Player)
		return
	}
	sr.parts = append(sr.parts[:0], sr.view.Player)
	if sr.p.Common {
		sr.parts = append(sr.parts, ecs.Common)
	}
	if sr.p.ClientOnly && !sr.clientOnly.ranBefore(t) {
		sr.parts = append(sr.parts, ecs.ClientOnly)
	}
	if len(sr.saves.remotes) == 0 {
		sr.p.Schedule.ExecuteParts(sr.world, &sr.frame, sr.parts...)
		return
	}
	for i := range sr.saves.remotes {
		sr.parts = append(sr.parts, sr.saves.remotes[i].owner)
	}
	sr.p.Schedule.ExecutePartsWhere(sr.world, &sr.frame, sr.runs, sr.parts...)
}

// runsFor reports whether a system runs for an owner's rows.
func (sr *stepper) runsFor(system int, o foretick.PlayerID) bool {
	return o == sr.view.Player || o == ecs.Common || o == ecs.ClientOnly || sr.p.Remote.Runs[system]
}

// runAside runs a tick again, with a function, and calls kept if it succeeded. It returns false if run
// failed or the tick cannot run again. The run leaves no changes in the world, except in rows that the
// next Load and othersNewest write.
func (sr *stepper) runAside(t foretick.Tick, run func() bool, kept func()) bool {
	f := &sr.frame
	if !sr.saves.loadTick(t - 1) {
		return false
	}
	f.Tick, f.Replay, sr.running.Blind, sr.practice = t, true, true, true
	sr.row.Give()
	sr.parents.ApplyParents()
	sr.controls.fillCommand(t)
	sr.controls.guessRemotes(t)
	sr.spawning.beginSpawns(t)
	ecs.Engine(sr.world).WatchOutside(false)
	ok := run()
	sr.row.TakeRow()
	ecs.Engine(sr.world).WatchOutside(true)
	sr.spawning.endSpawns()
	sr.ghosts.pushed = true // the values that systems wrote through queries have to be restored
	if ok {
		kept()
	}
	sr.spawning.forgetPractised()
	f.Replay, sr.running.Blind, sr.practice = false, false, false
	return ok
}

// runUnseeing runs the systems of a tick. It returns false if one of them panicked because it did not
// find an entity that otherwise always exists.
func (sr *stepper) runUnseeing(t foretick.Tick) (ok bool) {
	defer func() {
		if recover() != nil {
			ecs.Engine(sr.world).Recover()
			*sr.running = game.SystemRun{Blind: sr.running.Blind}
			ok = false
		}
	}()
	sr.runSystems(t)
	return true
}
