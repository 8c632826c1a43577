package server

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// After a while an address that connected often has its allowance back, and is forgotten. Other
// addresses are not affected.
func TestVisits(t *testing.T) {
	var v visits
	now := 10 * time.Second
	for range briefMost {
		require.GreaterOrEqual(t, v.now("a", now), 1.0)
		v.charge("a", now)
	}
	require.Less(t, v.now("a", now), 1.0)
	require.EqualValues(t, briefMost, v.now("b", now))
	require.GreaterOrEqual(t, v.now("a", now+time.Second), 1.0)
	v.charge("", now)
	v.forget(now + 10*time.Second)
	require.Len(t, v.by, 1)
	v.forget(now + 20*time.Second)
	require.Empty(t, v.by)
	for i := range 3 * maxVisits {
		v.charge(fmt.Sprint(i), now)
		require.LessOrEqual(t, len(v.by), maxVisits)
	}
}

// TestYields: when absent players have to give places up, the one that played least is first. Among
// those that played equally long it is the one that has been absent longest.
func TestYields(t *testing.T) {
	s := func(played uint64, since time.Duration) *session { return &session{ticksPlayed: played, since: since} }
	require.True(t, s(4, 9).yields(s(5, 1)))
	require.False(t, s(5, 1).yields(s(4, 9)))
	require.True(t, s(5, 1).yields(s(5, 2)))
	require.False(t, s(5, 2).yields(s(5, 1)))
}
