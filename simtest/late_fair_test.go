package simtest_test

import (
	"crypto/sha256"
	"flag"
	"hash"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

var (
	lateDuels   = flag.Int("late.duels", costtest.Count(100, 200), "how many duels TestWithheldInputs plays, and twice those of TestParryOfWhatWasSeen; 1000 before a release")
	lateMatches = flag.Int("late.matches", costtest.Count(2, 2), "how many minutes TestLateInputsOnOthersScreens plays on each path; 20 before a release")
)

const lateWindow = 200 * time.Millisecond

// cheat sends commands of the test's own to a game of fencers.
type cheat struct {
	raw    *rawClient
	pack   *schema.Schema
	newest netcode.Tick // newest tick with a command
	cmds   *netcode.CommandSender
}

func newCheat(t testing.TB, m *simtest.Match, link sim.Link) *cheat {
	s, err := schema.Compile(reflect.TypeFor[lunge](), schema.Options{})
	require.NoError(t, err)
	return &cheat{
		raw:  &rawClient{endpoint: m.Dial(link, link), hash: (&fencers{}).protocol().Hash()},
		pack: s, cmds: netcode.NewCommandSender(s.PackedSize(), netcode.CommandConfig{Fields: s.PackedFields(), Redundancy: 16}),
	}
}

// make makes a command for each tick up to t.
func (c *cheat) make(t, render netcode.Tick, cmd func(t netcode.Tick) lunge) {
	if c.newest == 0 {
		c.newest = t - 1
	}
	for c.newest != t {
		c.newest++
		v := cmd(c.newest)
		c.cmds.Push(netcode.Command{Tick: c.newest, Render: render, Data: c.pack.Pack(unsafe.Pointer(&v), nil)})
	}
}

func (c *cheat) step(t testing.TB, now time.Duration, sends bool) {
	if !sends {
		require.NoError(t, c.raw.step(now))
		return
	}
	c.stepWith(t, now)
}

// stepWith sends its commands, and more bodies in the same packet.
func (c *cheat) stepWith(t testing.TB, now time.Duration, more ...[]byte) {
	var bodies [][]byte
	if c.raw.size > 0 && c.newest > 0 {
		bodies = append(append(bodies, c.cmds.Append(nil, 300)), more...)
	}
	require.NoError(t, c.raw.step(now, bodies...))
}

// rise revives all players after a duel, and returns which ones were down, by player.
func rise(t testing.TB, m *simtest.Match, g *fencers) (down [3]bool) {
	w := m.Server().World()
	for _, rows := range ecs.NewQuery(w.Types(), ecs.With(&g.vitals)).All(w) {
		for i, v := 0, g.vitals.Slice(rows); i < len(v); i++ {
			down[rows.Owner()] = v[i].Down
			v[i].Down, g.scored.Slice(rows)[i].Fell = false, false
		}
	}
	return down
}

// A client that sends its commands late on purpose sees the shot, and then parries in the shot's
// tick. That does not save it: the server applies the hit again.
func TestParryOfWhatWasSeen(t *testing.T) {
	duels := *lateDuels / 2
	link := sim.Link{Latency: 20 * time.Millisecond}
	for _, row := range []struct {
		name    string
		guessed bool // its commands are in time, and parry in the tick of the shot by luck
		window  time.Duration
		world   bool
	}{{"guessed in time", true, lateWindow, false}, {"seen", false, lateWindow, false}, {"seen, without Late", false, 0, false}, {"guessed in time, whole world", true, lateWindow, true}, {"seen, whole world", false, lateWindow, true}} {
		survived, parried, refused := 0, uint64(0), uint64(0)
		const each = 50
		for played := 0; played < duels; played += each {
			var at netcode.Tick // tick of the next shot
			m, g, clients, _ := fence(t, uint64(played)+1, server.Config{Late: server.Late{Window: row.window, World: row.world}}, []sim.Link{link}, false, func(_ int, v client.View) lunge {
				return lunge{Fire: v.Tick == at-1}
			})
			m.Run(time.Second)
			c := newCheat(t, m, link)
			srv, dice, now := m.Server(), rand.New(rand.NewPCG(uint64(played), 1)), m.Net.Now()
			saw := false
			tick := func() {
				now += time.Second / 60
				m.Run(now)
				tick := srv.Tick()
				held := !row.guessed && at != 0 && int32(tick+3-(at-1)) >= 0 && !saw
				if at != 0 && tick >= at+1 { // it knows of the shot at once, even before a snapshot can arrive
					saw = true
				}
				if !held {
					c.make(tick+3, tick, func(t netcode.Tick) lunge { return lunge{Guard: at != 0 && t+1 >= at && t <= at+1} })
				}
				c.step(t, now, !held)
			}
			for range 90 {
				tick()
			}
			require.Len(t, srv.Players(nil), 2)
			for range min(each, duels-played) {
				at, saw = clients[0].View().Tick+10+dice.Uint32N(20), false
				for srv.Tick() < at+12 {
					tick()
				}
				at = 0
				if !rise(t, m, g)[2] {
					survived++
				}
				for range 60 {
					tick()
				}
			}
			require.GreaterOrEqual(t, g.shots, min(each, duels-played))
			st, ok := srv.PlayerStats(srv.Player(2))
			require.True(t, ok)
			parried, refused = parried+st.InputsRerun, refused+st.InputsHindsight
		}
		t.Logf("%s: %d of %d survived, %d inputs were run late, %d refused for hindsight", row.name, survived, duels, parried, refused)
		switch {
		case row.guessed:
			require.Equal(t, duels, survived, "a parry in time saves")
		case row.world:
			require.Zero(t, survived)
			require.Greater(t, refused, uint64(duels))
		case row.window > 0:
			require.Greater(t, parried, uint64(2*duels))
			fallthrough
		default:
			require.Zero(t, survived)
		}
	}
}

// holder holds a client's packets back.
type holder struct {
	transport.Endpoint
	held  [][]byte
	peer  transport.PeerID
	holds bool
}

func (h *holder) Send(p transport.PeerID, b []byte) error {
	if h.holds {
		h.peer, h.held = p, append(h.held, slices.Clone(b))
		return nil
	}
	return h.Endpoint.Send(p, b)
}

func (h *holder) release(t testing.TB) {
	h.holds = false
	for _, b := range h.held {
		require.NoError(t, h.Endpoint.Send(h.peer, b))
	}
	h.held = h.held[:0]
	h.Flush()
}

// Two players with the same link shoot at a signal. One of them withholds its inputs from the
// moment of its shot on, for up to 400 ms. It wins no more duels than by chance.
func TestWithheldInputs(t *testing.T) {
	link := sim.Link{Latency: 30 * time.Millisecond, Jitter: 5 * time.Millisecond}
	for _, mode := range lateModes {
		var won, lost, both, none int
		const each = 25
		for played := 0; played < *lateDuels; played += each {
			dice := rand.New(rand.NewPCG(uint64(played), 2))
			var at [2]netcode.Tick
			sample := func(n int, v client.View) lunge { return lunge{Fire: v.Tick == at[n]-1} }
			m, g, clients, _ := fence(t, uint64(played)+1, server.Config{Late: server.Late{Window: mode.window, World: mode.world}}, []sim.Link{link}, false, sample)
			h := &holder{}
			cheats := &fencers{}
			cl, err := m.Join(client.Config{Protocol: cheats.protocol(), Sample: client.Sample(&cheats.cmd, func(v client.View) lunge { return sample(1, v) })},
				simtest.Seat{Up: link, Down: link, Wrap: func(e transport.Endpoint) transport.Endpoint { h.Endpoint = e; return h }})
			require.NoError(t, err)
			clients = append(clients, cl)
			m.Run(3 * time.Second)
			for range min(each, *lateDuels-played) {
				told := clients[0].View().Tick + 20
				for n := range at { // reactions of 170 to 330 ms
					at[n] = told + 5 + dice.Uint32N(6)
				}
				for clients[1].View().Tick < at[1]-1 {
					m.Run(m.Net.Now() + time.Second/120)
				}
				h.holds = true
				m.Run(m.Net.Now() + time.Duration(dice.IntN(400))*time.Millisecond)
				h.release(t)
				m.Run(m.Net.Now() + 700*time.Millisecond)
				switch down := rise(t, m, g); {
				case down[1] && down[2]:
					both++
				case down[1]:
					won++
				case down[2]:
					lost++
				default:
					none++
				}
				m.Run(m.Net.Now() + 800*time.Millisecond)
			}
		}
		t.Logf("%s: who withholds wins %d of %d duels, loses %d, both fall in %d, nobody in %d", mode.name, won, *lateDuels, lost, both, none)
		require.LessOrEqual(t, won, *lateDuels*53/100)
		require.Zero(t, none)
		require.Less(t, won, won+lost+both)
	}
}

// digest hashes the packets to all endpoints except one.
type digest struct {
	except int
	sum    hash.Hash
	n      int
}

func (d *digest) Tick(*simtest.Match) error { return nil }

func (d *digest) Packet(m *simtest.Match, from, to int, b []byte) error {
	if from == m.Listener().ID() && to != d.except {
		d.sum.Write(b)
		d.n++
	}
	return nil
}

// floodMatch is a match with a cheat that may send inputs for ticks far in the future.
type floodMatch struct {
	m     *simtest.Match
	c     *cheat
	d     *digest
	spent time.Duration // time that the server's steps took
	now   time.Duration
	sent  int // number of inputs for ticks far in the future
}

func newFloodMatch(t testing.TB, world bool) *floodMatch {
	x := &floodMatch{}
	link := sim.Link{Latency: 20 * time.Millisecond}
	links := make([]sim.Link, 15)
	for i := range links {
		links[i] = link
	}
	x.m, _, _, _ = fence(t, 5, server.Config{Late: server.Late{Window: lateWindow, World: world}, MaxWaitingPerAddress: -1}, links, true, wave)
	x.m.Run(time.Second)
	x.now = x.m.Net.Now()
	x.c = newCheat(t, x.m, link)
	x.d = &digest{except: x.c.raw.endpoint.ID(), sum: sha256.New()}
	x.m.Watch(x.d)
	x.m.AroundServer = func(step func()) {
		begun := time.Now()
		step()
		x.spent += time.Since(begun)
	}
	for range 90 {
		x.step(t, 0)
	}
	require.Len(t, x.m.Server().Players(nil), 16)
	return x
}

// step plays a tick, in which the cheat sends this number of inputs for ticks far in the future.
// It reports whether the cheat still plays.
func (x *floodMatch) step(t testing.TB, inputs int) bool {
	x.now += time.Second / 30
	x.m.Run(x.now)
	tick := x.m.Server().Tick()
	x.c.make(tick+4, tick, func(t netcode.Tick) lunge { return lunge{Move: float32(t%64)/64 - 0.5} })
	if inputs > 0 && len(x.m.Server().Players(nil)) < 16 {
		return false
	}
	x.c.step(t, x.now, true)
	for inputs > 0 {
		n := min(inputs, 60)
		s := netcode.NewCommandSender(x.c.pack.PackedSize(), netcode.CommandConfig{Fields: x.c.pack.PackedFields(), Redundancy: 64})
		v := lunge{Move: 1, Fire: true}
		for k := range netcode.Tick(n) {
			s.Push(netcode.Command{Tick: tick + 100 + netcode.Tick(x.sent%1000) + k, Render: tick, Data: x.c.pack.Pack(unsafe.Pointer(&v), nil)})
		}
		require.NoError(t, x.c.raw.step(x.now, s.Append(nil, 1100)))
		x.sent, inputs = x.sent+n, inputs-n
	}
	return true
}

// A client sends inputs for ticks far in the future. The packets to others stay the same, byte
// for byte. The server's steps cost at most a tenth more: with 2 700 a second, as many as it
// may send without being dropped, and with 10 000, for which it is dropped within a second.
func TestFloodOfFutureInputs(t *testing.T) {
	costtest.Long(t)
	costtest.Ratio(t)
	const limit = 1.1
	for _, mode := range lateModes[1:] {
		for _, a := range []struct{ inputs, matches, ticks int }{{10_000 / 30, 12, 33}, {90, 1, 120}} {
			ratio := floodRatio(t, mode, a.inputs, a.matches, a.ticks)
			for try := 0; try < 2 && ratio > limit && !raced; try++ { // a busy machine may slow only one of the two
				ratio = floodRatio(t, mode, a.inputs, a.matches, a.ticks)
			}
			if !raced {
				require.LessOrEqual(t, ratio, limit, "three times")
			}
		}
	}
}

// floodRatio returns how many times as long the server's steps take with a flood of inputs for
// future ticks. A match ends after this number of ticks, or when the cheat is dropped.
func floodRatio(t *testing.T, mode lateMode, inputs, matches, ticks int) float64 {
	var spent [2][]time.Duration
	sent, far, to, ended := 0, uint64(0), 0, 0
	for range matches {
		calm, flood := newFloodMatch(t, mode.world), newFloodMatch(t, mode.world)
		counted := uint64(0)
		for n := range ticks { // in turns, so that other work of the machine slows both
			calm.spent, flood.spent = 0, 0
			calm.step(t, 0)
			if !flood.step(t, inputs) {
				ended++
				break
			}
			if n > 0 { // the first inputs arrive in the second tick
				spent[0], spent[1] = append(spent[0], calm.spent), append(spent[1], flood.spent)
			}
			st, ok := flood.m.Server().PlayerStats(flood.m.Server().Player(16))
			require.True(t, ok)
			counted = st.InputsFar
			require.Equal(t, calm.d.n, flood.d.n)
			require.Equal(t, calm.d.sum.Sum(nil), flood.d.sum.Sum(nil), "others are sent the same bytes")
		}
		sent, far, to = sent+flood.sent, far+counted, to+calm.d.n
	}
	slices.Sort(spent[0])
	slices.Sort(spent[1])
	low := len(spent[0]) / 5 // on a busy machine most steps above that were interrupted
	usual, flooded := spent[0][low], spent[1][low]
	ratio := float64(flooded) / float64(usual)
	t.Logf("%s, %d inputs a second into the future: dropped in %d of %d matches, %d ticks looked at; %d of %d inputs counted; the server's steps of a tick took %v and %v with them (%.2f); %d packets to others", mode.name, inputs*30, ended, matches, len(spent[0]), far, sent, usual, flooded, ratio, to)
	require.Greater(t, len(spent[0]), 100)
	require.Greater(t, to, 15*len(spent[0]))
	if inputs > 100 {
		require.Equal(t, matches, ended, "it is dropped within a second")
		require.Greater(t, far, uint64(sent/2))
	} else {
		require.Zero(t, ended)
		require.Greater(t, far, uint64(sent*9/10))
	}
	return ratio
}

// A match with late inputs on bad links allocates nearly nothing on the server, once it runs
// evenly. The remaining allocations are not for late inputs: the record of a packet's snapshot
// grows when it first has to hold a postponed entity.
func TestLateInputsStepAllocatesNothing(t *testing.T) {
	costtest.Allocations(t)
	for _, mode := range lateModes[1:] {
		lateAllocations(t, mode)
	}
}

func lateAllocations(t *testing.T, mode lateMode) {
	m, g, _, _ := fence(t, 3, server.Config{Late: server.Late{Window: lateWindow, World: mode.world}}, []sim.Link{sim.LTE, sim.LTE, sim.LTE, sim.WiFi}, true, func(n int, v client.View) lunge {
		return lunge{Move: wave(n, v).Move} // no shots, since each tick's hitboxes allocate when the first shot looks at them
	})
	m.Run(60 * time.Second)
	srv := m.Server()
	var memory runtime.MemStats
	var mallocs uint64
	edited := func(times int) {
		for range times {
			m.Run(m.Net.Now() + 100*time.Millisecond)
			g.vitals.Get(srv.World(), only(t, srv.World(), g, 1)).Given += 2 // an edit outside of systems
		}
	}
	edited(400) // buffers that grow at first have grown
	first, before := srv.Tick(), srv.Stats().InputsRerun
	m.AroundServer = func(step func()) {
		runtime.ReadMemStats(&memory)
		was := memory.Mallocs
		step()
		runtime.ReadMemStats(&memory)
		mallocs += memory.Mallocs - was
	}
	edited(200)
	ticks, again := srv.Tick()-first, srv.Stats().InputsRerun-before
	t.Logf("%s: %d ticks, %d inputs run late, %d allocations", mode.name, ticks, again, mallocs)
	require.Greater(t, again, uint64(5))
	require.Less(t, float64(mallocs)/float64(ticks), 0.05)
}

// stroller walks as the arena's bots do: for 8 to 32 ticks in a direction, with some
// acceleration, along one axis.
type stroller struct {
	dice  *rand.Rand
	tick  foretick.Tick
	left  int
	speed float64
	to    float64
}

func (s *stroller) walk(t foretick.Tick) lunge {
	for ; s.tick != t; s.tick++ {
		if s.tick == 0 {
			s.tick = t - 1
		}
		if s.left--; s.left <= 0 {
			s.left, s.to = 8+s.dice.IntN(25), math.Cos(s.dice.Float64()*2*math.Pi)
		}
		s.speed += min(max(s.to-s.speed, -0.25), 0.25)
	}
	return lunge{Move: float32(s.speed), Fire: t%10 == 0}
}

// told returns the position of a player's body that the server sends to others.
func told(t testing.TB, srv *server.Server, pos *schema.Schema, player foretick.PlayerID) (float64, bool) {
	viewer := foretick.PlayerID(1)
	if player == viewer {
		viewer = 2
	}
	all, ok := probe.OfServer(srv).Entities(viewer)
	for i := range all {
		if srv.World().Owner(all[i].Entity) == player {
			words := probe.OfServer(srv).Words(&all[i], 0)
			require.NotNil(t, words)
			return pos.Number(0, words, schema.GridPublic), true
		}
	}
	return 0, ok && false
}

// With late inputs a tick that ran with a replacement is corrected on others' screens, seldom
// and by little. A player's own prediction is wrong only if its inputs came later than the
// window.
func TestLateInputsOnOthersScreens(t *testing.T) {
	costtest.Long(t)
	slow := sim.Link{Latency: 125 * time.Millisecond, Jitter: 30 * time.Millisecond, Loss: 0.05}
	for _, path := range []struct {
		name   string
		link   sim.Link
		bursts bool
		window time.Duration
		world  bool
		own    float64 // least share of inputs that finally run in their own tick
	}{
		{"WiFi", sim.WiFi, true, lateWindow, false, 0.998}, {"LTE", sim.LTE, true, lateWindow, false, 0.997}, {"250 ms", slow, false, lateWindow, false, 0.9999},
		{"WiFi, the longest window", sim.WiFi, true, 500 * time.Millisecond, false, 0.9995}, {"LTE, the longest window", sim.LTE, true, 500 * time.Millisecond, false, 0.9995},
		{"WiFi, whole world", sim.WiFi, true, lateWindow, true, 0.994}, {"LTE, whole world", sim.LTE, true, lateWindow, true, 0.995}, {"250 ms, whole world", slow, false, lateWindow, true, 0.9999},
	} {
		const players = 8
		// jumps are corrections of bodies. steps are by how much the positions that others get
		// moved further than the bodies.
		var jumps, steps []float64
		pos, err := schema.Compile(reflect.TypeFor[footing](), schema.Options{})
		require.NoError(t, err)
		var bodies, missing, again, wrong, taken uint64
		for seed := range uint64(*lateMatches) {
			walkers := [players]stroller{}
			links := make([]sim.Link, players)
			for i := range links {
				walkers[i].dice, links[i] = rand.New(rand.NewPCG(seed, uint64(i))), path.link
			}
			m, g, clients, _ := fence(t, seed+1, server.Config{Late: server.Late{Window: path.window, World: path.world}}, links, true, func(n int, v client.View) lunge { return walkers[n].walk(v.Tick) })
			var shown, now [players + 1]float64
			var at [players + 1]foretick.Tick
			g.went = func(f *foretick.Frame, player foretick.PlayerID, x float32) {
				x = min(max(x, -100), 100) // the end of the tick clamps the position so
				if f.Replay {
					now[player], at[player] = float64(x), f.Tick
					return
				}
				if at[player] == f.Tick-1 && at[player] != 0 { // the tick before ran again after it had been sent
					if d := math.Abs(now[player] - shown[player]); d > 0.01 {
						jumps = append(jumps, d)
					}
				}
				shown[player] = float64(x)
				bodies++
			}
			var was, then [players + 1]float64 // in the tick before: position that others got, and true position
			var seen foretick.Tick
			m.AroundServer = func(step func()) {
				step()
				if m.Server().Tick() == seen {
					return
				}
				seen = m.Server().Tick()
				for p := foretick.PlayerID(1); p <= players; p++ {
					is, ok := told(t, m.Server(), pos, p)
					if at[p] == seen-1 && at[p] != 0 {
						then[p] = now[p]
					}
					if d := math.Abs((is - was[p]) - (shown[p] - then[p])); ok && was[p] != 0 && d > 0.051 { // 0.05 is a step of the position that others get
						steps = append(steps, d)
					}
					if was[p], then[p] = is, shown[p]; !ok {
						was[p] = 0
					}
				}
			}
			m.Run(63 * time.Second)
			for i, c := range clients {
				st, _ := m.Server().PlayerStats(m.Server().Player(c.View().Player))
				n := c.Stats().ByCause.Of(prediction.Input)
				missing, again, wrong, taken = missing+st.InputsMissing, again+st.InputsRerun, wrong+n, taken+st.InputsTaken
				require.Zero(t, c.Stats().ByCause.Of(prediction.Code))
				if st.InputsMissing == st.InputsRerun {
					require.Zero(t, n, "seed %d, player %d: every input ran in its tick", seed+1, i+1)
				}
			}
		}
		slices.Sort(jumps)
		slices.Sort(steps)
		k, part := len(steps), func(q int) float64 { // the q-th percentile of steps
			if len(steps) == 0 {
				return 0
			}
			return steps[(len(steps)-1)*q/100]
		}
		wide, _ := slices.BinarySearch(steps, 0.1)
		t.Logf("%s: what others are told moves by more than the body in %.3f %% of body-ticks, in %.3f %% by more than 0.1 m; by %.2f m (p50), %.2f m (p90), %.2f m (p99), at most %.2f m", path.name, 100*float64(k)/float64(bodies), 100*float64(k-wide)/float64(bodies), part(50), part(90), part(99), part(100))
		if !path.bursts || path.window == lateWindow && !path.world { // longer windows fade more slowly
			require.Equal(t, path.bursts, k > 0, "only a burst moves a body so far that it shows")
		}
		require.LessOrEqual(t, float64(k)/float64(bodies), 0.001)
		require.LessOrEqual(t, part(99), 0.1)
		n := len(jumps)
		require.NotZero(t, n)
		share := float64(len(jumps)) / float64(bodies)
		t.Logf("%s: %d body-ticks, %d inputs missing, %d of them run late; others' bodies jump in %.3f %% of body-ticks, by %.2f m (p50), %.2f m (p90), %.2f m (p99), at most %.2f m; %d corrections by an input", path.name, bodies, missing, again, 100*share, jumps[n/2], jumps[n*9/10], jumps[n*99/100], jumps[n-1], wrong)
		own := float64(taken+again) / float64(taken+missing)
		t.Logf("%s: %.3f %% of inputs run in their own tick, %.3f %% of them at once", path.name, 100*own, 100*float64(taken)/float64(taken+missing))
		require.Greater(t, again, uint64(20))
		require.GreaterOrEqual(t, own, path.own)
		require.LessOrEqual(t, share, 0.001)
		require.LessOrEqual(t, jumps[n-1], 2*6*path.window.Seconds(), "a window of top speed, the other way")
	}
}

// A body whose correction fades is hit where it is shown: the server's rays end where those
// of the shooter's client did.
func TestFadingBodiesAreJudgedWhereShown(t *testing.T) {
	const players = 8
	type shot struct {
		by foretick.PlayerID
		at foretick.Tick
	}
	rays := func(f *foretick.Frame, by foretick.PlayerID) (ends [2]float32, ok bool) {
		view := f.Rewind(by)
		left, hitLeft := view.Raycast(lagcomp.Ray{X: -300, DX: 1, Range: 600})
		right, hitRight := view.Raycast(lagcomp.Ray{X: 300, DX: -1, Range: 600})
		return [2]float32{left.Distance, right.Distance}, hitLeft && hitRight && !left.Held && !right.Held && view.Claimed == view.Used
	}
	walkers, links := [players]stroller{}, make([]sim.Link, players)
	for i := range links {
		walkers[i].dice, links[i] = rand.New(rand.NewPCG(5, uint64(i))), sim.LTE
	}
	m, g, _, games := fence(t, 5, server.Config{Late: server.Late{Window: lateWindow}}, links, true, func(n int, v client.View) lunge {
		c := walkers[n].walk(v.Tick)
		c.Fire = v.Tick%3 == 0
		return c
	})
	shown := map[shot][2]float32{}
	for _, c := range games {
		c.aimed = func(f *foretick.Frame, by foretick.PlayerID, at foretick.Tick) {
			if ends, ok := rays(f, by); ok {
				shown[shot{by, at}] = ends
			}
		}
	}
	compared, apart := 0, 0
	g.aimed = func(f *foretick.Frame, by foretick.PlayerID, at foretick.Tick) {
		was, drawn := shown[shot{by, at}]
		if is, ok := rays(f, by); ok && drawn {
			compared++
			if math.Abs(float64(is[0]-was[0])) > 0.02 || math.Abs(float64(is[1]-was[1])) > 0.02 {
				apart++
			}
		}
	}
	n := costtest.Count(1, 3)
	m.Run(time.Duration(n) * 40 * time.Second)
	t.Logf("%d shots compared, %d judged elsewhere; %d inputs run late", compared, apart, m.Server().Stats().InputsRerun)
	require.Greater(t, m.Server().Stats().InputsRerun, uint64(n*40))
	require.Greater(t, compared, n*1600)
	require.LessOrEqual(t, apart, compared/500)
}
