package netcode_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/netcode"
)

// TestLateAckIsASampleAndNews: a path that gets longer than the wait for a packet
// is still measured, and its peer does not count as unresponsive. Soon no packet
// is reported lost, and no reliable message is sent twice.
func TestLateAckIsASampleAndNews(t *testing.T) {
	for _, rate := range []int{30, 128} {
		for _, rtt := range []time.Duration{1100 * ms, 2 * time.Second, 4 * time.Second} {
			t.Run(fmt.Sprintf("%d packets/s, %v", rate, rtt), func(t *testing.T) {
				var ends [2]*netcode.Conn
				var ways [2]path
				for i := range ends {
					ends[i] = netcode.NewConn(netcode.Config{})
					ways[i] = path{latency: 50 * ms, rng: rand.New(rand.NewPCG(1, uint64(i)))}
				}
				silent := time.Duration(0)
				var then, resent uint64
				for now := time.Duration(0); now < 30*time.Second; now += time.Second / time.Duration(rate) {
					if now >= 5*time.Second {
						ways[0].latency, ways[1].latency = rtt/2, rtt/2
					}
					for i, c := range ends {
						for d, ok := ways[1-i].receive(now); ok; d, ok = ways[1-i].receive(now) {
							require.NoError(t, c.Receive(d.at, d.b))
							for _, ok := c.NextReliable(); ok; _, ok = c.NextReliable() {
							}
						}
						if now >= 5*time.Second {
							silent = max(silent, c.Unanswered(now))
						}
						_ = c.SendReliable(0, 1, []byte("hello"))
						_, b := c.Begin(now).Finish()
						ways[i].send(now, b)
					}
					if now < 20*time.Second {
						then, resent = ends[0].Stats().Lost, ends[0].Stats().EntriesResent
					}
				}
				s := ends[0].Stats()
				require.InDelta(t, rtt.Seconds(), s.RTT.Seconds(), 0.05*rtt.Seconds()+2/float64(rate))
				require.LessOrEqual(t, silent, rtt+200*ms)
				require.Equal(t, then, s.Lost)
				require.Equal(t, resent, s.EntriesResent)
				require.Equal(t, s.Lost, s.AckedLate)
				require.Less(t, s.Loss, 0.02)
			})
		}
	}
}

// TestFirstAckMayComeLate: before anything is known of the round trip, a packet is
// waited for as long as a peer may be silent.
func TestFirstAckMayComeLate(t *testing.T) {
	for _, rtt := range []time.Duration{1100 * ms, 2 * time.Second, 4500 * ms} {
		a, b := netcode.NewConn(netcode.Config{}), netcode.NewConn(netcode.Config{})
		rng := rand.New(rand.NewPCG(1, 2))
		there, back := path{latency: rtt / 2, rng: rng}, path{latency: rtt / 2, rng: rng}
		for now := time.Duration(0); now < 3*rtt; now += 20 * ms {
			for d, ok := there.receive(now); ok; d, ok = there.receive(now) {
				require.NoError(t, b.Receive(d.at, d.b))
			}
			for d, ok := back.receive(now); ok; d, ok = back.receive(now) {
				require.NoError(t, a.Receive(d.at, d.b))
			}
			_, p := a.Begin(now).Finish()
			there.send(now, p)
			_, p = b.Begin(now).Finish()
			back.send(now, p)
		}
		require.Zero(t, a.Stats().Lost, "%v", rtt)
		require.InDelta(t, rtt.Seconds(), a.RTT().Seconds(), 0.05)
	}
}
