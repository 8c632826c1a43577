// Package lifecycle keeps a host and the manager of its fleet informed of each other.
//
// A fleet manager starts processes, sends players to them, and removes them. It needs to know when
// a process takes players, whether it still works, how much room it has, and when it is done.
// [Run] runs a host and tells a [Lifecycle] all that:
//
//	err := lifecycle.Run(ctx, h, manager, lifecycle.Config{DrainFor: time.Hour})
//
// There are two lifecycles. [Files] writes files, for one machine or a simple supervisor.
// Package agones speaks to Agones on Kubernetes. For another manager, implement the interface.
//
// # The order of calls
//
//  1. Watch, until the manager has reported the first State. Nothing else is sent before.
//  2. Counts, then Ready. From now on Health every 2 s while the host is live, and Counts every
//     second.
//  3. Allocated with the first match. Ready again when no match has run for Config.Idle.
//  4. Draining, when the context ends (SIGTERM), the manager ends the process, Health failed three
//     times in a row, or the game drains its host. Matches end by themselves.
//  5. Shutdown, once the last match has ended. Nothing is sent after it.
//
// Ready, Allocated and Draining are repeated until the manager has taken them. Shutdown is tried
// three times at most, and never again after the manager took it.
//
// Compatibility: a minor version may change it, with a note. See docs/COMPATIBILITY.md.
package lifecycle
