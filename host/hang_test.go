package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// desk is an endpoint whose events the test makes. A peer's identity is the name of its match.
type desk struct {
	mu     sync.Mutex
	events []transport.Event
	names  map[transport.PeerID]string
	closed map[transport.PeerID]string
	ready  chan struct{}
	flush  atomic.Value // a func() that Flush calls
}

func newDesk() *desk {
	return &desk{names: map[transport.PeerID]string{}, closed: map[transport.PeerID]string{}, ready: make(chan struct{}, 1)}
}

func (d *desk) brings(ev transport.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.events = append(d.events, ev)
	select {
	case d.ready <- struct{}{}:
	default:
	}
}

func (d *desk) connects(id transport.PeerID, match string) {
	d.mu.Lock()
	d.names[id] = match
	d.mu.Unlock()
	d.brings(transport.Event{Kind: transport.Connected, Peer: id})
}

func (d *desk) sends(id transport.PeerID, b ...byte) {
	d.brings(transport.Event{Kind: transport.Data, Peer: id, Data: b})
}

// disconnected returns the reason with which the host closed a peer.
func (d *desk) disconnected(id transport.PeerID) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.closed[id]
}

func (d *desk) Recv(ev []transport.Event) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := copy(ev, d.events)
	d.events = d.events[n:]
	return n
}

func (d *desk) Info(id transport.PeerID, out *transport.Info) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	out.Identity = []byte(d.names[id])
	return true
}

func (d *desk) Disconnect(id transport.PeerID, _ transport.Code, reason string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed[id] = reason
}
func (d *desk) Ready() <-chan struct{}              { return d.ready }
func (d *desk) Send(transport.PeerID, []byte) error { return nil }
func (d *desk) Flush() {
	if fn, ok := d.flush.Load().(func()); ok {
		fn()
	}
}
func (d *desk) Close(transport.Code, string) error { return nil }

func matchOfIdentity(info *transport.Info) (string, []byte, error) {
	return string(info.Identity), fmt.Append(nil, info.Identity), nil
}

// stall is a host in Run whose matches named "stuck" hang until the test frees them. The test decides
// how much time passes for watchWorkers.
type stall struct {
	*testing.T
	host    *Host
	desk    *desk
	elapsed atomic.Int64
	log     lockedBuffer
	free    atomic.Bool  // true: nothing hangs any more
	hung    atomic.Int64 // how many calls have hung
	ends    chan End
	stop    context.CancelFunc
	ran     chan error

	mu    sync.Mutex
	steps map[string]int
	read  map[string]string // data that matches have read
}

// hangs are the ways in which a function of the game can hang.
var hangs = map[string]func(free *atomic.Bool){
	"blocks": func(free *atomic.Bool) { blockedInGame(free) },
	"spins":  func(free *atomic.Bool) { spinsInGame(free) },
}

// The two are not inlined, since a stack has to show their names: on what the compiler inlined,
// a goroutine may be stopped at an instruction that belongs to its caller.
//
//go:noinline
func blockedInGame(free *atomic.Bool) {
	for !free.Load() {
		time.Sleep(time.Millisecond)
	}
}

//go:noinline
func spinsInGame(free *atomic.Bool) {
	for !free.Load() {
	}
}

// newStall runs a host of three matches. In one of them the function where hangs.
func newStall(t *testing.T, cfg Config, where string, how func(*atomic.Bool)) *stall {
	t.Helper()
	s := &stall{T: t, desk: newDesk(), ends: make(chan End, 20), ran: make(chan error, 1), steps: map[string]int{}, read: map[string]string{}}
	hang := func(match, in string) {
		if in == where && strings.HasPrefix(match, "stuck") && !s.free.Load() {
			s.hung.Add(1)
			defer s.hung.Add(-1)
			how(&s.free)
		}
	}
	s.elapsed.Store(int64(time.Hour))
	cfg.elapsed = func() time.Duration { return time.Duration(s.elapsed.Load()) }
	cfg.Transport, cfg.OnDemand, cfg.Match = s.desk, true, matchOfIdentity
	cfg.Logger = slog.New(slog.NewTextHandler(&s.log, nil))
	cfg.OnEnd = func(e End) {
		s.ends <- e
		hang(e.Match, "OnEnd")
	}
	cfg.NewMatch = func(name string, end transport.Endpoint) (Match, error) {
		hang(name, "NewMatch")
		m := &hanging{slow: slow{end: end}}
		m.step = func() {
			var ev [64]transport.Event
			n := end.Recv(ev[:])
			s.mu.Lock()
			s.steps[name]++
			for _, e := range ev[:n] {
				s.read[name] += string(e.Data)
			}
			again := s.steps[name]
			s.mu.Unlock()
			if again > 3 {
				hang(name, "Step")
				if where == "OnEnd" && strings.HasPrefix(name, "stuck") {
					_ = end.Close(0, "over")
				}
			}
		}
		m.closing = func() { hang(name, "Shutdown") }
		return m, nil
	}
	h, err := New(cfg)
	require.NoError(t, err)
	s.host = h
	for i, m := range []string{"a", "stuck", "b"} {
		s.desk.connects(transport.PeerID(i+1), m)
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	t.Cleanup(stop)
	t.Cleanup(func() { s.free.Store(true) })
	go func() { s.ran <- h.Run(ctx) }()
	return s
}

// hanging is a server whose Shutdown first calls a function of the test.
type hanging struct {
	slow
	closing func()
}

func (h *hanging) Shutdown(d string, _ time.Duration) error {
	h.closing()
	return h.Close(d)
}

// passes lets the time d pass, and a little more, since no two steps begin at the same time.
func (s *stall) passes(d time.Duration) { s.elapsed.Add(int64(d + time.Millisecond)) }

func (s *stall) waits(what string, is func() bool) {
	s.Helper()
	require.Eventually(s, is, time.Minute, time.Millisecond, what)
}

// goOn waits until each of the matches has made some more steps.
func (s *stall) goOn(names ...string) {
	s.Helper()
	s.mu.Lock()
	before := map[string]int{}
	for _, n := range names {
		before[n] = s.steps[n]
	}
	s.mu.Unlock()
	s.waits(fmt.Sprint(names, " go on"), func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, n := range names {
			if s.steps[n] < before[n]+5 {
				return false
			}
		}
		return true
	})
}

// A match that hangs, in whichever function and way, stops only itself. The other matches of its
// worker, and new ones, go on. It is reported as stuck once, with its stack. Then its players are
// disconnected, and its place is lost until it goes on. It ends once.
func TestMatchThatHangs(t *testing.T) {
	costtest.Concurrent(t)
	for _, where := range []string{"NewMatch", "Step", "OnEnd"} {
		for how, hang := range hangs {
			t.Run(where+" "+how, func(t *testing.T) {
				s := newStall(t, Config{Workers: 1, MaxMatches: 4}, where, hang)
				s.waits("it hangs", func() bool { return s.hung.Load() == 1 })
				s.passes(hungAfter)
				s.waits("its worker is seen", func() bool { return s.host.Stats().Stalls == 1 })
				s.goOn("a", "b")
				s.desk.connects(9, "c") // the worker that hangs does not get this match
				s.goOn("a", "b", "c")
				require.NotContains(t, s.log.String(), "does not end")
				s.passes(5 * time.Second)
				s.waits("it is told", func() bool { return s.host.Stats().Stuck == 1 })
				s.waits("it is logged", func() bool { return strings.Contains(s.log.String(), "does not end") })
				require.Contains(t, s.log.String(), "match=stuck")
				if where != "OnEnd" { // OnEnd runs in a goroutine of its own
					require.Contains(t, s.log.String(), "InGame")
				}
				require.Equal(t, 1, strings.Count(s.log.String(), "does not end"))
				if where != "OnEnd" {
					require.Empty(t, s.desk.disconnected(2))
				}
				s.passes(25 * time.Second)
				s.waits("it is given up", func() bool { return s.host.Stats().Lost == 1 })
				require.EqualValues(t, 1, s.host.Stats().Abandoned)
				e := <-s.ends
				require.Equal(t, "stuck", e.Match)
				if where != "OnEnd" { // otherwise the match has ended before
					require.ErrorIs(t, e.Err, ErrStuck)
					require.Contains(t, string(e.Stack), "InGame")
					s.waits("its players are closed", func() bool { return s.desk.disconnected(2) == "the match does not respond" })
				}
				s.waits("its name is free", func() bool { return len(s.host.Matches(nil)) == 3 })
				require.Zero(t, s.host.Stats().Stuck)
				require.ErrorIs(t, s.host.Allocate("d"), ErrFull, "its place is lost")
				s.goOn("a", "b", "c")
				s.free.Store(true)
				s.waits("it wakes and ends", func() bool { return s.host.Stats().Lost == 0 })
				require.NoError(t, s.host.Allocate("d"))
				s.goOn("a", "b", "c", "d")
				s.stop()
				require.NoError(t, <-s.ran)
				for len(s.ends) > 0 {
					require.NotEqual(t, "stuck", (<-s.ends).Match, "it ends once")
				}
				require.EqualValues(t, 5, s.host.Stats().Ended)
			})
		}
	}
}

// A hanging match that goes on in time continues with the newest datagram of each peer. It has a worker
// of its own until it has been fast for a while.
func TestHungMatchGoesOn(t *testing.T) {
	costtest.Concurrent(t)
	for how, hang := range hangs {
		t.Run(how, func(t *testing.T) {
			s := newStall(t, Config{Workers: 1}, "Step", hang)
			s.waits("it hangs", func() bool { return s.hung.Load() == 1 })
			s.passes(hungAfter)
			s.waits("its worker is seen", func() bool { return s.host.Stats().Stalls == 1 })
			for i := range byte(200) {
				s.desk.sends(2, 'A'+i%20)
			}
			s.desk.connects(4, "stuck") // the match also reads the packets of this peer
			s.desk.sends(4, 'x')
			s.desk.sends(4, 'y')
			s.waits("datagrams are dropped", func() bool { return s.host.Stats().Dropped == 200 })
			s.free.Store(true)
			s.goOn("a", "b", "stuck")
			s.mu.Lock()
			require.Equal(t, "Ty", s.read["stuck"])
			s.mu.Unlock()
			require.Equal(t, 1, strings.Count(s.log.String(), "a match is slow"))
			loners := func() int { s.host.mu.Lock(); defer s.host.mu.Unlock(); return len(s.host.loners) }
			require.Equal(t, 1, loners())
			s.passes(calmAfter)
			s.waits("it shares a worker", func() bool { return loners() == 0 })
			s.goOn("a", "b", "stuck")
			require.Equal(t, 3, s.host.Stats().Matches)
			s.stop()
			require.NoError(t, <-s.ran)
			require.Zero(t, s.host.Stats().Abandoned)
			require.EqualValues(t, 3, s.host.Stats().Ended)
		})
	}
}

// A match that takes over half of its worker's time gets a worker of its own, until it takes less than
// a quarter for a while. One log line reports that.
func TestMatchThatIsSlow(t *testing.T) {
	costtest.Concurrent(t)
	var s *stall
	s = newStall(t, Config{Workers: 1}, "Step", func(*atomic.Bool) { s.elapsed.Add(int64(60 * time.Millisecond)) })
	loners := func() int { s.host.mu.Lock(); defer s.host.mu.Unlock(); return len(s.host.loners) }
	s.waits("it has a worker", func() bool { return loners() == 1 })
	s.goOn("a", "b", "stuck")
	for range 20 { // time passes only in the match's steps
		s.goOn("stuck")
		require.Equal(t, 1, loners())
	}
	require.Equal(t, 1, strings.Count(s.log.String(), "a match is slow"))
	require.Contains(t, s.log.String(), "match=stuck")
	s.free.Store(true)
	s.goOn("stuck")
	s.waits("it shares a worker", func() bool {
		s.passes(100 * time.Millisecond)
		return loners() == 0
	})
	s.goOn("a", "b", "stuck")
	s.stop()
	require.NoError(t, <-s.ran)
	require.Zero(t, s.host.Stats().Stalls)
}

// A hanging match that ends by a panic, or by ending its goroutine, ends as if it had not hung.
func TestHungMatchFails(t *testing.T) {
	costtest.Concurrent(t)
	for _, given := range []bool{false, true} {
		for way, fail := range failures {
			t.Run(fmt.Sprint(way, " given up ", given), func(t *testing.T) {
				s := newStall(t, Config{Workers: 1}, "Step", func(free *atomic.Bool) { blockedInGame(free); fail() })
				s.waits("it hangs", func() bool { return s.hung.Load() == 1 })
				s.passes(hungAfter)
				s.waits("its worker is seen", func() bool { return s.host.Stats().Stalls == 1 })
				if given {
					s.passes(time.Minute)
					s.waits("it is given up", func() bool { return s.host.Stats().Lost == 1 })
				}
				s.free.Store(true)
				e := <-s.ends
				require.Equal(t, given, errors.Is(e.Err, ErrStuck))
				require.Equal(t, given, e.Panic == nil)
				s.goOn("a", "b")
				s.waits("its goroutine ends", func() bool {
					s.host.mu.Lock()
					defer s.host.mu.Unlock()
					return len(s.host.loners) == 0 && s.host.lost == 0
				})
				s.stop()
				require.NoError(t, <-s.ran)
				require.EqualValues(t, 3, s.host.Stats().Ended)
			})
		}
	}
}

// Run ends soon after Linger without a match that hangs, in whichever function. It also does so after
// Shutdown, and after Drain once the match is given up. The match's goroutine ends when the function
// returns.
func TestRunEndsWithoutHungMatch(t *testing.T) {
	costtest.Concurrent(t)
	for _, by := range []string{"context", "Shutdown", "Drain"} {
		for _, where := range []string{"NewMatch", "Step", "Shutdown", "OnEnd"} {
			if by == "Drain" && where == "Shutdown" {
				continue // it is not called
			}
			t.Run(by+" "+where, func(t *testing.T) {
				goroutines := runtime.NumGoroutine()
				s := newStall(t, Config{Workers: 2, Linger: time.Second}, where, hangs["blocks"])
				if where == "Shutdown" {
					s.goOn("a", "b", "stuck")
				} else {
					s.waits("it hangs", func() bool { return s.hung.Load() == 1 })
				}
				s.waits("all are there", func() bool { return s.host.Stats().Players >= 2 })
				switch by {
				case "context":
					s.stop()
				case "Shutdown":
					s.host.Shutdown("it ends", time.Second)
				case "Drain":
					s.host.Drain("it ends")
					for _, m := range []string{"a", "b"} {
						s.host.mu.Lock()
						end := s.host.matches[m].port
						s.host.mu.Unlock()
						_ = end.Close(0, "over")
					}
					s.passes(30 * time.Second)
				}
				var err error
				for ended := false; !ended; {
					select {
					case err = <-s.ran:
						ended = true
					case <-time.After(10 * time.Millisecond):
						s.passes(50 * time.Millisecond)
					}
				}
				require.NoError(t, err)
				require.EqualValues(t, 1, s.hung.Load(), "it still hangs")
				require.EqualValues(t, 3, s.host.Stats().Ended)
				require.EqualValues(t, 1, s.host.Stats().Lost)
				s.free.Store(true)
				s.waits("its goroutine ends", func() bool { return runtime.NumGoroutine() <= goroutines+1 }) // and the test's own
			})
		}
	}
}

// standing is a server that never reads.
type standing struct{ slow }

func (standing) Step(time.Time)  {}
func (standing) Next() time.Time { return time.Unix(1<<40, 0) }

// A datagram beyond a full inbox costs the same in a match of 4 players as in one of 256, whether the
// match's step hangs or not.
func TestFloodOfStandingMatch(t *testing.T) {
	costtest.Ratio(t)
	cost := func(players int, held bool) time.Duration {
		h, err := New(Config{Transport: newDesk(), NewMatch: func(string, transport.Endpoint) (Match, error) { return &standing{}, nil }})
		require.NoError(t, err)
		p := newPort(h, &match{name: "m"})
		for id := range transport.PeerID(players) {
			require.True(t, p.addPeer(&resident{id: id + 1}))
			for range 64 {
				p.data(id+1, []byte{1, 2, 3}, time.Time{})
			}
		}
		if held {
			p.hold()
		}
		last := transport.PeerID(players)
		_, took := costtest.Cost(func() {
			for range 1_000_000 {
				p.data(last, []byte{1, 2, 3}, time.Time{})
			}
		})
		require.Len(t, p.queue, 65*players, "the queue does not grow")
		return took
	}
	for _, held := range []bool{false, true} {
		few, many := time.Hour, time.Hour
		for range 5 {
			few, many = min(few, cost(4, held)), min(many, cost(256, held))
			if many < 4*few {
				break
			}
		}
		t.Logf("held %v: 1 000 000 datagrams cost %v in a match of 4, %v in one of 256", held, few, many)
		require.Less(t, many, 4*few)
	}
}

// Peers that connect and disconnect while a match hangs leave nothing in its queue, and the match does
// not get their events.
func TestPeersOfStandingMatch(t *testing.T) {
	h, err := New(Config{Transport: sim.NewNetwork(1).Listen(), NewMatch: func(string, transport.Endpoint) (Match, error) { return &standing{}, nil }})
	require.NoError(t, err)
	p := newPort(h, &match{name: "m"})
	require.True(t, p.addPeer(&resident{id: 1}))
	for i := range transport.PeerID(10_000) {
		require.True(t, p.addPeer(&resident{id: i + 2}))
		p.data(i+2, []byte{1}, time.Time{})
		if i%2 == 0 {
			p.disconnect(i+2, 0, "bye")
		} else {
			p.Disconnect(i+2, 0, "bye")
		}
		require.Less(t, len(p.queue), 400)
	}
	require.True(t, p.addPeer(&resident{id: 1 << 20}))
	p.data(1, []byte{7}, time.Time{})
	var ev [16]transport.Event
	n := p.Recv(ev[:])
	require.Equal(t, 3, n)
	require.Equal(t, []transport.PeerID{1, 1 << 20, 1}, []transport.PeerID{ev[0].Peer, ev[1].Peer, ev[2].Peer})
	require.Equal(t, []byte{7}, ev[2].Data)
	require.Zero(t, p.empty)
}
