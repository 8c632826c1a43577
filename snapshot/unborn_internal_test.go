package snapshot

import (
	"reflect"
	"testing"
	"unsafe"

	"github.com/foretick/foretick/schema"
	"github.com/stretchr/testify/require"
)

// TestUnbornAreForgotten: what is said of an entity that is never put, since it lived
// for less than a tick, is forgotten with that tick.
func TestUnbornAreForgotten(t *testing.T) {
	r := schema.NewRegistry()
	type pos struct{ X int32 }
	s, err := schema.Compile(reflect.TypeFor[pos](), schema.Options{})
	require.NoError(t, err)
	_, err = r.Component(s)
	require.NoError(t, err)
	_, err = r.Prefab("k", []int{0}, nil)
	require.NoError(t, err)
	src := NewSource(r, SourceConfig{})
	to := src.NewSender(1, SenderConfig{})
	var v pos
	var sent Sent
	for tick := schema.Tick(1); tick < 3000; tick++ {
		passing := NetID(tick * 10)
		to.SetVisible(passing, false)
		to.SetAudience(passing+1, schema.GameAudience(0), true)
		to.SetVisible(passing+2, false) // this one is put
		src.Begin(tick)
		src.Put(passing+2, 0, 0, schema.MaskOf(0), []unsafe.Pointer{unsafe.Pointer(&v)}, nil)
		src.End()
		if tick%3 == 0 { // settings are dropped for viewers that are sent fewer snapshots, too
			to.Append(nil, 1000, &sent)
			_, shown := to.Wire(passing + 2)
			require.False(t, shown)
		}
		require.LessOrEqual(t, len(to.unborn), 3*2*unbornTicks)
	}
	for tick := schema.Tick(3000); tick < 3000+2*unbornTicks; tick++ {
		src.Begin(tick)
		src.End()
		to.Append(nil, 1000, &sent)
	}
	require.Empty(t, to.unborn)
}
