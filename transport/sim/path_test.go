package sim_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/transport/sim"
)

const ms = time.Millisecond

// sample sends n datagrams of 100 B, 10 ms apart, and returns their fates.
func sample(link sim.Link, seed uint64, n int) ([]sim.Fate, *sim.Path) {
	p := sim.NewPath(link, seed, 0)
	fates := make([]sim.Fate, n)
	for i := range fates {
		fates[i] = p.Send(time.Duration(i)*10*ms, 100)
	}
	return fates, p
}

// losses returns the share of lost datagrams, and the mean and greatest length of a run of losses.
func losses(fates []sim.Fate) (share, mean float64, longest int) {
	lost, runs, run := 0, 0, 0
	for _, f := range fates {
		if f.Copies > 0 {
			run = 0
			continue
		}
		lost++
		if run++; run == 1 {
			runs++
		}
		longest = max(longest, run)
	}
	return float64(lost) / float64(len(fates)), float64(lost) / float64(max(runs, 1)), longest
}

func TestPerfectLinkDoesNothing(t *testing.T) {
	fates, p := sample(sim.Link{}, 1, 1000)
	for i, f := range fates {
		require.Equal(t, sim.Fate{Copies: 1, At: [2]time.Duration{time.Duration(i) * 10 * ms}, Flip: [2]int64{-1, -1}}, f)
	}
	assert.Equal(t, sim.PathStats{Sent: 1000}, p.Stats())
}

func TestLossAndBursts(t *testing.T) {
	for _, c := range []struct {
		link    sim.Link
		mean    float64
		longest int
	}{
		{sim.Link{Loss: 0.02}, 1.02, 0},
		{sim.Link{Loss: 0.25}, 1.33, 0},
		{sim.Link{Loss: 0.25, Burst: 1}, 1.33, 0},
		{sim.Link{Loss: 0.05, Burst: 6}, 6, 0},
		{sim.Link{Loss: 0.25, Burst: 4}, 4, 0},
		{sim.Link{Loss: 0.25, Burst: 4, MaxBurst: 10}, 3.77, 10},
		{sim.Link{Loss: 0.9, Burst: 2}, 9, 0}, // longer runs than the link asks for, since 90 % cannot be lost in pairs
	} {
		fates, p := sample(c.link, 3, 200_000)
		share, mean, longest := losses(fates)
		assert.InDelta(t, c.link.Loss, share, 0.01, "%+v", c.link)
		assert.InEpsilon(t, c.mean, mean, 0.05, "%+v", c.link)
		if c.longest > 0 {
			assert.Equal(t, c.longest, longest, "%+v", c.link)
		}
		assert.EqualValues(t, math.Round(share*200_000), p.Stats().Lost)
	}
	fates, _ := sample(sim.Link{Loss: 1}, 3, 1000)
	share, _, _ := losses(fates)
	assert.Equal(t, 1.0, share)
}

func TestDelay(t *testing.T) {
	link := sim.Link{Latency: 50 * ms, Jitter: 20 * ms}
	fates, _ := sample(link, 1, 10_000)
	least, most, sum := time.Hour, time.Duration(0), time.Duration(0)
	for i, f := range fates {
		d := f.At[0] - time.Duration(i)*10*ms
		least, most, sum = min(least, d), max(most, d), sum+d
	}
	assert.GreaterOrEqual(t, least, 50*ms)
	assert.Less(t, least, 51*ms)
	assert.LessOrEqual(t, most, 70*ms)
	assert.Greater(t, most, 69*ms)
	assert.InDelta(t, float64(60*ms), float64(sum)/10_000, float64(ms/2))
}

// overtakes counts the datagrams that arrive before one that was sent earlier.
func overtakes(fates []sim.Fate) (n int) {
	newest := time.Duration(0)
	for _, f := range fates {
		if f.Copies == 0 {
			continue
		}
		if f.At[0] < newest {
			n++
		}
		newest = max(newest, f.At[0])
	}
	return n
}

func TestOrder(t *testing.T) {
	jitter := sim.Link{Latency: 50 * ms, Jitter: 100 * ms}
	fates, _ := sample(jitter, 1, 10_000)
	assert.Greater(t, overtakes(fates), 3000, "jitter beyond the spacing reorders")
	jitter.InOrder = true
	fates, _ = sample(jitter, 1, 10_000)
	assert.Zero(t, overtakes(fates))
	jitter.Reorder = 0.1
	fates, p := sample(jitter, 1, 10_000)
	assert.Greater(t, overtakes(fates), 1000)
	assert.InDelta(t, 1000, p.Stats().Reordered, 100)
}

func TestDuplicatesAndDamage(t *testing.T) {
	fates, p := sample(sim.Link{Duplicate: 0.1, Corrupt: 0.05, Jitter: 10 * ms}, 1, 20_000)
	twice, damaged := 0, 0
	bytesHit := make(map[int64]bool)
	for _, f := range fates {
		if f.Copies == 2 {
			twice++
		}
		for i := range f.Copies {
			if f.Flip[i] < 0 {
				continue
			}
			damaged++
			require.Less(t, f.Flip[i], int64(800))
			bytesHit[f.Flip[i]/8] = true
			b := make([]byte, 100)
			f.Damage(i, b)
			ones := 0
			for _, v := range b {
				for ; v != 0; v &= v - 1 {
					ones++
				}
			}
			require.Equal(t, 1, ones)
		}
	}
	assert.InDelta(t, 2000, twice, 200)
	assert.InDelta(t, 1000, damaged, 150)
	assert.Len(t, bytesHit, 100, "every byte is hit now and then")
	assert.EqualValues(t, twice, p.Stats().Duplicated)
	assert.EqualValues(t, damaged, p.Stats().Corrupted)
}

func TestBandwidth(t *testing.T) {
	// 128 kbit/s carry 16 000 B/s: 128 datagrams of 97 + 28 B.
	p := sim.NewPath(sim.Link{Bandwidth: 128_000, Queue: 2 * time.Second, Latency: 10 * ms}, 1, 0)
	arrived, longest := 0, time.Duration(0)
	for i := range 5120 { // 512 a second for 10 s
		now := time.Duration(i) * time.Second / 512
		f := p.Send(now, 97)
		if f.Copies == 1 {
			longest = max(longest, f.At[0]-now)
			if f.At[0] <= 10*time.Second {
				arrived++
			}
		}
	}
	assert.InDelta(t, 1280, arrived, 3)
	assert.InDelta(t, float64(2018*ms), float64(longest), float64(10*ms))
	assert.NotZero(t, p.Stats().Overrun)
	f := p.Send(20*time.Second, 97) // then the queue is empty again
	assert.Equal(t, 20*time.Second+10*ms+time.Second/128, f.At[0])
}

func TestBlackholeAndOutage(t *testing.T) {
	p := sim.NewPath(sim.Link{}, 1, 0)
	p.Blackhole(100*ms, 200*ms)
	for i := range 30 {
		f := p.Send(time.Duration(i)*10*ms, 10)
		assert.Equal(t, i < 10 || i >= 20, f.Copies == 1, "%d ms", i*10)
	}
	fates, p := sample(sim.Link{Outage: 2 * time.Second, OutageEvery: 20 * time.Second}, 5, 200_000)
	share, mean, _ := losses(fates)
	assert.InDelta(t, 2.0/22, share, 0.01)
	assert.InDelta(t, 200, mean, 2)
	assert.EqualValues(t, math.Round(share*200_000), p.Stats().Dark)
}

// A setting of the link does not change what other settings do: all draw the same random numbers.
func TestKnobsAreIndependent(t *testing.T) {
	one, _ := sample(sim.Link{Latency: 5 * ms, Jitter: 30 * ms, Duplicate: 0.1}, 9, 5000)
	two, _ := sample(sim.Link{Latency: 5 * ms, Jitter: 30 * ms, Duplicate: 0.1, Loss: 0.3, Burst: 3}, 9, 5000)
	for i := range one {
		if two[i].Copies > 0 {
			require.Equal(t, one[i], two[i])
		}
	}
}

func TestPathHoldsForAnyLink(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		odd := rapid.OneOf(rapid.Float64Range(-0.5, 1.5), rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, 1}))
		dur := rapid.Int64Range(-int64(time.Second), int64(3*time.Second))
		d := func(name string) time.Duration { return time.Duration(dur.Draw(t, name)) }
		link := sim.Link{Latency: d("latency"), Jitter: d("jitter"), InOrder: rapid.Bool().Draw(t, "inOrder"),
			Loss: odd.Draw(t, "loss"), Burst: rapid.IntRange(-2, 50).Draw(t, "burst"), MaxBurst: rapid.IntRange(-2, 50).Draw(t, "maxBurst"),
			Duplicate: odd.Draw(t, "duplicate"), Reorder: odd.Draw(t, "reorder"), Hold: d("hold"), Corrupt: odd.Draw(t, "corrupt"),
			Bandwidth: rapid.IntRange(-5, 1e9).Draw(t, "bandwidth"), Queue: d("queue"), Outage: d("outage"), OutageEvery: d("every")}
		p := sim.NewPath(link, rapid.Uint64().Draw(t, "seed"), 0)
		now := time.Duration(0)
		for range 50 {
			now += time.Duration(rapid.Int64Range(0, int64(10*time.Second)).Draw(t, "gap"))
			size := rapid.IntRange(0, 1200).Draw(t, "size")
			f := p.Send(now, size)
			for i := range f.Copies {
				if f.At[i] < now {
					t.Fatalf("arrives %v before it is sent", now-f.At[i])
				}
				if f.Flip[i] >= int64(size)*8 {
					t.Fatalf("bit %d of %d bytes", f.Flip[i], size)
				}
			}
		}
	})
}

func TestValidate(t *testing.T) {
	for _, l := range []sim.Link{{}, sim.LAN, sim.WiFi, sim.LTE, sim.Train, sim.Satellite, sim.Hell} {
		assert.NoError(t, l.Validate())
	}
	err := sim.Link{Loss: 25, Corrupt: math.NaN(), Jitter: -1}.Validate()
	for _, field := range []string{"Loss", "Corrupt", "Jitter"} {
		assert.ErrorContains(t, err, field, "every fault at once")
	}
	l, err := sim.Preset("WiFi")
	require.NoError(t, err)
	assert.Equal(t, sim.WiFi, l)
	for _, name := range sim.Presets() {
		_, err = sim.Preset(name)
		require.NoError(t, err)
	}
	require.Equal(t, "perfect", sim.Presets()[0])
	require.Len(t, sim.Presets(), 7)
	_, err = sim.Preset("string")
	assert.ErrorContains(t, err, "satellite")
}

func TestSendDoesNotAllocate(t *testing.T) {
	costtest.Allocations(t)
	p := sim.NewPath(sim.Hell, 1, 0)
	now := time.Duration(0)
	assert.Zero(t, testing.AllocsPerRun(1000, func() { now += ms; p.Send(now, 100) }))
}
