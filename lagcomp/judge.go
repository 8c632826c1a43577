package lagcomp

import (
	"iter"
	"math"
	"time"

	"github.com/foretick/foretick/internal/counts"
	"github.com/foretick/foretick/internal/misuse"
)

// Claim is the moment of the world that a client says its player saw when it acted: a tick,
// and the fraction of the way to the next tick, 0 to 1. It is the moment of the input
// itself, not of the start of the input's tick.
//
// The zero Claim is the start of the match. Soon nobody may look that far back.
type Claim struct {
	Tick     Tick
	Fraction float32
}

// Measured holds the server's own knowledge of a client when it executes an input. Fill it
// from measurements, never from values that the client sends.
type Measured struct {
	// Now is the server tick that is executing.
	Now Tick
	// Newest is the newest tick whose snapshot this client has acknowledged; zero: none
	// yet.
	Newest Tick
	// RTT is the round trip to the client. Negative: it is not measured yet, as on a new
	// connection, and the judge keeps what it believes. A 0 in its place would count.
	RTT time.Duration
	// Interpolation is the longest delay after the newest snapshot that this client may
	// draw with.
	Interpolation time.Duration
	// Dwell is the time that the input waited in the server's buffer.
	Dwell time.Duration
}

// Reason says why a claim was not used as it came.
type Reason uint8

// The reasons, in the order in which they are checked. The first that applies is
// returned.
const (
	OK        Reason = iota // used as it came
	NaN                     // the fraction is not a number from 0 to 1
	Future                  // later than the tick that executes
	BeyondAck               // later than any snapshot that the client has acknowledged
	Cap                     // further back than Config.MaxRewind
	TooFar                  // further back than what was measured explains
	Backwards               // earlier than a moment that this player has used
	reasons
)

// String returns the reason in a word or two.
func (r Reason) String() string {
	names := [reasons]string{"ok", "not a number", "future", "beyond ack", "cap", "too far", "backwards"}
	if r < reasons {
		return names[r]
	}
	return "unknown"
}

// ByReason counts claims by Reason. The zero value has counted nothing.
type ByReason struct{ n [reasons]uint64 }

// Of returns how many claims were judged with r.
func (b ByReason) Of(r Reason) uint64 { return counts.Of(b.n[:], r) }

// All returns the count of each reason, in their order, zeros included.
func (b ByReason) All() iter.Seq2[Reason, uint64] { return counts.All[Reason](b.n[:]) }

// String returns the counts that are not zero, such as "ok 300, cap 9", or "none".
func (b ByReason) String() string { return counts.Named[Reason](b.n[:]) }

// JudgeStats counts what a Judge decided.
type JudgeStats struct {
	// ByReason counts claims by reason. Those of OK were used unchanged.
	ByReason ByReason
	// Raised counts claims made while the measured round trip was a tick or more longer
	// than the believed one. Either latency has grown, or the client holds
	// acknowledgements back.
	Raised uint64
	// Overdue counts claims for which the newest acknowledged snapshot was itself too far
	// back. The client stalls, or it withholds acknowledgements.
	Overdue uint64
}

// String returns how many claims were used unchanged, and why the others were not.
func (s JudgeStats) String() string { return counts.Line(s) }

// Judged returns the number of claims.
func (s JudgeStats) Judged() uint64 { return s.ByReason.n[OK] + s.Clamped() }

// Clamped returns the number of claims that were moved to an allowed moment.
func (s JudgeStats) Clamped() uint64 {
	var n uint64
	for _, c := range s.ByReason.n[OK+1:] {
		n += c
	}
	return n
}

// Judge limits the past that one player may look into. The rules:
//
//   - never later than the newest snapshot that the client has acknowledged
//   - never further back than round trip + interpolation + wait in the input buffer + one
//     tick
//   - never further back than Config.MaxRewind
//   - never earlier than a moment already used
//
// A client can lengthen one of these numbers: the round trip, by holding acknowledgements
// back. The judge believes any round trip while it settles (Config.Settle from the first
// measurement). After that the believed value follows the measurement, but rises at most
// Config.Growth above the settled value, and no faster than Config.GrowthRate. A delay
// faked from the first packet looks like a true one: only MaxRewind limits it.
//
// One Judge serves one player and one goroutine.
type Judge struct {
	cfg    Config
	rtt    trip
	newest Tick
	last   float64 // last is the latest moment used, in ticks. Below zero means none.
	stats  JudgeStats
}

// NewJudge makes the judge of one player. It panics when the config is not
// valid, with a [UsageError] that unwraps to the *ConfigError that NewHistory returns.
func NewJudge(cfg Config) *Judge {
	if err := cfg.Validate(); err != nil {
		misuse.Panic(err)
	}
	cfg = cfg.withDefaults()
	return &Judge{cfg: cfg, last: -1, rtt: newTrip(cfg)}
}

// Observe takes a measurement without a claim. Call it every tick. A judge that gets the
// round trip only when a shot is fired settles late.
func (j *Judge) Observe(m Measured) {
	j.rtt.addMeasurement(m.Now, m.RTT)
	j.newest = max(j.newest, min(m.Newest, m.Now))
}

// Allow returns the moment to use for a claim. It is the claim itself with OK, or the
// nearest allowed moment with the first reason against the claim. It counts either.
func (j *Judge) Allow(c Claim, m Measured) (Claim, Reason) {
	j.Observe(m)
	now := float64(m.Now)
	asked, reason := moment(c)
	earliest, why := j.earliest(m)
	latest := now
	if acked := float64(j.newest); acked < latest {
		latest = acked
		if latest < earliest {
			latest = earliest
			j.stats.Overdue++
		}
	}
	if j.rtt.raised(m.RTT) {
		j.stats.Raised++
	}
	used := asked
	note := func(r Reason) {
		if reason == OK {
			reason = r
		}
	}
	switch {
	case asked > now:
		note(Future)
		used = latest
	case asked > latest:
		note(BeyondAck)
		used = latest
	case asked < earliest:
		note(why)
		used = earliest
	}
	if used < j.last {
		note(Backwards)
		used = min(j.last, now)
	}
	j.last = max(j.last, used)
	j.stats.ByReason.n[reason]++
	if reason == OK {
		return c, OK
	}
	return claimAt(used), reason
}

// Used returns the latest moment used so far, in ticks; below zero: none.
func (j *Judge) Used() float64 { return j.last }

// AllowLate is Allow for an input of an earlier tick that comes late: used is what Used
// returned before the inputs of that tick and of later ones. So a late input may use a moment
// before those of later ticks, and none before those of earlier ones.
func (j *Judge) AllowLate(c Claim, m Measured, used float64) (Claim, Reason) {
	last := j.last
	j.last = used
	got, reason := j.Allow(c, m)
	j.last = max(j.last, last)
	return got, reason
}

// earliest returns the oldest moment that may be used now, in ticks, and the reason for
// refusing an earlier one.
func (j *Judge) earliest(m Measured) (float64, Reason) {
	rate := float64(j.cfg.TickRate)
	reach := (j.rtt.used+bounded(m.Interpolation)+bounded(m.Dwell)).Seconds()*rate + 1
	why := TooFar
	if most := j.cfg.MaxRewind.Seconds() * rate; reach > most {
		reach, why = most, Cap
	}
	return max(0, float64(m.Now)-reach), why
}

// Grown returns how much longer the round trip is than when it settled (see
// Config.Settle). It uses the believed round trip, as RTT does. It is below zero when the
// path has become quicker.
func (j *Judge) Grown() time.Duration { return j.rtt.used - j.rtt.settled }

// RTT returns the believed round trip: the measured one, within Config.Growth and
// Config.GrowthRate. It limits how far back claims may reach.
func (j *Judge) RTT() time.Duration { return j.rtt.used }

// Stats returns the counters.
func (j *Judge) Stats() JudgeStats { return j.stats }

// RemeasureLatency believes any measured round trip again for Config.Settle, as at the
// start of play. The believed value still rises no faster than Config.GrowthRate. Call it
// when a cheater gains nothing by it, such as between rounds.
func (j *Judge) RemeasureLatency() { j.rtt.remeasure() }

// Reset forgets the moments used and acknowledged, for a new level whose ticks start again.
// The round trip and the counters stay.
func (j *Judge) Reset() {
	j.newest, j.last, j.rtt.last = 0, -1, 0
}

// moment returns a claim in ticks. A fraction that is not from 0 to 1 counts as 0.
func moment(c Claim) (float64, Reason) {
	if !(c.Fraction >= 0 && c.Fraction <= 1) {
		return float64(c.Tick), NaN
	}
	return float64(c.Tick) + float64(c.Fraction), OK
}

// claimAt is the inverse of moment.
func claimAt(x float64) Claim {
	whole := math.Floor(x)
	c := Claim{Tick: Tick(whole), Fraction: float32(x - whole)}
	if c.Fraction >= 1 {
		c.Tick, c.Fraction = c.Tick+1, 0
	}
	return c
}

// bounded keeps a measurement where sums of a few cannot overflow.
func bounded(d time.Duration) time.Duration { return min(max(d, 0), time.Minute) }
