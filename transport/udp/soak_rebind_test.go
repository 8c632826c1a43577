package udp_test

import (
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/impair"
	"github.com/foretick/foretick/transport/sim"
	"github.com/foretick/foretick/transport/udp"
)

// tap forwards datagrams to a server from a port of its own for each sender, and looks at what passes: it knows from the
// document which datagram greets (a0), which proves a path (a8) and which carries the game's bytes to a client (a5).
type tap struct {
	front   *net.UDPConn
	server  netip.AddrPort
	running sync.WaitGroup

	mu    sync.Mutex
	paths map[netip.AddrPort]*tapped
}

// tapped is one sender's path to the server.
type tapped struct {
	back     *net.UDPConn
	greeted  bool // the path of the handshake, which proves it otherwise
	proved   bool
	up, down int // bytes, until it was proved
	early    int // datagrams of the game's to the client until then
}

func newTap(t *testing.T, server netip.AddrPort) (*tap, error) {
	front, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	p := &tap{front: front, server: server, paths: make(map[netip.AddrPort]*tapped)}
	p.running.Add(1)
	go p.forward()
	t.Cleanup(func() {
		front.Close()
		p.mu.Lock()
		for _, m := range p.paths {
			m.back.Close()
		}
		p.mu.Unlock()
		p.running.Wait()
	})
	return p, nil
}

func (p *tap) forward() {
	defer p.running.Done()
	buf := make([]byte, 1500)
	for {
		k, from, err := p.front.ReadFromUDPAddrPort(buf)
		if err != nil {
			return
		}
		p.mu.Lock()
		m := p.paths[from]
		if m == nil {
			back, err := net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(p.server))
			if err != nil {
				p.mu.Unlock()
				return
			}
			m = &tapped{back: back}
			p.paths[from] = m
			p.running.Add(1)
			go p.answer(m, from)
		}
		m.greeted = m.greeted || k > 0 && buf[0] == 0xa0
		m.proved = m.proved || m.greeted || k > 0 && buf[0] == 0xa8
		if !m.proved {
			m.up += k
		}
		p.mu.Unlock()
		m.back.Write(buf[:k])
	}
}

func (p *tap) answer(m *tapped, to netip.AddrPort) {
	defer p.running.Done()
	buf := make([]byte, 1500)
	for {
		k, err := m.back.Read(buf)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		p.mu.Lock()
		if !m.proved {
			m.down += k
			if k > 0 && buf[0] == 0xa5 {
				m.early++
			}
		}
		p.mu.Unlock()
		p.front.WriteToUDPAddrPort(buf[:k], to)
	}
}

// rebinding is what a client with a changing port saw.
type rebinding struct {
	name     string
	link     sim.Link
	limit    time.Duration // of a gap
	gaps     []time.Duration
	moves    uint64
	early    int
	down, up int // bytes at unproved paths
	worst    float64
}

// A client whose NAT, which is close to it, gives it another port every 5 s plays on. Both ends play at 60 Hz.
func TestSoakRebinding(t *testing.T) {
	every := length(t, "rebinding every", 900*ms, 5*time.Second)
	times := length(t, "rebindings", 2, 12)
	var runs []*rebinding
	for _, oneWay := range []time.Duration{0, 15 * ms, 30 * ms, 50 * ms, 75 * ms} {
		runs = append(runs, &rebinding{name: "round trip " + (2 * oneWay).String(), link: sim.Link{Latency: oneWay},
			limit: 2*oneWay + 250*ms})
	}
	// To prove a path takes a round trip of its own, which is within the 250 ms up to some 200 ms only.
	runs = append(runs, &rebinding{name: "round trip 400ms (a gap of two is what proving takes: beyond one + 250 ms)",
		link: sim.Link{Latency: 200 * ms}, limit: 2*400*ms + 250*ms})
	var busy sync.WaitGroup
	for _, r := range runs {
		busy.Add(1)
		go func() {
			defer busy.Done()
			r.run(t, every, times)
		}()
	}
	busy.Wait()
	for _, r := range runs {
		slices.Sort(r.gaps)
		if len(r.gaps) == 0 {
			t.Fatalf("%s: no gap was measured", r.name)
		}
		worst := r.gaps[len(r.gaps)-1]
		t.Logf("%s: %d moves, gaps p50 %v, max %v (at most %v); to unproved addresses %d B for %d B from them, %.2f × at most; "+
			"%d of the game's datagrams before the proof", r.name, r.moves, r.gaps[len(r.gaps)/2].Round(ms), worst.Round(ms), r.limit,
			r.down, r.up, r.worst, r.early)
		assert.LessOrEqual(t, worst, r.limit, r.name)
		assert.EqualValues(t, times, r.moves, r.name)
		assert.Zero(t, r.early, "%s: the path is proved first", r.name)
		assert.Positive(t, r.down, "%s: nothing was asked of the new paths", r.name)
		assert.LessOrEqual(t, r.worst, 3.0, r.name)
	}
}

func (r *rebinding) run(t *testing.T, every time.Duration, times int) {
	srv := listen(t, "127.0.0.1:0", udp.Config{})
	wire, err := newTap(t, srv.LocalAddr())
	if err != nil {
		t.Error(err)
		return
	}
	far, err := impair.NewProxy("127.0.0.1:0", wire.front.LocalAddr().String(), r.link, r.link, 1)
	if err != nil {
		t.Error(err)
		return
	}
	defer far.Close()
	nat, err := impair.NewProxy("127.0.0.1:0", far.Addr().String(), sim.Link{}, sim.Link{}, 1)
	if err != nil {
		t.Error(err)
		return
	}
	defer nat.Close()
	cli := dial(t, nat.Addr().String(), udp.Config{})
	toServer := wait(t, cli, transport.Connected).Peer
	toClient := wait(t, srv, transport.Connected).Peer

	// Time is counted in the client's ticks. A gap is the longest silence from a rebinding until the next.
	var ev [64]transport.Event
	last := time.Now()
	next := last.Add(every)
	gap := time.Duration(0)
	tick := time.NewTicker(time.Second / 60)
	defer tick.Stop()
	ready := cli.Ready()
	for done := -1; ; {
		select {
		case <-tick.C:
			cli.Send(toServer, make([]byte, 40))
			srv.Send(toClient, make([]byte, 100))
		case <-ready:
		}
		srv.Recv(ev[:])
		now := time.Now()
		for _, e := range ev[:cli.Recv(ev[:])] {
			if e.Kind != transport.Data {
				t.Errorf("%s: %v %v", r.name, e.Kind, e.Code)
				return
			}
			gap, last = max(gap, now.Sub(last)), now
		}
		gap = max(gap, now.Sub(last))
		if now.Before(next) {
			continue
		}
		if done >= 0 {
			r.gaps = append(r.gaps, gap)
		}
		if done++; done == times {
			break
		}
		if err := nat.Rebind(); err != nil {
			t.Error(err)
			return
		}
		next, last, gap = now.Add(every), now, 0
	}
	var info transport.Info
	if !srv.Info(toClient, &info) {
		t.Errorf("%s: the connection is gone", r.name)
	}
	r.moves = info.Stats.Migrations
	wire.mu.Lock()
	defer wire.mu.Unlock()
	for _, m := range wire.paths {
		if !m.greeted {
			r.early += m.early
			r.up, r.down = r.up+m.up, r.down+m.down
			r.worst = max(r.worst, float64(m.down)/float64(max(m.up, 1)))
		}
	}
}
