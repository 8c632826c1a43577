package game

import "unsafe"

// NetworkID is a component of this package that every replicated entity has. It orders
// hashes and holds the entity's prefab.
type NetworkID struct {
	// Net is the network id. On a server it is the entity's own id, which is never sent. On
	// a client it is the id that the connection gave the entity.
	Net uint32
	// Prefab is the index of the entity's prefab in its Protocol.
	Prefab uint16

	Maker uint16 // Maker is the player whose input spawned the entity. 0 is the server.
	Ahead bool   // Ahead is true if the owner of an Interpolated prefab predicts it.
	// Origin is the name that the maker's client gave the entity. 0 means that no client predicted it.
	Origin uint32
}

// Components that this package adds to entities of some prefabs.
type (
	// OriginComponent is sent to the owner of an entity whose prefab is matched. ID is the
	// prediction.SpawnKey.ID of the key under which the owner predicted the entity.
	OriginComponent struct {
		ID uint32 `net:"owner"`
	}
	// LocalComponent marks the entities of ClientOnly prefabs.
	LocalComponent struct{}
	// InterpolatedComponent is sent with every entity of an Interpolated prefab.
	InterpolatedComponent struct {
		Ahead bool `net:"owner"` // the entity's owner predicts it
	}
)

// Names of these components.
const (
	OriginName       = "foretick.Origin"
	LocalName        = "foretick.ClientOnly"
	InterpolatedName = "foretick.Interpolated"
)

// IsKey reports whether a name is a spawn's key. If not, it is a wire id.
func IsKey(ref uint32) bool { return ref>>31 != 0 }

// Sent points at the origin that an entity is sent with. Only the entity's maker receives it, even if
// another player owns the entity now.
func (id *NetworkID) Sent(owner PlayerID) unsafe.Pointer {
	if id.Maker != uint16(owner) {
		return unsafe.Pointer(&NoOrigin)
	}
	return unsafe.Pointer(&id.Origin)
}

// NoOrigin is the origin of an entity that nobody predicted. It is never written.
var NoOrigin OriginComponent
