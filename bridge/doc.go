// Package bridge connects a game with its own entity component system, or with plain Go structs,
// to a Foretick world. The game keeps its entities, systems and drawing. Foretick's world stays
// authoritative: its values are sent, saved, rolled back and compared.
//
//	b := bridge.New(g.spawn, g.remove)                 // own entities, by the name of a prefab
//	bridge.Component(b, &g.Body, g.bodyOf)             // where an own entity keeps its Body
//	bridge.Component(b, &g.Stick, g.stickOf)
//	b.System(p, "drive", g.drive, ecs.Read(&g.Stick), ecs.Write(&g.Body))
//
// Each end has its own bridge, like its component handles.
//
// # The path of the data
//
// Own entities follow the world's. Before a system runs, and before a frame is drawn, the
// bridge calls spawn for every entity that has a bound component and no own entity yet. It
// calls remove for own entities whose entity is gone. On a client that happens only before a
// frame is drawn, since a rollback brings many of them back.
//
// A system that is declared with [Bridge.System] runs once a tick, on servers and clients. On
// clients it also runs in every replay. Each run has four steps:
//
//  1. The bridge lists the active own entities. Their entities have every component that the
//     system declares with ecs.Read, Write and With, and this end simulates them: on a server
//     all, on a client those that it predicts. See foretick.Frame.Simulates.
//  2. It copies in. Components declared with ecs.Read or Write go to the active own entities.
//     Those declared with ecs.ReadOther or WriteOther go to all own entities.
//  3. It calls the game's function with the active own entities.
//  4. It copies out. Components declared with ecs.Write come from the active own entities.
//     Those declared with ecs.WriteOther come from all that this end simulates.
//
// After the tick Foretick rounds, sends and compares the values in its world, as it does with
// those of any other system. Before a frame is drawn the bridge copies all bound components
// in, as they are to be drawn: others interpolated, corrections fading. So drawing code reads
// own entities alone. The next tick's systems get simulated values again.
//
// # Limits
//
//   - State that is not bound is not predicted: a rollback does not change it. Systems must
//     neither read nor write such state. Drawing code may use it.
//   - A system gets current values of the components that it declares. Others have the values
//     of the last drawn frame, or of an earlier system.
//   - Loop over the active own entities, and not over a query of the game's own entity system:
//     a query also finds entities which this end does not simulate, and some that are gone.
//   - Only ServerFrame.Spawn, SpawnBy and Destroy may spawn and remove own entities. Inside a system
//     [Bridge.Own] returns the own entity of an entity that the system has just spawned.
//   - The order of the active own entities differs between the ends, unless [Order] names a
//     component with ids. Without it let each entity write only itself.
//   - Own entities keep the set of components that spawn gave them. Bind components that all
//     entities of a prefab have, or let spawn add all that they may have.
//   - A rollback may give the handle of a discarded entity to another entity of the same prefab,
//     which then gets the discarded one's own entity. Bound components are copied in anyway.
//   - Parts of ticks (ecs.Partial) and late inputs (server.Config.Late without World) run systems by
//     rows, and a bridge's systems have none. System reports ecs.Partial as a fault. server.New
//     returns an error for Late, unless Late.World runs whole ticks again.
//
// A bridge is not safe for concurrent use.
//
// Compatibility: a minor version may change it, with a note. See docs/COMPATIBILITY.md.
package bridge
