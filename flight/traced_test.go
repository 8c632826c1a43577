package flight_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/flight"
	"github.com/foretick/foretick/inspect"
	"github.com/foretick/foretick/inspect/trace"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport"
)

// operator looks at the traces of a server, as the inspector's page does.
type operator struct {
	*match
	in    *inspect.Inspector
	saw   map[string]int // counts of the states with their reasons
	asked int            // ticks that both ends recorded
}

func (m *match) operator() *operator {
	o := &operator{match: m, in: inspect.New(inspect.Config{}), saw: map[string]int{}}
	require.NoError(m, o.in.AddServer("server", m.srv))
	return o
}

// look looks at a player's trace for a while.
func (o *operator) look(player foretick.PlayerID, d time.Duration, entities ...inspect.EntityID) inspect.Traced {
	var got inspect.Traced
	for end := o.now + d; o.now < end && o.died == nil; {
		var err error
		got, err = o.in.Trace("server", inspect.TraceQuery{Player: uint16(player), Entities: entities})
		require.NoError(o, err)
		o.saw[got.State+": "+got.Why]++
		for _, table := range got.Tables {
			if table.Client && table.Server {
				o.asked++
			}
		}
		o.run(250 * time.Millisecond)
	}
	return got
}

// replays replays the match's tape and compares each tick's hash with that of the match. The
// replay itself compares packets.
func (m *match) replays(change func(*game), at func(*flight.Replay)) {
	tape := m.tape()
	require.Empty(m, tape.Info().Opaque)
	r, err := flight.NewReplay(tape, replayed(change))
	require.NoError(m, err)
	defer r.Close()
	compared := 0
	for {
		tick, err := r.Next()
		if err == io.EOF {
			break
		}
		require.NoError(m, err)
		if hash, ok := m.hashes[tick]; ok {
			require.Equal(m, hash, probe.OfServer(r.Server()).Hash(), tick)
			compared++
		}
		if at != nil {
			at(r)
		}
	}
	require.EqualValues(m, tape.Info().Last, r.Server().Tick())
	require.Greater(m, compared, int(tape.Info().Last)*9/10)
}

// avatar returns a player's entity, as the inspector's page names it.
func (m *match) avatar(player foretick.PlayerID) inspect.EntityID {
	for _, e := range probe.OfServer(m.srv).Replicated() {
		if m.srv.World().Owner(e.Entity) == player {
			return inspect.EntityID(e.Entity)
		}
	}
	return 0
}

// An operator traces players on the server's page: one player, an entity of another one, more
// players than allowed, and one whose connection is lost. The tape replays with the same hashes
// and packets.
func TestTracedWhileRecorded(t *testing.T) {
	m := newMatch(t, 21, 6, flight.Config{}, &game{})
	m.run(4 * time.Second)
	o := m.operator()
	id := func(client int) foretick.PlayerID { return m.clients[client].View().Player }

	o.look(id(1), 2*time.Second)
	o.look(id(2), time.Second, m.avatar(id(2)))
	o.look(id(2), time.Second, m.avatar(id(1))) // an entity that this player does not own
	o.look(id(2), time.Second)
	require.Greater(t, o.asked, 60, "clients sent their records")
	trace.OfServer(m.srv, id(2)).Stop()
	m.run(time.Second)

	for client := range 4 {
		o.look(id(client), 250*time.Millisecond)
	}
	got := o.look(id(4), time.Second)
	require.Contains(t, got.Why, "the server has four traces already")
	trace.OfServer(m.srv, id(0)).Stop()
	got = o.look(id(4), time.Second)
	require.Equal(t, "armed", got.State)

	m.net.Blackhole(m.ends[3], m.now, m.now+7*time.Second)
	o.look(id(3), 12*time.Second)
	require.NotZero(t, m.srv.Stats().Resumed)
	require.NotZero(t, o.saw["refused: the player does not play"])
	got = o.look(id(3), time.Second)
	require.Equal(t, "armed", got.State)

	m.run(33 * time.Second)
	for client := range 6 {
		state, _ := trace.OfServer(m.srv, id(client)).Status()
		require.NotEqual(t, trace.Armed, state, "they lapsed")
	}
	o.look(id(5), time.Second)
	m.srv.Frame().Kick(id(5), transport.FirstUserCode, "idle")
	o.look(id(5), time.Second)
	m.join()
	m.run(2 * time.Second)
	o.look(id(6), time.Second)
	require.NoError(t, m.srv.NextLevel([]byte("second"), m.game.level))
	o.look(id(6), 2*time.Second)
	require.Zero(t, m.srv.Stats().Malformed, "records that come after the end are no fault")

	m.replays(nil, nil)
}

// Operators trace anything at any time, while clients trace too and inputs are late.
func TestAnyTraceWhileRecorded(t *testing.T) {
	costtest.Ratio(t)
	for seed := range uint64(costtest.Count(2, 4)) {
		config := func(cfg *server.Config) {
			cfg.AllowTrace = func(player foretick.PlayerID) bool { return player != 2 }
			if seed%2 == 1 {
				cfg.Late.Window, cfg.Late.World = 100*time.Millisecond, seed%4 == 3
			}
		}
		m := newMatch(t, seed, 6, flight.Config{}, &game{config: config})
		o := m.operator()
		if seed%3 != 0 {
			defer o.in.Open()()
		}
		m.run(3 * time.Second)
		for range 50 {
			player := foretick.PlayerID(1 + m.rng.IntN(7))
			if _, plays := m.srv.PlayerStats(m.srv.Player(player)); !plays {
				m.run(50 * time.Millisecond)
				continue
			}
			switch m.rng.IntN(16) {
			case 0:
				trace.OfServer(m.srv, player).Stop()
			case 1:
				m.net.Blackhole(m.ends[m.rng.IntN(6)], m.now, m.now+time.Duration(m.rng.IntN(8000))*time.Millisecond)
			case 2:
				m.run(time.Duration(m.rng.IntN(20)) * time.Second)
			case 3, 4, 5:
				c := m.clients[m.rng.IntN(len(m.clients))]
				if trace.OfClient(c).Look(); m.rng.IntN(4) == 0 {
					trace.OfClient(c).Stop()
				}
			case 6, 7, 8:
				o.look(player, time.Second, m.avatar(player), m.avatar(foretick.PlayerID(1+m.rng.IntN(6))))
			default:
				o.look(player, time.Duration(m.rng.IntN(2000))*time.Millisecond)
			}
		}
		t.Log(o.saw, o.asked)
		require.Zero(t, m.srv.Stats().Malformed)
		require.NotZero(t, o.asked)
		if seed%2 == 1 {
			require.NotZero(t, m.srv.Stats().InputsRerun)
		}
		m.replays(func(g *game) { g.config = config }, nil)
	}
}

// Pages trace from other goroutines, at any moment of a tick.
func TestTracedByOtherGoroutines(t *testing.T) {
	costtest.Concurrent(t)
	m := newMatch(t, 23, 5, flight.Config{}, &game{})
	m.run(3 * time.Second)
	var pages sync.WaitGroup
	over := make(chan struct{})
	for player := range foretick.PlayerID(6) {
		tr, avatar := trace.OfServer(m.srv, player), ecs.Entity(m.avatar(player))
		pages.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-over:
					return
				case <-time.After(time.Millisecond):
				}
				switch n % 8 {
				case 0:
					tr.Look()
				case 3:
					tr.Look(avatar)
				case 7:
					tr.Stop()
				default:
					tr.Tables()
				}
			}
		})
	}
	m.run(4 * time.Second)
	close(over)
	pages.Wait()
	m.run(time.Second)
	m.replays(nil, nil)
}

// While a page is open, it requests corrections from clients. The tape holds that: the requests
// are in the server's packets, and the replies in its input. A page of the replay shows the same
// corrections.
func TestReportsWhileRecorded(t *testing.T) {
	m := newMatch(t, 31, 6, flight.Config{}, &game{})
	m.run(3 * time.Second)
	o := m.operator()
	for range 3 {
		stop := o.in.Open()
		m.run(12 * time.Second)
		stop()
		m.run(time.Second)
	}
	m.net.Blackhole(m.ends[3], m.now, m.now+7*time.Second)
	defer o.in.Open()()
	m.run(14 * time.Second)
	reported := func(in *inspect.Inspector) (texts []string) {
		for _, e := range in.Events(inspect.EventQuery{Kind: "correction", Most: 2000}) {
			texts = append(texts, e.Text)
		}
		return texts
	}
	want := reported(o.in)
	require.Greater(t, len(want), 5)
	require.Zero(t, m.srv.Stats().Malformed)
	again := inspect.New(inspect.Config{})
	defer again.Open()()
	m.replays(nil, func(r *flight.Replay) {
		if len(again.Ends()) == 0 {
			require.NoError(t, again.AddServer("replay", r.Server()))
		}
	})
	got := reported(again)
	require.Subset(t, got, want, "the page of the replay was open throughout, and has no less")
}

// Traces of a replay do not change the replay, and show what the server does.
func TestTraceInAReplay(t *testing.T) {
	m := newMatch(t, 21, 6, flight.Config{}, &game{})
	m.run(4 * time.Second)
	o := m.operator()
	player := m.clients[1].View().Player
	for client := range 4 {
		o.look(m.clients[client].View().Player, time.Second)
	}
	trace.OfServer(m.srv, player).Stop()
	m.run(2 * time.Second)
	seen := map[foretick.Tick]bool{}
	m.replays(nil, func(r *flight.Replay) {
		for other := range foretick.PlayerID(7) {
			trace.OfReplay(r.Server(), other).Look(ecs.Entity(m.avatar(other)))
		}
		tr := trace.OfServer(r.Server(), player)
		tr.Look()
		for _, table := range tr.Tables() {
			require.False(t, table.Client)
			seen[table.Tick] = true
		}
	})
	require.Greater(t, len(seen), int(m.srv.Tick())/2)
}

// The tape holds traces that a client requests, whether the server allows them or not.
func TestTracedByAClient(t *testing.T) {
	for _, may := range []bool{false, true} {
		config := func(cfg *server.Config) { cfg.AllowTrace = func(foretick.PlayerID) bool { return may } }
		m := newMatch(t, 21, 3, flight.Config{}, &game{config: config})
		m.run(4 * time.Second)
		tr := trace.OfClient(m.clients[1])
		for range 3 {
			tr.Look()
			m.run(time.Second)
		}
		both := 0
		for _, table := range tr.Tables() {
			if table.Server {
				both++
			}
		}
		require.Equal(t, may, both > 0)
		// The replay takes the result of AllowTrace from the tape, whatever the game would return now.
		m.replays(nil, nil)
		m.replays(func(g *game) {
			g.config = func(cfg *server.Config) { cfg.AllowTrace = func(foretick.PlayerID) bool { return !may } }
		}, nil)
	}
}

// A malformed record of a look makes the tape damaged. Looks at players and entities that never
// existed do not make a replay panic.
func TestHostileLooks(t *testing.T) {
	const look, tick = 23, 10
	b := small(t)
	raw := unpacked(t, b)
	for _, bad := range [][]byte{{}, {1}, {1, 1, 0x80}, {1, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9}} {
		all := append(bytes.Clone(raw), look, byte(len(bad)))
		all = packed(t, b[:9], append(all, bad...))
		_, err := flight.Read(bytes.NewReader(all), int64(len(all)))
		require.ErrorAs(t, err, new(*flight.DamagedError), "%v", bad)
	}
	var all []byte
	for len(raw) > 0 {
		n, k := binary.Uvarint(raw[1:])
		if raw[0] == tick {
			for _, player := range []uint64{0, 1, 1, 2, 9999, 1 << 40} {
				l := append(binary.AppendUvarint(nil, player), 3)
				for _, e := range []uint64{0, 1, 1, 1 << 32, 1<<64 - 1} {
					l = binary.AppendUvarint(l, e)
				}
				all = append(append(all, look, byte(len(l))), l...)
			}
		}
		all, raw = append(all, raw[:1+k+int(n)]...), raw[1+k+int(n):]
	}
	all = packed(t, b[:9], all)
	tape, err := flight.Read(bytes.NewReader(all), int64(len(all)))
	require.NoError(t, err)
	g := replayed(nil)
	g.Loose = true
	res, err := flight.Play(tape, g)
	require.NoError(t, err)
	require.EqualValues(t, 29, res.Last)
}
