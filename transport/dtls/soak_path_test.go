package dtls_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/dtls"
	"github.com/foretick/foretick/transport/impair"
	"github.com/foretick/foretick/transport/sim"
	"github.com/foretick/foretick/transport/udp"
)

const ms = time.Millisecond

// Connecting over a link that loses a quarter of the datagrams in bursts, delays the rest by up to 275 ms, doubles and
// reorders every tenth, damages every hundredth, and is dead for 2 s in every 22.
func TestSoakConnecting(t *testing.T) {
	n := length(t, "connects", 100, 1000)
	srv := listen(t, dtls.Config{MaxPeers: n, MaxHandshakes: 1024, MaxHandshakesPerAddr: 1024})
	link := sim.Hell
	link.Outage = 0
	took, codes := make([]time.Duration, n), make([]transport.Code, n)
	var busy sync.WaitGroup
	turns := make(chan int)
	for range 100 {
		busy.Go(func() {
			for i := range turns {
				const cycle, hole = 22 * time.Second, 2 * time.Second
				p, err := impair.NewProxy("127.0.0.1:0", addr(srv), link, link, uint64(i))
				if err != nil {
					t.Error(err)
					continue
				}
				phase := cycle * time.Duration(i*37%n) / time.Duration(n)
				if phase < hole {
					p.Blackhole(hole - phase)
				}
				next := time.AfterFunc(cycle-phase, func() { p.Blackhole(hole) })
				begin := time.Now()
				cli, err := dtls.Dial(p.Addr().String(), dtls.Config{Ticket: issue(t, "")})
				if err != nil {
					t.Error(err)
					continue
				}
				var ev [1]transport.Event
				for cli.Recv(ev[:]) == 0 {
					<-cli.Ready()
				}
				took[i], codes[i] = time.Since(begin), ev[0].Code
				if ev[0].Kind != transport.Connected {
					t.Errorf("dial %d ended with %v %q after %v", i, ev[0].Code, ev[0].Detail, took[i])
				}
				dtls.Vanish(cli)
				next.Stop()
				p.Close()
			}
		})
	}
	for i := range n {
		turns <- i
	}
	close(turns)
	busy.Wait()
	slices.Sort(took)
	p99 := took[n*99/100-1]
	t.Logf("%d connects, a tenth of them begun in a blackhole: p50 %v, p90 %v, p99 %v (at most 4 s), max %v; %+v", n,
		took[n/2].Round(ms), took[n*9/10].Round(ms), p99.Round(ms), took[n-1].Round(ms), srv.Counters())
	assert.LessOrEqual(t, took[n*9/10], 3500*ms)
	if *soak { // of a hundred, the second worst says nothing
		assert.LessOrEqual(t, p99, 4*time.Second)
	}
}

// A client whose NAT gives it another port plays on: no handshake, no loss of the connection.
func TestSoakRebinding(t *testing.T) {
	every := length(t, "rebinding every", 700*ms, 5*time.Second)
	times := length(t, "rebindings", 4, 24)
	srv := listen(t, dtls.Config{})
	link := sim.Link{Latency: 25 * ms}
	p, err := impair.NewProxy("127.0.0.1:0", addr(srv), link, link, 1)
	require.NoError(t, err)
	defer p.Close()
	cli := dial(t, p.Addr().String(), dtls.Config{})
	toServer, toClient := pair(t, srv, cli)
	var ev [64]transport.Event
	last, worst := time.Now(), time.Duration(0)
	tick := time.NewTicker(time.Second / 60)
	defer tick.Stop()
	next := last.Add(every)
	for moves := 0; moves <= times; {
		<-tick.C
		require.NoError(t, cli.Send(toServer, make([]byte, 40)))
		require.NoError(t, srv.Send(toClient, make([]byte, 100)))
		for _, e := range ev[:srv.Recv(ev[:])] {
			require.Equal(t, transport.Data, e.Kind, "%v %q", e.Code, e.Detail)
		}
		now := time.Now()
		for _, e := range ev[:cli.Recv(ev[:])] {
			require.Equal(t, transport.Data, e.Kind, "%v %q", e.Code, e.Detail)
			worst, last = max(worst, now.Sub(last)), now
		}
		worst = max(worst, now.Sub(last))
		if now.After(next) {
			next = now.Add(every)
			if moves++; moves <= times {
				require.NoError(t, p.Rebind())
			}
		}
	}
	var info transport.Info
	require.True(t, srv.Info(toClient, &info))
	t.Logf("%d moves, the longest silence %v (at most a round trip of 50 ms + 250 ms)", info.Stats.Migrations, worst.Round(ms))
	assert.EqualValues(t, times, info.Stats.Migrations)
	assert.LessOrEqual(t, worst, 300*ms)
	assert.EqualValues(t, 1, srv.Counters().Handshakes)
}

// restarts is what many restarts of servers showed.
type restarts struct {
	mu           sync.Mutex
	keys         map[string]bool
	notice, back []time.Duration
	replayed     int
}

// A server that is killed and comes back at its port: the client notices, is back soon, and nothing of before is heard.
func TestSoakRestart(t *testing.T) {
	lanes := length(t, "servers", 2, 25)
	times := length(t, "restarts of each", 3, 40)
	r := &restarts{keys: make(map[string]bool)}
	var busy sync.WaitGroup
	for range lanes {
		busy.Go(func() { r.run(t, times) }) // a requirement that fails ends this goroutine, and the test with it
	}
	busy.Wait()
	require.False(t, t.Failed())
	t.Logf("%d restarts: noticed after p99 %v, max %v (at most 5 s), back %v after dialling at most (2 s), %d datagrams of before "+
		"replayed, %d keys, none twice", len(r.notice), percentile(r.notice, 99), percentile(r.notice, 100), percentile(r.back, 100),
		r.replayed, len(r.keys))
	assert.LessOrEqual(t, percentile(r.notice, 100), 5*time.Second)
	assert.LessOrEqual(t, percentile(r.back, 100), 2*time.Second)
	assert.Len(t, r.keys, 2*lanes*times)
	assert.Positive(t, r.replayed)
}

func (r *restarts) run(t *testing.T, times int) {
	server := func(at string) (srv *dtls.Endpoint) {
		require.Eventually(t, func() (ok bool) {
			var err error
			srv, err = dtls.Listen(at, dtls.Config{Gate: gate(t)})
			return err == nil
		}, 3*time.Second, ms)
		return srv
	}
	srv := server("127.0.0.1:0")
	defer func() { srv.Close(0, "") }()
	at := addr(srv)
	var old [][]byte
	for i := range times {
		a := newAttacker(t, at) // records it all
		begin := time.Now()
		cli := dial(t, a.addr(), dtls.Config{})
		toServer, toClient := pair(t, srv, cli)
		back := time.Since(begin)
		require.NoError(t, cli.Send(toServer, []byte("before")))
		wait(t, srv, transport.Data)
		r.mu.Lock()
		if i > 0 {
			r.back = append(r.back, back)
		}
		r.keys[dtls.Fingerprint(srv, toClient)] = true
		r.keys[dtls.Fingerprint(cli, toServer)] = true
		r.mu.Unlock()
		dtls.Vanish(srv)
		begin = time.Now()
		srv = server(at)
		var ev [1]transport.Event
		for cli.Recv(ev[:]) == 0 {
			cli.Send(toServer, []byte("still there?"))
			select {
			case <-cli.Ready():
			case <-time.After(20 * ms):
			}
			require.Less(t, time.Since(begin), 6*time.Second)
		}
		require.Equal(t, transport.Disconnected, ev[0].Kind)
		notice := time.Since(begin)
		up, _ := a.seen()
		if old = append(old, up...); len(old) > 500 {
			old = old[len(old)-500:]
		}
		for _, b := range old {
			a.forgeUp(b)
		}
		cli.Close(0, "")
		time.Sleep(20 * ms)
		require.Zero(t, srv.Recv(ev[:]), "something of before the restart was heard: %v", ev[0])
		r.mu.Lock()
		r.notice, r.replayed = append(r.notice, notice), r.replayed+len(old)
		r.mu.Unlock()
		a.stop()
	}
}

// Peers that come and go leave nothing behind.
func TestNothingIsLeftBehind(t *testing.T) {
	srv := listen(t, dtls.Config{})
	for i := range 9 {
		cli, err := dtls.Dial(addr(srv), dtls.Config{Ticket: issue(t, "ann")})
		require.NoError(t, err)
		wait(t, srv, transport.Connected)
		if i%3 == 0 {
			wait(t, cli, transport.Connected)
		}
		if i%3 == 1 {
			require.True(t, srv.DisconnectIdentity([]byte("ann"), transport.Kicked, ""))
		}
		cli.Close(transport.Closed, "")
		wait(t, srv, transport.Disconnected)
	}
	for begin := time.Now(); dtls.Held(srv) != 0; time.Sleep(5 * ms) {
		require.Less(t, time.Since(begin), 3*time.Second, "%d are left", dtls.Held(srv))
	}
}

// The layer wraps any endpoint: here one whose datagrams are delayed, doubled, and come out of order.
func TestWrap(t *testing.T) {
	low, err := udp.Listen("127.0.0.1:0", udp.Config{Sealed: true})
	require.NoError(t, err)
	link := sim.Link{Latency: 10 * ms, Jitter: 20 * ms, Duplicate: 0.2, Reorder: 0.1, Corrupt: 0.05}
	srv, err := dtls.WrapServer(impair.Wrap(low, link, link, 1), dtls.Config{Gate: gate(t)})
	require.NoError(t, err)
	defer srv.Close(0, "")
	below, err := udp.Dial(low.LocalAddr().String(), udp.Config{Sealed: true})
	require.NoError(t, err)
	cli, err := dtls.WrapClient(below, dtls.Config{Ticket: issue(t, "ann")})
	require.NoError(t, err)
	defer cli.Close(0, "")
	toServer, toClient := pair(t, srv, cli)
	const n = 300
	got := map[*dtls.Endpoint]map[string]int{srv: {}, cli: {}}
	var ev [64]transport.Event
	for i := range n + 100 {
		if i < n {
			require.NoError(t, cli.Send(toServer, []byte{byte(i), byte(i >> 8)}))
			require.NoError(t, srv.Send(toClient, []byte{byte(i), byte(i >> 8)}))
		}
		time.Sleep(ms)
		for _, ep := range []*dtls.Endpoint{srv, cli} {
			for _, e := range ev[:ep.Recv(ev[:])] {
				require.Equal(t, transport.Data, e.Kind)
				got[ep][string(e.Data)]++
			}
		}
	}
	for _, got := range got {
		for _, times := range got {
			assert.Equal(t, 1, times, "a datagram came twice")
		}
		// Jitter holds some back behind more than a window of later ones only if there are as many; damage loses a few.
		assert.Greater(t, len(got), n*8/10)
	}
	assert.NotZero(t, srv.Counters().Replayed+cli.Counters().Replayed)
	assert.NotZero(t, srv.Counters().Forged+cli.Counters().Forged)
}

func TestConfigFaults(t *testing.T) {
	_, err := dtls.Listen("127.0.0.1:0", dtls.Config{MaxPeers: -1, MaxHandshakes: -1, MaxHandshakesPerAddr: -2, ReceiveQueue: -1,
		SendQueue: -1, SocketBuffer: -1, Timeout: 1, KeepAlive: time.Hour, Token: make([]byte, dtls.MaxToken+1), Same: 9})
	for _, field := range []string{"Gate", "MaxPeers", "MaxHandshakes", "MaxHandshakesPerAddr", "ReceiveQueue", "SendQueue",
		"SocketBuffer", "Timeout", "KeepAlive", "Token", "Same"} {
		assert.ErrorContains(t, err, "Config."+field)
	}
	_, err = dtls.WrapServer(nil, dtls.Config{})
	assert.Error(t, err)
	_, err = dtls.WrapClient(nil, dtls.Config{})
	assert.Error(t, err)
	rsa := certificate(t)
	rsa.PrivateKey = nil
	_, err = dtls.Listen("127.0.0.1:0", dtls.Config{Certificate: rsa})
	assert.ErrorContains(t, err, "ECDSA")
}
