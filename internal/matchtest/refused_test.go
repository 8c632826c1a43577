package matchtest

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// doorman is an endpoint that refused some peers.
type doorman struct {
	*sim.Endpoint
	forged, banned uint64
	asked          int
}

func (d *doorman) AppendCounts(dst []transport.Count) []transport.Count {
	d.asked++
	return append(dst, transport.Count{Layer: "sim", Name: "overrun", N: 5},
		transport.Count{Layer: "sim", Name: "forged", Refusal: "another key", N: d.forged},
		transport.Count{Layer: "sim", Name: "banned", Refusal: "banned", N: d.banned})
}

// TestRefusedByTheEndpoint: peers that a server's endpoint refuses are counted in the server's
// figures, and give one line of its log a minute.
func TestRefusedByTheEndpoint(t *testing.T) {
	var log bytes.Buffer
	var g Walk
	end := &doorman{Endpoint: sim.NewNetwork(1).Listen()}
	srv, err := server.New(server.Config{Protocol: g.Protocol(), Transport: end, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	require.NoError(t, err)
	now := time.Unix(9000, 0)
	pass := func(d time.Duration) {
		for end := now.Add(d); now.Before(end); now = now.Add(20 * time.Millisecond) {
			srv.Step(now)
		}
	}
	lines := func() (all []string) {
		for line := range strings.Lines(log.String()) {
			if strings.Contains(line, "refused in the last minute") {
				all = append(all, line)
			}
		}
		return all
	}
	pass(5 * time.Second)
	require.Empty(t, lines())
	end.forged = 312
	pass(2 * time.Second)
	require.Len(t, lines(), 1)
	require.Contains(t, lines()[0], "312 peers refused in the last minute: another key")
	end.forged, end.banned = 313, 2
	pass(50 * time.Second)
	require.Len(t, lines(), 1)
	pass(12 * time.Second)
	require.Len(t, lines(), 2)
	require.Contains(t, lines()[1], "3 peers refused in the last minute: banned (2), another key (1)")
	pass(5 * time.Minute)
	require.Len(t, lines(), 2)
	require.InDelta(t, (now.Sub(time.Unix(9000, 0)))/time.Second, end.asked, 3, "once a second")

	var f, copied stats.Server
	srv.Figures(&f)
	copied.Copy(&f)
	want := []stats.Count{{Layer: "sim", Name: "overrun", N: 5}, {Layer: "sim", Name: "forged", Refusal: "another key", N: 313}, {Layer: "sim", Name: "banned", Refusal: "banned", N: 2}}
	require.Equal(t, want, f.Endpoint)
	require.Equal(t, want, copied.Endpoint)
	require.Zero(t, testing.AllocsPerRun(100, func() { srv.Figures(&f) }))
}
