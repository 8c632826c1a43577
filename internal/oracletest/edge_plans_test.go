package oracletest

import (
	"fmt"
	"strings"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/prediction"
)

// half is a few seconds before the tick 1<<31, from which on a tick is negative as a signed number.
// The ticks of a match wrap around after 1<<32.
const half foretick.Tick = 1<<31 - 98

// edgePlans are matches at the limits of what is allowed, and matches that are watched while they
// play.
func edgePlans() []*plan {
	return []*plan{halfCircle(), halfCircleLate(), slowFrames(), nobody(), syncLate(), syncWorld(), watched()}
}

// corrected requires corrections with a cause on some client.
func corrected(cause prediction.Cause) func(m *match) error {
	return func(m *match) error {
		for _, st := range m.seats {
			for what := range st.counts {
				if strings.HasPrefix(what, "correction ") && strings.HasSuffix(what, cause.String()) {
					return nil
				}
			}
		}
		return fmt.Errorf("nothing was corrected because of %v", cause)
	}
}

func halfCircle() *plan {
	return &plan{name: "half_circle", seed: 31, start: half, game: newRich(rules{balls: true, remote: true, interest: true, paced: true}), players: 2, play: 6 * second, link: fair,
		server: func(cfg *serverConfig) { cfg.Observe, cfg.MaxObservers = grant, 3 },
		acts: join([]act{{second, watch(askEverything)}, {2 * second, asks}, {2500 * ms, cutOff(1, 1500*ms)}, {3500 * ms, enter(3)}, {4 * second, asks}, {4500 * ms, nextLevel}, {5 * second, comeBack(0)}},
			every(1500*ms, 6*second, 500*ms, look)),
		must: all(plays(0, 1, 3, watcher(askEverything)), want("struck", "bombed", "final", "clients:", "shot confirmed", "level from outside", "session resumed "))}
}

func halfCircleLate() *plan {
	return &plan{name: "half_circle_late", seed: 32, start: half, game: newRich(rules{family: true, shove: true}), players: 3, play: 6 * second, link: late, server: lateInputs(false, 0),
		acts: join(slows(120*ms, 2*second, 3*second, 4500*ms), []act{{3700 * ms, enter(3)}}),
		must: all(rerun(10), plays(3), want("final", "struck"))}
}

func slowFrames() *plan {
	return &plan{name: "five_frames", seed: 33, game: newRich(rules{partial: true, text: true, interest: true}), frames: 5, players: 3, play: 6 * second, link: fair,
		client: func(n int, cfg *clientConfig) { cfg.PartialTicks, cfg.NoPrediction = n == 1, n == 2 },
		acts:   []act{{2 * second, asks}}, must: all(plays(0, 1, 2), want("struck", "clients:", "shot confirmed"))}
}

func nobody() *plan {
	return &plan{name: "nobody", seed: 34, game: newRich(rules{balls: true, long: true}), play: 7 * second, link: fair,
		acts: []act{{second, do("heal")}, {2 * second, nextLevel}, {4 * second, enter(0)}},
		must: all(plays(0), want("clients:", "rocket confirmed"))}
}

// syncLate and syncWorld run each tick again on both ends, like simtest.SyncTest.
func syncLate() *plan {
	return &plan{name: "sync_late", seed: 35, sync: 4, game: newRich(rules{interest: true, stray: true}), players: 2, play: 5 * second, link: late, server: lateInputs(false, 0),
		acts: slows(120*ms, 2*second, 3500*ms), must: all(rerun(5), want("struck", "final", "desync", "clients:", "desync"))}
}

func syncWorld() *plan {
	return &plan{name: "sync_world", seed: 40, sync: 3, game: newRich(rules{balls: true, text: true, paced: true, family: true, open: true}), players: 2, play: 5 * second, link: late, server: lateInputs(true, 0),
		acts: slows(120*ms, 2*second, 3500*ms), must: all(rerun(5), inSync, want("struck", "final"))}
}

// inSync requires that no tick had another result when it ran again.
func inSync(m *match) error {
	all := m.handled()
	for what, n := range m.counts {
		all[what] += n
	}
	if n := all["desync"]; n > 0 {
		return fmt.Errorf("%d ticks came out differently", n)
	}
	return nil
}

// watched has an operator that reads the traces and the corrections of players. Others' inputs
// cause some of these corrections.
func watched() *plan {
	return &plan{name: "watched", seed: 38, game: newRich(rules{balls: true, shove: true, open: true}), players: 3, play: 6 * second, link: late,
		server: func(cfg *serverConfig) {
			lateInputs(true, 0)(cfg)
			cfg.AllowTrace = func(player foretick.PlayerID) bool { return player == 3 }
		},
		acts: join([]act{{second, listen}}, every(1700*ms, 6*second, 600*ms, hold(2, 120*ms)), every(1500*ms, 4500*ms, 250*ms, lookAtTraces)),
		must: all(rerun(5), corrected(prediction.RemoteInput), func(m *match) error {
			return counted(m.told, "report", "server trace", "client trace")
		})}
}

// hold delays the packets of a client for a while.
func hold(n int, by time.Duration) func(m *match) error {
	return func(m *match) error {
		st, up := m.seat(n), m.link
		up.Latency += by
		m.net.SetLink(st.end, up, m.link)
		m.net.At(m.net.Now()+300*ms, func() { m.net.SetLink(st.end, m.link, m.link) })
		return nil
	}
}

// listen records the corrections that clients report.
func listen(m *match) error {
	probe.OfServer(m.srv).Corrected(func(player foretick.PlayerID, w prediction.Misprediction) {
		named := []uint64{uint64(player), w.Entity}
		for _, d := range w.Differences {
			named = append(named, d.Entity)
		}
		m.tell("report", []byte(w.String()), named...)
	})
	return nil
}

// lookAtTraces requests traces on each end, and reads the records.
func lookAtTraces(m *match) error {
	ports := m.ports
	if ports == nil {
		in := probe.OfServer(m.srv)
		m.ports = append(ports, in.Trace(1, false), in.Trace(2, true), probe.OfClient(m.seat(1).client).Trace(), probe.OfClient(m.seat(2).client).Trace())
		ports = m.ports
	}
	for i, p := range ports {
		var entities []uint64
		if i == 1 {
			for _, rows := range m.hosted.(*rich).bodies.Owned(m.srv.World(), 2) {
				entities = append(entities, uint64(rows.Entity(0)))
			}
		}
		p.Look(entities)
		state, why := p.Status()
		m.tell("trace "+state.String(), []byte(why), uint64(i))
		for _, b := range p.Server.Records() {
			m.tell("server trace", b, uint64(i))
		}
		for _, b := range p.Client.Records() {
			m.tell("client trace", b, uint64(i))
		}
	}
	return nil
}

// tell adds something that an operator sees to a stream that no replay has.
func (m *match) tell(what string, b []byte, numbers ...uint64) {
	m.told[what]++
	m.sums.add(screens, append([]byte(what), b...), numbers...)
}
