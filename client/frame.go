package client

import (
	"slices"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/misuse"
	"github.com/foretick/foretick/schema"
)

// frameEnd implements what a client's frames need. Each of its parts does what concerns that part.
// Systems, handlers and hooks reach the client only through it.
type frameEnd struct {
	*base
	link       *link
	input      *input
	ghosts     *ghosts
	screen     *screen
	recorder   *recorder
	saves      *saves
	spawning   *spawning
	clientOnly *localEntities
	predicted  *predicted
	looks      *looks
	tester     *syncTester
	trails     *trails
}

// A frame looks for these optional interfaces of its end, which the compiler would not check.
var _ interface {
	game.Spawner
	game.Viewer
	game.ScreenEnd
} = (*frameEnd)(nil)

func (c *frameEnd) IsServer() bool { return false }

func (c *frameEnd) SpawnBy(by ecs.Entity, k *ecs.Prefab) ecs.Entity {
	return c.spawning.spawnBy(by, k)
}

func (c *frameEnd) Destroy(e ecs.Entity) bool { return c.spawning.destroyPredicted(e) }

// Spawn panics if a shared system runs, because only the server spawns without a spawner.
func (c *frameEnd) Spawn(k *ecs.Prefab, _ foretick.PlayerID) ecs.Entity {
	if c.spawning.stepping {
		misuse.Panicf("foretick: a shared system spawns prefab %q without a spawner: "+game.FixSpawn, k.Name())
	}
	return ecs.None
}

// Final returns the newest tick whose commands the server has run, or will not run any more.
func (c *frameEnd) Final() foretick.Tick {
	t, _ := c.ghosts.receiver.Newest()
	return c.input.answered(t)
}

func (c *frameEnd) Raised(by ecs.Entity, owner foretick.PlayerID, _ int) game.Fate {
	switch {
	case c.running.Partial || c.running.Blind:
		return 0 // the run of the whole tick raises it
	case owner == ecs.ClientOnly:
		if c.clientOnly.ranBefore(c.frame.Tick) {
			return 0
		}
		return game.EventTold // neither the entity nor what it raises is ever rolled back
	case c.ghosts.anothers(by):
		return 0 // the server sends its result
	}
	return game.EventPredicted
}

// ShownBefore returns the offset of the command that the frame's tick runs with. It is 0 if there is
// none.
func (c *frameEnd) ShownBefore(player foretick.PlayerID) uint8 {
	if c.running.Partial {
		return c.screen.partial.offset
	}
	if in := c.input.history.Find(c.frame.Tick); in != nil && player == c.view.Player {
		return in.offset
	}
	return 0
}

func (c *frameEnd) DrawsPartly(rows ecs.Rows, components *schema.MaskBuilder) {
	c.screen.partial.noteWritten(rows, components)
}

// Simulates reports whether the client runs shared systems for an entity in the frame's tick.
func (c *frameEnd) Simulates(e ecs.Entity) bool {
	switch o := ecs.Engine(c.world).PartOf(e); {
	case c.cfg.NoPrediction || !c.world.Alive(e) || o == ecs.Nobody:
		return false
	case o == ecs.ClientOnly:
		return c.p.ClientOnly && !c.clientOnly.ranBefore(c.frame.Tick)
	default:
		return o == c.view.Player || o == ecs.Common || slices.ContainsFunc(c.saves.remotes, func(r remotePlayer) bool { return r.owner == o })
	}
}

func (c *frameEnd) PrefabOf(e ecs.Entity) *ecs.Prefab {
	if k := c.ownPrefab(c.p.Identity.Find(c.world, e)); k != nil {
		return k.ECS
	}
	return nil
}

func (c *frameEnd) Decoded() { c.link.decoded() }

func (c *frameEnd) PredictedSum() uint32 { return c.predicted.predictedSum() }

// All views have the frame on the screen.
func (c *frameEnd) Rewind(foretick.PlayerID) game.Sight { return c.screen.seen(c.frame.Tick) }
func (c *frameEnd) RewindBehind(foretick.PlayerID, float32) game.Sight {
	return c.screen.seen(c.frame.Tick)
}
func (c *frameEnd) Present() game.Sight             { return c.screen.seen(c.frame.Tick) }
func (c *frameEnd) Moment(foretick.Tick) game.Sight { return c.screen.seen(c.frame.Tick) }

// Teleport notes a teleport in the tick that is being predicted.
func (c *frameEnd) Teleport(e ecs.Entity) bool {
	if c.running.Partial {
		return c.p.Identity.Find(c.world, e) != nil
	}
	if c.rendering || c.p.Identity.Find(c.world, e) == nil {
		return false
	}
	c.recorder.cut = append(c.recorder.cut, e)
	if !c.frame.Replay {
		c.screen.own.fades.dropFades(e)
	}
	return true
}

// BeforeSystem is called before each system.
func (c *frameEnd) BeforeSystem(run *game.SystemRun, system int) {
	if run.Partial || run.Blind {
		return
	}
	c.trails.settleTrail(c.tester)
	if c.tracer.recording {
		c.tracer.traceSystem(system)
	}
	if c.hooks.syncTest > 0 {
		c.tester.beforeSystem()
	}
	if game.DebugBuild && c.firstRun() {
		c.losses.BeforeSystem(run, system)
	}
}

// AfterSystem is called after each system.
func (c *frameEnd) AfterSystem(run *game.SystemRun, system int) {
	if run.Blind {
		c.looks.noteLook(system, ecs.Engine(c.world).Peeked())
		return
	}
	if run.Partial {
		return
	}
	if c.tracer.recording {
		c.tracer.steps.After(system)
	}
	if c.hooks.syncTest > 0 {
		c.tester.afterSystem(system)
	}
	if game.DebugBuild && !c.rendering {
		c.trails.due = true
	}
	if game.DebugBuild && c.firstRun() {
		c.losses.AfterSystem(run, system)
	}
}

// firstRun reports whether a system runs in a tick for the first time, over components of this build's
// own.
func (c *frameEnd) firstRun() bool { return !c.rendering && !c.frame.Replay && !c.p.OtherBuild }
