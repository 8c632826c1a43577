package lagcomp_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/foretick/foretick/lagcomp"
)

const ms = time.Millisecond

// at is a claim's moment in ticks.
func at(c lagcomp.Claim) float64 { return float64(c.Tick) + float64(c.Fraction) }

// settled is a judge that has measured the same round trip for six seconds,
// and the tick it is at.
func settled(t testing.TB, cfg lagcomp.Config, rtt time.Duration) (*lagcomp.Judge, lagcomp.Tick) {
	t.Helper()
	j := lagcomp.NewJudge(cfg)
	now := lagcomp.Tick(100)
	for range 180 {
		now++
		j.Observe(lagcomp.Measured{Now: now, Newest: now - 6, RTT: rtt})
	}
	require.Equal(t, rtt, j.RTT())
	return j, now
}

// TestJudge tells each reason. At 100 ms and 30 Hz the reach is
// 100 + 50 + 33 + 33 ms, which is 6.5 ticks.
func TestJudge(t *testing.T) {
	nan := float32(math.NaN())
	for _, c := range []struct {
		name   string
		claim  func(now lagcomp.Tick) lagcomp.Claim
		edit   func(*lagcomp.Measured)
		want   float64 // ticks before now
		reason lagcomp.Reason
	}{
		{name: "as it came", claim: back(5, .25), want: 4.75, reason: lagcomp.OK},
		{name: "nearly the whole reach", claim: back(7, .5005), want: 6.4995, reason: lagcomp.OK},
		{name: "future", claim: back(-1, 0), want: 3, reason: lagcomp.Future},
		{name: "far future", claim: func(lagcomp.Tick) lagcomp.Claim {
			return lagcomp.Claim{Tick: math.MaxUint32, Fraction: 1}
		}, want: 3, reason: lagcomp.Future},
		{name: "not yet acknowledged", claim: back(2, 0), want: 3, reason: lagcomp.BeyondAck},
		{name: "too far", claim: back(8, 0), want: 6.5, reason: lagcomp.TooFar},
		{name: "from the beginning", claim: func(lagcomp.Tick) lagcomp.Claim { return lagcomp.Claim{} }, want: 6.5, reason: lagcomp.TooFar},
		{name: "beyond the cap", claim: back(40, 0), want: 18, reason: lagcomp.Cap,
			edit: func(m *lagcomp.Measured) { m.Interpolation = time.Second }},
		{name: "no number", claim: back(5, nan), want: 5, reason: lagcomp.NaN},
		{name: "no number and too far", claim: back(50, nan), want: 6.5, reason: lagcomp.NaN},
		{name: "infinite", claim: back(5, float32(math.Inf(1))), want: 5, reason: lagcomp.NaN},
		{name: "negative", claim: back(5, -1), want: 5, reason: lagcomp.NaN},
		{name: "negative waits give nothing", claim: back(7, 0), want: 4, reason: lagcomp.TooFar,
			edit: func(m *lagcomp.Measured) { m.Interpolation, m.Dwell = -time.Hour, math.MinInt64 }},
		{name: "a lying server tick", claim: back(-5, 0), want: 0, reason: lagcomp.Future,
			edit: func(m *lagcomp.Measured) { m.Newest = m.Now + 50 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			j, now := settled(t, lagcomp.Config{}, 100*ms)
			m := lagcomp.Measured{Now: now, Newest: now - 3, RTT: 100 * ms, Interpolation: 50 * ms, Dwell: time.Second / 30}
			if c.edit != nil {
				c.edit(&m)
			}
			got, reason := j.Allow(c.claim(now), m)
			require.Equal(t, c.reason.String(), reason.String())
			require.InDelta(t, c.want, float64(now)-at(got), 1e-5)
			require.Equal(t, uint64(1), j.Stats().ByReason.Of(c.reason))
			wantClamped := uint64(1)
			if c.reason == lagcomp.OK {
				wantClamped = 0
				require.Equal(t, c.claim(now), got)
			}
			require.Equal(t, wantClamped, j.Stats().Clamped())
		})
	}
}

func back(ticks int, f float32) func(lagcomp.Tick) lagcomp.Claim {
	return func(now lagcomp.Tick) lagcomp.Claim {
		return lagcomp.Claim{Tick: lagcomp.Tick(int(now) - ticks), Fraction: f}
	}
}

func TestJudgeNeverGoesBackwards(t *testing.T) {
	j, now := settled(t, lagcomp.Config{}, 200*ms)
	m := lagcomp.Measured{Now: now, Newest: now - 2, RTT: 200 * ms}
	first, reason := j.Allow(lagcomp.Claim{Tick: now - 3, Fraction: .5}, m)
	require.Equal(t, lagcomp.OK, reason)
	got, reason := j.Allow(lagcomp.Claim{Tick: now - 3, Fraction: .25}, m)
	require.Equal(t, lagcomp.Backwards, reason)
	require.Equal(t, first, got)
	got, reason = j.Allow(lagcomp.Claim{Tick: now - 3, Fraction: .5}, m)
	require.Equal(t, lagcomp.OK, reason, "the same moment again is fair")
	require.Equal(t, first, got)

	j.Reset()
	_, reason = j.Allow(lagcomp.Claim{Tick: 8}, lagcomp.Measured{Now: 10, Newest: 9, RTT: 200 * ms})
	require.Equal(t, lagcomp.OK, reason, "a new level starts anew")
}

func TestJudgeBeforeTheFirstAck(t *testing.T) {
	j := lagcomp.NewJudge(lagcomp.Config{})
	got, reason := j.Allow(lagcomp.Claim{Tick: 99}, lagcomp.Measured{Now: 100, RTT: 100 * ms})
	require.Equal(t, lagcomp.BeyondAck, reason)
	require.InDelta(t, 96, at(got), 1e-5, "no snapshot was acknowledged: as far back as is explained")
	require.Equal(t, uint64(1), j.Stats().Overdue)
}

// TestJudgeWaitsForTheRoundTrip: a time without a measurement, at the start and on a new
// connection, changes nothing. The first measurement counts in full.
func TestJudgeWaitsForTheRoundTrip(t *testing.T) {
	j := lagcomp.NewJudge(lagcomp.Config{})
	now := lagcomp.Tick(100)
	wait := func(ticks lagcomp.Tick) {
		for range ticks {
			now++
			j.Observe(lagcomp.Measured{Now: now, Newest: now - 10, RTT: -1})
		}
	}
	wait(50)
	now++
	j.Observe(lagcomp.Measured{Now: now, Newest: now - 10, RTT: 300 * ms})
	require.Equal(t, 300*ms, j.RTT())
	for range 600 {
		now++
		j.Observe(lagcomp.Measured{Now: now, Newest: now - 10, RTT: 300 * ms})
	}
	wait(300) // away, and then back
	require.Equal(t, 300*ms, j.RTT())
	asked := lagcomp.Claim{Tick: now - 10}
	got, reason := j.Allow(asked, lagcomp.Measured{Now: now, Newest: now - 9, RTT: -1, Interpolation: 50 * ms})
	require.Equal(t, lagcomp.OK, reason)
	require.Equal(t, asked, got)
	now++
	j.Observe(lagcomp.Measured{Now: now, Newest: now - 10, RTT: time.Second})
	require.InDelta(t, (300 * ms).Seconds(), j.RTT().Seconds(), 0.01, "it grows no faster for the time without a measurement")
}

// TestJudgeBounds draws measurements and claims of every kind: what is allowed
// is never outside of the rule.
func TestJudgeBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.SampledFrom([]int{10, 30, 31, 60, 128}).Draw(t, "rate")
		cfg := lagcomp.Config{TickRate: rate, Growth: time.Duration(rapid.IntRange(-1, 200).Draw(t, "growth")) * ms}
		j := lagcomp.NewJudge(cfg)
		now, last, newest := lagcomp.Tick(rapid.IntRange(0, 1000).Draw(t, "start")), -1.0, lagcomp.Tick(0)
		for range rapid.IntRange(1, 60).Draw(t, "claims") {
			now += lagcomp.Tick(rapid.IntRange(0, 200).Draw(t, "step"))
			m := lagcomp.Measured{
				Now:           now,
				Newest:        lagcomp.Tick(rapid.IntRange(0, int(now)+3).Draw(t, "newest")),
				RTT:           time.Duration(rapid.IntRange(-10, 900).Draw(t, "rtt")) * ms,
				Interpolation: time.Duration(rapid.IntRange(-10, 300).Draw(t, "interpolation")) * ms,
				Dwell:         time.Duration(rapid.IntRange(-10, 200).Draw(t, "dwell")) * ms,
			}
			newest = max(newest, min(m.Newest, now))
			c := lagcomp.Claim{Tick: rapid.OneOf(rapid.Uint32(), rapid.Uint32Range(now-min(now, 40), now+4)).Draw(t, "tick"),
				Fraction: rapid.OneOf(rapid.Float32(), rapid.Float32Range(0, 1), rapid.Just(float32(math.NaN()))).Draw(t, "fraction")}
			got, reason := j.Allow(c, m)
			tick := 1.0
			reach := (j.RTT()+max(0, m.Interpolation)+max(0, m.Dwell)).Seconds()*float64(rate) + tick
			reach = min(reach, (600*ms).Seconds()*float64(rate))
			const rounding = 1e-4
			require.LessOrEqual(t, at(got), float64(now)+rounding)
			require.LessOrEqual(t, float64(now)-at(got), reach+rounding, "further back than measured explains")
			require.GreaterOrEqual(t, at(got), last-rounding, "backwards")
			oldest := float64(now) - reach
			require.LessOrEqual(t, at(got), max(float64(newest), oldest, last)+rounding, "later than acknowledged")
			require.False(t, math.IsNaN(at(got)))
			if reason == lagcomp.OK {
				require.Equal(t, c, got)
			}
			last = max(last, at(got))
		}
	})
}

// TestHeldBackAcks: from the fifth second on a client answers 200 ms later
// than it could, and claims that much more. Where no growth is granted, it gains a tick at most over an
// honest twin, for as long as it keeps on, and is counted.
func TestHeldBackAcks(t *testing.T) {
	const rate, rtt, extra = 60, 100 * ms, 200 * ms
	tick := time.Second / rate
	honest := lagcomp.NewJudge(lagcomp.Config{TickRate: rate, Growth: -1})
	cheat := lagcomp.NewJudge(lagcomp.Config{TickRate: rate, Growth: -1})
	interpolation := 50 * ms
	var most float64
	for now := lagcomp.Tick(1000); now < 1000+120*rate; now++ {
		played := time.Duration(now-1000) * tick
		m := lagcomp.Measured{Now: now, Newest: now - 6, RTT: rtt, Interpolation: interpolation}
		true1 := float64(now) - (rtt+interpolation).Seconds()*rate
		fair, _ := honest.Allow(claimOf(true1), m)
		if played >= 5*time.Second {
			m.RTT += extra
			m.Newest -= 12
		}
		got, _ := cheat.Allow(claimOf(true1-(m.RTT-rtt).Seconds()*rate), m)
		most = max(most, at(fair)-at(got))
	}
	require.LessOrEqual(t, most, 1.0001)
	require.Zero(t, honest.Stats().Clamped(), "the honest twin is never clamped: %v", honest.Stats())
	require.Greater(t, cheat.Stats().ByReason.Of(lagcomp.TooFar), uint64(6000))
	require.Greater(t, cheat.Stats().Raised, uint64(6000))
}

func claimOf(x float64) lagcomp.Claim {
	whole := math.Floor(x)
	return lagcomp.Claim{Tick: lagcomp.Tick(whole), Fraction: float32(x - whole)}
}

// TestDelayFromTheFirstPacket: a delay that is faked from the first packet on cannot be distinguished from a
// true one. The cap limits it.
func TestDelayFromTheFirstPacket(t *testing.T) {
	j := lagcomp.NewJudge(lagcomp.Config{})
	for now := lagcomp.Tick(100); now < 400; now++ {
		got, _ := j.Allow(lagcomp.Claim{Tick: now - 60}, lagcomp.Measured{Now: now, Newest: now - 60, RTT: 2 * time.Second})
		require.InDelta(t, 18, float64(now)-at(got), 1e-4)
	}
	require.Equal(t, uint64(300), j.Stats().ByReason.Of(lagcomp.Cap))
}

// observe has a judge measure a round trip for some seconds of 30 ticks.
func observe(j *lagcomp.Judge, now *lagcomp.Tick, rtt time.Duration, seconds float64) {
	for range int(seconds*30 + 0.5) {
		*now++
		j.Observe(lagcomp.Measured{Now: *now, RTT: rtt})
	}
}

// A round trip that grows is followed within a second, up to the growth granted.
// One that falls again is followed within two, and however often it goes up and
// down, growth counts from what settled.
func TestGrowth(t *testing.T) {
	j, now := settled(t, lagcomp.Config{}, 100*ms)
	before := j.RTT()
	for range 60 { // seconds that begin with a lie
		for range 15 {
			observe(j, &now, 100*ms+time.Second, 1.0/30)
			require.LessOrEqual(t, j.RTT()-before, 200*ms/30+ms, "200 ms a second")
			before = j.RTT()
		}
		observe(j, &now, 100*ms, 0.5)
		before = j.RTT()
		require.LessOrEqual(t, before, 250*ms)
	}
	observe(j, &now, 100*ms, 2)
	require.InDelta(t, float64(100*ms), float64(j.RTT()), float64(5*ms), "it is back within two seconds")
	for _, more := range []time.Duration{25 * ms, 50 * ms, 100 * ms} {
		observe(j, &now, 100*ms+more, 1)
		require.InDelta(t, float64(100*ms+more), float64(j.RTT()), float64(3*ms), "it is there within a second")
		require.InDelta(t, float64(more), float64(j.Grown()), float64(3*ms))
		observe(j, &now, 100*ms, 3)
	}
	observe(j, &now, 300*ms, 60)
	require.Equal(t, 250*ms, j.RTT(), "the growth granted, for however long")
	observe(j, &now, 40*ms, 10)
	require.InDelta(t, float64(40*ms), float64(j.RTT()), float64(ms))
	observe(j, &now, 300*ms, 10)
	require.Equal(t, 250*ms, j.RTT(), "counted from what settled")
}

// A game may grant less growth, or none.
func TestGrowthGranted(t *testing.T) {
	j, now := settled(t, lagcomp.Config{Growth: 60 * ms, GrowthRate: 20 * ms}, 100*ms)
	observe(j, &now, 300*ms, 1)
	require.InDelta(t, float64(120*ms), float64(j.RTT()), float64(ms), "20 ms in a second")
	observe(j, &now, 300*ms, 10)
	require.Equal(t, 160*ms, j.RTT())

	j, now = settled(t, lagcomp.Config{Growth: -1}, 100*ms)
	observe(j, &now, 300*ms, 60)
	require.Equal(t, 100*ms, j.RTT(), "nothing is believed once settled")
	observe(j, &now, 60*ms, 10)
	require.InDelta(t, float64(60*ms), float64(j.RTT()), float64(ms))
	observe(j, &now, 300*ms, 60)
	require.Equal(t, 100*ms, j.RTT(), "it may return to what it was")
	j.RemeasureLatency()
	observe(j, &now, 300*ms, 60)
	require.InDelta(t, float64(300*ms), float64(j.RTT()), float64(2*ms))
}

// Negative means off.
func TestConfigNegativeIsOff(t *testing.T) {
	for _, row := range []struct {
		name string
		cfg  lagcomp.Config
		want float64 // milliseconds back that a claim of long ago is granted
	}{
		{"defaults", lagcomp.Config{}, 250 + 100.0/3},
		{"no growth", lagcomp.Config{Growth: -1}, 100 + 100.0/3},
		{"no growth rate", lagcomp.Config{GrowthRate: -1}, 100 + 100.0/3},
		{"no rewinding", lagcomp.Config{MaxRewind: -1}, 0},
		{"settled at once", lagcomp.Config{Settle: -1}, 250 + 100.0/3},
	} {
		j, now := settled(t, row.cfg, 100*ms)
		observe(j, &now, 400*ms, 5)
		m := lagcomp.Measured{Now: now, Newest: now, RTT: 400 * ms}
		got, _ := j.Allow(lagcomp.Claim{}, m)
		require.InDelta(t, row.want, (float64(now)-at(got))*1000/30, 70, row.name)
		if row.want < 200 {
			require.LessOrEqual(t, (float64(now)-at(got))*1000/30, row.want+1, row.name)
		}
	}
	j := lagcomp.NewJudge(lagcomp.Config{Settle: -1, Growth: -1})
	now := lagcomp.Tick(10)
	observe(j, &now, 100*ms, 0.04)
	observe(j, &now, 300*ms, 4)
	require.Equal(t, 100*ms, j.RTT(), "the first measurement counts")
}

func TestJudgeRefusesConfig(t *testing.T) {
	require.PanicsWithError(t, "lagcomp: invalid config: GrowthRate is 1s: use up to 200ms a second, 0 for that, or less for none",
		func() { lagcomp.NewJudge(lagcomp.Config{GrowthRate: time.Second}) })
}

func TestReasonString(t *testing.T) {
	require.Equal(t, "beyond ack", lagcomp.BeyondAck.String())
	require.Equal(t, "unknown", lagcomp.Reason(200).String())
}

// TestAcksDoNotComeUndone: an acknowledgement once seen counts for ever, in
// whatever order packets arrive.
func TestAcksDoNotComeUndone(t *testing.T) {
	j, now := settled(t, lagcomp.Config{}, 200*ms)
	m := lagcomp.Measured{Now: now, Newest: now - 2, RTT: 200 * ms}
	j.Observe(m)
	m.Newest = now - 6
	got, reason := j.Allow(lagcomp.Claim{Tick: now - 2}, m)
	require.Equal(t, lagcomp.OK, reason)
	require.Equal(t, now-2, got.Tick)
}
