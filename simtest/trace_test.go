package simtest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/inspect/trace"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/internal/plantedtest"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// tracedMatch is a match of the planted game in virtual time.
type tracedMatch struct {
	*simtest.Match
	server  *server.Server
	clients []*client.Client
}

func newTraced(t *testing.T, seed uint64, players int, link sim.Link, cfg server.Config, plant plantedtest.Plant) *tracedMatch {
	m := &tracedMatch{Match: simtest.New(seed)}
	end := func() simtest.Player { return (&planted{}).End(plant) }
	cfg.Protocol = end().Protocol
	var err error
	m.server, err = m.Serve(cfg)
	require.NoError(t, err)
	for range players {
		player := end()
		c, err := m.Join(client.Config{Protocol: player.Protocol, Sample: player.Sample}, simtest.Seat{Up: link, Down: link})
		require.NoError(t, err)
		m.clients = append(m.clients, c)
	}
	return m
}

func everybody(foretick.PlayerID) bool { return true }

var (
	steady = sim.Link{Latency: 40 * time.Millisecond, Jitter: 5 * time.Millisecond}
	lossy  = sim.Link{Latency: 60 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.05, Duplicate: 0.02, Reorder: 0.02}
)

// namesPlanted fails unless the trace names the planted fault.
func namesPlanted(t *testing.T, tr *trace.Trace, want plantedtest.Place) {
	t.Helper()
	state, why := tr.Status()
	require.Equal(t, trace.Armed, state, why)
	f, ok := trace.First(tr.Tables())
	require.True(t, ok)
	require.Equal(t, want, plantedtest.Place{System: f.System, Prefab: f.Prefab, Component: f.Component, Field: f.Field}, f.String())
	require.Equal(t, f.Before.Client, f.Before.Server, f.String())
	require.NotNil(t, f.After.Client)
	require.NotEqual(t, f.After.Client, f.After.Server, f.String())
}

func TestTraceNamesPlantedFaults(t *testing.T) {
	sorts := 0
	for name, fault := range plantedtest.Faults() {
		if !fault.Recurs() {
			continue
		}
		sorts++
		t.Run(name, func(t *testing.T) {
			m := newTraced(t, 1, 2, steady, server.Config{AllowTrace: everybody}, fault.Plant)
			m.Run(2 * time.Second)
			tr := trace.OfClient(m.clients[1])
			tr.Look()
			m.Run(6 * time.Second) // 120 ticks
			require.NoError(t, m.Err())
			namesPlanted(t, tr, fault.Traced)
		})
	}
	require.Equal(t, 12, sorts)
}

// drifted plants a fault that recurs all the time.
func drifted(g *planted, p *foretick.Protocol) {
	nudge(p, g, func(f *foretick.Frame, _ ecs.Rows, _ int) float32 {
		if f.IsServer() {
			return 0.25
		}
		return 0
	})
}

// driftedIn is where drifted writes.
var driftedIn = plantedtest.Place{System: "planted", Prefab: "player", Component: "position", Field: "X"}

// A trace of a match without a fault finds nothing, on lossy links and with late inputs, even if
// the server alone moves the player.
func TestTraceOfSoundMatchNamesNothing(t *testing.T) {
	moved := func(g *planted, p *foretick.Protocol) {
		p.Server("wind", func(f *foretick.ServerFrame, rows ecs.Rows) {
			for i, pos := 0, g.Pos.Slice(rows); i < len(pos) && f.Tick%7 == 0; i++ {
				pos[i].Y += 0.5
			}
		}, ecs.Write(&g.Pos), ecs.After("move"))
	}
	for seed := range uint64(costtest.Count(1, 6)) {
		cfg := server.Config{AllowTrace: everybody}
		if seed%2 == 1 {
			cfg.Late.Window = 150 * time.Millisecond
		}
		for _, plant := range []plantedtest.Plant{nil, moved} {
			m := newTraced(t, seed, 2, lossy, cfg, plant)
			m.Run(2 * time.Second)
			tr, compared, wind := trace.OfClient(m.clients[1]), 0, 0
			for at := 2 * time.Second; at < 8*time.Second; at += 500 * time.Millisecond {
				tr.Look()
				m.Run(at)
				tables := tr.Tables()
				f, ok := trace.First(tables)
				require.False(t, ok, f)
				for _, table := range tables {
					if table.Client && table.Server {
						compared++
					}
					if table.First != nil && table.First.Excuse == trace.TheServer {
						require.Equal(t, trace.ServerAlone, table.First.System)
						wind++
					}
				}
			}
			require.NoError(t, m.Err())
			require.Greater(t, compared, 100)
			require.Equal(t, plant != nil, wind > 0)
		}
	}
}

// Matches of one seed are the same with traces and without.
func TestTraceChangesNothing(t *testing.T) {
	play := func(look bool, plant plantedtest.Plant) (all []uint64) {
		m := newTraced(t, 3, 3, lossy, server.Config{AllowTrace: everybody, Late: server.Late{Window: 100 * time.Millisecond}}, plant)
		for at := time.Second; at < 6*time.Second; at += 100 * time.Millisecond {
			m.Run(at)
			if look {
				trace.OfClient(m.clients[0]).Look()
				trace.OfServer(m.server, 2).Look()
			}
			all = append(all, probe.OfServer(m.server).StateHash())
			for _, c := range m.clients {
				all = append(all, probe.OfClient(c).Hash())
			}
		}
		require.NoError(t, m.Err())
		if look {
			for _, tr := range []*trace.Trace{trace.OfClient(m.clients[0]), trace.OfServer(m.server, 2)} {
				require.Greater(t, len(tr.Tables()), 10)
			}
		}
		return all
	}
	for _, plant := range []plantedtest.Plant{nil, drifted} {
		require.Equal(t, play(false, plant), play(true, plant))
	}
}

// The server's own program gets the same trace, without AllowTrace.
func TestTraceFromTheServer(t *testing.T) {
	m := newTraced(t, 5, 2, steady, server.Config{}, drifted)
	m.Run(2 * time.Second)
	tr := trace.OfServer(m.server, 2)
	tr.Look()
	m.Run(5 * time.Second)
	namesPlanted(t, tr, driftedIn)
	other := trace.OfServer(m.server, 9)
	other.Look()
	m.Run(m.Net.Now() + 100*time.Millisecond)
	state, why := other.Status()
	require.Equal(t, trace.Refused, state)
	require.Equal(t, "the player does not play", why)

	tr.Stop()
	m.Run(m.Net.Now() + time.Second)
	state, _ = tr.Status()
	require.Equal(t, trace.Off, state)
	n := m.clients[1].Stats().BytesOut
	m.Run(m.Net.Now() + time.Second)
	silent := m.clients[1].Stats().BytesOut - n
	tr.Look()
	m.Run(m.Net.Now() + time.Second)
	require.Greater(t, m.clients[1].Stats().BytesOut-n-silent, silent+500, "the client sends its own values only while it is asked")
	require.Zero(t, m.server.Stats().Malformed)
}

// A server refuses traces to players that AllowTrace refuses, and more than four traces. Without
// AllowTrace it refuses every address that is not this machine's.
func TestTraceIsRefused(t *testing.T) {
	m := newTraced(t, 7, 6, steady, server.Config{AllowTrace: func(player foretick.PlayerID) bool { return player != 1 }}, nil)
	m.Run(2 * time.Second)
	refused := map[string]int{}
	for _, c := range m.clients {
		trace.OfClient(c).Look()
	}
	m.Run(3 * time.Second)
	for _, c := range m.clients {
		if state, why := trace.OfClient(c).Status(); state == trace.Refused {
			refused[why]++
		}
	}
	require.Equal(t, map[string]int{
		"the server does not allow it: see server.Config.AllowTrace":            1,
		"the server has as many traces as it may: try again when another ended": 1,
	}, refused)

	m = newTraced(t, 7, 1, steady, server.Config{}, nil)
	m.Run(2 * time.Second)
	tr := trace.OfClient(m.clients[0])
	tr.Look()
	m.Run(3 * time.Second)
	state, why := tr.Status()
	require.Equal(t, trace.Refused, state)
	require.Contains(t, why, "AllowTrace")
}

// A trace ends 30 seconds after the last look.
func TestTraceLapses(t *testing.T) {
	m := newTraced(t, 9, 1, steady, server.Config{AllowTrace: everybody}, nil)
	m.Run(2 * time.Second)
	tr := trace.OfClient(m.clients[0])
	tr.Look()
	m.Run(31 * time.Second)
	state, _ := tr.Status()
	require.Equal(t, trace.Armed, state)
	m.Run(33 * time.Second)
	state, _ = tr.Status()
	require.Equal(t, trace.Off, state)
	n := m.server.Stats().BytesOut
	m.Run(34 * time.Second)
	quiet := m.server.Stats().BytesOut - n
	tr.Look()
	m.Run(36 * time.Second)
	require.Greater(t, m.server.Stats().BytesOut-n-quiet, 2*quiet+500)
}

// A client whose trace is armed also records earlier ticks, from its history.
func TestTraceOfPastTicks(t *testing.T) {
	m := newTraced(t, 11, 1, sim.Link{Latency: 150 * time.Millisecond}, server.Config{AllowTrace: everybody}, nil)
	m.Run(3 * time.Second)
	tr, now := trace.OfClient(m.clients[0]), m.clients[0].View().Tick
	tr.Look()
	for len(tr.Tables()) == 0 {
		m.Run(m.Net.Now() + 10*time.Millisecond)
	}
	first := tr.Tables()[0]
	require.Less(t, first.Tick, now-5)
	require.True(t, first.Client)
	require.Equal(t, "move", first.Rows[len(first.Rows)-1].System)
}

// The trace of another server of the same protocol can import an export, and nothing else.
func TestTraceExport(t *testing.T) {
	m := newTraced(t, 13, 1, steady, server.Config{AllowTrace: everybody}, drifted)
	m.Run(2 * time.Second)
	tr := trace.OfClient(m.clients[0])
	tr.Look()
	m.Run(4 * time.Second)
	b := tr.Export()
	again := newTraced(t, 13, 1, steady, server.Config{}, drifted)
	other := trace.OfServer(again.server, 1)
	require.NoError(t, other.Import(b))
	require.NotEmpty(t, other.Tables())
	for _, bad := range [][]byte{nil, b[:5], b[:len(b)-1], append(b[:len(b):len(b)], 7, 1, 1)} {
		require.ErrorIs(t, other.Import(bad), trace.ErrExport)
	}
}
