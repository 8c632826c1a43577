//go:build foretick_debug

package inspect

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// In a debug build the names of the traffic series say that the bytes are not those of the game.
func TestTrafficOfDebugBuildIsMarked(t *testing.T) {
	for _, s := range []Series{serverSeries[srvOut], serverSeries[srvIn], clientSeries[cliOut], clientSeries[cliIn]} {
		require.Equal(t, "Traffic", s.Chart)
		require.Contains(t, s.Name, "debug build")
	}
}
