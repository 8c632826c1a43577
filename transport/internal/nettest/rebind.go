package nettest

import (
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/impair"
	"github.com/foretick/foretick/transport/sim"
)

// Rebinding tests a client that stays in play while its NAT, which is close to it, changes its port
// every 5 s, or later if the server has not yet moved after the change before. Both ends play at
// 60 Hz. At full length a gap in the client's incoming data may last a round trip plus 250 ms, in
// short form ten times that. A response proves the new path; before that, the path gets at most
// three bytes for each byte received.
type Rebinding struct {
	Listen func(t testing.TB) (srv transport.Endpoint, addr netip.AddrPort)
	Dial   func(t testing.TB, addr string) transport.Endpoint
	OneWay []time.Duration // delays of the links to test
}

// Run tests all links in parallel.
func (c Rebinding) Run(t *testing.T) {
	t.Helper()
	every := Length(t, "rebinding every", 900*time.Millisecond, 5*time.Second)
	times := Length(t, "rebindings", 2, 12)
	var runs []*rebinding
	var busy sync.WaitGroup
	for _, oneWay := range c.OneWay {
		r := &rebinding{name: "round trip " + (2 * oneWay).String(), link: sim.Link{Latency: oneWay}, limit: 2*oneWay + 250*time.Millisecond}
		runs = append(runs, r)
		busy.Go(func() { r.runRebinding(t, c, every, times) })
	}
	busy.Wait()
	for _, r := range runs {
		r.judgeGaps(t, times)
	}
}

func (r *rebinding) judgeGaps(t *testing.T, times int) {
	t.Helper()
	if len(r.gaps) == 0 {
		t.Fatalf("%s: no gap was measured", r.name)
	}
	slices.Sort(r.gaps)
	worst := r.gaps[len(r.gaps)-1]
	t.Logf("%s: %d moves, gaps p50 %v, max %v (at full length at most %v, and the %v that this machine had no time for the test); to unproved addresses %d B for %d B from them, %.2f × at most; "+
		"%d of the game's datagrams among them", r.name, r.moves, r.gaps[len(r.gaps)/2].Round(time.Millisecond),
		worst.Round(time.Millisecond), r.limit, r.away.Round(time.Millisecond), r.down, r.up, r.worst, r.early)
	most := r.limit + r.away
	if !*Soak { // next to other work
		most = 10 * r.limit
	}
	switch {
	case worst > most || r.moves != uint64(times):
		t.Errorf("%s: a gap is too long, or a move was missed", r.name)
	case r.down == 0:
		t.Errorf("%s: nothing was asked of the new paths", r.name)
	case r.link.Latency >= 50*time.Millisecond && r.early == 0:
		t.Errorf("%s: the client waited for the proof", r.name)
	case r.worst > 3:
		t.Errorf("%s: an unproved address got %.2f × what it sent", r.name, r.worst)
	}
}

// rebinding is the measurement of a client with a changing port.
type rebinding struct {
	name     string
	link     sim.Link
	limit    time.Duration // longest gap that is allowed
	gaps     []time.Duration
	away     time.Duration // the longest pause of the test itself
	moves    uint64
	early    int
	down, up int // bytes on unproved paths
	worst    float64
}

func (r *rebinding) runRebinding(t *testing.T, c Rebinding, every time.Duration, times int) {
	srv, addr := c.Listen(t)
	wire, err := newTap(t, addr)
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
	cli := c.Dial(t, nat.Addr().String())
	toServer, toClient := Pair(t, srv, cli)

	// Time counts in the client's ticks. A gap is the longest silence from one rebinding to the next.
	var ev [64]transport.Event
	last := time.Now()
	next := last.Add(every)
	gap := time.Duration(0)
	tick := time.NewTicker(time.Second / 60)
	defer tick.Stop()
	ready := cli.Ready()
	ran := time.Now()
	for done := -1; ; {
		select {
		case <-tick.C:
			_ = cli.Send(toServer, make([]byte, 40))
			_ = srv.Send(toClient, make([]byte, 100))
		case <-ready:
		}
		srv.Recv(ev[:])
		now := time.Now()
		r.away, ran = max(r.away, now.Sub(ran)-time.Second/60), now
		for _, e := range ev[:cli.Recv(ev[:])] {
			if e.Kind != transport.Data {
				t.Errorf("%s: %v %v", r.name, e.Kind, e.Code)
				return
			}
			gap, last = max(gap, now.Sub(last)), now
		}
		gap = max(gap, now.Sub(last))
		if now.Before(next) || now.Before(next.Add(10*every)) && !moved(srv, toClient, done+1) {
			continue // the proof of a path takes a round trip and a half, and the machine may pause
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

// moved reports whether the server has moved a client so many times.
func moved(srv transport.Endpoint, client transport.PeerID, times int) bool {
	var info transport.Info
	return srv.Info(client, &info) && info.Stats.Migrations >= uint64(times)
}
