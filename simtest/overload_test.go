package simtest_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport/sim"
)

// stamped is a command with the time at which it was given.
type stamped struct {
	Ms uint32
	X  float32 `net:"min=-1,max=1,step=0.0078125"`
}

// stampedGame measures, on the server, how old each command is that runs for the first time.
type stampedGame struct {
	pos  ecs.Component[position]
	cmd  ecs.Component[stamped]
	body ecs.Prefab
	ran  func(tick foretick.Tick, ms uint32)
}

func (g *stampedGame) protocol(rate int) *foretick.Protocol {
	p := foretick.NewProtocol("stamped", 1)
	p.SetTickRate(rate)
	p.Component(&g.pos, foretick.Predicted())
	p.Command(&g.cmd)
	p.Prefab(&g.body, "body", &g.pos, &g.cmd)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.body, player) })
	p.Shared("move", func(f *foretick.Frame, rows ecs.Rows) {
		pos := g.pos.Slice(rows)
		for i, c := range g.cmd.Slice(rows) {
			pos[i].X += float32(c.X * 5 * f.DT)
			if g.ran != nil {
				g.ran(f.Tick, c.Ms)
			}
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.pos))
	return p
}

// slowMatch is a match whose server is stepped by hand.
type slowMatch struct {
	rate    int
	server  *server.Server
	client  *client.Client
	now     time.Duration
	net     *sim.Network
	dialled *sim.Endpoint // the client's endpoint
	next    time.Duration // time of the server's next Step
	every   func() time.Duration
	look    func() // called for each rendered frame

	newest uint32 // stamp of the newest command that ran
	delays []time.Duration
}

func newSlowMatch(t *testing.T, rate int, link sim.Link) *slowMatch {
	m := &slowMatch{rate: rate, net: sim.NewNetwork(3), every: func() time.Duration { return 5 * time.Millisecond }}
	listen := m.net.Listen()
	g, own := &stampedGame{}, &stampedGame{}
	g.ran = func(_ foretick.Tick, ms uint32) {
		if ms > m.newest {
			m.newest = ms
			m.delays = append(m.delays, m.now-time.Duration(ms)*time.Millisecond)
		}
	}
	var err error
	m.server, err = server.New(server.Config{Protocol: g.protocol(rate), Transport: listen})
	require.NoError(t, err)
	m.dialled = m.net.Dial(listen, link, link)
	m.client, err = client.New(client.Config{Protocol: own.protocol(rate), Transport: m.dialled, Sample: client.Sample(&own.cmd, func(v client.View) stamped {
		return stamped{Ms: uint32(m.now / time.Millisecond), X: float32(v.Tick/8%2) - 0.5}
	})})
	require.NoError(t, err)
	return m
}

// run plays until a time, in steps of a millisecond, with 60 frames a second.
func (m *slowMatch) run(until time.Duration) {
	for ; m.now < until; m.now += time.Millisecond {
		m.net.Run(m.now)
		at := time.Unix(1000, 0).Add(m.now)
		if m.now >= m.next {
			m.server.Step(at)
			m.next = m.now + m.every()
		}
		if m.now/time.Millisecond*60%1000 < 60 {
			m.client.Step(at)
			if m.look != nil {
				m.look()
			}
		}
	}
}

// leads plays until a time and returns the median lead of the client.
func (m *slowMatch) leads(until time.Duration) time.Duration {
	var all []time.Duration
	m.look = func() { all = append(all, m.client.View().Lead) }
	m.run(until)
	m.look = nil
	slices.Sort(all)
	return all[len(all)/2]
}

// With a server that computes fewer ticks than are due, players keep control: the match continues
// in slow motion, inputs run soon, and three seconds after the overload all is as before.
func TestOverloadedServerKeepsItsPlayersInControl(t *testing.T) {
	playOverloads(t, []int{30, 60}, []int{100, 89, 50, 20}, []time.Duration{0, 300 * time.Millisecond})
}

// All speeds and round trips, at three tick rates.
func TestOverloadedServerAtAnySpeed(t *testing.T) {
	costtest.Long(t)
	playOverloads(t, []int{20, 30, 60}, []int{100, 89, 75, 50, 40, 30, 20, 15, 10}, []time.Duration{0, 20 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, 300 * time.Millisecond})
}

// The same holds for a server whose steps take irregular times.
func TestOverloadedServerWithIrregularSteps(t *testing.T) {
	headOverloads(t)
	for _, rate := range []int{30, 60} {
		for _, rtt := range []time.Duration{0, 100 * time.Millisecond, 300 * time.Millisecond} {
			rng := rand.New(rand.NewPCG(7, uint64(rate)))
			playOverload(t, rate, rtt, 200*time.Millisecond, func() time.Duration {
				return 150*time.Millisecond + time.Duration(rng.IntN(51))*time.Millisecond
			})
		}
	}
}

func playOverloads(t *testing.T, rates, speeds []int, trips []time.Duration) {
	headOverloads(t)
	for _, rate := range rates {
		for _, speed := range speeds {
			for _, rtt := range trips {
				interval := time.Duration(4*100*1000/(rate*speed)) * time.Millisecond
				var every func() time.Duration
				if speed < 100 {
					every = func() time.Duration { return interval }
				}
				playOverload(t, rate, rtt, interval, every)
			}
		}
	}
}

func headOverloads(t *testing.T) {
	t.Logf("%4s %8s %6s | %6s %6s %8s %8s %8s | %8s %8s | %6s %5s", "Hz", "interval", "RTT", "taken%", "missed", "onset99", "p50", "p99", "before", "after", "resets", "code")
}

// playOverload plays a match whose server is overloaded for a while: every returns the time until
// its next step, longest at most. nil means no overload.
func playOverload(t *testing.T, rate int, rtt, longest time.Duration, every func() time.Duration) {
	const begins, settles, lasts = 12 * time.Second, 4 * time.Second, 16 * time.Second
	t.Run(fmt.Sprintf("%d Hz, %v, %v", rate, longest, rtt), func(t *testing.T) {
		m := newSlowMatch(t, rate, sim.Link{Latency: rtt / 2})
		m.run(begins - time.Second)
		before := m.leads(begins)
		usual := m.every
		if every != nil {
			m.every = every
		}
		was := m.of()
		buffer := m.client.Stats().Clock.InputBufferTarget + 3*time.Second/time.Duration(rate)
		m.delays = m.delays[:0]
		m.run(begins + settles)
		onset := quantile99(m.delays) // includes the ticks that were predicted ahead at full speed
		m.delays = m.delays[:0]
		m.run(begins + lasts)
		delays := slices.Clone(m.delays)
		slow := m.of()
		m.every, m.next = usual, m.now
		m.run(begins + lasts + 3*time.Second)
		now := m.of()
		after := m.leads(begins + lasts + 4*time.Second)
		taken, missed, again := slow.InputsTaken-was.InputsTaken, slow.InputsMissing-was.InputsMissing, now.InputsMissing-slow.InputsMissing
		p99 := quantile99(delays)
		p50 := delays[len(delays)/2]
		st := m.client.Stats()
		require.Equal(t, every != nil, m.server.Stats().TicksLost > 0)
		code := st.ByCause.Of(prediction.Code)
		t.Logf("%4d %8v %6v | %6.1f %6d %8v %8v %8v | %8v %8v | %6d %5d", rate, longest, rtt, 100*float64(taken)/float64(taken+missed), again, onset, p50, p99, before.Round(time.Millisecond), after.Round(time.Millisecond), st.HardResets, code)
		require.GreaterOrEqual(t, float64(taken), 0.95*float64(taken+missed))
		require.LessOrEqual(t, again, uint64(rtt.Seconds()*float64(rate))+uint64(rate/5), "the server's speed came back unannounced")
		require.LessOrEqual(t, p99+rtt/2, rtt+3*longest+buffer)
		require.LessOrEqual(t, onset+rtt/2, rtt+3*longest+buffer, "what was predicted ahead runs in slow motion")
		require.InDelta(t, before.Seconds(), after.Seconds(), 0.2*before.Seconds())
		require.Zero(t, code)
	})
}

// quantile99 sorts delays, and returns their 99th percentile.
func quantile99(delays []time.Duration) time.Duration {
	slices.Sort(delays)
	return delays[len(delays)*99/100]
}

func (m *slowMatch) of() stats.Counters { return m.server.Stats() }
