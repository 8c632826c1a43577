package simtest_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// miser sends each command in its own packet. Four of five are in time. It withholds the fifth
// for as long as the server accepts it. So it uses its whole budget of late inputs, and each
// makes the most ticks of the world run again.
type miser struct {
	raw    *rawClient
	pack   *schema.Schema
	cmds   *netcode.CommandSender
	turn   netcode.Tick // the ticks whose commands it withholds, modulo five
	newest netcode.Tick // newest tick with a command
	held   []heldPacket
}

// heldPacket is a packet that is sent once the server has reached tick at.
type heldPacket struct {
	at netcode.Tick
	b  []byte
}

func newMiser(t testing.TB, m *simtest.Match, link sim.Link, turn int) *miser {
	s, err := schema.Compile(reflect.TypeFor[lunge](), schema.Options{})
	require.NoError(t, err)
	return &miser{
		raw: &rawClient{endpoint: m.Dial(link, sim.Link{Latency: 300 * time.Millisecond}), hash: (&fencers{}).protocol().Hash()}, pack: s, turn: netcode.Tick(turn),
		cmds: netcode.NewCommandSender(s.PackedSize(), netcode.CommandConfig{Fields: s.PackedFields(), Redundancy: 1}),
	}
}

// step plays one of the server's ticks, or less.
func (x *miser) step(t testing.TB, now time.Duration, tick netcode.Tick) {
	const early, deep = 3, 4 // ticks
	var body []byte
	if fresh := tick+early != x.newest && x.raw.size > 0; fresh {
		x.newest = tick + early
		v := wave(int(x.turn), client.View{Tick: x.newest})
		x.cmds.Push(netcode.Command{Tick: x.newest, Render: tick, Data: x.pack.Pack(unsafe.Pointer(&v), nil)})
		body = x.cmds.Append(nil, 300)
		x.cmds.Acked(x.newest, false) // so that no later packet repeats the command
	}
	b, err := x.raw.packet(now, body)
	require.NoError(t, err)
	switch {
	case b == nil:
	case body != nil && x.newest%5 == x.turn:
		x.held = append(x.held, heldPacket{x.newest + deep, slices.Clone(b)})
	default:
		require.NoError(t, x.raw.endpoint.Send(x.raw.peer, b))
	}
	for len(x.held) > 0 && int32(tick-x.held[0].at) >= 0 {
		require.NoError(t, x.raw.endpoint.Send(x.raw.peer, x.held[0].b))
		x.held = x.held[1:]
	}
}

// stalls is a path up that now and then holds all packets back for a while, and loses none.
type stalls struct {
	holder
	until time.Duration
}

// step begins or ends a stall.
func (s *stalls) step(t testing.TB, now time.Duration, dice *rand.Rand) {
	switch {
	case s.holds && now >= s.until:
		s.release(t)
	case !s.holds && now > 3*time.Second && dice.IntN(60) == 0:
		s.holds, s.until = true, now+time.Duration(100+dice.IntN(150))*time.Millisecond
	}
}

// Five of sixteen players withhold inputs all the time, each within its own budget. The others
// keep theirs: 95 of a hundred inputs that their paths make late run in their ticks. No second
// has more than two ticks of the world that run again for each of its ticks.
func TestLateWorldBudgetBesideMisers(t *testing.T) {
	var x misery
	matches := costtest.Count(1, 4)
	for seed := range uint64(matches) {
		x.play(t, seed+1)
	}
	t.Logf("of the honest %d late inputs ran and %d were refused, of the misers %d and %d; at most %d ticks ran again in a second of %d", x.late, x.refused, x.theirs, x.beyond, x.most, miseryRate)
	require.Greater(t, x.late+x.refused, uint64(40*matches))
	require.GreaterOrEqual(t, float64(x.late), 0.95*float64(x.late+x.refused))
	checks := 0
	if debugging {
		checks = miseryRate // a debug build runs each tick once more
	}
	require.LessOrEqual(t, x.most, 2*miseryRate+checks)
	require.Greater(t, x.theirs, uint64(200*matches))
	require.Greater(t, x.beyond, x.theirs, "or this test shows nothing")
}

const miseryRate = 30 // ticks a second

// misery sums up matches with misers.
type misery struct {
	late, refused  uint64 // late inputs of honest players that ran, and those that did not
	theirs, beyond uint64 // late inputs of misers that ran, and those that did not
	most           int    // the most ticks that ran again in a second
}

func (x *misery) play(t testing.TB, seed uint64) {
	const misers, stalled, steady = 5, 3, 8
	link := sim.Link{Latency: 20 * time.Millisecond}
	m, g, _, _ := fence(t, seed, server.Config{Late: server.Late{Window: lateWindow, World: true}, MaxWaitingPerAddress: -1}, slices.Repeat([]sim.Link{link}, steady), true, wave)
	var bad []*stalls
	for n := range stalled {
		s, own := &stalls{}, &fencers{}
		_, err := m.Join(client.Config{Protocol: own.protocol(), Sample: client.Sample(&own.cmd, func(v client.View) lunge { return wave(n, v) })},
			simtest.Seat{Up: link, Down: link, Wrap: func(e transport.Endpoint) transport.Endpoint { s.Endpoint = e; return s }})
		require.NoError(t, err)
		bad = append(bad, s)
	}
	ran := 0 // runs of ticks on the server, including repeated ones
	g.went = func(_ *foretick.Frame, player foretick.PlayerID, _ float32) {
		if player == 1 {
			ran++
		}
	}
	var again []int // number of ticks that ran again in each of the server's ticks
	m.AroundServer = func(step func()) {
		before, tick := ran, m.Server().Tick()
		step()
		if n := int(m.Server().Tick() - tick); n > 0 {
			again = append(again, ran-before-n)
		}
	}
	m.Run(time.Second)
	require.Len(t, m.Server().Players(nil), steady+stalled)
	var withhold []*miser
	for n := range misers {
		withhold = append(withhold, newMiser(t, m, link, n))
	}
	dice := rand.New(rand.NewPCG(seed, 8))
	for now := m.Net.Now(); now < time.Minute; {
		now += time.Second / (2 * miseryRate)
		m.Run(now)
		for _, s := range bad {
			s.step(t, now, dice)
		}
		for _, w := range withhold {
			w.step(t, now, m.Server().Tick())
		}
	}
	require.NoError(t, m.Err())
	require.Len(t, m.Server().Players(nil), steady+stalled+misers)
	sum := 0
	for i, n := range again {
		if sum += n; i >= miseryRate {
			sum -= again[i-miseryRate]
		}
		x.most = max(x.most, sum)
	}
	for n := range foretick.PlayerID(steady + stalled + misers) {
		st, ok := m.Server().PlayerStats(m.Server().Player(n + 1))
		require.True(t, ok)
		refused := st.InputsOverBudget + st.InputsHindsight
		if n < steady+stalled {
			x.late, x.refused = x.late+st.InputsRerun, x.refused+refused
		} else {
			x.theirs, x.beyond = x.theirs+st.InputsRerun, x.beyond+refused
		}
	}
}
