package host

import (
	"bytes"
	"context"
	"errors"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/relay"
	"github.com/foretick/foretick/rollback"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
	"github.com/foretick/foretick/transport/ticket"
	"github.com/foretick/foretick/transport/udp"
)

// walk is a game by inputs alone: players walk.
type walk struct {
	at     ecs.Component[place]
	cmd    ecs.Component[step]
	walker ecs.Prefab
	all    *ecs.Query
}

type place struct {
	X int32 `net:"min=0,max=100000"`
}

type step struct {
	Walks bool
}

func (g *walk) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("walk", 1)
	p.SetTickRate(60)
	p.Component(&g.at, foretick.Predicted())
	p.Command(&g.cmd)
	p.Prefab(&g.walker, "walker", &g.at, &g.cmd)
	g.all = p.Query(ecs.With(&g.at))
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.walker, player) })
	p.Shared("walk", func(_ *foretick.Frame, rows ecs.Rows) {
		at := g.at.Slice(rows)
		for i, cmd := range g.cmd.Slice(rows) {
			if cmd.Walks {
				at[i].X++
			}
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.at))
	return p
}

// walker is a peer of a match of walk.
type walker struct {
	game walk
	peer *rollback.Peer
	stop context.CancelFunc
	ran  chan error

	mu   sync.Mutex
	view rollback.View
	far  map[foretick.PlayerID]int32 // far has how far each player of the match has walked.
}

// newWalker makes a peer that walks if walks is true.
func newWalker(t *testing.T, end transport.Endpoint, walks bool) *walker {
	w := &walker{ran: make(chan error, 1)}
	proto := w.game.protocol()
	var err error
	w.peer, err = rollback.New(rollback.Config{Protocol: proto, Transport: end, Sample: rollback.Sample(&w.game.cmd, func(rollback.View) step { return step{walks} })})
	require.NoError(t, err)
	return w
}

// run runs the peer until stop is called.
func (w *walker) run() {
	ctx, stop := context.WithCancel(context.Background())
	w.stop = stop
	go func() { w.ran <- w.peer.Run(ctx, time.Second/60, w.look) }()
}

func (w *walker) look(v rollback.View) {
	far := map[foretick.PlayerID]int32{}
	for _, rows := range w.game.all.All(v.World) {
		far[rows.Owner()] = w.game.at.Slice(rows)[0].X
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.view, w.far = v, far
}

func (w *walker) seen() (rollback.View, map[foretick.PlayerID]int32) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.view, w.far
}

// TestRelays: a host runs relays as it runs servers. Over sockets, two matches of two peers play behind one port,
// each its own. A drain refuses newcomers and ends no match, and the figures count all of it.
func TestRelays(t *testing.T) {
	costtest.Sockets(t)
	listen, err := udp.Listen("127.0.0.1:0", udp.Config{MaxPeers: 16, Accept: func(_ netip.AddrPort, token []byte) ([]byte, error) {
		match, player, ok := bytes.Cut(token, []byte("/"))
		if !ok {
			return nil, errors.New("no match named")
		}
		return ticket.JoinIdentity(string(match), player), nil
	}})
	require.NoError(t, err)
	ended := make(chan End, 8) // two workers may call OnEnd at once
	relays := make(chan *relay.Relay, 8)
	h, err := New(Config{Transport: listen, OnDemand: true, Workers: 2, OnEnd: func(e End) { ended <- e },
		NewMatch: func(_ string, end transport.Endpoint) (Match, error) {
			r, err := relay.New(relay.Config{Transport: end, Players: 3, CloseAfter: time.Minute})
			relays <- r
			return r, err
		}})
	require.NoError(t, err)
	ran := make(chan error, 1)
	go func() { ran <- h.Run(context.Background()) }()
	join := func(token string, walks bool) *walker {
		end, err := udp.Dial(listen.LocalAddr().String(), udp.Config{Token: []byte(token)})
		require.NoError(t, err)
		w := newWalker(t, end, walks)
		w.run()
		return w
	}
	all := []*walker{join("red/1", true), join("red/2", true), join("blue/1", true), join("blue/2", false)}
	both := func(i int) bool { // whether a peer sees both players of its match, who walked as they do
		v, far := all[i].seen()
		least := min(far[1], far[2])
		return v.State == rollback.Playing && len(far) == 2 && (i < 2 && least > 60 || i >= 2 && least == 0 && max(far[1], far[2]) > 60)
	}
	require.Eventually(t, func() bool { return both(0) && both(1) && both(2) && both(3) }, time.Minute, 10*time.Millisecond)
	var f stats.Host
	sum := func() *stats.Server {
		h.Figures(&f)
		require.Len(t, f.Kinds, 1)
		return &f.Kinds[0].Sum
	}
	require.Equal(t, 2, h.Stats().Matches)
	require.Equal(t, 4, sum().Players)
	require.EqualValues(t, 4, sum().Joined)
	require.Greater(t, sum().Ticks, uint64(100))
	require.Greater(t, sum().PacketsIn, uint64(120))
	require.Greater(t, sum().BytesOut, sum().PacketsOut)

	h.Drain("this host is replaced")
	for _, token := range []string{"red/3", "green/1"} {
		late := join(token, true)
		require.Eventually(t, func() bool { v, _ := late.seen(); return v.State == rollback.Closed }, time.Minute, 10*time.Millisecond, token)
		var gone *transport.DisconnectError
		require.ErrorAs(t, <-late.ran, &gone)
		require.Equal(t, "this host is replaced", gone.Reason)
	}
	before, _ := all[0].seen()
	require.Eventually(t, func() bool { v, _ := all[0].seen(); return v.Tick > before.Tick+30 }, time.Minute, 10*time.Millisecond, "the matches go on")
	select {
	case err := <-ran:
		require.Fail(t, "the host ended before its last player left", "%v", err)
	default:
	}
	for _, w := range all {
		w.stop()
		require.NoError(t, <-w.ran)
		require.Zero(t, w.peer.Stats().Desyncs)
		require.Positive(t, w.peer.Stats().Sums)
	}
	require.NoError(t, <-ran)
	require.Len(t, ended, 2)
	for range 2 {
		e := <-ended
		require.Nil(t, e.Panic)
		require.NoError(t, e.Err)
	}
	require.EqualValues(t, 4, sum().Left, "the figures of matches that have ended stay")
	require.EqualValues(t, 1, sum().Refused)
	require.EqualValues(t, 1, h.Stats().Refusals.Of(RefusedDraining))
	for range 2 {
		s := (<-relays).Stats()
		require.Positive(t, s.Compared)
		require.Zero(t, s.Differed)
	}
}

// TestRelaySettlesAtOnce: a tick settles in a host when its last input comes, as with a relay that has a port of its
// own, and not when the host has a step due.
func TestRelaySettlesAtOnce(t *testing.T) {
	lag := func(hosted bool, seed uint64) float64 {
		net := sim.NewNetwork(seed)
		end := net.Listen()
		now := func() time.Time { return time.Unix(5000, 0).Add(net.Now()) }
		var only *relay.Relay
		serve := func(end transport.Endpoint) (err error) {
			only, err = relay.New(relay.Config{Transport: end})
			return err
		}
		step := func() { only.Step(now()) }
		if hosted {
			h, err := New(Config{Transport: end, OnDemand: true, Match: func(*transport.Info) (string, []byte, error) { return "only", nil, nil },
				NewMatch: func(_ string, end transport.Endpoint) (Match, error) {
					err := serve(end)
					return only, err
				}})
			require.NoError(t, err)
			step = func() { h.Step(now()) }
		} else {
			require.NoError(t, serve(end))
		}
		every := func(at, d time.Duration, fn func()) {
			var again func()
			again = func() {
				fn()
				net.At(net.Now()+d, again)
			}
			net.At(at, again)
		}
		times, behind := 0, 0.0
		every(0, time.Millisecond, func() {
			if step(); net.Now() > 5*time.Second {
				times, behind = times+1, behind+net.Now().Seconds()*60-float64(only.Stats().Tick)
			}
		})
		link := sim.Link{Latency: 20 * time.Millisecond, Jitter: 10 * time.Millisecond}
		for i := range 2 {
			w := newWalker(t, net.Dial(end, link, link), true)
			every(time.Duration(i)*5*time.Millisecond, time.Second/60, func() { w.peer.Step(now()) })
		}
		net.Run(15 * time.Second)
		require.Equal(t, 2, only.Stats().Players)
		return behind / float64(times)
	}
	own, hosted := 0.0, 0.0
	const seeds = 8
	for seed := range uint64(seeds) {
		a, b := lag(false, seed)/seeds, lag(true, seed)/seeds
		own, hosted = own+a, hosted+b
	}
	t.Logf("the newest settled tick is %.2f ticks behind the time at a relay with a port of its own, and %.2f at one of a host", own, hosted)
	require.InDelta(t, own, hosted, 0.5)
}
