// Package trace finds the system whose results differ between client and server.
//
// A trace records up to eight entities of one player before and after each system that both
// ends run, on the client and on the server, and compares the two. It works in release
// builds, over any transport, while the match is played. Arm the trace of [OfClient] with
// [Trace.Look], again every few seconds, and pass its [Trace.Tables] to [First].
//
// [Trace.Look] arms the trace from the next tick on. The trace ends 30 seconds after the last
// call of Look or [Trace.Tables]. Each end keeps its newest 32 ticks. The server sends its ticks
// to the client with the bandwidth that snapshots leave. An unarmed trace costs one atomic load
// a tick.
//
// # What a player may see
//
// A player may trace only what it owns and predicts. Fields that it does not receive in
// snapshots are left out, and references to entities that it cannot see are empty. Systems
// that only the server runs are not listed: what they did between two shared systems is one
// row. A server allows one trace for each player, and four in all.
// [server.Config].AllowTrace decides who may trace. Without it a server allows traces only to
// clients on its own machine.
//
// [OfServer] traces a player from the server, which then asks that client for its own values.
// No AllowTrace is needed for that.
//
// Compatibility: any minor version may change it. See docs/COMPATIBILITY.md.
package trace
