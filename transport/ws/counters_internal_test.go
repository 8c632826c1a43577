//go:build !js

package ws

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport/internal/nettest"
)

func TestCounts(t *testing.T) {
	e, err := NewServer(Config{})
	require.NoError(t, err)
	require.NoError(t, e.Close(0, ""))
	nettest.FillCounters(&e.counters)
	nettest.Counts(t, "ws", e.Counters(), e)
}
