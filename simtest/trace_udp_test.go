//go:build !foretick_debug

package simtest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/inspect/trace"
	"github.com/foretick/foretick/inspect/web"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/internal/plantedtest"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport/udp"
)

// udpTrace is a match of two players over UDP on this machine, the second of which is traced.
type udpTrace struct {
	t       *testing.T
	name    string
	want    plantedtest.Place
	server  *server.Server
	clients []*client.Client
	trace   *trace.Trace
	since   foretick.Tick // the client's tick at its first look; 0: it has not looked yet
	found   *trace.Finding
	took    foretick.Tick // ticks from the first look to the finding
	both    map[trace.Tick]bool
	pages   [2]*page // pages of the client and of the server
}

// page is an inspector's page that shows the trace.
type page struct {
	http.Handler
	query string
	found *shownFinding
	both  map[trace.Tick]bool
}

// shownFinding is a fault as a page shows it.
type shownFinding struct {
	plantedtest.Place
	Before, After struct{ Client, Server *float64 }
}

// look requests the trace from a page, as a browser does.
func (p *page) look(t *testing.T) {
	request, answer := httptest.NewRequest(http.MethodGet, "http://localhost/inspect/trace.json?"+p.query, nil), httptest.NewRecorder()
	p.ServeHTTP(answer, request)
	require.Equal(t, http.StatusOK, answer.Code, answer.Body)
	var got struct {
		State  string
		First  *shownFinding
		Tables []trace.Table
	}
	require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &got))
	for _, table := range got.Tables {
		if table.Client && table.Server {
			p.both[table.Tick] = true
		}
	}
	if p.found == nil {
		p.found = got.First
	}
}

func newUDPTrace(t *testing.T, name string, fault plantedtest.Fault) *udpTrace {
	listen, err := udp.Listen("127.0.0.1:0", udp.Config{})
	require.NoError(t, err)
	m := &udpTrace{t: t, name: name, want: fault.Traced, both: map[trace.Tick]bool{}}
	m.server, err = server.New(server.Config{Protocol: (&planted{}).End(fault.Plant).Protocol, Transport: listen})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.server.Close("over")) })
	for range 2 {
		end, err := udp.Dial(listen.LocalAddr().String(), udp.Config{})
		require.NoError(t, err)
		player := (&planted{}).End(fault.Plant)
		c, err := client.New(client.Config{Protocol: player.Protocol, Sample: player.Sample, Transport: end})
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		m.clients = append(m.clients, c)
	}
	m.trace = trace.OfClient(m.clients[1])
	open := web.Config{Authorize: func(*http.Request) bool { return true }}
	cl, srv := web.Client(m.clients[1], open), web.Server(m.server, open)
	t.Cleanup(cl.Close)
	t.Cleanup(srv.Close)
	m.pages = [2]*page{{Handler: cl, both: map[trace.Tick]bool{}}, {Handler: srv, both: map[trace.Tick]bool{}}}
	return m
}

// step plays a part of the match, and reads the trace every tenth of a second.
func (m *udpTrace) step(look bool) {
	m.server.Step(time.Now())
	playing := true
	for _, c := range m.clients {
		playing = c.Step(time.Now()).State == client.Playing && playing
	}
	if !playing || !look {
		return
	}
	m.pages[1].query = fmt.Sprintf("player=%d", m.clients[1].View().Player)
	for _, p := range m.pages {
		if p.found == nil {
			p.look(m.t)
		}
	}
	if m.found != nil {
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

// tracedAtOnce is how many matches are played at a time. They are few, so that every tick is read
// while both ends still hold it, even under the race detector on a busy machine.
const tracedAtOnce = 4

// playTraced plays a match without a fault and one with each kind of fault, a few at a time,
// until all pages have shown their findings. If the machine stalls for seconds, every session
// ends, and these matches start again.
func playTraced(t *testing.T) (sound *udpTrace, matches []*udpTrace) {
	makes := []func() *udpTrace{func() *udpTrace { return newUDPTrace(t, "no fault", plantedtest.Fault{}) }}
	for name, fault := range plantedtest.Faults() {
		if fault.Recurs() {
			makes = append(makes, func() *udpTrace { return newUDPTrace(t, name, fault) })
		}
	}
	require.Len(t, makes, 1+12)
	for some := range slices.Chunk(makes, tracedAtOnce) {
		matches = append(matches, playSome(t, some, len(matches) == 0)...)
	}
	return matches[0], matches
}

// playSome plays some matches at the same time. sound says that the first one has no fault.
func playSome(t *testing.T, makes []func() *udpTrace, sound bool) (matches []*udpTrace) {
	for range 3 {
		matches = nil
		for _, fresh := range makes {
			matches = append(matches, fresh())
		}
		begin, last, looked, stood := time.Now(), time.Now(), time.Time{}, time.Duration(0)
		for time.Since(begin) < time.Minute {
			stood, last = max(stood, time.Since(last)), time.Now()
			look := time.Since(looked) > 100*time.Millisecond
			if look {
				looked = time.Now()
			}
			for _, m := range matches {
				m.step(look)
			}
			if !slices.ContainsFunc(matches, func(m *udpTrace) bool { return !m.done(sound && m == matches[0]) }) {
				return matches
			}
			time.Sleep(2 * time.Millisecond)
		}
		for _, m := range matches {
			t.Logf("%s: the clients are %v and %v", m.name, m.clients[0].View().State, m.clients[1].View().State)
		}
		if t.Logf("the machine stood still for up to %v", stood); stood < time.Second {
			break
		}
	}
	return matches
}

// done reports whether the trace and both pages have shown everything that the test requires.
func (m *udpTrace) done(sound bool) bool {
	if sound {
		return min(len(m.both), len(m.pages[0].both), len(m.pages[1].both)) > 120
	}
	return m.found != nil && m.pages[0].found != nil && m.pages[1].found != nil
}

// In release builds over real sockets a trace names the system, the field and both values of
// every kind of fault that recurs, and nothing in a match without a fault. So do the pages of the
// client and of the server. The server needs no AllowTrace: its clients are on the same machine.
func TestTraceOverUDP(t *testing.T) {
	costtest.Concurrent(t)
	costtest.Sockets(t)
	sound, matches := playTraced(t)
	named, shown := 0, [2]int{}
	for _, m := range matches {
		switch m {
		case sound:
			require.Nil(t, m.found)
			require.Greater(t, len(m.both), 120, "ticks of both ends")
			for _, p := range m.pages {
				require.Nil(t, p.found)
				require.Greater(t, len(p.both), 120, "ticks of both ends, on a page")
			}
		default:
			require.NotNil(t, m.found, m.name)
			f := m.found
			require.Equal(t, m.want, plantedtest.Place{System: f.System, Prefab: f.Prefab, Component: f.Component, Field: f.Field}, "%s: %v", m.name, f)
			require.Equal(t, f.Before.Client, f.Before.Server, "%s: %v", m.name, f)
			require.NotEqual(t, f.After.Client, f.After.Server, m.name)
			t.Logf("%s, after %d ticks: %v", m.name, m.took, f)
			named++
			for i, p := range m.pages {
				require.NotNil(t, p.found, "%s, page %d", m.name, i)
				require.Equal(t, m.want, p.found.Place, m.name)
				require.Equal(t, *p.found.Before.Client, *p.found.Before.Server, m.name)
				require.NotEqual(t, *p.found.After.Client, *p.found.After.Server, m.name)
				shown[i]++
			}
		}
	}
	t.Logf("%d of 12 named, on the client's page %d and on the server's %d; %d ticks of the match without a fault compared, and nothing named", named, shown[0], shown[1], len(sound.both))
}
