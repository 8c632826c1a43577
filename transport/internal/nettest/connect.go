package nettest

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/impair"
	"github.com/foretick/foretick/transport/sim"
)

// Connecting tests connecting over a bad link that is also dead for 2 s in every 22 s. The dials start at times
// spread evenly over that cycle. sim.Hell loses a quarter of the datagrams in bursts, delays the rest by up to 275
// ms, duplicates and reorders every tenth, and damages every hundredth.
type Connecting struct {
	Link   sim.Link                                      // link for the dials, in addition to the cycle
	Server string                                        // the server's address
	Dial   func(addr string) (transport.Endpoint, error) // called from any goroutine
	Leave  func(ep transport.Endpoint)                   // ends a client's endpoint
	P99    time.Duration                                 // upper limit of the dials' times
	Lanes  int                                           // parallel dials
	Short  int                                           // how many dials to make without -soak; 1000 more decide if these fail
}

const (
	cycle = 22 * time.Second
	hole  = 2 * time.Second
	whole = 1000 // dials
)

// dialled is the result of one dial.
type dialled struct {
	took     time.Duration
	dark     bool // it started in a blackhole
	up, down sim.PathStats
}

// Run makes the dials. A failed dial, or too many slow ones, fail the test.
func (c Connecting) Run(t *testing.T) {
	t.Helper()
	c.Lanes /= slower * slower // parallel dials would compete with the link for the processors
	n := Length(t, "connects", c.Short/slower, whole)
	begin, late := time.Now(), lateness()
	all := c.dials(t, 0, n, n)
	p99 := c.judgeTimes(t, all, begin)
	if p99 > slower*c.P99 && n < whole {
		t.Logf("p99 of %d is too long: the whole %d decide", n, whole)
		all = append(all, c.dials(t, n, whole-n, whole-n)...)
		p99 = c.judgeTimes(t, all, begin)
	}
	busy := late()
	t.Logf("this machine was late by p99 %v", busy)
	if p99 > slower*c.P99+turns*busy {
		t.Errorf("p99 is %v; at most %v, and %d times that", p99, slower*c.P99, turns)
	}
}

// turns is how often a dial waits for the machine's processors: four round trips through a proxy.
const turns = 16

// lateness measures this machine's scheduling delay (p99), until the returned function is called.
func lateness() func() time.Duration {
	stop, stopped := make(chan struct{}), make(chan struct{})
	var all []time.Duration
	go func() {
		defer close(stopped)
		const every = 5 * time.Millisecond
		for due := time.Now().Add(every); ; due = time.Now().Add(every) {
			select {
			case <-stop:
				return
			case <-time.After(time.Until(due)):
				all = append(all, time.Since(due))
			}
		}
	}()
	return func() time.Duration {
		close(stop)
		<-stopped
		return Percentile(all, 99)
	}
}

// dials makes n dials with link seeds starting at from, in an order that mixes their phases.
func (c Connecting) dials(t *testing.T, from, n, spread int) []dialled {
	results := make([]dialled, n)
	var busy sync.WaitGroup
	turns := make(chan int)
	for range c.Lanes {
		busy.Go(func() {
			for i := range turns {
				results[i] = c.dial(t, uint64(from+i), cycle*time.Duration(i)/time.Duration(spread))
			}
		})
	}
	for _, i := range rand.New(rand.NewPCG(1, 1)).Perm(n) {
		turns <- i
	}
	close(turns)
	busy.Wait()
	return results
}

func (c Connecting) judgeTimes(t *testing.T, results []dialled, begin time.Time) time.Duration {
	t.Helper()
	var all []time.Duration
	var up, down sim.PathStats
	dark, n := 0, len(results)
	for _, r := range results {
		all = append(all, r.took)
		up, down = sum(up, r.up), sum(down, r.down)
		if r.dark {
			dark++
		}
	}
	slices.Sort(all)
	p99 := all[n*99/100-1]
	ms := func(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
	t.Logf("%d connects in %v, %d of them begun in a blackhole: p50 %v, p90 %v, p99 %v (at most %v), max %v", n,
		ms(time.Since(begin)), dark, ms(all[n/2]), ms(all[n*9/10]), ms(p99), c.P99, ms(all[n-1]))
	t.Logf("up %+v, down %+v", up, down)
	for _, s := range []sim.PathStats{up, down} { // a link that did nothing proves nothing
		if s.Lost == 0 || s.Corrupted == 0 || s.Duplicated == 0 || s.Reordered == 0 {
			t.Errorf("the link did too little: %+v", s)
		}
	}
	if up.Dark == 0 || dark < n/11-2 || dark > n/11+2 {
		t.Errorf("%d of %d dials were begun in a blackhole, which took %d datagrams", dark, n, up.Dark)
	}
	return p99
}

func sum(a, b sim.PathStats) sim.PathStats {
	return sim.PathStats{Sent: a.Sent + b.Sent, Lost: a.Lost + b.Lost, Overrun: a.Overrun + b.Overrun, Dark: a.Dark + b.Dark,
		Duplicated: a.Duplicated + b.Duplicated, Reordered: a.Reordered + b.Reordered, Corrupted: a.Corrupted + b.Corrupted}
}

// dial dials once over its own link, starting at a phase of its cycle. A cycle starts with the blackhole.
func (c Connecting) dial(t *testing.T, seed uint64, phase time.Duration) (r dialled) {
	p, err := impair.NewProxy("127.0.0.1:0", c.Server, c.Link, c.Link, seed)
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
	cli, err := c.Dial(p.Addr().String())
	if err != nil {
		t.Error(err)
		return r
	}
	defer c.Leave(cli)
	var ev [1]transport.Event
	for over := time.After(Patience); cli.Recv(ev[:]) == 0; {
		select {
		case <-cli.Ready():
			continue
		case <-over:
			t.Errorf("dial %d says nothing", seed)
			return r
		}
	}
	if r.took = time.Since(begin); ev[0].Kind != transport.Connected {
		t.Errorf("dial %d ended with %v %q after %v", seed, ev[0].Code, ev[0].Reason, r.took)
	}
	r.up, r.down = p.Stats()
	return r
}
