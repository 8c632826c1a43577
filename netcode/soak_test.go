package netcode_test

import (
	"encoding/binary"
	"flag"
	"hash/crc32"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/netcode"
)

var soakSeconds = flag.Int("soak.seconds", costtest.Count(100, 100), "simulated seconds of the stream's soak; 2000 before a release")

// rough is a path that also duplicates and reorders.
type rough struct {
	path
	duplicate, reorder, corrupt float64
}

func (r *rough) send(now time.Duration, b []byte) {
	late := time.Duration(0)
	if r.rng.Float64() < r.reorder {
		late = time.Duration(r.rng.Int64N(int64(100 * ms)))
	}
	if r.rng.Float64() < r.corrupt {
		b = append([]byte(nil), b...)
		b[r.rng.IntN(len(b))] ^= 1 << r.rng.IntN(8)
	}
	r.path.send(now+late, b)
	if r.rng.Float64() < r.duplicate {
		r.path.send(now+late+time.Duration(r.rng.Int64N(int64(50*ms))), b)
	}
}

// event fills b as the n-th event; checkEvent returns n.
func event(b []byte, n uint32) {
	rng := rand.New(rand.NewPCG(uint64(n), 1))
	binary.LittleEndian.PutUint32(b[4:], n)
	for i := 8; i < len(b); i++ {
		b[i] = byte(rng.Uint32())
	}
	binary.LittleEndian.PutUint32(b, crc32.ChecksumIEEE(b[4:]))
}

// TestStreamSoak: 1 KiB events at 25 % loss, 25 % duplicates, 10 % reorder, 100 ms:
// every event once, in order, with its bytes, both ways at once.
func TestStreamSoak(t *testing.T) {
	started := time.Now()
	length := time.Duration(*soakSeconds) * time.Second
	var conns [2]*netcode.Conn
	var links [2]*rough
	for i := range conns {
		conns[i] = netcode.NewConn(netcode.Config{})
		links[i] = &rough{path: path{latency: 50 * ms, jitter: 20 * ms, loss: 0.25, rng: rand.New(rand.NewPCG(7, uint64(i)))},
			duplicate: 0.25, reorder: 0.1, corrupt: 0.01}
	}
	var sent, received [2]uint32
	fates := [2]map[netcode.Seq]struct{}{{}, {}}
	told := [2]int{}
	buf := make([]byte, 1024)
	now := time.Duration(0)
	for ; now < length || conns[0].Pending()+conns[1].Pending() > 0; now += tick {
		require.Less(t, now, length+30*time.Second, "the stream has come to a halt")
		for i, c := range conns {
			for d, ok := links[1-i].receive(now); ok; d, ok = links[1-i].receive(now) {
				_ = c.Receive(d.at, d.b)
				for r, ok := c.NextReliable(); ok; r, ok = c.NextReliable() {
					event(buf, received[i])
					require.Equal(t, buf, r.Payload)
					require.Equal(t, received[i], r.Tick)
					received[i]++
				}
			}
			for now < length && now.Seconds()*5 > float64(sent[i]) { // 5 KiB/s
				event(buf, sent[i])
				if c.SendReliable(sent[i], 1, buf) != nil {
					break
				}
				sent[i]++
			}
			p := c.Begin(now)
			p.Message(100, buf[:min(300, p.Room())])
			seq, b := p.Finish()
			fates[i][seq] = struct{}{}
			links[i].send(now, b)
			for f, ok := c.NextFate(); ok; f, ok = c.NextFate() {
				require.Contains(t, fates[i], f.Seq, "a fate told twice")
				told[i]++
				delete(fates[i], f.Seq)
			}
		}
	}
	for i, c := range conns {
		s := c.Stats()
		require.Equal(t, sent[i], received[1-i])
		require.EqualValues(t, sent[i], s.ReliableDelivered)
		require.NotZero(t, s.ReliableResent)
		require.NotZero(t, s.Checksum)
		require.NotZero(t, s.Duplicate)
		require.NotZero(t, s.OutOfOrder)
		require.Zero(t, s.Malformed)
		require.Zero(t, s.Stale)
		require.InDelta(t, 0.25, s.Loss, 0.15)
		require.EqualValues(t, s.Sent-uint64(len(fates[i])), told[i])
		t.Logf("%d events, %d entries and %d again, loss %.0f%%, RTT %v ± %v", sent[i], s.EntriesSent, s.EntriesResent, 100*float64(s.Lost)/float64(s.Sent), s.RTT.Round(ms), s.Jitter.Round(ms))
	}
	require.GreaterOrEqual(t, received[0], uint32(5*(*soakSeconds)*8/10))
	t.Logf("%.0f × real time", now.Seconds()/time.Since(started).Seconds())
}

// TestStreamSurvivesTheWorstLink: bursts of loss, 250 ms of jitter, damage, and
// every 20 s two seconds of nothing, at 60 Hz.
func TestStreamSurvivesTheWorstLink(t *testing.T) {
	conns := [2]*netcode.Conn{netcode.NewConn(netcode.Config{}), netcode.NewConn(netcode.Config{})}
	var links [2]*rough
	for i := range links {
		links[i] = &rough{path: path{latency: 20 * ms, jitter: 250 * ms, loss: 0.25, burst: 5, rng: rand.New(rand.NewPCG(8, uint64(i)))},
			duplicate: 0.1, reorder: 0.1, corrupt: 0.01}
	}
	var sent, received [2]netcode.Tick
	var latest [2]time.Duration // longest delay of an event
	var sentAt [2]map[netcode.Tick]time.Duration
	sentAt[0], sentAt[1] = map[netcode.Tick]time.Duration{}, map[netcode.Tick]time.Duration{}
	const length = 120 * time.Second
	least := 1200
	now := time.Duration(0)
	for ; now < length || conns[0].Pending()+conns[1].Pending() > 0; now += time.Second / 60 {
		require.Less(t, now, length+20*time.Second)
		for i, c := range conns {
			for d, ok := links[1-i].receive(now); ok; d, ok = links[1-i].receive(now) {
				_ = c.Receive(d.at, d.b)
				for r, ok := c.NextReliable(); ok; r, ok = c.NextReliable() {
					require.Equal(t, received[i], r.Tick)
					latest[i] = max(latest[i], now-sentAt[1-i][r.Tick])
					received[i]++
				}
			}
			if now < length {
				require.NoError(t, c.SendReliable(sent[i], 0, make([]byte, sent[i]%90)))
				sentAt[i][sent[i]] = now
				sent[i]++
			}
			p := c.Begin(now)
			for _, ok := c.NextFate(); ok; _, ok = c.NextFate() {
			}
			least = min(least, p.Room())
			_, b := p.Finish()
			if now%(20*time.Second) >= 2*time.Second {
				links[i].send(now, b)
			}
		}
	}
	require.Equal(t, sent[0], received[1])
	require.Equal(t, sent[1], received[0])
	require.Less(t, max(latest[0], latest[1]), 5*time.Second)
	st := conns[0].Stats()
	require.Less(t, float64(st.EntriesResent), 0.8*float64(st.EntriesSent), "late is not lost")
	require.GreaterOrEqual(t, least, 64, "commands always have room")
	t.Logf("%d events each way, the slowest took %v; room at least %d; stats %+v", sent[0], max(latest[0], latest[1]).Round(ms), least, conns[0].Stats())
}
