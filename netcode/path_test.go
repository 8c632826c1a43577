package netcode_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/netcode"
)

// load is two ends at full load, or with a game's commands on the way up, over two
// bottlenecks that other traffic may use too.
type load struct {
	rate  int // packets a second
	ends  [2]*netcode.Conn
	ways  [2]*bottleneck // the server's and the client's
	cross float64        // bytes a second of others, on the server's
	spent float64
	last  time.Duration

	asks   bool // the client sends a small request 4 times a second
	asked  []time.Duration
	slow   time.Duration // the slowest request
	waits  []time.Duration
	bytes  int
	worst  [2]float64 // the lowest rate in force, of the ceiling
	before func(l *load, now time.Duration)
}

func newLoad(rate int, latency time.Duration) *load {
	l := &load{rate: rate}
	for i := range l.ends {
		l.ends[i] = netcode.NewConn(netcode.Config{MinRate: max(4000, rate*100)})
		l.ways[i] = &bottleneck{rate: 1e6, queue: time.Second, path: path{latency: latency, rng: rand.New(rand.NewPCG(7, uint64(i)))}}
	}
	return l
}

func (l *load) latency(d time.Duration) { l.ways[0].latency, l.ways[1].latency = d, d }

// run plays from one time to another.
func (l *load) run(from, to time.Duration) {
	l.waits, l.bytes, l.slow, l.worst = l.waits[:0], 0, 0, [2]float64{1, 1}
	for now := from; now < to; now += time.Second / time.Duration(l.rate) {
		if l.before != nil {
			l.before(l, now)
		}
		l.others(now)
		for i, c := range l.ends {
			way := l.ways[1-i]
			for d, ok := way.receive(now); ok; d, ok = way.receive(now) {
				_ = c.Receive(d.at, d.b)
				for r, ok := c.NextReliable(); ok; r, ok = c.NextReliable() {
					l.slow = max(l.slow, now-l.asked[r.Tick])
				}
			}
			if i == 1 && l.asks && int(now*4/time.Second) >= len(l.asked) {
				if c.SendReliable(netcode.Tick(len(l.asked)), 1, make([]byte, 40)) == nil {
					l.asked = append(l.asked, now)
				}
			}
			p := c.Begin(now)
			n := p.Room()
			if i == 1 {
				n = min(n, 50) // a command and what repeats it
			}
			p.Message(20, make([]byte, n))
			_, b := p.Finish()
			w, ok := l.ways[i].send(now, b)
			if i == 0 {
				l.waits = append(l.waits, w)
				if ok {
					l.bytes += len(b) + 28
				}
			}
			l.worst[i] = min(l.worst[i], float64(c.Stats().Rate)/32000)
		}
	}
	for _, at := range l.asked[max(0, len(l.asked)-1):] { // one that is still out
		if l.ends[1].Pending() > 0 {
			l.slow = max(l.slow, to-at)
		}
	}
	slices.Sort(l.waits)
}

// others fill their part of the server's way, in packets of 500 bytes.
func (l *load) others(now time.Duration) {
	l.spent += l.cross * (now - l.last).Seconds()
	l.last = now
	for ; l.spent >= 500; l.spent -= 500 {
		way := l.ways[0]
		way.busy = max(way.busy, now)
		if way.busy-now <= way.queue {
			way.busy += time.Duration(500 / way.rate * float64(time.Second))
		}
	}
}

func (l *load) p95() time.Duration { return l.waits[len(l.waits)*95/100] }

// TestLongerPathIsFound: a path that gets longer and keeps its bandwidth is not
// mistaken for a queue.
func TestLongerPathIsFound(t *testing.T) {
	for _, rate := range []int{30, 60, 128} {
		for _, jitter := range []time.Duration{0, 10 * ms} {
			for _, to := range []time.Duration{20 * ms, 40 * ms, 60 * ms, 150 * ms, 500 * ms} {
				t.Run(fmt.Sprintf("%d Hz, 5 to %v, jitter %v", rate, to, jitter), func(t *testing.T) {
					l := newLoad(rate, 5*ms)
					l.asks = true
					l.ways[0].jitter, l.ways[1].jitter = jitter, jitter
					l.run(0, 10*time.Second)
					l.latency(to)
					settle := 2*time.Second + 12*max(0, to-60*ms) // a drain takes a round trip, and two may be needed
					l.run(10*time.Second, 10*time.Second+settle)
					slow := l.slow
					rates := [2]float64{float64(l.ends[0].Stats().Rate) / 32000, float64(l.ends[1].Stats().Rate) / 32000}
					lowest := l.worst
					l.run(10*time.Second+settle, 30*time.Second)
					t.Logf("after 2 s: %.2f of the rate; lowest %.2f; later lowest %.2f; slowest request %v, later %v", rates, lowest, l.worst, slow, l.slow)
					require.GreaterOrEqual(t, min(rates[0], rates[1]), 0.9)
					rates = [2]float64{float64(l.ends[0].Stats().Rate) / 32000, float64(l.ends[1].Stats().Rate) / 32000}
					require.GreaterOrEqual(t, min(rates[0], rates[1]), 0.9)
					require.LessOrEqual(t, slow, time.Second+2*to-120*ms)
				})
			}
		}
	}
}

// TestQueueIsStillOne: on narrow links at full load the queue stays short, also
// where the path changes or others use the link.
func TestQueueIsStillOne(t *testing.T) {
	costtest.Ratio(t)
	for _, narrow := range []struct {
		name  string
		rate  float64
		queue time.Duration
	}{{"128 kbit/s", 16000, 2 * time.Second}, {"256 kbit/s", 32000, time.Second}} {
		for _, rate := range []int{30, 60} {
			for _, jitter := range []time.Duration{0, 10 * ms} {
				for _, c := range []struct {
					name   string
					before func(l *load, now time.Duration)
				}{
					{"alone", nil},
					{"longer", func(l *load, now time.Duration) {
						if now >= 60*time.Second {
							l.latency(60 * ms)
						}
					}},
					{"shorter", func(l *load, now time.Duration) {
						if now >= 60*time.Second {
							l.latency(5 * ms)
						}
					}},
					{"beside others", func(l *load, _ time.Duration) { l.cross = 0.4 * l.ways[0].rate }},
					{"others come and go", func(l *load, now time.Duration) {
						l.cross = 0.4 * l.ways[0].rate * float64(now/(30*time.Second)%2)
					}},
				} {
					t.Run(fmt.Sprintf("%s, %d Hz, jitter %v, %s", narrow.name, rate, jitter, c.name), func(t *testing.T) {
						l := newLoad(rate, 20*ms)
						l.ways[0].rate, l.ways[0].queue = narrow.rate, narrow.queue
						l.ways[0].jitter, l.ways[1].jitter = jitter, jitter
						l.before = c.before
						length := 300 * time.Second
						l.run(0, length)
						used := float64(l.bytes) / length.Seconds() / narrow.rate
						t.Logf("queue median %v, p95 %v, p99 %v; used %.0f %%; lowered %d times", l.waits[len(l.waits)/2].Round(ms), l.p95().Round(ms),
							l.waits[len(l.waits)*99/100].Round(ms), 100*used, l.ends[0].Stats().Congested)
						require.LessOrEqual(t, l.p95(), 100*ms)
						if l.cross == 0 {
							require.GreaterOrEqual(t, used, 0.85)
						}
					})
				}
			}
		}
	}
}
