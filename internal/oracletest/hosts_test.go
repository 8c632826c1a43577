package oracletest

import (
	"errors"
	"fmt"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/flight"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// What an observer asks for, in the first byte of its data.
const (
	askPublic = iota
	askTeam
	askPlayer
	askEverything
	askFollow
	askTooMuch
)

// grant gives observers the view that they ask for.
func grant(o server.Observer) (server.Grant, error) {
	switch o.Data[0] {
	case askTeam:
		return server.OfTeam(1), nil
	case askPlayer:
		return server.OfPlayer(2), nil
	case askEverything:
		return server.Everything(), nil
	case askFollow:
		return server.OfTeam(2).FollowOnly(), nil
	case askTooMuch:
		return server.Public(), errors.New("this is too much")
	}
	return server.Public(), nil
}

// watcher returns the number of the observer that asks for a kind of view.
func watcher(ask int) int { return 10 + ask }

// look makes each observer look from another position.
func look(m *match) error {
	for _, st := range m.seats {
		switch turn := m.rand.IntN(4); {
		case st.gone || st.n < watcher(0):
		case turn == 0:
			st.client.Follow(0)
		case turn == 1:
			st.client.SetEye(float32(m.rand.IntN(40)-20), float32(m.rand.IntN(40)-20), 0)
		default:
			st.client.Follow(foretick.PlayerID(1 + m.rand.IntN(3)))
		}
	}
	return nil
}

func watch(ask int) func(m *match) error {
	return func(m *match) error { return m.observe(watcher(ask), byte(ask)) }
}

// closedWith requires that a client ended with a code.
func closedWith(n int, code transport.Code) func(m *match) error {
	return func(m *match) error {
		if st := m.seat(n); transport.CloseCode(st.view.Err) != code {
			return fmt.Errorf("client %d is %v: %w", n, st.view.State, st.view.Err)
		}
		return nil
	}
}

// plays requires that clients play in the end.
func plays(numbers ...int) func(m *match) error {
	return func(m *match) error {
		for _, n := range numbers {
			if st := m.seat(n); st.view.State != client.Playing {
				return fmt.Errorf("client %d is %v: %w", n, st.view.State, st.view.Err)
			}
		}
		return nil
	}
}

func leave(n int) func(m *match) error { return func(m *match) error { return m.leave(n) } }

func enter(n int) func(m *match) error { return func(m *match) error { return m.join(n, nil) } }

// hostPlans are matches in which a program calls the server's methods, and with faults from
// outside.
func hostPlans() []*plan {
	return []*plan{observers(), levels(), levelsLate(), drain(), shutdown(), reconnects(), kicks(), overload(), oneAddress(), builds()}
}

func observers() *plan {
	return &plan{name: "observers", seed: 11, game: newRich(rules{interest: true, family: true, long: true}), players: 3, play: 8 * second, link: fair,
		server: func(cfg *serverConfig) { cfg.Observe, cfg.MaxObservers = grant, 5 },
		acts: join([]act{
			{700 * ms, watch(askPublic)}, {800 * ms, watch(askTeam)}, {900 * ms, watch(askPlayer)}, {second, watch(askEverything)},
			{1100 * ms, watch(askTooMuch)}, {1500 * ms, watch(askFollow)}, {1600 * ms, enter(3)},
			{5 * second, func(m *match) error {
				for _, o := range m.srv.Observers(nil) {
					if o.Grant == server.OfTeam(1) {
						return m.srv.KickObserver(o.ID, "no more for a team")
					}
				}
				return errors.New("nobody observes a team")
			}},
			{5200 * ms, cutOff(watcher(askEverything), 7*second)}, {6 * second, leave(1)},
		}, every(1500*ms, 8*second, 500*ms, look)),
		must: all(plays(watcher(askPublic), watcher(askFollow)), closedWith(watcher(askTooMuch), transport.Refused),
			closedWith(watcher(askTeam), transport.Kicked), closedWith(watcher(askPlayer), transport.Kicked))}
}

// noLate switches late inputs off for one player, and measures another player's latency again.
func noLate(m *match) error {
	players := m.srv.Players(nil)
	m.srv.SetLateInputs(players[0], false)
	m.srv.RemeasureLatency(players[1])
	return nil
}

// edit sets a field from outside.
func edit(m *match) error {
	return flight.Edit(m.srv, 0, "score.Red", 400, func(err error) { m.fail(err) })
}

func closes(m *match) error { return m.srv.Close("the match is over") }

func levels() *plan {
	return &plan{name: "levels", seed: 12, game: newRich(rules{level: 180, long: true}), players: 3, play: 8 * second, link: late, server: lateInputs(false, 0.05),
		acts: join([]act{{2 * second, nextLevel}, {4 * second, do("level")}, {5 * second, noLate}, {5500 * ms, edit}, {7500 * ms, closes}},
			slows(110*ms, 1700*ms, 3700*ms, 5700*ms, 7*second)),
		must: all(rerun(5), closedWith(0, transport.Closed), want("final", "clients:", "level from outside", "level of a call", "level of the game"))}
}

func levelsLate() *plan {
	return &plan{name: "levels_late_world", seed: 13, game: newRich(rules{level: 180, balls: true, text: true, family: true}), players: 3, play: 8 * second, link: late, server: lateInputs(true, 0),
		acts: join([]act{{2 * second, nextLevel}, {4 * second, do("level")}, {5 * second, edit}, {5500 * ms, noLate},
			{7500 * ms, func(m *match) error { return m.srv.CloseForRestart("a newer build comes") }}},
			slows(110*ms, 1700*ms, 3700*ms, 5700*ms, 7*second)),
		must: all(rerun(5), want("final", "clients:", "level from outside", "level of a call", "level of the game"))}
}

func drain() *plan {
	return &plan{name: "drain", seed: 14, game: newRich(rules{paced: true}), players: 3, play: 8 * second, link: fair,
		acts: []act{
			{3 * second, func(m *match) error { m.srv.Drain("maintenance"); return nil }},
			{3500 * ms, enter(3)}, {4 * second, comeBack(0)}, {5 * second, leave(1)}, {5500 * ms, asks}, {6 * second, leave(0)}, {7 * second, leave(2)},
		},
		must: all(closedWith(3, transport.Refused), want("drain", "leave"), func(m *match) error {
			if n := m.srv.Players(nil); len(n) > 0 {
				return fmt.Errorf("players %v are left", n)
			}
			return nil
		})}
}

func shutdown() *plan {
	return &plan{name: "shutdown", seed: 15, game: newRich(rules{storm: true}), players: 3, play: 7 * second, link: poor,
		server: func(cfg *serverConfig) { cfg.Tags = []string{"storm"} },
		acts: []act{
			{3 * second, asks}, {4800 * ms, asks}, {4900 * ms, cutOff(1, 600*ms)},
			{5 * second, func(m *match) error { return m.srv.Shutdown("the final score stands", 2*second) }},
		},
		must: all(closedWith(0, transport.Closed), want("asked can anybody hear me", "clients:", "can anybody hear me"))}
}

func reconnects() *plan {
	link := func(n int, l sim.Link) func(m *match) error {
		return func(m *match) error {
			st := m.seat(n)
			st.link = l
			m.net.SetLink(st.end, l, l)
			return nil
		}
	}
	var token []byte
	return &plan{name: "reconnects", seed: 16, game: newRich(rules{interest: true}), players: 4, play: 10 * second, link: fair,
		server: func(cfg *serverConfig) {
			cfg.MaxClients, cfg.ReconnectWindow, cfg.Timeout, cfg.SendRate = 4, 3*second, 1200*ms, 3000
		},
		client: func(_ int, cfg *clientConfig) { cfg.Timeout = 1500 * ms },
		acts: []act{
			{2 * second, comeBack(0)}, {2500 * ms, link(3, sim.Hell)}, {3 * second, cutOff(1, 2*second)}, {3500 * ms, asks},
			{4 * second, func(m *match) error { token = m.kill(2).client.ResumeToken(); return nil }},
			{6 * second, enter(5)}, // takes the place of an absent player
			{7500 * ms, func(m *match) error { return m.join(2, token) }},
			{7600 * ms, leave(0)}, {8500 * ms, asks}, {8600 * ms, link(3, fair)},
		},
		must: all(plays(1, 5), want("lost", "back", "leave", "clients:", "session resumed "))}
}

func kicks() *plan {
	id := func(n int) []byte { return fmt.Append(nil, "guest ", n) }
	return &plan{name: "kicks_and_bans", seed: 17, game: newRich(rules{text: true, infinite: true}), players: 4, play: 9 * second, link: fair,
		server: func(cfg *serverConfig) { cfg.Same = transport.RefuseNew },
		acts: []act{
			{2 * second, kick(3)},
			{2500 * ms, func(m *match) error { m.srv.Ban(id(1), epoch.Add(5*second), "for a while"); return nil }},
			{3 * second, enter(1)}, // the player is banned
			{3500 * ms, func(m *match) error {
				return m.srv.Do("remove", func(f *foretick.ServerFrame) { f.Kick(m.srv.Players(nil)[0].ID, 0, "by the operator") })
			}},
			{4 * second, enter(2)}, // the player plays already
			{5500 * ms, enter(1)},
			{6 * second, func(m *match) error { m.srv.KickIdentity(id(2), "and you"); return nil }},
			{7 * second, func(m *match) error {
				m.srv.Frame().Ban(m.srv.Players(nil)[0].ID, time.Time{}, "for ever")
				m.srv.Unban(id(7))
				return nil
			}},
			{7500 * ms, enter(4)},
		},
		must: all(plays(4), closedWith(3, transport.FirstUserCode), closedWith(0, transport.Kicked), closedWith(1, transport.Kicked), want("leave"))}
}

func overload() *plan {
	return &plan{name: "overload", seed: 18, game: newRich(rules{remote: true, balls: true}), players: 3, play: 8 * second, link: fair,
		pace: func(m *match) time.Duration {
			if m.net.Now()/second%3 == 1 {
				return time.Duration(60+m.rand.IntN(240)) * ms
			}
			return time.Duration(5+m.rand.IntN(10)) * ms
		},
		must: all(plays(0, 1, 2), want("struck"))}
}

func oneAddress() *plan {
	return &plan{name: "one_address", seed: 19, game: newRich(rules{family: true}), players: 3, play: 8 * second, link: fair,
		address: func(end int) string { return fmt.Sprint("10.0.0.1:", 4000+end) },
		server: func(cfg *serverConfig) {
			cfg.MaxClients, cfg.MaxHeldPerAddress, cfg.MaxWaitingPerAddress, cfg.Timeout = 8, 1, 3, second
		},
		acts: []act{
			{400 * ms, enter(4)}, // one waiting connection too many
			{3 * second, cutOff(1, 3*second)}, {3200 * ms, cutOff(2, 3*second)}, {6500 * ms, enter(5)},
		},
		must: all(plays(0, 1, 2, 5), closedWith(4, transport.Full), want("lost", "leave"))}
}

func builds() *plan {
	old, young := newRich(rules{}), newRich(rules{younger: true, infinite: true})
	return &plan{name: "other_builds", seed: 20, game: old, players: 3, play: 7 * second, link: fair,
		server: func(cfg *serverConfig) { cfg.AllowOtherBuilds = true },
		other: func(n int) func(note noter) game {
			switch n {
			case 2:
				return young
			case 9:
				return newSmall
			}
			return old
		},
		acts: []act{{3 * second, asks}, {4 * second, enter(9)}},
		must: all(plays(0, 2), want("asked can anybody hear me", "clients:", "shot confirmed"), func(m *match) error {
			if m.seat(2).client.BuildDifference() == nil {
				return errors.New("the client is of the same build")
			}
			var other *client.ProtocolError
			if err := m.seat(9).view.Err; !errors.As(err, &other) {
				return fmt.Errorf("the client of another game ended with %w", err)
			}
			return nil
		})}
}
