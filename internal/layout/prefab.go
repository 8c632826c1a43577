package layout

import "github.com/foretick/foretick/ecs"

// Prefab is a declared prefab of replicated entities.
type Prefab struct {
	ECS             *ecs.Prefab // nil: another build's, passed over
	Own             int         // its number in this build
	Common          bool        // a shared physics object: every client predicts it while nobody owns it
	RemotePredicted bool        // clients predict those of other players
	Interpolated    bool        // its owner's client does not predict it unless the server says so
	Spawn           Spawn
}

// Spawn is how clients predict the entities of a prefab that shared systems spawn.
type Spawn uint8

// The ways.
const (
	NotSpawned       Spawn = iota // shared systems do not spawn it
	SpawnMatched                  // the client's entity becomes the server's
	SpawnedForClient              // each client has its own
)

// Matched reports whether a client's own entity becomes the server's.
func (p *Prefab) Matched() bool { return p.Spawn == SpawnMatched }

// ClientOnly reports whether each client has its own entities of the prefab.
func (p *Prefab) ClientOnly() bool { return p.Spawn == SpawnedForClient }
