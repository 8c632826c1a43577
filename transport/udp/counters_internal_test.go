package udp

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport/internal/nettest"
)

func TestCounts(t *testing.T) {
	e, err := Listen("127.0.0.1:0", Config{})
	require.NoError(t, err)
	require.NoError(t, e.Close(0, ""))
	nettest.FillCounters(&e.counters)
	e.reads.Add(7)
	nettest.Counts(t, "udp", e.Counters(), e)
}
