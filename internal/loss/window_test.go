package loss

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// lossyPath notes packets of which it loses a share.
type lossyPath struct {
	in   Window
	next uint16
	rng  *rand.Rand
}

func (p *lossyPath) send(n int, loss float64, each func()) {
	for range n {
		if p.rng.Float64() >= loss {
			p.in.Received(p.next, p.next)
		}
		p.next++
		each()
	}
}

// TestWindow: the share is that of the newest packets. Packets that overtake others, come twice, are
// refused or have a number that is not believed are not lost, and of a long silence three are.
func TestWindow(t *testing.T) {
	p := lossyPath{rng: rand.New(rand.NewPCG(1, 2)), next: 1<<16 - 500}
	none := func() {}
	p.send(100, 0, none)
	require.Zero(t, p.in.Share())
	p.next++ // one is lost
	p.send(lossWait+1, 0, none)
	require.InDelta(t, 1./134, p.in.Share(), 1e-9)
	p.send(2000, 0, none)
	require.Zero(t, p.in.Share(), "forgotten")
	for range 1000 { // the second is first
		p.in.Received(p.next+1, p.next+1)
		p.in.Received(p.next, p.next+1)
		p.in.Received(p.next, p.next+1)
		p.in.Received(p.next+900, p.next+1)
		p.next += 2
	}
	require.Zero(t, p.in.Share())
	p.next += 300
	p.send(200, 0, none)
	require.InDelta(t, 3./windowLen, p.in.Share(), 1e-9)
	p.next += 60_000 // the numbers go round
	p.send(2*windowLen, 0, none)
	p.send(20_000, 0.05, none)
	require.InDelta(t, 0.05, p.in.Share(), 0.02)
}

// TestBridgeHoldsItsStep: where the share of lost packets is at a step itself, the number of snapshots bridged hardly
// changes: at most five times in 20 minutes of 30 packets a second. It is right above and below the steps.
func TestBridgeHoldsItsStep(t *testing.T) {
	for _, row := range []struct {
		loss   float64
		lost   int     // how many snapshots are bridged
		within float64 // the least share of the time
	}{{0, 0, 1}, {0.002, 0, 0.9}, {0.01, 1, 0.9}, {0.02, 1, 0.95}, {0.04, 2, 0.9}, {0.05, 2, 0.95}, {0.1, 2, 0.95}} {
		const seeds, packets = 10, 36_000
		changes, right := 0, 0
		for seed := range uint64(seeds) {
			p, b := lossyPath{rng: rand.New(rand.NewPCG(seed, 3))}, Bridge{}
			p.send(packets, row.loss, func() {
				was := b.lost
				b.Follow(p.in.Share())
				if was != b.lost {
					changes++
				}
				if b.lost == row.lost {
					right++
				}
			})
		}
		t.Logf("loss %.1f %%: %.1f changes in 20 minutes, %d bridged for %.3f of the time", 100*row.loss, float64(changes)/seeds, row.lost, float64(right)/seeds/packets)
		require.LessOrEqual(t, changes, 5*seeds)
		require.GreaterOrEqual(t, float64(right), row.within*seeds*packets)
	}
}

// TestBridgeFollowsBothWays: what is bridged rises within 10 s of loss, and is nothing 30 s after it.
func TestBridgeFollowsBothWays(t *testing.T) {
	p, b := lossyPath{rng: rand.New(rand.NewPCG(5, 6))}, Bridge{}
	follow := func() { b.Follow(p.in.Share()) }
	p.send(1000, 0, follow)
	require.Zero(t, b.lost)
	p.send(400, 0.1, follow)
	require.Equal(t, 2, b.lost)
	p.send(windowLen+lossWait+8, 0, follow)
	require.Zero(t, b.lost)
}
