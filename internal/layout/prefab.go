package layout

import "github.com/foretick/foretick/ecs"

// Prefab is a declared prefab of replicated entities.
type Prefab struct {
	ECS *ecs.Prefab // ECS is nil for a prefab of another build, which is skipped.
	Own int         // Own is its number in this build.
	// Common is true for a shared physics object: every client predicts it while nobody owns it.
	Common          bool
	RemotePredicted bool // RemotePredicted is true if clients predict those of other players.
	// Interpolated is true if its owner's client does not predict it unless the server says so.
	Interpolated bool
	Spawn        Spawn
}

// Spawn is how clients predict the entities of a prefab that shared systems spawn.
type Spawn uint8

// Ways to predict spawned entities.
const (
	NotSpawned       Spawn = iota // shared systems do not spawn entities of the prefab
	SpawnMatched                  // the client's entity becomes the server's
	SpawnedForClient              // each client has its own entity
)

// Matched reports whether a client's own entity becomes the server's.
func (p *Prefab) Matched() bool { return p.Spawn == SpawnMatched }

// ClientOnly reports whether each client has its own entities of the prefab.
func (p *Prefab) ClientOnly() bool { return p.Spawn == SpawnedForClient }
