package late

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/ecs"
)

type spot struct{ X float32 }

// yard is a world in which each tick spawns entities with names.
type yard struct {
	world *ecs.World
	kind  ecs.Prefab
	names names
	tick  Tick
}

func newYard(t *testing.T, window Tick) *yard {
	y := &yard{names: newNames(window, window+4, true)}
	types := ecs.NewTypes()
	var at ecs.Component[spot]
	require.NoError(t, types.Register(&at))
	require.NoError(t, types.RegisterPrefab(&y.kind, "kind", &at))
	y.world = ecs.NewWorld(types, ecs.WorldConfig{})
	return y
}

// step begins a tick, and spawns entities.
func (y *yard) step(t *testing.T, spawns int) (spawned []ecs.Entity) {
	y.tick++
	y.names.forget(int(y.tick) % len(y.names.ticks))
	clear(y.names.ordinals)
	for range spawns {
		it := y.names.find(y.world, y.names.count(spawnKey{tick: y.tick}), false)
		require.NoError(t, ecs.Engine(y.world).Manager().Place(it.Entity, &y.kind, ecs.Nobody))
		spawned = append(spawned, it.Entity)
	}
	return spawned
}

// end ends the tick.
func (y *yard) end() {
	y.names.look(y.world)
	y.names.sweep(y.world, y.tick)
}

// Handles of entities that are gone are freed as fast as new ones are reserved.
func TestNamesAreGivenBack(t *testing.T) {
	y := newYard(t, 6)
	var old []ecs.Entity
	for range 3000 {
		for _, e := range old {
			ecs.Engine(y.world).Manager().Destroy(e)
		}
		old = y.step(t, 20)
		y.end()
	}
	require.Less(t, len(y.names.reserved), 2000)
	require.Less(t, len(y.names.placed), 20*(6+3))
}

// A handle is not freed while a save has its entity, even if the entity died before.
func TestNamesAreKeptForSaves(t *testing.T) {
	y := newYard(t, 6)
	x := y.step(t, 320)[0]
	y.end()
	for y.names.next%len(y.names.reserved) > 0 { // until the next look begins at x
		y.step(t, 0)
		y.end()
	}
	history := ecs.Engine(y.world).NewHistory(1)
	history.Save(0)
	y.step(t, 0)
	ecs.Engine(y.world).Manager().Destroy(x)
	y.end() // x is dead now
	require.Equal(t, y.tick, y.names.reserved[0].died)
	history.Restore(0) // a late command undoes that
	y.names.keep(y.tick - 1)
	require.True(t, y.world.Alive(x))
	y.tick += 60 // x does not run in these ticks
	ecs.Engine(y.world).Manager().Destroy(x)
	y.names.next = 0
	y.end() // it dies again
	require.True(t, slices.ContainsFunc(y.names.reserved, func(it *Spawn) bool { return it.Entity == x }), "a save holds x, and its handle was given back")
}

// In each run of its tick a spawn has the same name, until a tick has ended without the spawn.
func TestNamesEnd(t *testing.T) {
	y := newYard(t, 6)
	first := y.step(t, 1)[0]
	y.end()
	again := func(test bool) *Spawn { return y.names.find(y.world, spawnKey{tick: y.tick}, test) }
	require.Equal(t, first, again(false).Entity)
	ecs.Engine(y.world).Manager().Destroy(first)
	y.end()
	require.Equal(t, first, again(true).Entity, "a test changes nothing")
	require.NotEqual(t, first, again(false).Entity)
}
