package simtest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/inspect/trace"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// traced plays a match of two players in virtual time and traces the second from its client.
func traced(t *testing.T, seed uint64, plant func(g *planted, p *foretick.Protocol), allow func(foretick.PlayerID) bool) (*simtest.Match, *foretick.Client, *trace.Trace) {
	m := simtest.New(seed)
	end := (&planted{}).end(plant)
	_, err := m.Serve(foretick.ServerConfig{Protocol: end.Protocol, AllowTrace: allow})
	require.NoError(t, err)
	link := sim.Link{Latency: 40 * time.Millisecond, Jitter: 5 * time.Millisecond}
	var clients []*foretick.Client
	for range 2 {
		end := (&planted{}).end(plant)
		c, err := m.Join(foretick.ClientConfig{Protocol: end.Protocol, Sample: end.Sample}, simtest.Seat{Up: link, Down: link})
		require.NoError(t, err)
		clients = append(clients, c)
	}
	m.Run(2 * time.Second)
	return m, clients[1], trace.OfClient(clients[1])
}

func everybody(foretick.PlayerID) bool { return true }

func TestTraceNamesPlantedFaults(t *testing.T) {
	for name, fault := range plantedFaults(t) {
		if !fault.recurs {
			continue
		}
		t.Run(name, func(t *testing.T) {
			m, _, tr := traced(t, 1, fault.plant, everybody)
			tr.Look()
			m.Run(4 * time.Second)
			state, why := tr.Status()
			require.Equal(t, trace.Armed, state, why)
			f, ok := trace.First(tr.Tables())
			require.True(t, ok, tr.Tables())
			t.Log(f)
			require.Equal(t, "planted", f.System)
			require.Equal(t, "position", f.Component)
			require.Equal(t, "X", f.Field)
		})
	}
}
