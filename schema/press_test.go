package schema_test

import (
	"reflect"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/schema"
)

// Fields tagged press are copied, whatever their type, and no others. If a one-shot is tagged, only tagged ones
// count as a press.
func TestPress(t *testing.T) {
	type look struct {
		Yaw, Pitch float32 `net:"angle"`
	}
	type command struct {
		Move int8
		Aim  look       `net:"press"`
		Turn [4]float32 `net:"quat,press"`
		At   [2]float64 `net:"vec,min=-8,max=8,step=0.5,press"`
		Held bool
		Slot [3]uint16 `net:"press"`
		Last int64
		Jump bool `net:"oneshot"`
		Fire bool `net:"oneshot,press"`
	}
	s, err := schema.Compile(reflect.TypeFor[command](), schema.Options{})
	require.NoError(t, err)
	src := command{1, look{2, 3}, [4]float32{4, 5, 6, 7}, [2]float64{1, 2}, true, [3]uint16{8, 9, 10}, 11, true, true}
	dst := command{Move: -1, Last: -11}
	require.True(t, s.CopyPress(unsafe.Pointer(&dst), unsafe.Pointer(&src)))
	require.Equal(t, command{-1, src.Aim, src.Turn, src.At, false, src.Slot, -11, false, false}, dst)
	require.True(t, s.Pressed(unsafe.Pointer(&src)))
	require.False(t, s.Pressed(unsafe.Pointer(&command{Jump: true})), "Fire alone counts")
	require.Zero(t, testing.AllocsPerRun(10, func() { s.CopyPress(unsafe.Pointer(&dst), unsafe.Pointer(&src)) }))

	type untagged struct {
		X          int8
		Jump, Fire bool `net:"oneshot"`
	}
	s, err = schema.Compile(reflect.TypeFor[untagged](), schema.Options{})
	require.NoError(t, err)
	require.True(t, s.Pressed(unsafe.Pointer(&untagged{Jump: true})))
	require.False(t, s.Pressed(unsafe.Pointer(&untagged{X: 1})))
	type chosen struct {
		Weapon uint16  `net:"max=400,oneshot"`
		Emote  [2]int8 `net:"min=-3,max=3,oneshot"`
	}
	s, err = schema.Compile(reflect.TypeFor[chosen](), schema.Options{})
	require.NoError(t, err)
	require.True(t, s.Pressed(unsafe.Pointer(&chosen{Weapon: 256})))
	require.True(t, s.Pressed(unsafe.Pointer(&chosen{Emote: [2]int8{0, -1}})))
	require.False(t, s.Pressed(unsafe.Pointer(&chosen{})))
	now, before, over := chosen{256, [2]int8{0, 2}}, chosen{7, [2]int8{-1, 3}}, make([]int64, 3)
	require.Empty(t, s.Gather(unsafe.Pointer(&now), unsafe.Pointer(&before), over, nil))
	require.Equal(t, chosen{256, [2]int8{-1, 2}}, now, "the later sample counts if it has one")
	var sent chosen
	require.NoError(t, s.Unpack(s.Pack(unsafe.Pointer(&now), nil), unsafe.Pointer(&sent)))
	require.Equal(t, now, sent)
	require.Empty(t, s.Deduct(unsafe.Pointer(&now), unsafe.Pointer(&sent), over, 3, nil))
	require.Zero(t, now)
	s.ClearMomentary(unsafe.Pointer(&sent))
	require.Zero(t, sent)

	s, err = schema.Compile(reflect.TypeFor[untagged](), schema.Options{})
	require.NoError(t, err)
	kept := untagged{X: 5}
	require.False(t, s.CopyPress(unsafe.Pointer(&kept), unsafe.Pointer(&untagged{X: 1})))
	require.Equal(t, untagged{X: 5}, kept)
}
