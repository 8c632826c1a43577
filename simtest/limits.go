package simtest

import (
	"fmt"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/internal/rewind"
	"github.com/foretick/foretick/server"
)

// Limits checks limits on cheating:
//
//   - Ticks run no faster than time passes, and each tick takes at most one command of a player.
//   - In any window of ticks at most as many commands of a player run as the window has ticks,
//     plus as many as server.Config.Late.Window has ticks.
//   - Late commands run in at most a fifth of the window's ticks, plus twice the ticks of
//     Late.
//   - No shot looks further back than the measured latency or MaxRewind allow, nor to before the
//     moment that the player's last shot looked at.
type Limits struct {
	// MaxRewind is the server's setting; 0 means its default.
	MaxRewind time.Duration

	server *server.Server
	since  time.Duration // virtual time at which the server's first tick was seen
	first  foretick.Tick
	seen   foretick.Tick // newest tick of the server that was seen
	last   map[foretick.PlayerID]limited
	player []server.Player

	// Commands and Claims count the checks; MostRewind is the largest rewind,
	// in ticks.
	Commands, Claims uint64
	MostRewind       float32
}

// limited is the state of a player after its newest tick.
type limited struct {
	connection uint64
	taken      uint64
	judged     rewind.Verdict
	rtt        time.Duration // longest round trip that was measured
	least      int64         // smallest value of the commands that ran, minus the ticks that passed
	leastLate  int64         // smallest value of probe.LateShare times the late commands, minus the ticks
}

// slack is how many more ticks may run than the time that passed allows.
const slack = 3

// Tick implements [Checker].
func (l *Limits) Tick(m *Match) error {
	s := m.Server()
	if s != l.server {
		l.server, l.since, l.first, l.last = s, m.Net.Now(), s.Tick(), map[foretick.PlayerID]limited{}
		l.seen = s.Tick() - 1
	}
	interval, window := probe.OfServer(s).Interval(), int64(probe.OfServer(s).LateTicks())
	ticks := uint64(s.Tick() - l.seen) // more than one when the server catches up
	l.seen = s.Tick()
	rate := float64(time.Second) / float64(interval)
	if ran, due := float64(s.Tick()-l.first), (m.Net.Now()-l.since).Seconds()*rate; ran > due+slack {
		return fmt.Errorf("%v ticks ran in the time for %.1f", ran, due)
	}
	l.player = s.Players(l.player[:0])
	for _, player := range l.player {
		id := player.ID
		st, _ := s.PlayerStats(player)
		was, known := l.last[id]
		if known && was.connection > st.ConnectionNumber || known && st.InputsTaken < was.taken {
			was, known = limited{}, false // another player has the number now
		}
		if known && st.InputsTaken-was.taken > ticks {
			return fmt.Errorf("player %d executed %d commands in %d ticks", id, st.InputsTaken-was.taken, ticks)
		}
		ran, late := int64(st.InputsTaken+st.InputsRerun)-int64(s.Tick()), probe.LateShare*int64(st.InputsRerun)-int64(s.Tick())
		if !known || was.connection != st.ConnectionNumber {
			was.least, was.leastLate = ran, late
		}
		if ran-was.least > window {
			return fmt.Errorf("player %d had %d more commands run than ticks passed, and Late allows %d", id, ran-was.least, window)
		}
		if late-was.leastLate > probe.LateShare*probe.LateDeep*window {
			return fmt.Errorf("player %d had %d more late commands run than a fifth of the ticks, and %d are allowed", id, (late-was.leastLate)/probe.LateShare, probe.LateDeep*window)
		}
		if st.InputsRerun > st.InputsMissing {
			return fmt.Errorf("player %d had %d late commands run in %d ticks without one", id, st.InputsRerun, st.InputsMissing)
		}
		l.Commands += st.InputsTaken - was.taken
		verdict := probe.OfServer(s).Verdict(id)
		now := limited{
			connection: st.ConnectionNumber, taken: st.InputsTaken, judged: verdict, rtt: max(was.rtt, st.RTT),
			least: min(was.least, ran), leastLate: min(was.leastLate, late),
		}
		if verdict.At == s.Tick() {
			if err := l.claim(id, &verdict, &was, now.rtt, interval); err != nil {
				return err
			}
		}
		l.last[id] = now
	}
	return nil
}

func (l *Limits) claim(player foretick.PlayerID, j *rewind.Verdict, was *limited, rtt, tick time.Duration) error {
	l.Claims++
	back := j.Used.Behind(j.At)
	l.MostRewind = max(l.MostRewind, back)
	limit := l.MaxRewind
	if limit == 0 {
		limit = probe.OfServer(l.server).MaxRewind()
	}
	const rounding = 0.01
	bound := float32(min(limit, rtt+j.Measured.Interpolation+j.Measured.Dwell+tick)) / float32(tick)
	if back > bound+rounding {
		return fmt.Errorf("player %d rewinds %.2f ticks, and %.2f are allowed: %+v, longest round trip %v", player, back, bound, *j, rtt)
	}
	if u, v := j.Used, was.judged.Used; was.judged.At != 0 && (u.Tick < v.Tick || u.Tick == v.Tick && u.Fraction+rounding < v.Fraction) {
		return fmt.Errorf("player %d rewinds to %d+%.3f, after %d+%.3f", player, u.Tick, u.Fraction, v.Tick, v.Fraction)
	}
	return nil
}

// Worked implements [Checker].
func (l *Limits) Worked(*Match) (string, error) {
	line := fmt.Sprintf("limits: %d commands, %d claims, at most %.1f ticks back", l.Commands, l.Claims, l.MostRewind)
	if l.Commands == 0 {
		return line, fmt.Errorf("no command was executed")
	}
	return line, nil
}
