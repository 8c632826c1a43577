package schema

// Tick is a step of the simulation. Tick 0 is "none": a match begins at 1. A server ends its match
// shortly before 2³² ticks (2 years at 60 Hz).
type Tick = uint32

// WireID names an entity on one connection. It is assigned when the entity is first
// shown to that viewer. It is reused only after its removal was delivered and at least
// 64 ticks passed. Zero is none.
type WireID uint16

// Refs translates references between entities: on a server between the world's entities
// and [snapshot.NetID], on a client between the world's entities and [WireID]. Zero is
// none on both sides.
type Refs = interface {
	// Net returns the network id (server) or wire id (client) of an entity, or 0.
	Net(entity uint64) uint32
	// Entity returns the local entity of a network id or wire id, or 0.
	Entity(ref uint32) uint64
}
