package server

import (
	"errors"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/guard"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/stats"
)

// matchClock is the time of a match. All durations count from the start.
type matchClock struct {
	rate     int // ticks a second
	interval time.Duration
	begun    bool
	start    time.Time
	origin   time.Duration // when tick 0 would have been computed if no tick had been lost
	lost     uint64        // how many ticks were skipped since the start
	known    uint64        // the value of lost when the newest overload began; clients are told only of later losses
	slip     slip          // the slip of the current Step
	now      time.Duration // the time of the current Step
	before   time.Duration // the time of the Step before
	read     time.Time     // the time that was passed to the newest Step
	stood    bool          // the server was suspended at least once
	woke     time.Duration // the newest Step before which the server was suspended
}

// begin converts the time that is passed to a Step, and returns the match's time. It notes if the
// server was suspended before: its process was stopped, its host's worker hung, or its clock was set.
// Peers could not reach it meanwhile, so their silence counts from now on.
func (c *matchClock) begin(now time.Time, timeout time.Duration) time.Duration {
	if !c.begun {
		c.begun, c.start, c.read = true, now, now
	}
	t := guard.Elapsed(&c.start, c.now, now)
	if now.Sub(c.read) > min(timeout/2, guard.LongestStep) {
		c.stood, c.woke = true, t
	}
	c.read = now
	return t
}

// rested reports whether the server has run for longer than d without being suspended.
func (c *matchClock) rested(d time.Duration) bool { return !c.stood || c.now-c.woke > d }

// lasted returns for how long the server has run since from without being suspended.
func (c *matchClock) lasted(t, from time.Duration) time.Duration { return min(t-from, t-c.woke) }

// slip is how many ticks a Step skips after those that it computes.
type slip struct {
	after foretick.Tick // the newest tick before the Step
	lost  uint64
	last  foretick.Tick // the newest tick after which ticks were skipped; 0: none yet
	again bool          // the newest Step in which a tick was due skipped ticks too
}

// lostFor is for how long a server must skip no tick until clients are no longer told of those that it
// skipped before. The time is so long because snapshots may be lost.
const lostFor = 3 * time.Second

// due returns when a tick is computed. It is exact at any rate: a tick of 31 Hz is no whole number of
// nanoseconds.
func (c *matchClock) due(t foretick.Tick) time.Duration { return c.dueAfter(t, 0) }

// dueAfter returns when a tick is computed if lost more ticks are lost before.
func (c *matchClock) dueAfter(t foretick.Tick, lost uint64) time.Duration {
	return c.origin + time.Duration((uint64(t)+c.lost+lost)*uint64(time.Second)/uint64(c.rate))
}

// step sets the time of a Step, and computes how many ticks it will skip. A process that was stalled
// does not compute all the ticks that it missed, since it might never catch up. Clients are told how
// many are skipped, and adapt their clocks. The match's time does not stop, because connections are
// timed by it.
func (c *matchClock) step(t time.Duration, newest foretick.Tick) {
	c.before, c.now = c.now, t
	c.slip.after, c.slip.lost = newest, 0
	if c.lost != c.known && time.Duration(newest-c.slip.last)*c.interval >= lostFor {
		c.known = c.lost
	}
	if late := t - c.dueAfter(newest, game.MaxCatchUp); late >= c.interval {
		n := uint64(late/time.Second)*uint64(c.rate) + uint64(late%time.Second)*uint64(c.rate)/uint64(time.Second)
		for n > 0 && c.dueAfter(newest, game.MaxCatchUp+n) > t {
			n--
		}
		c.slip.lost = n
	}
	if c.slip.lost == 0 && c.due(newest+1) <= t {
		c.slip.again = false
	}
}

// ticks converts a time into ticks: tick k is computed at k.0. A command for the tick after newest,
// which is due but not computed yet, is still in time. If the Step skips ticks, the ticks that it
// computes are spread over all the time since the Step before.
func (c *matchClock) ticks(t time.Duration, newest foretick.Tick) float64 {
	from := c.due(c.slip.after)
	speed := float64(c.rate)
	if c.slip.lost > 0 {
		speed *= float64(game.MaxCatchUp) / float64(game.MaxCatchUp+c.slip.lost)
	}
	return min(float64(c.slip.after)+(t-from).Seconds()*speed, float64(newest+1))
}

// told returns how many skipped ticks the snapshots of tick t report, in quarters of a tick. In an
// overload, the ticks that this Step skips are spread over the four that it computes, as if each had
// taken its share of the time. After a single stall all are reported at once, so that clients set their
// clocks once.
func (c *matchClock) told(t foretick.Tick) uint32 {
	computed := uint64(game.MaxCatchUp)
	if c.slip.again {
		computed = uint64(t - c.slip.after)
	}
	return uint32(game.MaxCatchUp*(c.lost-c.known) + c.slip.lost*computed)
}

// skip ends the ticks of a Step, of which newest is the last one, and returns how many ticks the Step
// skips.
func (c *matchClock) skip(newest foretick.Tick) (lost uint64) {
	if lost = c.slip.lost; lost > 0 {
		c.lost += lost
		c.slip = slip{after: newest, last: newest, again: true}
	}
	return lost
}

// startAfter makes tick t+1 the first one that is due.
func (c *matchClock) startAfter(t foretick.Tick) {
	c.origin, c.lost = 0, 0
	c.origin = -c.due(t)
	c.slip.after = t
}

// cameAt returns the match's time at which a datagram arrived. It is between the last Step and this
// one.
func (c *matchClock) cameAt(t time.Duration, at time.Time) time.Duration {
	if at.IsZero() {
		return t
	}
	return min(max(at.Sub(c.start), c.before), t)
}

// lastTick is the last tick that a server computes. Ticks have 32 bits: at 128 a second they last for
// 388 days. Clients use the numbers above it, because they run ahead, and 0 means no tick.
const lastTick foretick.Tick = 1<<32 - 1<<12

// ErrEnded is the error of [Server.Run] after the last of 2³² − 4096 ticks: 388 days at
// 128 ticks a second. The players were disconnected with the reason. Start a new server to
// continue the match.
var ErrEnded = errors.New("foretick: the match has reached its last tick: begin another with server.New")

// ended is the text that players receive.
const ended = "the match has reached its last tick"

// A server that is behind computes several ticks in one Step. The packets of all of them would be sent
// at the same moment, and clients draw only the newest. So a Step sends only the packets of its last
// tick. With many players packets are most of a tick's work: without them the server catches up,
// instead of falling further behind and skipping ticks.

// behind reports whether at t yet another tick is due after the next one. After a single stall in which
// ticks were skipped it reports false: then the packets of all ticks tell clients to set their clocks,
// and one of them may be lost.
func (c *matchClock) behind(t time.Duration, newest foretick.Tick) bool {
	if c.slip.lost > 0 && !c.slip.again {
		return false
	}
	next := newest + 1
	return next < lastTick && c.due(next+1) <= t
}

// pathEvery is the time between two measurements of a player's path. With 30 packets a second one lost
// packet is then a third of a percent.
const pathEvery = 10 * time.Second

// playerPath is the state of measuring the path to a player, for the figures.
type playerPath struct {
	connection uint64
	next       time.Duration // when to measure next
	before     netcode.Stats // the connection's counters at the last measurement
}

// look measures the round trip and the losses of a player's path, once every pathEvery.
func (w *playerPath) look(f *stats.Server, now time.Duration, s *session) {
	if w.connection != s.connection {
		*w = playerPath{connection: s.connection, next: now + pathEvery, before: s.conn.Stats()}
		return
	}
	if now < w.next {
		return
	}
	st, was := s.conn.Stats(), &w.before
	if st.RTT > 0 {
		f.RTT.Observe(st.RTT)
	}
	// Packets that were counted as lost may come after all, so a difference may be negative.
	observeLoss(&f.LossOut, float64(st.Lost-st.AckedLate)-float64(was.Lost-was.AckedLate), st.Delivered+st.Lost-was.Delivered-was.Lost)
	lostIn := float64(st.LostIn) - float64(was.LostIn)
	observeLoss(&f.LossIn, lostIn, st.Received-was.Received+uint64(max(lostIn, 0)))
	w.next, w.before = now+pathEvery, st
}

// observeLoss counts the share of lost packets, if there were any packets.
func observeLoss(s *stats.Shares, lost float64, all uint64) {
	if all > 0 {
		s.Observe(lost / float64(all))
	}
}
