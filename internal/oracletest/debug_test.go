//go:build foretick_debug

package oracletest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMatchesReplayInDebugBuilds: the games declare everything that their systems do, and a tape that
// a debug build records replays in a debug build.
func TestMatchesReplayInDebugBuilds(t *testing.T) {
	for _, p := range plans() {
		m, err := p.live()
		require.NoError(t, err)
		b, err := m.bytes()
		require.NoError(t, err)
		d, err := p.replay(b)
		require.NoError(t, err)
		require.Empty(t, d.differences(m.sums.digest(p.name), replayed, p.ticks()))
	}
}
