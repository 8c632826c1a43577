package snapshot

// Tick is a step of the simulation. Tick 0 is "none": a match begins at 1,
// and its ticks do not go round past 2³² (2 years at 60 Hz).
type Tick = uint32

// NetID names an entity on the server, for good: it is never used for another
// entity, and never leaves the server. Ids given in the order of creation keep
// packets independent of what their viewers cannot see. Zero is none.
type NetID uint32

// Everyone as an owner makes every viewer one: each receives the entity as only
// an owner does, on the simulation grid, among its own. It is for entities that
// all viewers predict, such as a crate that anybody may push.
const Everyone uint16 = 0xFFFF

// WireID names an entity on one connection. It is allotted when the entity is
// first shown to that viewer, and used for another only after its removal was
// delivered and at least 64 ticks went by. Zero is none.
type WireID uint16

// Refs translates references between entities. On a server it translates between
// the world's entities and [NetID]; on a client between the world's entities and
// [WireID]. Zero is none on both sides.
type Refs interface {
	// Net returns the network id (server) or wire id (client) of an entity, or 0.
	Net(entity uint64) uint32
	// Entity returns the local entity of a network id or wire id, or 0.
	Entity(ref uint32) uint64
}

// after tells whether a is later than b, on the circle of ticks.
func after(a, b Tick) bool { return int32(a-b) > 0 }
