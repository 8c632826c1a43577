package foretick

import (
	"slices"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/schema"
)

// What frames ask of the client: see clientEnd. Systems, handlers and hooks reach the client
// through it alone.

func (c *Client) spawnBy(by ecs.Entity, k *ecs.Prefab) ecs.Entity {
	return c.timeline.spawnBy(by, k)
}

func (c *Client) destroy(e ecs.Entity) bool { return c.timeline.destroy(e) }

// refuseSpawn panics if a shared system runs: only the server spawns without a spawner.
func (c *Client) refuseSpawn(k *ecs.Prefab) {
	if c.timeline.spawning.stepping {
		misuse("a shared system spawns prefab %q without a spawner: "+fixSpawn, k.Name())
	}
}

// final returns the newest tick whose commands the server answered.
func (c *Client) final() Tick {
	t, _ := c.ghosts.receiver.Newest()
	return c.input.answered(t)
}

func (c *Client) again(t Tick) bool { return c.timeline.again(t) }

// shownBefore returns the offset of the command that the frame's tick runs with, 0: none.
func (c *Client) shownBefore(player PlayerID) uint8 {
	if c.frame.partial {
		return c.screen.partial.offset
	}
	if in := c.input.history.Find(c.frame.Tick); in != nil && player == c.view.Player {
		return in.offset
	}
	return 0
}

func (c *Client) drawsPartly(rows ecs.Rows, components *schema.MaskBuilder) {
	c.screen.partial.note(rows, components)
}

// simulates reports whether the client runs shared systems for an entity in the frame's tick.
func (c *Client) simulates(e ecs.Entity) bool {
	switch o := c.world.PartOf(e); {
	case c.cfg.NoPrediction || !c.world.Alive(e) || o == ecs.Nobody:
		return false
	case o == ecs.ClientOnly:
		return c.p.ClientOnly && !c.timeline.again(c.frame.Tick)
	default:
		return o == c.view.Player || o == ecs.Common || slices.ContainsFunc(c.timeline.saves.remotes, func(r remotePlayer) bool { return r.owner == o })
	}
}

func (c *Client) prefabOf(e ecs.Entity) *ecs.Prefab {
	if k := c.ownPrefab(c.p.identity.Find(c.world, e)); k != nil {
		return k.ECS
	}
	return nil
}

func (c *Client) anothers(e ecs.Entity) bool { return c.ghosts.anothers(e) }

func (c *Client) decoded() { c.link.decoded() }

func (c *Client) predictedSum() uint32 { return c.timeline.predictedSum() }

func (c *Client) seen(t Tick) HitView { return c.screen.seen(t) }

// teleport notes a teleport in the tick that is being predicted.
func (c *Client) teleport(e ecs.Entity) bool {
	if c.frame.partial {
		return c.p.identity.Find(c.world, e) != nil
	}
	if c.screen.rendering || c.p.identity.Find(c.world, e) == nil {
		return false
	}
	c.timeline.cut = append(c.timeline.cut, e)
	if !c.frame.Replay {
		c.screen.fades.drop(e)
	}
	return true
}

// beforeSystem is called before each system.
func (c *Client) beforeSystem(system int) {
	if c.frame.partial || c.frame.blind {
		return
	}
	c.timeline.settleTrail()
	if c.tracer.recording {
		c.timeline.traceSystem(system)
	}
	if c.hooks.syncTest > 0 {
		c.timeline.beforeSystem()
	}
	if debugBuild && c.firstRun() {
		c.losses.beforeSystem(c.world, system, c.frame.Tick)
	}
}

// afterSystem is called after each system.
func (c *Client) afterSystem(system int) {
	if c.frame.blind {
		c.timeline.looks.after(system, c.world.Peeked())
		return
	}
	if c.frame.partial {
		return
	}
	if c.tracer.recording {
		c.tracer.steps.after(system)
	}
	if c.hooks.syncTest > 0 {
		c.timeline.afterSystem(system)
	}
	if debugBuild && !c.screen.rendering {
		c.reasons.due = true
	}
	if debugBuild && c.firstRun() {
		c.losses.afterSystem(c.world, system, c.frame.Tick)
	}
}

// firstRun reports whether a system runs in a tick for the first time, over components
// of this build's own.
func (c *Client) firstRun() bool { return !c.screen.rendering && !c.frame.Replay && !c.p.OtherBuild }
