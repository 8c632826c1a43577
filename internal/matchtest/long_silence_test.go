package matchtest

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// gagged is a client's endpoint that can lose all packets of the game in one direction. The
// transport's own keep-alives are not lost, as if its Timeout was as long as the game's.
type gagged struct {
	*sim.Endpoint
	up, down *bool
}

func (g *gagged) Send(p transport.PeerID, b []byte) error {
	if *g.up {
		return nil
	}
	return g.Endpoint.Send(p, b)
}

func (g *gagged) Recv(ev []transport.Event) int {
	for n := g.Endpoint.Recv(ev); n > 0; n = g.Endpoint.Recv(ev) {
		kept := ev[:0]
		for _, e := range ev[:n] {
			if e.Kind != transport.Data || !*g.down {
				kept = append(kept, e)
			}
		}
		if len(kept) > 0 {
			return len(kept)
		}
	}
	return 0
}

// longMatch is a match of one player, whose ends may stop, lose their packets, or have their
// clocks set.
type longMatch struct {
	*testing.T
	net      *sim.Network
	listen   *sim.Endpoint
	srv      *server.Server
	cli      *client.Client
	served   Walk
	played   Walk
	player   foretick.PlayerID
	up, down bool // packets in this direction are lost

	serverStill, clientStill bool
	serverAhead, clientAhead time.Duration
}

func newLongMatch(t *testing.T, rate int, cfg server.Config, redials bool) *longMatch {
	m := &longMatch{T: t, net: sim.NewNetwork(4)}
	link := sim.Link{Latency: 50 * time.Millisecond, Jitter: 5 * time.Millisecond}
	protocol := func(g *Walk) *foretick.Protocol {
		p := g.Protocol()
		p.SetTickRate(rate)
		return p
	}
	m.listen = m.net.Listen()
	cfg.Protocol, cfg.Transport = protocol(&m.served), m.listen
	var err error
	m.srv, err = server.New(cfg)
	require.NoError(t, err)
	dial := func() (transport.Endpoint, error) {
		return &gagged{m.net.Dial(m.listen, link, link), &m.up, &m.down}, nil
	}
	first, _ := dial()
	cl := client.Config{Protocol: protocol(&m.played), Transport: first, Timeout: cfg.Timeout,
		Sample: client.Sample(&m.played.Move, func(client.View) Move { return Move{X: float32(1 - m.net.Now()/time.Second%2*2)} })}
	if redials {
		cl.Redial = dial
	}
	m.cli, err = client.New(cl)
	require.NoError(t, err)
	return m
}

func (m *longMatch) now() time.Time { return time.Unix(7000, 0).Add(m.net.Now()) }

func (m *longMatch) run(d time.Duration) {
	for until := m.net.Now() + d; m.net.Now() < until; {
		m.net.Run(m.net.Now() + time.Second/60)
		if !m.serverStill {
			m.srv.Step(m.now().Add(m.serverAhead))
		}
		if !m.clientStill {
			m.cli.Step(m.now().Add(m.clientAhead))
		}
	}
}

// plays runs for this long, requires that the client then plays, and stores its player's number.
func (m *longMatch) plays(d time.Duration) {
	m.run(d)
	require.Equal(m, client.Playing, m.cli.View().State)
	m.player = m.cli.View().Player
}

// walked returns how far the player walks in 5 s in a world; it should be 25 units.
func (m *longMatch) walked(g *Walk, w *ecs.World) (way float64) {
	q := ecs.NewQuery(w.Types(), ecs.With(&g.Pos))
	x := func() (x float64) {
		for _, rows := range q.All(w) {
			for _, p := range g.Pos.Slice(rows) {
				x += float64(p.X)
			}
		}
		return x
	}
	for was, until := x(), m.net.Now()+5*time.Second; m.net.Now() < until; {
		m.run(100 * time.Millisecond)
		way += math.Abs(x() - was)
		was = x()
	}
	return way
}

// stillPlays asserts that the same player plays, on the server and on its own screen.
func (m *longMatch) stillPlays() {
	m.Helper()
	v := m.cli.View()
	require.Zero(m, m.srv.Stats().Offenders, "%v", v.Err)
	require.Equal(m, client.Playing, v.State, "%v", v.Err)
	require.Equal(m, m.player, v.Player)
	require.InDelta(m, 25, m.walked(&m.served, m.srv.World()), 2)
	require.InDelta(m, 25, m.walked(&m.played, m.cli.View().World), 2)
}

// TestLongSilence: with a long Timeout, a player survives every silence. Up to a quarter of the
// range of packet numbers its connection continues. After that it reconnects to its place, and
// without Redial its connection ends with that reason. It is never dropped for breaking rules.
func TestLongSilence(t *testing.T) {
	const timeout, quarter = time.Hour, 1 << 14
	ways := map[string]func(m *longMatch, on bool){
		"the server stands still": func(m *longMatch, on bool) { m.serverStill = on },
		"the client is hidden":    func(m *longMatch, on bool) { m.clientStill = on },
		"its packets are lost":    func(m *longMatch, on bool) { m.up = on },
		"it receives nothing":     func(m *longMatch, on bool) { m.down = on },
		"neither hears the other": func(m *longMatch, on bool) { m.up, m.down = on, on },
	}
	silences := map[int][]time.Duration{ // by the rate: one less than a quarter of the range of packet numbers, one more, and more than half
		60: {2 * time.Minute, 5 * time.Minute}, 128: {5 * time.Minute},
	}
	if costtest.Count(0, 1) > 0 {
		silences = map[int][]time.Duration{
			60:  {20 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute},
			128: {time.Minute, 5 * time.Minute, 10 * time.Minute},
		}
	}
	for name, silence := range ways {
		for rate, lengths := range silences {
			for _, d := range lengths {
				for _, redials := range []bool{true, false} {
					t.Run(fmt.Sprintf("%s for %v at %d Hz, redials %v", name, d, rate, redials), func(t *testing.T) {
						m := newLongMatch(t, rate, server.Config{Timeout: timeout}, redials)
						m.plays(30 * time.Second)
						silence(m, true)
						m.run(d)
						silence(m, false)
						m.run(6 * time.Second)
						short := int(d.Seconds())*rate < quarter
						if m.cli.View().State == client.Closed && !redials && !short {
							var why *transport.DisconnectError
							require.ErrorAs(t, m.cli.View().Err, &why)
							require.Equal(t, transport.Timeout, why.Code)
							require.Contains(t, why.Reason, "client.Config.Redial")
							require.Zero(t, m.srv.Stats().Offenders)
							return
						}
						if short {
							require.Zero(t, m.srv.Stats().Resumed)
						}
						m.stillPlays()
					})
				}
			}
		}
	}
}

// TestLevelsWhileSilent: the epochs of levels wrap after 256. A player that misses half of them also
// reconnects to its place.
func TestLevelsWhileSilent(t *testing.T) {
	for _, levels := range []int{1, 63, 65, 128, 129, 200, 256, 300} {
		t.Run(fmt.Sprint(levels), func(t *testing.T) {
			m := newLongMatch(t, 30, server.Config{Timeout: time.Hour}, true)
			m.plays(30 * time.Second)
			m.clientStill = true
			for range levels {
				m.run(200 * time.Millisecond)
				require.NoError(t, m.srv.NextLevel(nil, func(f *foretick.ServerFrame) {
					for _, p := range m.srv.Players(nil) {
						f.Spawn(&m.served.Player, p.ID)
					}
				}))
			}
			m.clientStill = false
			m.run(6 * time.Second)
			m.stillPlays()
		})
	}
}

// TestClockSteps: an end plays on if its clock jumps in one Step, or if its first Step got another
// clock's time, such as the zero time.
func TestClockSteps(t *testing.T) {
	steps := map[string]struct{ first, later func(m *longMatch) }{}
	for _, d := range []time.Duration{3 * time.Second, 29 * time.Second, 31 * time.Second, 10 * time.Minute, 10 * time.Hour, 100 * 365 * 24 * time.Hour} {
		steps["the client's, "+d.String()] = struct{ first, later func(m *longMatch) }{later: func(m *longMatch) { m.clientAhead = d }}
		steps["the server's, "+d.String()] = struct{ first, later func(m *longMatch) }{later: func(m *longMatch) { m.serverAhead = d }}
	}
	for _, zero := range []time.Time{{}, time.Unix(0, 0), time.Unix(1<<40, 0)} {
		steps["the client begins at "+zero.UTC().String()] = struct{ first, later func(m *longMatch) }{first: func(m *longMatch) { m.cli.Step(zero) }}
		steps["the server begins at "+zero.UTC().String()] = struct{ first, later func(m *longMatch) }{first: func(m *longMatch) { m.srv.Step(zero) }}
		steps["the client is once at "+zero.UTC().String()] = struct{ first, later func(m *longMatch) }{later: func(m *longMatch) { m.cli.Step(zero) }}
		steps["the server is once at "+zero.UTC().String()] = struct{ first, later func(m *longMatch) }{later: func(m *longMatch) { m.srv.Step(zero) }}
	}
	for name, step := range steps {
		for _, timeout := range []time.Duration{0, time.Minute, time.Hour} {
			for _, redials := range []bool{true, false} {
				t.Run(fmt.Sprint(name, ", timeout ", timeout, ", redials ", redials), func(t *testing.T) {
					m := newLongMatch(t, 60, server.Config{Timeout: timeout}, redials)
					if step.first != nil {
						step.first(m)
					}
					m.plays(5 * time.Second)
					if step.later != nil {
						step.later(m)
					}
					m.run(2 * time.Second)
					m.stillPlays()
					require.Zero(t, m.srv.Stats().Resumed)
				})
			}
		}
	}
}

// TestComingBackTakesTimeThatSteps: a client whose Step did not run for a while, as in a hidden page,
// continues to reconnect. It gives up after 30 s in which Step ran, or after the server's
// ReconnectWindow if that is longer.
func TestComingBackTakesTimeThatSteps(t *testing.T) {
	for _, c := range []struct {
		name           string
		window         time.Duration
		hidden, behind time.Duration // how long Step does not run, and how long the server is then out of reach
		back           bool
	}{
		{"hidden for a minute", 10 * time.Minute, time.Minute, 0, true},
		{"hidden for nine minutes", 10 * time.Minute, 9 * time.Minute, 0, true},
		{"hidden for a minute, then 20 s", 10 * time.Minute, time.Minute, 20 * time.Second, true},
		{"two minutes, and the place is held for ten", 10 * time.Minute, 0, 2 * time.Minute, true},
		{"a minute, and the place is held for thirty seconds", 0, 0, time.Minute, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newLongMatch(t, 30, server.Config{ReconnectWindow: c.window}, true)
			m.plays(11 * time.Minute) // places are held no longer than their players have played
			m.up, m.down = true, true
			m.run(8 * time.Second)
			require.Equal(t, client.Resuming, m.cli.View().State)
			m.clientStill = true
			m.run(c.hidden)
			m.clientStill = false
			m.run(c.behind)
			m.up, m.down = false, false
			m.run(8 * time.Second)
			if !c.back {
				require.Equal(t, client.Closed, m.cli.View().State)
				return
			}
			m.stillPlays()
			require.NotZero(t, m.srv.Stats().Resumed)
		})
	}
}
