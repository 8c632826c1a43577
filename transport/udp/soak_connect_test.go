package udp_test

import (
	"math/rand/v2"
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

// dialled is how one dial went.
type dialled struct {
	took time.Duration
	dark bool // it began in a blackhole
	code transport.Code
	up   sim.PathStats
	down sim.PathStats
}

// Connecting over a link that loses a quarter of the datagrams in bursts, delays the rest by up to 275 ms, doubles and
// reorders every tenth, damages every hundredth, and is dead for 2 s in every 22: the dials begin at times spread evenly
// over that cycle.
func TestSoakConnecting(t *testing.T) {
	const cycle, hole = 22 * time.Second, 2 * time.Second
	n := length(t, "connects", 120, 1000)
	srv := listen(t, "127.0.0.1:0", udp.Config{MaxPeers: n})
	results := make([]dialled, n)
	begin := time.Now()
	var busy sync.WaitGroup
	turns := make(chan int)
	for range 120 {
		busy.Add(1)
		go func() {
			defer busy.Done()
			for i := range turns {
				phase := cycle * time.Duration(i) / time.Duration(n)
				results[i] = connectOverHell(t, srv, uint64(i), phase, hole, cycle)
			}
		}()
	}
	for _, i := range rand.New(rand.NewPCG(1, 1)).Perm(n) {
		turns <- i
	}
	close(turns)
	busy.Wait()
	var all []time.Duration
	var up, down sim.PathStats
	failed, dark := 0, 0
	for i, r := range results {
		all = append(all, r.took)
		if r.code != transport.None {
			failed++
			t.Errorf("dial %d ended with %v after %v", i, r.code, r.took)
		}
		if r.dark {
			dark++
		}
		up, down = sum(up, r.up), sum(down, r.down)
	}
	slices.Sort(all)
	p99 := all[n*99/100-1]
	t.Logf("%d connects in %v, %d of them begun in a blackhole: %d failed; p50 %v, p90 %v, p99 %v (at most 3 s), max %v", n,
		time.Since(begin).Round(ms), dark, failed, all[n/2].Round(ms), all[n*9/10].Round(ms), p99.Round(ms), all[n-1].Round(ms))
	t.Logf("up %+v, down %+v", up, down)
	assert.LessOrEqual(t, p99, 3*time.Second)
	for _, s := range []sim.PathStats{up, down} { // a link that did nothing proves nothing
		assert.Positive(t, s.Lost)
		assert.Positive(t, s.Corrupted)
		assert.Positive(t, s.Duplicated)
		assert.Positive(t, s.Reordered)
	}
	assert.Positive(t, up.Dark)
	assert.InDelta(t, n/11, dark, 2)
}

func sum(a, b sim.PathStats) sim.PathStats {
	return sim.PathStats{Sent: a.Sent + b.Sent, Lost: a.Lost + b.Lost, Overrun: a.Overrun + b.Overrun, Dark: a.Dark + b.Dark,
		Duplicated: a.Duplicated + b.Duplicated, Reordered: a.Reordered + b.Reordered, Corrupted: a.Corrupted + b.Corrupted}
}

// connectOverHell dials once over a link of its own that is at a phase of its cycle, which begins with the blackhole.
func connectOverHell(t *testing.T, srv *udp.Endpoint, seed uint64, phase, hole, cycle time.Duration) (r dialled) {
	p, err := impair.NewProxy("127.0.0.1:0", srv.LocalAddr().String(), sim.Hell, sim.Hell, seed)
	if err != nil {
		t.Error(err)
		return r
	}
	defer p.Close()
	if r.dark = phase < hole; r.dark {
		p.Blackhole(hole - phase)
	}
	next := time.AfterFunc(cycle-phase, func() { p.Blackhole(hole) })
	defer next.Stop()
	begin := time.Now()
	cli, err := udp.Dial(p.Addr().String(), udp.Config{})
	if err != nil {
		t.Error(err)
		return r
	}
	defer cli.Close(transport.Closed, "")
	var ev [1]transport.Event
	for cli.Recv(ev[:]) == 0 {
		select {
		case <-cli.Ready():
		case <-time.After(10 * time.Second):
			ev[0].Code = transport.Timeout
		}
		if ev[0].Code != transport.None {
			break
		}
	}
	r.took, r.code = time.Since(begin), ev[0].Code
	r.up, r.down = p.Stats()
	return r
}
