package netcode_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/netcode"
)

// flying is a datagram under way, and what its sender had accepted when it was made.
type flying struct {
	at   time.Duration
	seq  netcode.Seq
	b    []byte
	acks map[netcode.Seq]bool
}

// teller is one end, with the fates reported for its packets.
type teller struct {
	c        *netcode.Conn
	accepted map[netcode.Seq]bool // packets of the other end, of late
	fates    map[netcode.Seq]bool // of sent packets: delivered or not
	open     map[netcode.Seq]bool
	newest   netcode.Seq
	told     [2]int
}

func (x *teller) drain(t *testing.T, peer *teller) {
	for f, ok := x.c.NextFate(); ok; f, ok = x.c.NextFate() {
		require.True(t, x.open[f.Seq], "packet %d: a fate for the second time, or of a packet that was never sent", f.Seq)
		delete(x.open, f.Seq)
		x.fates[f.Seq] = f.Delivered
		if f.Delivered {
			require.True(t, peer.accepted[f.Seq], "packet %d: delivered, and the peer never took it", f.Seq)
			x.told[1]++
		} else {
			x.told[0]++
		}
	}
}

// TestFateIsToldOnce: whatever the path does, each packet has one fate, which is reported once. It is delivered
// with the first packet that acknowledges it, and only if the peer accepted it. It is lost only if no packet
// that arrived acknowledged it. Sequence numbers wrap.
func TestFateIsToldOnce(t *testing.T) {
	for loss, packets := range map[float64]int{0: 5_000, 0.05: 10_000, 0.3: 70_000} {
		t.Run(fmt.Sprintf("loss %v", loss), func(t *testing.T) {
			if testing.Short() {
				packets /= 10
				t.Logf("short form: %d packets, so that numbers do not go round", packets)
			}
			rng := rand.New(rand.NewPCG(9, uint64(loss*100)))
			var ends [2]*teller
			for i := range ends {
				ends[i] = &teller{c: netcode.NewConn(netcode.Config{}), accepted: map[netcode.Seq]bool{}, fates: map[netcode.Seq]bool{}, open: map[netcode.Seq]bool{}}
			}
			var air [2][]flying // by receiver
			for i := range packets + 100 {
				now := time.Duration(i) * tick
				for k, x := range ends {
					peer := ends[1-k]
					if i < packets {
						x.send(t, rng, peer, now, loss, &air[1-k])
					} else {
						x.c.Begin(now) // age decides the open ones
						x.drain(t, peer)
					}
					air[k] = x.receive(t, peer, now, air[k])
				}
			}
			for _, x := range ends {
				require.Empty(t, x.open, "a packet has no fate")
				require.Equal(t, packets, x.told[0]+x.told[1])
				lost := float64(packets) * loss * (0.8 + 0.2*loss) // one in five goes twice
				require.InDelta(t, lost, x.told[0], 0.15*lost+100)
				require.Zero(t, x.c.Stats().FatesDropped)
			}
		})
	}
}

func (x *teller) send(t *testing.T, rng *rand.Rand, peer *teller, now time.Duration, loss float64, air *[]flying) {
	p := x.c.Begin(now)
	x.drain(t, peer)
	seq, b := p.Finish()
	x.open[seq], x.newest = true, seq
	delete(x.fates, seq-4096) // sequence numbers are used again
	delete(peer.accepted, seq-4096)
	acks := map[netcode.Seq]bool{}
	for back := range netcode.Seq(20) { // well within what 32 bits say
		if s := peer.newest - back; x.accepted[s] {
			acks[s] = true
		}
	}
	for range 1 + rng.IntN(5)/4 { // one in five twice
		if rng.Float64() >= loss {
			*air = append(*air, flying{now + time.Duration(rng.IntN(120))*time.Millisecond, seq, append([]byte(nil), b...), acks})
		}
	}
}

// receive processes the datagrams that have arrived, in order of arrival, and
// returns the rest.
func (x *teller) receive(t *testing.T, peer *teller, now time.Duration, air []flying) (rest []flying) {
	for _, f := range air {
		if f.at > now {
			rest = append(rest, f)
			continue
		}
		undecided := map[netcode.Seq]bool{}
		for s := range f.acks {
			undecided[s] = x.open[s]
		}
		err := x.c.Receive(now, f.b)
		if err == nil {
			x.accepted[f.seq] = true
		}
		x.drain(t, peer)
		if err != nil {
			continue // it came before
		}
		for s := range f.acks {
			if undecided[s] {
				require.True(t, x.fates[s], "packet %d: not told at once", s)
			}
		}
	}
	return rest
}
