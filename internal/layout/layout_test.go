package layout

import (
	"reflect"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/standard"
	"github.com/foretick/foretick/netcode"
)

// TestDataOnly walks the types of this package: none holds a function, a channel or a value
// of unknown type, except for the handle that a component was declared with.
func TestDataOnly(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var walk func(of reflect.Type, path string)
	walk = func(of reflect.Type, path string) {
		if seen[of] || of == reflect.TypeFor[ecs.Handle]() {
			return
		}
		seen[of] = true
		switch of.Kind() {
		case reflect.Func, reflect.Chan, reflect.Interface, reflect.Map:
			t.Errorf("%s is a %s: the layout is data", path, of.Kind())
		case reflect.Slice, reflect.Array:
			walk(of.Elem(), path+"[]")
		case reflect.Pointer:
			if of.Elem().PkgPath() == reflect.TypeFor[Layout]().PkgPath() {
				walk(of.Elem(), path)
			}
		case reflect.Struct:
			for i := range of.NumField() {
				walk(of.Field(i).Type, path+"."+of.Field(i).Name)
			}
		}
	}
	walk(reflect.TypeFor[Layout](), "Layout")
	require.Greater(t, len(seen), 20)
}

type place struct{ X, Y float32 }
type name [3]byte

func TestLocals(t *testing.T) {
	var l Layout
	require.Zero(t, l.LocalStride())
	l.Locals = []Local{{Size: unsafe.Sizeof(place{})}, {Size: unsafe.Sizeof(name{})}}
	l.PlaceLocals()
	require.Equal(t, []int{2, 10}, []int{l.Locals[0].At, l.Locals[1].At}, "two bytes say which are there")
	require.Equal(t, 13, l.LocalStride())
}

func TestChannels(t *testing.T) {
	l := Layout{Channels: []Channel{{Name: "news", Channel: netcode.Channel{Reliable: true}}, {Name: "effects"}}}
	require.Equal(t, standard.GameChannels+1, l.ChannelNamed("effects"))
	require.Equal(t, -1, l.ChannelNamed("chat"))
	all := l.NetChannels()
	require.Len(t, all, standard.GameChannels+2)
	for i := range all {
		require.Equal(t, all[i].Reliable, l.Reliable(uint8(i)), i)
	}
	require.Equal(t, []bool{true, true, true, false}, []bool{l.Reliable(0), l.Reliable(1), l.Reliable(2), l.Reliable(3)})
}

// TestUnpredicted: what is not predicted is listed, what another build has alone is not.
func TestUnpredicted(t *testing.T) {
	l := Layout{Components: []Component{
		{ID: 7, Predicted: true, Refs: []int{0}},
		{ID: UnknownComponent, Unknown: true, Refs: []int{1}},
		{ID: 9},
		{ID: 4, Refs: []int{2}},
	}}
	systems := []ecs.SystemInfo{{Reads: []ecs.ID{9, 7}, OtherReads: []ecs.ID{4}}, {Reads: []ecs.ID{4}, Tags: []string{"server"}}}
	l.FindUnpredicted()
	l.FindUnpredictedReads(systems)
	require.Equal(t, Unpredicted{Components: []int{2, 3}, Refs: true, Read: []int{2}}, l.Unpredicted)
	require.True(t, l.PredictedRefs)
	require.Equal(t, []int{3}, l.ReadOfOthers(systems))
	require.Equal(t, []int{2, -1}, []int{l.Index(9), l.Index(5)})
}

// TestFromOthers follows what shared systems compute from others, through components and
// singletons. What they compute from their own rows alone is not reached.
func TestFromOthers(t *testing.T) {
	l := Layout{Components: []Component{
		{ID: 1, Name: "place", Singleton: -1}, {ID: 2, Name: "speed", Singleton: -1}, {ID: 3, Name: "health", Singleton: -1},
		{ID: 4, Name: "ammo", Singleton: -1}, {Name: "score", Singleton: 0},
	}}
	systems := []ecs.SystemInfo{
		{Reads: []ecs.ID{2}, Writes: []ecs.ID{3}},
		{OtherReads: []ecs.ID{1}, Writes: []ecs.ID{2}},
		{Writes: []ecs.ID{4}},
		{OtherReads: []ecs.ID{1}, Writes: []ecs.ID{4}, Tags: []string{"server"}},
	}
	reached := func() (names []string) {
		l.FindFromOthers(systems)
		for _, name := range []string{"place", "speed", "health", "ammo", "score", "a prefab"} {
			if l.FromOthers.Names(&l, name) {
				names = append(names, name)
			}
		}
		return names
	}
	require.Equal(t, []string{"speed", "health"}, reached())
	systems = append(systems, ecs.SystemInfo{Reads: []ecs.ID{3}, SingleWrites: []ecs.ID{0}, Structural: true})
	require.Equal(t, []string{"speed", "health", "score", "a prefab"}, reached())
	systems = append(systems, ecs.SystemInfo{Once: true, Writes: []ecs.ID{4}})
	require.Contains(t, reached(), "ammo")
}
