//go:build !foretick_debug

package simtest_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/inspect/trace"
	"github.com/foretick/foretick/transport/udp"
)

// udpTrace is a match of two players over UDP on this machine, the second of which is traced.
type udpTrace struct {
	name    string
	server  *foretick.Server
	clients []*foretick.Client
	trace   *trace.Trace
	since   foretick.Tick // the client's tick when it first looked; 0: it did not yet
	found   *trace.Finding
	took    foretick.Tick // ticks from then to the finding
	both    map[trace.Tick]bool
}

func newUDPTrace(t *testing.T, name string, plant func(g *planted, p *foretick.Protocol)) *udpTrace {
	listen, err := udp.Listen("127.0.0.1:0", udp.Config{})
	require.NoError(t, err)
	m := &udpTrace{name: name, both: map[trace.Tick]bool{}}
	m.server, err = foretick.NewServer(foretick.ServerConfig{Protocol: (&planted{}).end(plant).Protocol, Transport: listen})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.server.Close("over")) })
	for range 2 {
		end, err := udp.Dial(listen.LocalAddr().String(), udp.Config{})
		require.NoError(t, err)
		player := (&planted{}).end(plant)
		c, err := foretick.NewClient(foretick.ClientConfig{Protocol: player.Protocol, Sample: player.Sample, Transport: end})
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		m.clients = append(m.clients, c)
	}
	m.trace = trace.OfClient(m.clients[1])
	return m
}

// step plays, and reads the trace every tenth of a second.
func (m *udpTrace) step(look bool) {
	m.server.Step(time.Now())
	playing := true
	for _, c := range m.clients {
		playing = c.Step(time.Now()).State == foretick.Playing && playing
	}
	if !playing || !look || m.found != nil {
		return
	}
	m.trace.Look()
	if m.since == 0 {
		m.since = m.clients[1].View().Tick
	}
	tables := m.trace.Tables()
	for _, table := range tables {
		if table.Client && table.Server {
			m.both[table.Tick] = true
		}
	}
	if f, ok := trace.First(tables); ok {
		m.found, m.took = &f, m.clients[1].View().Tick-m.since
	}
}

// In release builds over real sockets a trace names the system, the field and both values of
// every sort of fault that recurs, and nothing in a match without one. The server has no
// AllowTrace: its clients are on the same machine.
func TestTraceOverUDP(t *testing.T) {
	sound := newUDPTrace(t, "no fault", nil)
	matches := []*udpTrace{sound}
	for name, fault := range plantedFaults(t) {
		if fault.recurs {
			matches = append(matches, newUDPTrace(t, name, fault.plant))
		}
	}
	require.Len(t, matches, 1+12)
	begin, looked := time.Now(), time.Time{}
	for done := false; !done && time.Since(begin) < time.Minute; time.Sleep(2 * time.Millisecond) {
		look := time.Since(looked) > 100*time.Millisecond
		if look {
			looked = time.Now()
		}
		for _, m := range matches {
			m.step(look)
		}
		done = len(sound.both) > 120 && !slices.ContainsFunc(matches, func(m *udpTrace) bool { return m != sound && m.found == nil })
	}
	named := 0
	for _, m := range matches {
		switch m {
		case sound:
			require.Nil(t, m.found)
			require.Greater(t, len(m.both), 120, "ticks of both ends")
		default:
			require.NotNil(t, m.found, m.name)
			f := m.found
			require.Equal(t, []string{"planted", "position", "X"}, []string{f.System, f.Component, f.Field}, m.name)
			require.Equal(t, f.Before.Client, f.Before.Server, m.name)
			require.NotEqual(t, f.After.Client, f.After.Server, m.name)
			t.Logf("%s, after %d ticks: %v", m.name, m.took, f)
			named++
		}
	}
	t.Logf("%d of 12 named; %d ticks of the match without a fault compared, and nothing named", named, len(sound.both))
}
