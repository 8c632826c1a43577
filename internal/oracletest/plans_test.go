package oracletest

import (
	"errors"
	"fmt"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

const second = time.Second

var (
	fair = sim.Link{Latency: 30 * ms, Jitter: 15 * ms, Loss: 0.01}
	poor = sim.Link{Latency: 60 * ms, Jitter: 70 * ms, Loss: 0.08, Burst: 3, Duplicate: 0.03, Reorder: 0.03, Corrupt: 0.002}
	late = sim.Link{Latency: 50 * ms, Jitter: 60 * ms, Loss: 0.03, Burst: 4}
)

// counted requires that each of the named handlers was called.
func counted(what map[string]int, names ...string) error {
	var errs []error
	for _, name := range names {
		if what[name] == 0 {
			errs = append(errs, fmt.Errorf("%q never happened", name))
		}
	}
	return errors.Join(errs...)
}

// want returns a plan's must, which requires calls of handlers: of the server's, and after the name
// "clients:" of the clients'.
func want(names ...string) func(m *match) error {
	return func(m *match) error {
		here := m.counts
		all := map[string]int{}
		for _, st := range m.seats {
			for name, n := range st.counts {
				all[name] += n
			}
		}
		var errs []error
		for _, name := range names {
			if name == "clients:" {
				here = all
				continue
			}
			errs = append(errs, counted(here, name))
		}
		return errors.Join(errs...)
	}
}

// all combines several musts.
func all(musts ...func(m *match) error) func(m *match) error {
	return func(m *match) error {
		var errs []error
		for _, must := range musts {
			errs = append(errs, must(m))
		}
		return errors.Join(errs...)
	}
}

// rerun requires that at least this many late inputs ran.
func rerun(least uint64) func(m *match) error {
	return func(m *match) error {
		if n := m.srv.Stats().InputsRerun; n < least {
			return fmt.Errorf("%d late inputs ran, and %d is little", n, least)
		}
		return nil
	}
}

// slow makes all links slower for a while, so that inputs come late.
func slow(at, by time.Duration) []act {
	return []act{
		{at, func(m *match) error { l := m.link; l.Latency += by; m.links(l); return nil }},
		{at + 400*ms, func(m *match) error { m.links(m.link); return nil }},
	}
}

func slows(by time.Duration, at ...time.Duration) (acts []act) {
	for _, at := range at {
		acts = append(acts, slow(at, by)...)
	}
	return acts
}

// nextLevel begins a level from outside of the game.
func nextLevel(m *match) error {
	return m.srv.NextLevel([]byte("from outside"), func(f *foretick.ServerFrame) { m.hosted.level(f, m.srv.Players(nil)) })
}

// less makes the first client ask for fewer snapshots and bytes.
func less(m *match) error { return m.seat(0).client.Configure(15, 6000) }

func do(name string) func(m *match) error {
	return func(m *match) error { return m.srv.Do(name, m.hosted.call(name)) }
}

// asks makes all players send a request.
func asks(m *match) error {
	for _, st := range m.seats {
		if !st.gone {
			st.game.send(st.client, uint16(st.n))
		}
	}
	return nil
}

// comeBack ends a client's process, and starts another one with its token.
func comeBack(n int) func(m *match) error {
	return func(m *match) error { return m.join(n, m.kill(n).client.ResumeToken()) }
}

// cutOff makes a client's link lose everything for a while.
func cutOff(n int, d time.Duration) func(m *match) error {
	return func(m *match) error {
		m.net.Blackhole(m.seat(n).end, m.net.Now(), m.net.Now()+d)
		return nil
	}
}

func kick(i int) func(m *match) error {
	return func(m *match) error {
		m.srv.Frame().Kick(m.srv.Players(nil)[i].ID, transport.FirstUserCode, "idle")
		return nil
	}
}

func every(from, to, step time.Duration, do func(m *match) error) (acts []act) {
	for at := from; at < to; at += step {
		acts = append(acts, act{at, do})
	}
	return acts
}

func join(lists ...[]act) (all []act) {
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

func lateInputs(world bool, share float64) func(cfg *serverConfig) {
	return func(cfg *serverConfig) { cfg.Late.Window, cfg.Late.World, cfg.Late.Share = 200*ms, world, share }
}

// plans are the matches that have a tape.
func plans() []*plan { return append(append(playPlans(), hostPlans()...), edgePlans()...) }

// again returns the same match with another seed, and longer. Testdata has its digests, but no
// tape.
func (p *plan) again() *plan {
	q := *p
	q.name, q.seed, q.play, q.must = p.name+"_again", p.seed+100, 2*p.length(), nil
	return &q
}

// playPlans are matches for a game's declarations and for how it is played.
func playPlans() []*plan {
	whole := rules{balls: true, text: true, paced: true, family: true, level: 170}
	return []*plan{
		{name: "small", seed: 1, game: newSmall, players: 2, play: 8 * second, link: fair, must: want("join")},
		{name: "arena", seed: 2, game: newArena, players: 4, link: fair, server: func(cfg *serverConfig) { cfg.SnapshotRate = 15 }},
		{name: "rich", seed: 3, game: newRich(rules{storm: true, partial: true, interest: true, family: true}), players: 3, link: fair,
			server: func(cfg *serverConfig) { cfg.Tags, cfg.SendRate = []string{"storm"}, 3000 }, // so low a rate sends the nearest entities first
			client: func(n int, cfg *clientConfig) {
				cfg.PartialTicks = n != 1
				cfg.Tags = []string{"storm scenes"}
			},
			acts: []act{{3 * second, asks}, {4 * second, do("heal")}, {5 * second, less}, {6 * second, do("swap")}},
			must: want("struck", "bombed", "judged", "explained", "final", "asked can anybody hear me", "clients:", "rocket confirmed", "shot confirmed", "storm", "vanish", "can anybody hear me", "fallen", "chirp")},
		{name: "remote", seed: 4, game: newRich(rules{remote: true, balls: true, paced: true, rate: 60}), rate: 60, play: 5 * second, players: 3, link: fair,
			acts: []act{{2 * second, asks}}, must: want("struck", "clients:", "draw")},
		{name: "late_inputs", seed: 5, game: newRich(rules{interest: true, level: 210}), players: 3, link: late, server: lateInputs(false, 0),
			acts: join(slows(120*ms, 3*second, 5*second, 8*second), []act{{4 * second, asks}}),
			must: all(rerun(10), want("final", "struck", "clients:", "shot cancelled", "level of the game"))},
		{name: "late_world", seed: 6, game: newRich(whole), players: 3, link: late, server: lateInputs(true, 0),
			acts: join(slows(120*ms, 3*second, 5500*ms, 8*second), []act{{4 * second, asks}, {7 * second, do("heal")}}),
			must: all(rerun(10), want("final", "struck", "clients:", "level of the game"))},
		{name: "late_share", seed: 7, game: newRich(rules{family: true}), players: 3, link: late, server: lateInputs(false, 0.1),
			acts:   slows(100*ms, 4*second, 7*second),
			client: func(n int, cfg *clientConfig) { cfg.LateShare = 0.05 * float64(n) }, must: all(rerun(10), want("final"))},
		{name: "late_world_share", seed: 8, game: newRich(rules{remote: true, balls: true, storm: true}), players: 3, link: poor,
			server: func(cfg *serverConfig) {
				lateInputs(true, 0.1)(cfg)
				cfg.Tags = []string{"storm"}
			}, must: all(rerun(10), want("final", "struck"))},
		{name: "arena_late", seed: 9, game: newArena, players: 4, play: 8 * second, link: late, server: lateInputs(true, 0.05),
			acts: slows(120*ms, 3*second, 5*second, 7*second), must: rerun(10)},
		{name: "long_and_infinite", seed: 10, game: newRich(rules{long: true, infinite: true, text: true}), players: 2, link: poor,
			server: func(cfg *serverConfig) { cfg.SendRate = 16_000 },
			client: func(n int, cfg *clientConfig) { cfg.NoPrediction = n == 1 }, must: want("struck", "clients:", "shot")},
	}
}
