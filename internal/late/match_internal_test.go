package late

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// The first tick has no tick before it, and ticks continue beyond the range of a 32-bit int.
func TestMatchStateInAnyTick(t *testing.T) {
	var n, other int32
	kept := []Singleton{{unsafe.Pointer(&other), 4}, {unsafe.Pointer(&n), 4}}
	for _, tick := range []Tick{0, 1, 1<<31 - 1, 1 << 31, 1<<32 - 1} {
		m := newMatchState(kept, 3)
		n, other = 5, 50
		require.False(t, m.enter(tick), "nothing was saved in tick %d", tick)
		require.EqualValues(t, 5, n)
		m.save(tick)
		n, other = 6, 60
		require.False(t, m.enter(tick-1))
		require.True(t, m.enter(tick))
		require.EqualValues(t, []int32{5, 50}, []int32{n, other}, "as they were in tick %d", tick)
		m.leave()
		require.EqualValues(t, []int32{6, 60}, []int32{n, other})
	}
}
