// Package trace records entities around each system that both ends of a match run, and
// carries the records to the other end.
//
// A [Recorder] writes one tick at a time: the values before the first shared system, and
// what changed before and after each. The record is bytes, the same in a [Ring] of the newest
// ticks, on the wire, and in an export. [Decode] reads it. Values are words on the simulation
// grid, as the owner of an entity receives them in snapshots.
//
// A [Port] is where another goroutine arms a trace and reads both ends' rings. The other
// types belong to the goroutine of their end.
//
// The package knows schemas and numbers, no world and no connection. Package inspect/trace
// compares the records and names the system.
package trace

// Tick counts simulation steps.
type Tick = uint32
