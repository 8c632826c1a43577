package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/bots"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
	"github.com/foretick/foretick/transport/ticket"
	"github.com/foretick/foretick/transport/udp"
)

type Position struct {
	X float32 `net:"min=-512,max=512,step=0.01,lerp"`
}

type Move struct {
	X float32 `net:"min=-1,max=1,step=0.0078125"`
}

type game struct {
	Pos    ecs.Component[Position]
	Cmd    ecs.Component[Move]
	Avatar ecs.Prefab
	each   func(f *foretick.Frame)
}

func (g *game) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("hosted", 1)
	p.Component(&g.Pos, foretick.Predicted())
	p.Command(&g.Cmd)
	p.Prefab(&g.Avatar, "avatar", &g.Pos, &g.Cmd)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.Avatar, player) })
	p.Shared("move", func(f *foretick.Frame, rows ecs.Rows) {
		pos, cmd := g.Pos.Slice(rows), g.Cmd.Slice(rows)
		for i := range pos {
			pos[i].X += float32(cmd[i].X * f.DT)
		}
	}, ecs.Read(&g.Cmd), ecs.Write(&g.Pos))
	p.Server("each", func(f *foretick.ServerFrame, _ ecs.Rows) {
		if g.each != nil {
			g.each(f.Frame)
		}
	}, ecs.Once())
	return p
}

// named is an endpoint whose peers have the identities that a test gives them, in order.
type named struct {
	*sim.Endpoint
	names map[string]string // by address
}

func (n *named) Info(p transport.PeerID, out *transport.Info) bool {
	ok := n.Endpoint.Info(p, out)
	out.Identity = []byte(n.names[out.Addr])
	return ok
}

// town is a host in virtual time.
type town struct {
	*testing.T
	net     *sim.Network
	end     *named
	host    *Host
	light   *bots.Game
	servers map[string]*server.Server
	games   map[string]*game
	ends    []End
	bots    []*bots.Light
	errs    map[*bots.Light]error
	log     bytes.Buffer
}

func newTown(t *testing.T, cfg Config, truth server.Config) *town {
	t.Helper()
	net := sim.NewNetwork(9)
	w := &town{T: t, net: net, end: &named{net.Listen(), map[string]string{}}, servers: map[string]*server.Server{}, games: map[string]*game{}, errs: map[*bots.Light]error{}}
	cfg.Transport = w.end
	cfg.NewMatch = func(name string, end transport.Endpoint) (Match, error) {
		if strings.HasPrefix(name, "bad") {
			return nil, errors.New("no such map")
		}
		g := w.games[name]
		if g == nil {
			g = &game{}
		}
		truth := truth
		truth.Protocol, truth.Transport = g.protocol(), end
		srv, err := server.New(truth)
		w.servers[name] = srv
		return srv, err
	}
	cfg.OnEnd = func(e End) { w.ends = append(w.ends, e) }
	cfg.Logger = slog.New(slog.NewTextHandler(&w.log, nil))
	var err error
	w.host, err = New(cfg)
	require.NoError(t, err)
	w.light, err = bots.New(new(game).protocol(), func(dst *Move, _ int, _ uint32) { dst.X = 1 })
	require.NoError(t, err)
	return w
}

func (w *town) now() time.Time { return time.Unix(5000, 0).Add(w.net.Now()) }

func (w *town) dial(match, who string) transport.Endpoint {
	e := w.net.Dial(w.end.Endpoint, sim.Link{Latency: 20 * time.Millisecond}, sim.Link{Latency: 20 * time.Millisecond})
	w.end.names[sim.Addr(e.ID())] = string(ticket.JoinIdentity(match, []byte(who)))
	return e
}

func (w *town) join(match, who string) *bots.Light {
	w.Helper()
	b, err := w.light.Join(0, w.dial(match, who))
	require.NoError(w, err)
	b.Redial = func() (transport.Endpoint, error) { return w.dial(match, who), nil }
	w.bots = append(w.bots, b)
	return b
}

func (w *town) run(d time.Duration) {
	for end := w.net.Now() + d; w.net.Now() < end; {
		w.net.Run(w.net.Now() + 5*time.Millisecond)
		w.host.Step(w.now())
		for _, b := range w.bots {
			if w.errs[b] == nil && !w.now().Before(b.Next()) {
				w.errs[b] = b.Step(w.now())
			}
		}
	}
}

func (w *town) leave(b *bots.Light) {
	w.errs[b] = errors.New("left")
	require.NoError(w, b.Close())
}

// Players join the matches that their tickets name, identities are unique within a match, and no player
// sees a player of another match.
func TestMatchesAreApart(t *testing.T) {
	w := newTown(t, Config{OnDemand: true}, server.Config{})
	for _, m := range []string{"a", "b", "c"} {
		for i := range 4 {
			w.join(m, fmt.Sprint("player ", i))
		}
	}
	w.run(3 * time.Second)
	require.Equal(t, []string{"a", "b", "c"}, w.host.Matches(nil))
	require.Equal(t, 12, w.host.Stats().Players)
	for m, srv := range w.servers {
		require.Len(t, srv.Players(nil), 4, m)
		require.Equal(t, 4, srv.World().Len(), m)
		require.Equal(t, "player 0", string(srv.Identity(srv.Players(nil)[0])))
	}
	for _, b := range w.bots {
		require.NoError(t, w.errs[b])
		require.Zero(t, b.Stats().Malformed)
	}
	// A ban is in effect in one match.
	require.NoError(t, w.servers["a"].Do("ban", func(f *foretick.ServerFrame) { f.Ban(1, time.Time{}, "enough") }))
	w.run(time.Second)
	require.ErrorContains(t, w.errs[w.bots[0]], "enough")
	require.NoError(t, w.errs[w.bots[4]])
	require.Len(t, w.servers["a"].Players(nil), 3)
	require.Len(t, w.servers["b"].Players(nil), 4)
	// A match that ends itself is removed, and its name is free.
	require.NoError(t, w.servers["b"].Do("over", func(*foretick.ServerFrame) { _ = w.servers["b"].Close("it is over") }))
	w.run(time.Second)
	require.Equal(t, []string{"a", "c"}, w.host.Matches(nil))
	require.Equal(t, []End{{Match: "b"}}, w.ends)
	require.ErrorContains(t, w.errs[w.bots[5]], "it is over")
	require.Equal(t, 7, w.host.Stats().Players)
	again := w.join("b", "somebody")
	w.run(time.Second)
	require.True(t, again.Playing())
	require.NoError(t, w.host.Close("enough"))
	require.Len(t, w.ends, 4)
	require.ErrorIs(t, w.host.Close(""), transport.ErrClosed)
	require.ErrorIs(t, w.host.Allocate("x"), transport.ErrClosed)
}

// An identity can play only once in a match, even if two endpoints of the host both admit it. It can
// play in any number of matches.
func TestSameIdentity(t *testing.T) {
	for same, want := range map[transport.Same]struct {
		first, second string
		players       int
	}{
		transport.ReplaceOld: {"connected anew", "", 1},
		transport.RefuseNew:  {"", "plays in this match already", 1},
		transport.AllowBoth:  {"", "", 2},
	} {
		w := newTown(t, Config{OnDemand: true, Same: same, MaxPlayers: 2 + want.players}, server.Config{Same: same})
		plain := w.join("a", "") // peers without an identity do not exclude each other
		first, elsewhere := w.join("a", "ann"), w.join("b", "ann")
		w.run(time.Second)
		for _, b := range []*bots.Light{plain, first, elsewhere} {
			require.True(t, b.Playing())
		}
		first.Redial = nil
		second := w.join("a", "ann")
		w.run(time.Second)
		for b, why := range map[*bots.Light]string{first: want.first, second: want.second} {
			if why == "" {
				require.NoError(t, w.errs[b], same)
			} else {
				require.ErrorContains(t, w.errs[b], why, same)
			}
		}
		require.True(t, elsewhere.Playing())
		require.True(t, plain.Playing())
		require.Equal(t, 2+want.players, w.host.Stats().Players, same)
		require.Equal(t, same == transport.RefuseNew, w.host.Stats().Refusals.Of(RefusedTwice) == 1)
		if same == transport.RefuseNew {
			require.EqualValues(t, 1, w.host.Stats().Refused)
		}
		require.Len(t, w.servers["a"].Players(nil), 1+want.players, same)
		require.NoError(t, w.host.Close(""))
	}
	_, err := New(Config{Same: 9})
	require.ErrorContains(t, err, "Config.Same is 9")
}

// Peers that cannot play get the reason, and the limits are observed.
func TestLimits(t *testing.T) {
	heap := uint64(10)
	w := newTown(t, Config{MaxMatches: 3, MaxPlayers: 5, PlayersPerMatch: 2, HeapLimit: 100, OnDemand: true, heap: func() uint64 { return heap }}, server.Config{})
	require.NoError(t, w.host.Allocate("a"))
	require.ErrorIs(t, w.host.Allocate("a"), ErrExists)
	require.Error(t, w.host.Allocate(""))
	heap = 101
	require.ErrorIs(t, w.host.Allocate("b"), ErrFull)
	heap = 10
	for i := range 2 {
		w.join("a", fmt.Sprint(i+1))
	}
	spare := []transport.Endpoint{w.dial("a", "x"), w.dial("a", "y")} // connected but not playing
	w.run(time.Second)
	refused := func(match, who, why string) {
		t.Helper()
		b := w.join(match, who)
		w.run(time.Second)
		require.ErrorContains(t, w.errs[b], why)
	}
	refused("a", "3", "the match is full")
	for _, e := range spare {
		require.NoError(t, e.Close(transport.Closed, ""))
	}
	refused("a", "3", "the server is full")
	refused("bad map", "1", "could not be made")
	require.Equal(t, "bad map", w.ends[0].Match)
	require.ErrorContains(t, w.ends[0].Err, "no such map")
	w.join("b", "1")
	w.join("b", "2")
	w.join("c", "1")
	w.run(time.Second)
	refused("c", "2", "the host is full")
	w.leave(w.bots[0])
	w.run(time.Second)
	refused("d", "1", "no room for another match")
	plain, err := w.light.Join(0, w.net.Dial(w.end.Endpoint, sim.Link{}, sim.Link{}))
	require.NoError(t, err)
	w.bots = append(w.bots, plain)
	w.run(time.Second)
	require.ErrorContains(t, w.errs[plain], "names no match")
	require.Equal(t, ByRefusal{[refusals]uint64{RefusedUnnamed: 1, RefusedFull: 3}}, w.host.Stats().Refusals)
	require.Contains(t, w.host.Stats().String(), "refusals (unnamed 1, full 3)")
	require.EqualValues(t, 4, w.host.Stats().Refused)

	w = newTown(t, Config{}, server.Config{})
	refused = func(match, who, why string) {
		b := w.join(match, who)
		w.run(time.Second)
		require.ErrorContains(t, w.errs[b], why)
	}
	refused("a", "1", "no such match")
	_, err = New(Config{Workers: -1, Stall: -1})
	for _, part := range []string{"Transport is nil", "NewMatch is nil", "Workers is -1", "Stall is"} {
		require.ErrorContains(t, err, part)
	}
}

// A panic in a system ends only its own match. The others lose no tick.
func TestPanicEndsOneMatch(t *testing.T) {
	w := newTown(t, Config{OnDemand: true}, server.Config{})
	bad := &game{each: func(f *foretick.Frame) {
		if f.Tick == 100 {
			panic("planted")
		}
	}}
	w.games["m7"] = bad
	for i := range 10 {
		w.join(fmt.Sprint("m", i), "one")
		w.join(fmt.Sprint("m", i), "two")
	}
	w.run(6 * time.Second)
	require.Len(t, w.ends, 1)
	require.Equal(t, "m7", w.ends[0].Match)
	require.Equal(t, "planted", w.ends[0].Panic)
	require.Contains(t, string(w.ends[0].Stack), "host_test.go")
	require.EqualValues(t, 1, w.host.Stats().Panicked)
	require.Equal(t, 9, w.host.Stats().Matches)
	require.Contains(t, w.log.String(), "match=m7 value=planted")
	for name, srv := range w.servers {
		if name != "m7" {
			require.InDelta(t, 179, float64(srv.Tick()), 2, name)
			require.Zero(t, srv.Stats().Slips)
			require.Len(t, srv.Players(nil), 2)
		}
	}
	require.Error(t, w.errs[w.bots[14]])
	require.NoError(t, w.errs[w.bots[12]])
}

// When one peer sends too much, only its own datagrams are dropped.
func TestInboxIsBounded(t *testing.T) {
	w := newTown(t, Config{OnDemand: true, Inbox: 8}, server.Config{})
	loud, quiet := w.dial("a", "loud"), w.dial("a", "quiet")
	w.run(200 * time.Millisecond)
	var ev [4]transport.Event
	require.Equal(t, 1, loud.Recv(ev[:]))
	to := ev[0].Peer
	for i := range byte(50) {
		require.NoError(t, loud.Send(to, []byte{i, 1, 2, 3}))
	}
	require.Equal(t, 1, quiet.Recv(ev[:]))
	require.NoError(t, quiet.Send(ev[0].Peer, []byte{99}))
	w.net.Run(w.net.Now() + 100*time.Millisecond)
	w.host.porter()
	p := w.host.matches["a"].port
	var got []byte
	var all [64]transport.Event
	for _, e := range all[:p.Recv(all[:])] {
		got = append(got, e.Data[0])
	}
	require.Equal(t, []byte{42, 43, 44, 45, 46, 47, 48, 49}, bytes.ReplaceAll(got, []byte{99}, nil), "the newest of the flood")
	require.Contains(t, got, byte(99))
	require.EqualValues(t, 42, w.host.Stats().Dropped)
	for range 10000 { // the match is not stepped and reads nothing
		for id := range p.peers {
			p.data(id, []byte{1}, time.Time{})
		}
	}
	require.Less(t, len(p.queue), 200)
	require.Equal(t, 16, p.Recv(all[:]))
}

// Functions of the game may call the host.
func TestMatchCallsTheHost(t *testing.T) {
	var w *town
	w = newTown(t, Config{OnDemand: true, Match: func(info *transport.Info) (string, []byte, error) {
		if err := w.host.Allocate("asked"); err != nil && !errors.Is(err, ErrExists) {
			return "", nil, err
		}
		return "asked", info.Identity, nil
	}}, server.Config{})
	b := w.join("a", "one")
	w.run(2 * time.Second)
	require.NoError(t, w.errs[b])
	require.Equal(t, []string{"asked"}, w.host.Matches(nil))
}

// A draining host refuses new players in every match and lets players reconnect. The drain is complete
// when the last match has ended.
func TestDrain(t *testing.T) {
	w := newTown(t, Config{OnDemand: true}, server.Config{})
	for i := range 10 {
		w.join(fmt.Sprint("m", i), "one")
		w.join(fmt.Sprint("m", i), "two")
	}
	w.run(8 * time.Second)
	w.host.Drain("this server is replaced")
	require.ErrorIs(t, w.host.Allocate("new"), ErrDraining)
	for _, b := range w.bots[:10] {
		b.Vanish()
	}
	late, other := w.join("m3", "late"), w.join("new", "late")
	w.run(4 * time.Second)
	require.ErrorContains(t, w.errs[late], "this server is replaced")
	require.ErrorContains(t, w.errs[other], "this server is replaced")
	for i, b := range w.bots[:20] {
		require.NoError(t, w.errs[b], i)
		require.True(t, b.Playing(), i)
	}
	require.EqualValues(t, 1, w.bots[0].Stats().Resumed)
	require.Equal(t, 10, w.host.Stats().Matches)
	for _, b := range w.bots[:20] {
		require.False(t, w.host.done())
		w.leave(b)
		w.run(300 * time.Millisecond)
	}
	require.True(t, w.host.done())
	require.Len(t, w.ends, 10)
}

// Thousands of matches are made and end, and the host holds nothing of them.
func TestNothingLeaks(t *testing.T) {
	rounds := costtest.Count(300, 400)
	w := newTown(t, Config{OnDemand: true}, server.Config{})
	one := func(i int) {
		name := fmt.Sprint("match ", i)
		a, b := w.join(name, "a"), w.join(name, "b")
		w.run(150 * time.Millisecond)
		require.Len(t, w.servers[name].Players(nil), 2)
		require.NoError(t, w.servers[name].Close("over"))
		w.run(50 * time.Millisecond)
		require.Error(t, w.errs[a])
		require.Error(t, w.errs[b])
		w.bots, w.ends = nil, nil
		clear(w.errs)
		clear(w.servers)
		clear(w.end.names)
		w.log.Reset()
	}
	for i := range 50 {
		one(i)
	}
	before, goroutines := heapNow(), runtime.NumGoroutine()
	for i := range rounds {
		one(50 + i)
	}
	after := heapNow()
	t.Logf("%d matches: heap %d kB before, %d kB after; %d goroutines before, %d after", rounds, before>>10, after>>10, goroutines, runtime.NumGoroutine())
	require.Zero(t, w.host.Stats().Matches)
	require.Zero(t, w.host.Stats().Players)
	require.EqualValues(t, rounds+50, w.host.Stats().Ended)
	require.Less(t, after, before+1<<20)
	require.LessOrEqual(t, runtime.NumGoroutine(), goroutines)
}

func heapNow() uint64 {
	var m runtime.MemStats
	for range 3 {
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// slow is a server whose steps the test decides.
type slow struct {
	step func()
	end  transport.Endpoint
	next time.Time
}

func (s *slow) Step(now time.Time)                       { s.next = now.Add(10 * time.Millisecond); s.step() }
func (s *slow) Next() time.Time                          { return s.next }
func (s *slow) Drain(string)                             {}
func (s *slow) Shutdown(d string, _ time.Duration) error { return s.Close(d) }
func (s *slow) Close(d string) error                     { return s.end.Close(transport.Closed, d) }
func (s *slow) Figures(*stats.Server)                    {}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// Over sockets, with tickets and several workers: matches are made on demand, players reconnect during
// a drain, matches change workers, and Run ends with the last match.
func TestRun(t *testing.T) {
	key, public := ticket.NewKey(), netip.MustParseAddrPort("127.0.0.1:27015")
	gate, err := ticket.NewGate(key, []netip.AddrPort{public}, nil)
	require.NoError(t, err)
	listen, err := udp.Listen("127.0.0.1:0", udp.Config{MaxPeers: 256, Batch: 32, Accept: gate.Accept})
	require.NoError(t, err)
	var mu sync.Mutex
	servers := map[string]*server.Server{}
	h, err := New(Config{Transport: listen, OnDemand: true, Workers: 3, PlayersPerMatch: 8, NewMatch: func(name string, end transport.Endpoint) (Match, error) {
		srv, err := server.New(server.Config{Protocol: new(game).protocol(), Transport: end, MaxWaitingPerAddress: -1})
		mu.Lock()
		defer mu.Unlock()
		servers[name] = srv
		return srv, err
	}})
	require.NoError(t, err)
	ran := make(chan error, 1)
	go func() { ran <- h.Run(context.Background()) }()
	light, err := bots.New(new(game).protocol(), func(dst *Move, _ int, _ uint32) { dst.X = 1 })
	require.NoError(t, err)
	const matches, each = 12, 3
	var all [matches * each]*bots.Light
	dial := func(n int) (transport.Endpoint, error) {
		issued, err := ticket.Issue(key, ticket.Claims{Identity: fmt.Append(nil, "player ", n%each), Match: fmt.Sprint("match ", n/each), Expires: time.Now().Add(time.Minute), Servers: []netip.AddrPort{public}})
		if err != nil {
			return nil, err
		}
		return udp.Dial(listen.LocalAddr().String(), udp.Config{Token: issued.Sealed})
	}
	var gone []error
	crowd := &bots.Crowd{Count: len(all), Start: func(n int) (bots.Player, error) {
		e, err := dial(n)
		if err != nil {
			return nil, err
		}
		b, err := light.Join(0, e)
		if err != nil {
			return nil, err
		}
		b.Redial = func() (transport.Endpoint, error) { return dial(n) }
		mu.Lock()
		all[n] = b
		mu.Unlock()
		return b, nil
	}, OnGone: func(_ int, err error) { mu.Lock(); defer mu.Unlock(); gone = append(gone, err) }, Workers: 1}
	playing, leave := context.WithCancel(context.Background())
	left := make(chan error, 1)
	go func() { left <- crowd.Run(playing) }()
	require.Eventually(t, func() bool { return crowd.Playing() == len(all) }, time.Minute, 10*time.Millisecond)
	require.Equal(t, matches, h.Stats().Matches)
	for m, srv := range servers {
		require.Len(t, srv.Players(nil), each, m)
	}
	// Matches change workers as they run.
	moves := 0
	for _, m := range []string{"match 0", "match 5", "match 7"} {
		h.mu.Lock()
		m := h.matches[m]
		for _, w := range h.workers {
			if w != m.home {
				m.target.Store(w)
			}
		}
		h.mu.Unlock()
		moves++
	}
	require.Eventually(t, func() bool { return h.Stats().Moves >= uint64(moves) }, 20*time.Second, 10*time.Millisecond)
	time.Sleep(2 * time.Second)
	h.Drain("the process ends")
	require.Eventually(t, func() bool { return crowd.Playing() == len(all) }, time.Minute, 10*time.Millisecond)
	require.Equal(t, matches, h.Stats().Matches)
	require.Empty(t, gone)
	leave()
	require.NoError(t, <-left)
	require.NoError(t, <-ran)
	require.EqualValues(t, matches, h.Stats().Ended)
	require.ErrorIs(t, listen.Send(1, nil), transport.ErrClosed, "Run closed the endpoint")
}
