package sim_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

func TestEventsRunInOrder(t *testing.T) {
	n := sim.NewNetwork(1)
	var got []int
	note := func(i int) func() { return func() { got = append(got, i) } }
	n.At(20*ms, note(3))
	n.At(10*ms, note(1))
	n.At(20*ms, note(4)) // a tie: in order of insertion
	n.At(10*ms, func() {
		got = append(got, 2)
		n.At(0, note(20)) // past: now, but after events that are due now
		n.At(20*ms, note(5))
	})
	n.At(30*ms, note(6)) // at the end of Run: included
	n.At(30*ms+1, note(7))
	n.Run(30 * ms)
	assert.Equal(t, []int{1, 2, 20, 3, 4, 5, 6}, got)
	assert.Equal(t, 30*ms, n.Now())
	at, ok := n.Next()
	assert.True(t, ok)
	assert.Equal(t, 30*ms+1, at)
	n.Run(0) // the time never runs backwards
	assert.Equal(t, 30*ms, n.Now())
	n.At(40*ms, func() { assert.Panics(t, func() { n.Run(50 * ms) }) })
	n.Run(time.Second)
}

// trace runs a crowd for a while and returns a hash of all that was sent and received.
func trace(t *testing.T, seed uint64) [32]byte {
	h := sha256.New()
	c := newCrowd(t, seed, sim.Hell)
	sent := 0
	c.net.Trace(func(now time.Duration, from, to int, b []byte) {
		sent++
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(now)))
		h.Write([]byte{byte(from), byte(to), byte(len(b))})
		h.Write(b)
	})
	var ev [16]transport.Event
	for i := range 300 {
		for k, e := range append([]*sim.Endpoint{c.srv}, c.clients...) {
			for _, ev := range ev[:e.Recv(ev[:])] {
				h.Write([]byte{byte(k), byte(ev.Kind), byte(ev.Peer), byte(ev.Code)})
				h.Write(ev.Data)
			}
		}
		for k, cli := range c.clients {
			cli.Send(c.toSrv[k], []byte{byte(i), byte(k), 1, 2, 3})
			c.srv.Send(c.toCli[k], []byte{byte(i), byte(k), 4, 5})
		}
		c.net.Run(c.net.Now() + time.Second/30)
	}
	require.NotZero(t, sent)
	return [32]byte(h.Sum(nil))
}

func TestSameSeedSameTrace(t *testing.T) {
	want := trace(t, 7)
	// It is the same on every machine, and changes only when the package changes how it decides.
	assert.Equal(t, "e025489b09c7289fa3931cfa6db6fbca93be2c9aa5b874c123ffd8a2217fab7b", hex.EncodeToString(want[:]))
	old := runtime.GOMAXPROCS(1)
	assert.Equal(t, want, trace(t, 7))
	runtime.GOMAXPROCS(old)
	assert.Equal(t, want, trace(t, 7))
	assert.NotEqual(t, want, trace(t, 8))
}

// The packets of one client do not change the losses of another.
func TestClientsHaveTheirOwnLuck(t *testing.T) {
	arrivals := func(noise int) (at []time.Duration) {
		n := sim.NewNetwork(3)
		srv, cli, _, to := pair(t, n, sim.LTE, sim.LTE)
		other := n.Dial(srv, sim.LTE, sim.LTE)
		for range 3 * 30 {
			n.Run(n.Now() + time.Second/30)
		}
		var ev [64]transport.Event
		otherTo := connected(t, other)
		srv.Recv(ev[:])
		for range 200 {
			cli.Send(to, []byte("x"))
			for range noise {
				other.Send(otherTo, []byte("noise"))
			}
			for range 20 {
				n.Run(n.Now() + ms)
				for _, e := range ev[:srv.Recv(ev[:])] {
					if string(e.Data) == "x" {
						at = append(at, n.Now())
					}
				}
			}
		}
		return at
	}
	quiet := arrivals(0)
	require.NotEmpty(t, quiet)
	assert.Equal(t, quiet, arrivals(3))
}

func TestConnectionTakesARoundTrip(t *testing.T) {
	n := sim.NewNetwork(1)
	srv := n.Listen()
	cli := n.Dial(srv, sim.Link{Latency: 30 * ms}, sim.Link{Latency: 50 * ms})
	var ev [1]transport.Event
	n.Run(80*ms - 1)
	assert.Zero(t, cli.Recv(ev[:]))
	n.Run(80 * ms)
	assert.Equal(t, 1, cli.Recv(ev[:]))
	assert.Equal(t, transport.Connected, ev[0].Kind)
}

// 1 000 dials over a link that loses a quarter in bursts, a tenth of them in a blackhole: all succeed, and soon.
func TestConnectingOverHell(t *testing.T) {
	var took []time.Duration
	for seed := range uint64(1000) {
		n := sim.NewNetwork(seed)
		cli := n.Dial(n.Listen(), sim.Hell, sim.Hell)
		if seed%10 == 0 { // clients in a blackhole: it lasts two seconds and comes every 20 s
			n.Blackhole(cli, 0, time.Duration(seed)*2*time.Second/1000)
		}
		for len(cli.Ready()) == 0 {
			n.Run(n.Now() + 10*ms)
		}
		took = append(took, n.Now())
		connected(t, cli)
	}
	slices.Sort(took)
	t.Logf("connecting over Hell: p50 %v, p99 %v, max %v", took[500], took[990], took[999])
	assert.Less(t, took[990], 3*time.Second)
	assert.Less(t, took[999], 5*time.Second)
}

func TestDialGivesUp(t *testing.T) {
	n := sim.NewNetwork(1)
	cli := n.Dial(n.Listen(), sim.Link{Loss: 1}, sim.Link{})
	n.Run(10 * time.Second)
	var ev [2]transport.Event
	require.Equal(t, 1, cli.Recv(ev[:]))
	assert.Equal(t, transport.Disconnected, ev[0].Kind)
	assert.Equal(t, transport.Timeout, ev[0].Code)

	srv := n.Listen()
	srv.Close(transport.Closed, "")
	cli = n.Dial(srv, sim.Link{}, sim.Link{})
	n.Run(11 * time.Second)
	require.Equal(t, 1, cli.Recv(ev[:]))
	assert.Equal(t, transport.Unreachable, ev[0].Code)
	_, more := n.Next()
	assert.False(t, more, "nothing goes on for connections that ended")
}

// A close gets through a link that loses nearly everything, since the other end asks again.
func TestCloseIsToldAgain(t *testing.T) {
	n := sim.NewNetwork(4)
	srv, cli, to, _ := pair(t, n, sim.Link{}, sim.Link{})
	n.Blackhole(cli, n.Now(), n.Now()+2*time.Second) // all copies are lost
	srv.Disconnect(to, transport.Kicked, "out")
	var ev [2]transport.Event
	for range 60 {
		n.Run(n.Now() + 100*ms)
	}
	require.Equal(t, 1, cli.Recv(ev[:]))
	assert.Equal(t, transport.Kicked, ev[0].Code)
	assert.Equal(t, "out", ev[0].Reason)
}

func TestLinksChangeInFlight(t *testing.T) {
	n := sim.NewNetwork(1)
	srv, cli, toClient, toServer := pair(t, n, sim.Link{}, sim.Link{})
	n.SetLink(cli, sim.Link{Loss: 1}, sim.Link{Latency: 100 * ms})
	cli.Send(toServer, []byte("lost"))
	srv.Send(toClient, []byte("late"))
	n.Run(n.Now() + 99*ms)
	var ev [2]transport.Event
	assert.Zero(t, srv.Recv(ev[:]))
	assert.Zero(t, cli.Recv(ev[:]))
	n.Run(n.Now() + ms)
	assert.Equal(t, 1, cli.Recv(ev[:]))
	up, down := n.Paths(cli)
	assert.EqualValues(t, 1, up.Stats().Lost)
	assert.Zero(t, down.Stats().Lost)
	assert.PanicsWithError(t, "sim: Network.SetLink takes an endpoint that Dial made, not one that listens",
		func() { n.SetLink(srv, sim.Link{}, sim.Link{}) })
}

func TestDamageReachesTheReceiver(t *testing.T) {
	n := sim.NewNetwork(1)
	srv, cli, _, to := pair(t, n, sim.Link{}, sim.Link{})
	n.SetLink(cli, sim.Link{Corrupt: 1}, sim.Link{})
	zeros := make([]byte, 200)
	for range 500 {
		cli.Send(to, zeros)
		n.Run(n.Now() + 10*ms)
	}
	assert.Equal(t, make([]byte, 200), zeros, "the sender's copy stays whole")
	var ev [256]transport.Event
	damaged := 0
	for _, e := range ev[:srv.Recv(ev[:])] {
		require.Len(t, e.Data, 200)
		require.NotEqual(t, zeros, e.Data)
		damaged++
	}
	assert.NotZero(t, damaged)
}

func TestIdentity(t *testing.T) {
	n := sim.NewNetwork(1)
	srv := n.Listen()
	srv.SetAccept(func(addr string) ([]byte, error) { return []byte("player at " + addr), nil })
	n.Dial(srv, sim.Link{}, sim.Link{})
	n.Run(time.Second)
	var info transport.Info
	require.True(t, srv.Info(connected(t, srv), &info))
	assert.Equal(t, "player at sim:1", string(info.Identity))
	assert.Equal(t, "sim:1", info.Addr)
}

func TestNoAllocationPerDatagram(t *testing.T) {
	c := newCrowd(t, 1, bad)
	for range 600 {
		c.tick()
	}
	assert.Less(t, testing.AllocsPerRun(200, c.tick), 1.0)
	assert.NotZero(t, c.got)
}

// Ended connections hold no memory: the heap is no larger after many of them than after a few.
func TestConnectionsLeaveNothing(t *testing.T) {
	n := sim.NewNetwork(1)
	srv := n.Listen()
	var ev [16]transport.Event
	cycle := func(k int) {
		for range k {
			cli := n.Dial(srv, sim.LAN, sim.LAN)
			n.Run(n.Now() + 50*ms)
			cli.Close(transport.Closed, "")
			n.Run(n.Now() + 2*time.Second)
			for srv.Recv(ev[:]) > 0 {
			}
		}
	}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	cycle(100)
	before := heap()
	cycle(5000)
	assert.Less(t, heap(), before+64<<10)
	_, more := n.Next()
	assert.False(t, more)
}
