package foretick

import "github.com/foretick/foretick/ecs"

// SpawnConfig sets how a client predicts the entities of a prefab that shared systems
// spawn. The zero value is ready to use: the predicted entity becomes the server's when the
// server's arrives. If the server made none, it is removed. It is rolled back, compared and
// corrected like all predicted state.
//
// The functions are optional. They are called on the client of the entity's owner, and not
// for prefabs that are ClientOnly.
type SpawnConfig struct {
	// ClientOnly makes the client keep its own entity: it is not sent the server's.
	// Rollbacks do not touch it, and a replay of its tick does not spawn another. Use it for
	// bullets that live for a few ticks. On a client its owner is [ecs.ClientOnly].
	ClientOnly bool
	// OnPredicted is called at the end of the tick that spawned an entity: once, however
	// often that tick is replayed.
	OnPredicted func(f *Frame, e ecs.Entity)
	// OnConfirmed is called when the server's entity took over, under the same handle. It
	// is also called when prediction had already ended the entity, and the server then
	// reports that it spawned and ended it too.
	OnConfirmed func(f *Frame, e ecs.Entity)
	// OnCancelled is called for an entity that the server did not make, or that a replay of
	// its tick did not make. The entity is gone already.
	OnCancelled func(f *Frame, e ecs.Entity)
	// OnRestored is called when a correction brings back an entity that prediction had
	// destroyed. It has the same handle.
	OnRestored func(f *Frame, e ecs.Entity)
}
