package contain_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/contain"
)

func TestCall(t *testing.T) {
	ran := false
	require.Nil(t, contain.Call(func() { ran = true }))
	require.True(t, ran)
	failed := contain.Call(func() { panic("of the game") })
	require.Equal(t, "of the game", failed.Value)
	require.Contains(t, string(failed.Stack), "contain_test.go")
	require.Equal(t, contain.Goexit, contain.Call(runtime.Goexit).Value)
}

func TestRarely(t *testing.T) {
	var r contain.Rarely
	var at time.Time // zero is a time as others
	told := 0
	for range 3 * 3600 {
		if skipped, due := r.Due(at); due {
			require.Equal(t, told > 0, skipped == 3599)
			told++
		}
		at = at.Add(time.Second)
	}
	require.Equal(t, 3, told)
}
