package foretick

// networkID is a component of this package that every replicated entity has. It orders
// hashes and holds the entity's prefab.
type networkID struct {
	// Net is the network id. On a server it is the entity's own id, which is never sent. On
	// a client it is the id that the connection gave the entity.
	Net uint32
	// Prefab is the index of the entity's prefab in its Protocol.
	Prefab uint16

	maker uint16 // maker is the player whose input spawned it. 0 is the server.
	ahead bool   // ahead is true if the owner of an Interpolated prefab predicts it.
	// origin is the name that its maker's client gave it. 0 means that it was not predicted.
	origin uint32
}

// originComponent is sent with every entity of a prefab that is matched, to its owner
// alone: prediction.SpawnKey.ID of the key by which the owner predicted it.
// localComponent says no more than that its prefab is ClientOnly.
type (
	originComponent struct {
		ID uint32 `net:"owner"`
	}
	localComponent struct{}
	// interpolatedComponent is sent with every entity of an Interpolated prefab.
	interpolatedComponent struct {
		Ahead bool `net:"owner"` // its owner predicts it
	}
)

const (
	originName = "foretick.Origin"
	localName  = "foretick.ClientOnly"

	interpolatedName = "foretick.Interpolated"
)

// isKey reports whether a name is a spawn's key, and not a wire id.
func isKey(ref uint32) bool { return ref>>31 != 0 }
