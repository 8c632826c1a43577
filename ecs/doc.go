// Package ecs is a columnar entity component system for netcode. A system is a
// loop over slices; a world, or one player's part of it, is saved and restored
// at the speed of memcpy with its exact row order; and one system body runs for
// everybody or for one player.
//
// # What a game declares
//
// A game struct holds handles, and registers them once with [Types]: a
// [Component] for each type of data, a [Singleton] for what there is one of, a
// [Prefab] for each set of components with defaults. Nothing is global: two
// servers and ten clients, each with its own game struct, live in one process.
//
//	type Game struct {
//		Pos    ecs.Component[Position]
//		Vel    ecs.Component[Velocity]
//		Score  ecs.Singleton[Score]
//		Avatar ecs.Prefab
//	}
//
// The first [NewWorld] freezes the types. Components hold no pointers, so that
// a save is a copy of memory; one that must is registered with a [Copier].
//
// # What a system is
//
// A function over [Rows], added to a [Schedule] with what it reads, writes and
// creates:
//
//	func (g *Game) move(f *Frame, rows ecs.Rows) {
//		pos, vel := g.Pos.Slice(rows), g.Vel.Slice(rows)
//		for i := range pos {
//			pos[i].X += vel[i].X * f.DT
//		}
//	}
//	…
//	s.Add("move", g.move, ecs.Write(&g.Pos), ecs.Read(&g.Vel))
//
// The declaration is the query, too. [Schedule.Build] derives the order:
// creators of a component, then its writers, then its readers, inside explicit
// stages. [Schedule.Execute] calls the body once for each table that matches;
// [Schedule.ExecutePlayer] once for each of one owner's tables, at a cost
// proportional to that owner's rows; [Schedule.ExecuteParts] does so for several
// owners, as a client does for its own rows and the [Common]'s. Slices are valid
// inside the body: keep an [Entity], never a pointer or a slice.
//
// While a system runs the world is locked: spawning works at once (queries see
// the entity after the system), and destroying, adding, removing, transferring
// and parenting happen after the system, in order of issue.
//
// # How entities lie in memory
//
// There is one table per component set and [Owner], with a slice per component.
// Tables are visited in canonical order (component set, then owner), whatever
// order they were made in. An owner's rows are contiguous and touched by nobody
// else's coming and going: they save, restore and run by themselves. Transfer
// of ownership is the one thing that joins two owners' histories, and makes
// their older saves void.
//
// # Saving, restoring, comparing
//
// A [History] is a ring of saves: [World.NewHistory] of everything,
// [World.NewOwnerHistory] of one owner's part. Save copies columns always, and
// which entities there are only when that differs from what the slot holds.
// Restore brings back values, row order, handles and free lists, so that a tick
// that runs again runs exactly as it would have. [History.Diff] yields what
// changed since a save; [World.Hash] is canonical, by the caller's keys; a
// [Watch] delivers what begins and ceases to match, and is rolled back too.
//
// After a restore the handles of the discarded ticks may be given to other
// entities. Forget them, or key what must outlive a rollback by something else.
//
// # Determinism
//
// No result depends on the order of a Go map, on the clock or on goroutines.
// [Schedule.SetExecutor] runs systems that do not conflict at once, with the
// result of running them one after another.
//
// # Debug builds
//
// With the build tag foretick_debug, systems are held to what they declared. One
// panics with [UsageError], which names it, the component and the fix, when it
//
//   - touches a component or singleton that it did not declare;
//   - has changed a value that it declared only to read, or of an entity that is
//     not among its rows without [WriteOther]: told when its body has run on all
//     of its rows, and by comparing values, so that writing what was there
//     already is no fault;
//   - spawns or adds what it did not name in [Create], or destroys, removes,
//     transfers or sets a parent without [Structural] or [Create].
//
// What a hook does, or a callback between calls of [World.Guard], is nobody's.
// Such a build copies what a system is about to read, and runs systems one after
// another. Without the tag the checks cost nothing.
//
// # How long it takes
//
// [Timing] is a [Hook] that counts and times each system with a clock of yours.
// Until it is set it costs nothing. How fast the package is, and how to measure
// that, is in PERFORMANCE.md; ark and donburi at the same work are in
// docs/BENCHMARKS.md.
package ecs
