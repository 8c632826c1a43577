package ecs_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/ecs"
)

type mode uint8

type brain struct {
	Mode  mode `ui:"choice"`
	Slots [2]struct{ Count int8 }
	Angry bool
	speed float32
}

func TestValuesByPath(t *testing.T) {
	types := ecs.NewTypes()
	var c ecs.Component[brain]
	var s ecs.Singleton[Health]
	var k ecs.Prefab
	require.NoError(t, types.Register(&c, ecs.Enum[mode]("idle", "hunt"), ecs.Meta("icon", "skull")))
	require.NoError(t, types.RegisterSingleton(&s))
	require.NoError(t, types.RegisterPrefab(&k, "k", &c))
	require.NoError(t, types.SetDefaultValue(&k, "brain.Mode", "hunt"))
	require.ErrorContains(t, types.SetDefaultValue(&k, "brain.Mod", 1), "brain has brain.Mode, brain.Slots[0].Count")
	w := ecs.NewWorld(types, ecs.WorldConfig{})
	e := w.Spawn(&k, 0)
	require.Equal(t, mode(1), c.Get(w, e).Mode)

	var config map[string]any
	require.NoError(t, json.Unmarshal([]byte(`{"brain.Mode": "idle", "brain.Slots[1].Count": 7, "brain.Angry": true, "brain.speed": 1.5}`), &config))
	for path, v := range config {
		require.NoError(t, w.SetValue(e, path, v))
	}
	want := brain{Angry: true, speed: 1.5}
	want.Slots[1].Count = 7
	require.Equal(t, want, *c.Get(w, e))
	v, err := w.Value(e, "brain.Slots[1].Count")
	require.NoError(t, err)
	require.Equal(t, int8(7), v)

	for path, v := range map[string]any{
		"brain.Mode": "sleep", "brain.Slots[0].Count": 300.0, "brain.Slots[1].Count": 0.5,
		"brain.Angry": 1, "brain.speed": nil, "other.X": 1, "brain": 1,
	} {
		require.Error(t, w.SetValue(e, path, v), path)
	}
	require.Equal(t, want, *c.Get(w, e))
	require.NoError(t, w.SetSingletonValue("Health.Points", 12))
	got, err := w.SingletonValue("Health.Points")
	require.NoError(t, err)
	require.Equal(t, int16(12), got)

	info, f, err := types.Field("brain.Mode")
	require.NoError(t, err)
	require.Equal(t, []string{"idle", "hunt"}, f.Enum)
	require.Equal(t, "choice", f.Tag.Get("ui"))
	require.Equal(t, "skull", info.Meta["icon"])
	require.Len(t, info.Fields, 5)
	w.Destroy(e)
	_, err = w.Value(e, "brain.Mode")
	require.ErrorIs(t, err, ecs.ErrStale)
}
