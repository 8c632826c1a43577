package ecs

import "unsafe"

// Control has the methods of a world that engines call: to save, restore, mirror and replay it, and to reach
// values whose types are known at run time only. Games have no use for it. [Engine] returns it.
type Control World

// Engine returns the Control of a world. It is a conversion and costs nothing, so there is no need to keep
// the result.
func Engine(w *World) *Control { return (*Control)(w) }

func (c *Control) world() *World { return (*World)(c) }

// SpawnIn is [World.Spawn] with a handle from the given range.
func (c *Control) SpawnIn(r Range, k *Prefab, owner Owner) Entity {
	return c.world().spawnIn(r, k, owner)
}

// SpawnBatchIn is [World.SpawnBatch] with handles from the given range.
func (c *Control) SpawnBatchIn(r Range, k *Prefab, owner Owner, out []Entity) Rows {
	return c.world().spawnBatchIn(r, k, owner, out)
}

// Mask returns the entity's component set; empty when the entity is gone. It
// has a bit above every registered type when the entity has a parent.
func (c *Control) Mask(e Entity) Mask { return c.world().mask(e) }

// Row returns the entity's row alone; false when the entity is gone.
func (c *Control) Row(e Entity) (Rows, bool) { return c.world().row(e) }

// Pointer returns a pointer to the entity's value of a component, valid until
// the next structural change; nil when the entity is gone or lacks it.
func (c *Control) Pointer(e Entity, id ID) unsafe.Pointer { return c.world().pointer(e, id) }

// Lock defers structural commands until the matching [Control.Unlock]. Locks
// nest. Lock the world around a loop over a query's rows that spawns, destroys,
// adds or removes.
func (c *Control) Lock() { c.world().lock() }

// Unlock undoes one Lock. The last Unlock runs the deferred commands in order
// of issue.
func (c *Control) Unlock() { c.world().unlock() }
