package dtls

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport/internal/nettest"
	"github.com/foretick/foretick/transport/udp"
)

// TestCounts: the counters of the socket below are among those of the endpoint.
func TestCounts(t *testing.T) {
	cert, err := NewCertificate()
	require.NoError(t, err)
	e, err := Listen("127.0.0.1:0", Config{Certificate: &cert})
	require.NoError(t, err)
	require.NoError(t, e.Close(0, ""))
	nettest.FillCounters(&e.counters)
	nettest.Counts(t, "dtls", e.Counters(), e)
	nettest.Counts(t, "udp", e.Unwrap().(*udp.Endpoint).Counters(), e)
}
