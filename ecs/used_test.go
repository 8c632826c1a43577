package ecs_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/ecs"
)

// TestUsed: what a world says of its hard limits grows with tables and with slots.
func TestUsed(t *testing.T) {
	types := ecs.NewTypes()
	var a ecs.Component[int32]
	require.NoError(t, types.Register(&a))
	var k ecs.Prefab
	require.NoError(t, types.RegisterPrefab(&k, "k", &a))
	w := ecs.NewWorld(types, ecs.WorldConfig{})
	require.Less(t, w.Used(), 0.001)
	for owner := range ecs.Owner(3000) {
		w.Destroy(w.Spawn(&k, owner+1))
	}
	tables := w.Used()
	require.InDelta(t, 3000.0/65535, tables, 0.01, "a table each")
	w = ecs.NewWorld(types, ecs.WorldConfig{})
	out := make([]ecs.Entity, 1<<20)
	w.SpawnBatch(&k, ecs.Nobody, out)
	require.InDelta(t, 2.0*(1<<20)/(1<<24), w.Used(), 0.01, "half of all slots are the server's")
	w.DestroyBatch(out)
	w.SpawnBatch(&k, ecs.Nobody, out)
	require.InDelta(t, 2.0*(1<<20)/(1<<24), w.Used(), 0.01, "they are used again")
}
