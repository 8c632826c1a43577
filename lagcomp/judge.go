package lagcomp

import (
	"fmt"
	"math"
	"time"

	"github.com/foretick/foretick/internal/counts"
)

// Claim is the moment of the world that a client says its player saw when he
// acted: the tick, and how far towards the next, 0 to 1. It counts from the
// moment of the input itself, not from the beginning of the input's tick.
//
// The zero Claim is the beginning of the match, soon further back than anybody may
// look.
type Claim struct {
	Tick     Tick
	Fraction float32
}

// Measured is what the server itself knows of a client when it executes an
// input. None of it may be taken from the client's word.
type Measured struct {
	// Now is the server tick that is executing.
	Now Tick
	// Newest is the newest tick of which this client has acknowledged the
	// snapshot; zero: none yet.
	Newest Tick
	// RTT is the round trip to the client.
	RTT time.Duration
	// Interpolation is how far behind the newest snapshot this client is
	// allowed to draw.
	Interpolation time.Duration
	// Dwell is how long the input waited in the server's buffer.
	Dwell time.Duration
}

// Reason says why a claim was not used as it came.
type Reason uint8

// The reasons, in the order in which they are looked for: the first that
// applies is told.
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

// String answers the reason in a word or two.
func (r Reason) String() string {
	names := [reasons]string{"ok", "not a number", "future", "beyond ack", "cap", "too far", "backwards"}
	if r < reasons {
		return names[r]
	}
	return "unknown"
}

// JudgeStats counts what a Judge decided.
type JudgeStats struct {
	// By counts claims by reason; By[OK] were used as they came.
	By [reasons]uint64
	// Raised counts claims made while the measured round trip was longer, by a
	// tick or more, than the one believed: latency that has grown, or
	// acknowledgements that are held back.
	Raised uint64
	// Overdue counts claims for which the newest acknowledged snapshot was
	// itself further back than may be looked: a client that stalls, or that
	// withholds acknowledgements.
	Overdue uint64
}

// String returns how many claims were used as they came, and why the others were not.
func (s JudgeStats) String() string {
	line := counts.Line(s)
	for r, n := range s.By {
		if n > 0 {
			line += fmt.Sprintf(", %d %v", n, Reason(r))
		}
	}
	return line
}

// Clamped is how many claims were not used as they came.
func (s JudgeStats) Clamped() uint64 {
	var n uint64
	for _, c := range s.By[OK+1:] {
		n += c
	}
	return n
}

// Judge decides how far into the past one player may look. The rule: never
// later than what the client has acknowledged, never further back than round
// trip + interpolation + wait in the input buffer + one tick, never beyond
// Config.MaxRewind, never earlier than a moment already used.
//
// The round trip is the one number in this that a client can lengthen, by
// holding back acknowledgements. It is believed while it settles (Config.Settle
// from the first measurement on). After that it follows the measurement, but
// grows no more than Config.Growth above the settled value, and no faster than
// Config.GrowthRate. A delay faked from the very first packet on cannot be told
// from a true one: the cap alone holds it.
//
// One Judge serves one player and one goroutine.
type Judge struct {
	cfg    Config
	rtt    trip
	newest Tick
	last   float64 // the latest moment used, in ticks; below zero: none
	stats  JudgeStats
}

// NewJudge makes the judge of one player. It panics with a *ConfigError when
// the config is not valid; NewHistory returns the same as an error.
func NewJudge(cfg Config) *Judge {
	if err := cfg.Validate(); err != nil {
		panic(err)
	}
	cfg = cfg.withDefaults()
	return &Judge{cfg: cfg, last: -1, rtt: newTrip(cfg)}
}

// Observe takes a measurement without a claim. Call it every tick: a judge
// that hears of the round trip only when a shot is fired settles late.
func (j *Judge) Observe(m Measured) {
	j.rtt.observe(m.Now, m.RTT)
	j.newest = max(j.newest, min(m.Newest, m.Now))
}

// Allow answers the moment to use for a claim: the claim itself with OK, or
// the nearest allowed moment with the first reason that it was not, counted.
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
	j.stats.By[reason]++
	if reason == OK {
		return c, OK
	}
	return claimAt(used), reason
}

// earliest is the oldest moment that may be used now, in ticks, and the reason
// that one before it is given.
func (j *Judge) earliest(m Measured) (float64, Reason) {
	rate := float64(j.cfg.TickRate)
	reach := (j.rtt.used+bounded(m.Interpolation)+bounded(m.Dwell)).Seconds()*rate + 1
	why := TooFar
	if most := j.cfg.MaxRewind.Seconds() * rate; reach > most {
		reach, why = most, Cap
	}
	return max(0, float64(m.Now)-reach), why
}

// Grown is how far the round trip that claims are bounded by lies above the
// settled one; below zero where the path has become quicker.
func (j *Judge) Grown() time.Duration { return j.rtt.used - j.rtt.settled }

// RTT is the round trip that claims are bounded by.
func (j *Judge) RTT() time.Duration { return j.rtt.used }

// Stats returns the counters.
func (j *Judge) Stats() JudgeStats { return j.stats }

// RemeasureLatency accepts the measured round trip again for Config.Settle, as at the
// start of play. It still grows no faster than Config.GrowthRate. Call it when nothing
// can be gained by it, such as between rounds.
func (j *Judge) RemeasureLatency() { j.rtt.remeasure() }

// Reset forgets the moments used and acknowledged, for a new level in which
// ticks start anew. The round trip and the counters stay.
func (j *Judge) Reset() {
	j.newest, j.last, j.rtt.last = 0, -1, 0
}

// moment is a claim in ticks. A fraction that is none counts as 0.
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
