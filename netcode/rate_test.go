package netcode_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/netcode"
)

// bottleneck is a link of limited bytes a second with a queue in front.
type bottleneck struct {
	rate  float64
	queue time.Duration // queue is the capacity of the queue. A packet that finds it full is dropped.
	busy  time.Duration // until when
	path
}

func (l *bottleneck) send(now time.Duration, b []byte) (waited time.Duration, ok bool) {
	l.busy = max(l.busy, now)
	waited = l.busy - now
	if waited > l.queue {
		return waited, false
	}
	l.busy += time.Duration(float64(len(b)+28) / l.rate * float64(time.Second))
	l.path.send(l.busy, b)
	return waited, true
}

// greedy sends everything that the Conn allows through a bottleneck. It returns
// the waits in the queue and the bytes carried, from second `from` on.
func greedy(link *bottleneck, from, length time.Duration, change func(now time.Duration)) (waits []time.Duration, carried float64, server *netcode.Conn) {
	return greedyWith(netcode.NewConn(netcode.Config{}), link, from, length, change)
}

func greedyWith(conn *netcode.Conn, link *bottleneck, from, length time.Duration, change func(now time.Duration)) (waits []time.Duration, carried float64, server *netcode.Conn) {
	server, client := conn, netcode.NewConn(netcode.Config{})
	link.rng = rand.New(rand.NewPCG(1, 2))
	back := path{latency: link.latency, jitter: link.jitter, loss: link.loss, rng: rand.New(rand.NewPCG(3, 4))}
	bytes := 0
	for now := time.Duration(0); now < length; now += tick {
		if change != nil {
			change(now)
		}
		for d, ok := link.receive(now); ok; d, ok = link.receive(now) {
			_ = client.Receive(d.at, d.b)
		}
		for d, ok := back.receive(now); ok; d, ok = back.receive(now) {
			_ = server.Receive(d.at, d.b)
		}
		p := server.Begin(now)
		p.Message(20, make([]byte, p.Room()))
		_, b := p.Finish()
		w, ok := link.send(now, b)
		if now >= from {
			waits = append(waits, w)
			if ok {
				bytes += len(b) + 28
			}
		}
		_, b = client.Begin(now).Finish()
		back.send(now, b)
	}
	slices.Sort(waits)
	return waits, float64(bytes) / (length - from).Seconds(), server
}

func TestBottleneckIsUsedAndItsQueueKeptShort(t *testing.T) {
	for _, latency := range []time.Duration{5 * ms, 50 * ms, 150 * ms} {
		for _, jitter := range []time.Duration{0, 10 * ms} {
			link := &bottleneck{rate: 16000, queue: 2 * time.Second, path: path{latency: latency, jitter: jitter}}
			from := 3*time.Second + 20*max(0, latency-50*ms)
			waits, carried, server := greedy(link, from, 30*time.Second, nil)
			s := server.Stats()
			t.Logf("one way %v + %v: queue median %v, p99 %v, max %v; used %.0f%%, lowered %d times", latency, jitter,
				waits[len(waits)/2].Round(ms), waits[len(waits)*99/100].Round(ms), waits[len(waits)-1].Round(ms), carried/160, s.Congested)
			require.LessOrEqual(t, waits[len(waits)*99/100], 100*ms+latency/3)
			require.GreaterOrEqual(t, carried, 0.8*16000)
		}
	}
}

func TestRateRecoversWhenThePathWidens(t *testing.T) {
	link := &bottleneck{rate: 16000, queue: 2 * time.Second, path: path{latency: 50 * ms}}
	_, _, server := greedy(link, 0, 30*time.Second, func(now time.Duration) {
		if now > 15*time.Second {
			link.rate = 1e6
		}
	})
	require.Equal(t, 32000, server.Stats().Rate)
	require.NotZero(t, server.Stats().Congested)
}

func TestLossAndJitterAloneDoNotLowerTheRate(t *testing.T) {
	for _, c := range []struct {
		jitter time.Duration
		loss   float64
	}{{0, 0.2}, {50 * ms, 0.02}, {100 * ms, 0.1}, {0, 0.25}, {250 * ms, 0.02}, {250 * ms, 0.25}} {
		link := &bottleneck{rate: 1e6, queue: 2 * time.Second, path: path{latency: 50 * ms, jitter: c.jitter, loss: c.loss}}
		_, carried, server := greedy(link, 3*time.Second, 40*time.Second, nil)
		t.Logf("jitter %v, loss %.0f%%: %.0f bytes/s carried, loss estimated %.0f%%, lowered %d", c.jitter, 100*c.loss, carried, 100*server.Stats().Loss, server.Stats().Congested)
		require.GreaterOrEqual(t, carried, 0.95*32000)
	}
}

func TestRateIsKept(t *testing.T) {
	for _, rate := range []int{5000, 32000} {
		c := netcode.NewConn(netcode.Config{Rate: rate, FixedRate: true})
		bytes := 0
		const seconds = 10
		for now := time.Duration(0); now < seconds*time.Second; now += tick {
			p := c.Begin(now)
			p.Message(20, make([]byte, p.Room()))
			_, b := p.Finish()
			bytes += len(b)
		}
		require.InDelta(t, rate*seconds, bytes, float64(rate/8)+1200+500)
	}
}
