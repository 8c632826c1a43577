// Package ecs is a columnar entity component system for netcode. A system is a loop over slices. A world, or
// one player's part of it, is saved and restored at the speed of memcpy, with its exact row order. The same
// system body runs for all players or for one.
//
// # What a game declares
//
// A game struct holds handles. It registers them once with [Types], or with the methods Component and Prefab of
// a foretick.Protocol. It has a [Component] for each type of data, a [Singleton] for each value that a world
// has once, and a [Prefab] for each set of components with defaults. There are no globals: two servers and ten
// clients, each with its own game struct, can live in one process.
//
//	type Game struct {
//		Pos    ecs.Component[Position]
//		Vel    ecs.Component[Velocity]
//		Score  ecs.Singleton[Score]
//		Avatar ecs.Prefab
//	}
//
// The first [NewWorld] freezes the types. Components hold no pointers, so that saving is copying memory. A
// component that needs pointers is registered with a [Copier].
//
// # What a system is
//
// A system is a function over [Rows]. It is added to a [Schedule] with declarations of its reads, writes and
// creations:
//
//	func (g *Game) move(f *Frame, rows ecs.Rows) {
//		pos, vel := g.Pos.Slice(rows), g.Vel.Slice(rows)
//		for i := range pos {
//			pos[i].X += float32(vel[i].X * f.DT) // rounded: see the guide on machines
//		}
//	}
//
// added with
//
//	s.Add("move", g.move, ecs.Write(&g.Pos), ecs.Read(&g.Vel))
//
// The declaration is also the query. [Schedule.Build] derives the order: creators of a component, then its
// writers, then its readers, inside explicit stages. [Schedule.Execute] calls the body once for each matching
// table. [Schedule.ExecutePlayer] calls it for each table of one owner, at a cost proportional to that owner's
// rows. [Schedule.ExecuteParts] does this for several owners; a client uses it for its own rows and those of
// [Common]. Slices are valid only inside the body: keep an [Entity], never a pointer or a slice.
//
// The world is locked while a system runs. Spawning takes effect at once, though queries see the entity only
// after the system. Destroying, adding, removing, transferring and parenting happen after the system, in order
// of issue.
//
// # Memory layout
//
// There is one table per component set and [Owner], with a slice per component. Tables are visited in canonical
// order (component set, then owner), whatever the order of their creation. [Common] comes right after [Nobody],
// so servers and clients visit unowned entities at the same place. An owner's rows are contiguous, and no other
// owner's spawns or destroys move them. So they can be saved, restored and run alone. Only a transfer of
// ownership connects the histories of two owners; it voids the older saves of both.
//
// # Saving, restoring, comparing
//
// A [History] is a ring of saves: [Control.NewHistory] saves everything, [Control.NewOwnerHistory] one owner's
// part. Save always copies the columns. It copies the list of entities only when that differs from the slot's.
// Restore brings back values, row order, handles and free lists, so a tick that runs again runs exactly the
// same. With [Control.NewExactHistory], machines that exchange inputs alone agree on handles too.
// [History.Diff] finds the changes since a save. [World.Hash] is canonical, ordered by the caller's keys.
// A [Watch] reports entities that start or stop matching a query, and is rolled back too.
//
// [Control.AppendWorld] writes the whole world as bytes, and [Control.ReadWorld] reads them into a world of
// another program, or of another build of the game. It goes on exactly as the first one.
//
// After a restore, other entities may get the handles of the discarded ticks. Forget those handles, or use
// another key for data that must survive a rollback.
//
// # Determinism
//
// No result depends on Go's map order, on the clock or on goroutines. With [Schedule.SetExecutor], systems that
// do not conflict run in parallel, with the same result as in sequence.
//
// # Debug builds
//
// With the build tag foretick_debug, systems are checked against their declarations. A system panics with
// [UsageError], which names the system, the component and the fix, when it
//
//   - touches a component or singleton that it did not declare;
//   - has changed a value that it declared only to read, or, without [WriteOther], of an entity outside its
//     rows. This check compares values after the body has run on all rows, so writing the old value again is no
//     fault;
//   - spawns or adds components that it did not declare with [Create], or destroys, removes, transfers or sets
//     a parent without [Structural] or [Create].
//
// Changes by a hook, or by a callback between calls of [World.Guard], are not counted. A debug build copies the
// values that a system may only read, and runs systems in sequence. Without the tag the checks cost nothing.
//
// A [Hook] may count and time systems with a clock of the program's; unset, it costs nothing. PERFORMANCE.md
// covers the speed of the package and how to measure it; docs/BENCHMARKS.md compares it with ark and donburi.
//
// Compatibility: promised, but for the names that docs/COMPATIBILITY.md lists.
package ecs
