package shottest

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

var abuseSeeds = flag.Int("abuse", costtest.Count(1, 8), "seeds that the lies about delay are told with")

const (
	fightFrom = 7 * time.Second // the connection has settled
	lieFrom   = 8 * time.Second
	duelEnd   = 40 * time.Second
)

// duel plays the same match twice: once with an honest shooter, and once with a liar in
// its place. The server has RewindGrowth off.
func duel(t *testing.T, rate int, link sim.Link, every foretick.Tick, l *liar, lie func(*rangeMatch)) (honest, cheat outcome) {
	t.Helper()
	set := setting{rate: rate, snapshot: rate, growth: -1}
	return duelOn(t, 3, set, link, every, &liar{}, nil), duelOn(t, 3, set, link, every, l, lie)
}

// duelOn plays one match. With the same seed the same happens to packets, with an honest
// shooter or a liar.
func duelOn(t *testing.T, seed uint64, set setting, link sim.Link, every foretick.Tick, l *liar, lie func(*rangeMatch)) outcome {
	t.Helper()
	m, err := newRange(seed, set.rate, server.Config{SnapshotRate: set.snapshot, RewindGrowth: set.growth})
	require.NoError(t, err)
	l.now, l.fields = m.Net.Now, fieldsOf[pull]()
	s, err := m.seatAs(simtest.Seat{Up: link, Down: link, Wrap: func(e transport.Endpoint) transport.Endpoint {
		l.Endpoint = e
		return l
	}}, fightFrom, duelEnd)
	require.NoError(t, err)
	if every != 0 {
		s.every = every
	}
	if lie != nil {
		lie(m)
	}
	m.Run(duelEnd + time.Second)
	return m.outcome(s)
}

// outcome is the rewind that the server granted a shooter.
type outcome struct {
	shots, hits  int
	most, mean   float64 // rewind in ticks
	claims       lagcomp.JudgeStats
	clamped      uint64
	backwards    int     // moments used that were earlier than the one before
	beyond       int     // moments used that were not in the past
	confirmedPer float64 // confirmed hits in a hundred shots
}

func (m *rangeMatch) outcome(s *shooter) outcome {
	var o outcome
	me := s.client.View().Player
	var last lagcomp.Claim
	for t := foretick.Tick(0); t < m.server.Tick(); t++ {
		j, ok := m.judged[me][t]
		if !ok {
			continue
		}
		o.shots++
		if j.hit {
			o.hits++
		}
		o.most, o.mean = max(o.most, j.rewind), o.mean+j.rewind
		if j.used.Tick < last.Tick || j.used.Tick == last.Tick && j.used.Fraction < last.Fraction {
			o.backwards++
		}
		if j.used.Tick >= t {
			o.beyond++
		}
		last = j.used
	}
	o.mean /= float64(max(o.shots, 1))
	o.confirmedPer = percent(o.hits, o.shots)
	st, _ := m.server.PlayerStats(m.server.Player(me))
	o.claims, o.clamped = st.Claims, st.Clamped
	return o
}

// duelLink has a round trip of 100 ms.
var duelLink = sim.Link{Latency: 50 * time.Millisecond}

// older makes every claim of a command older by some ticks.
func older(ticks uint32) func(time.Duration, *netcode.Command) {
	return func(now time.Duration, c *netcode.Command) {
		if now >= lieFrom {
			c.Render -= ticks
		}
	}
}

// A claimed moment that the server's own measurements do not explain is moved to the
// nearest moment that they explain, and counted. It gains no rewind and no hits.
func TestAbuseClaims(t *testing.T) {
	costtest.Figures(t)
	set := func(to func(c *netcode.Command)) func(time.Duration, *netcode.Command) {
		return func(now time.Duration, c *netcode.Command) {
			if now >= lieFrom {
				to(c)
			}
		}
	}
	shaky := sim.Link{Latency: 50 * time.Millisecond, Jitter: 40 * time.Millisecond}
	alone, honest := setting{rate: 30, snapshot: 30, growth: -1}, outcome{}
	for i, row := range []struct {
		name   string
		link   sim.Link
		every  foretick.Tick
		reason lagcomp.Reason
		claim  func(time.Duration, *netcode.Command)
	}{
		{"future", duelLink, 0, lagcomp.Future, set(func(c *netcode.Command) { c.Render += 1000 })},
		{"not yet received", duelLink, 0, lagcomp.BeyondAck, set(func(c *netcode.Command) { c.Render = c.Tick - 1 })},
		{"far past", duelLink, 0, lagcomp.TooFar, older(200)},
		{"half a second older", duelLink, 0, lagcomp.TooFar, older(15)},
		{"a tick and a half older", duelLink, 0, lagcomp.TooFar, set(func(c *netcode.Command) { c.Render, c.Fraction = c.Render-2, c.Fraction^128 })},
		{"before the beginning", duelLink, 0, lagcomp.TooFar, set(func(c *netcode.Command) { c.Render, c.Fraction = 0, 255 })},
		{"backwards", shaky, 1, lagcomp.Backwards, set(func(c *netcode.Command) {
			if c.Tick/2%2 == 0 {
				c.Render, c.Fraction = c.Tick-3, 0 // claims a later moment than the true one, then an earlier one
			}
		})},
	} {
		l := &liar{claim: row.claim}
		if i == 0 || row.link != duelLink { // the honest twin of rows with one link is the same
			honest = duelOn(t, 3, alone, row.link, row.every, &liar{}, nil)
		}
		cheat := duelOn(t, 3, alone, row.link, row.every, l, nil)
		t.Logf("%-22s honest %+v", row.name, honest)
		t.Logf("%-22s cheat  %+v", row.name, cheat)
		require.Greater(t, l.lied, 900, row.name)
		require.Greater(t, cheat.shots, 200, row.name)
		require.Less(t, honest.claims.Clamped(), uint64(5), row.name)
		require.Greater(t, cheat.claims.ByReason.Of(row.reason), uint64(100), row.name)
		require.Equal(t, cheat.claims.Clamped(), cheat.clamped, row.name)
		require.Zero(t, cheat.backwards, row.name)
		require.Zero(t, cheat.beyond, row.name)
		require.LessOrEqual(t, cheat.most, honest.most+1, row.name)
		require.LessOrEqual(t, cheat.confirmedPer, honest.confirmedPer+2, row.name)
	}
}

// abusePath is a path of the lying clients, with a snapshot a tick.
type abusePath struct {
	rate  int
	link  sim.Link
	lossy bool
}

// abusePaths returns each link at one tick rate, and with FORETICK_LONG at both.
func abusePaths() []abusePath {
	far, shaky := sim.Link{Latency: 150 * time.Millisecond}, sim.Link{Latency: 50 * time.Millisecond, Jitter: 10 * time.Millisecond}
	lossy := sim.Link{Latency: 50 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.02}
	lossier := sim.Link{Latency: 50 * time.Millisecond, Jitter: 50 * time.Millisecond, Loss: 0.1}
	all := []abusePath{
		{30, duelLink, false}, {60, shaky, false}, {30, lossy, true}, {60, lossier, true},
		// and with FORETICK_LONG:
		{30, sim.Link{Latency: 20 * time.Millisecond}, false}, {30, far, false},
		{60, duelLink, false}, {30, shaky, false}, {60, lossy, true}, {30, lossier, true},
	}
	if small {
		return all[:4]
	}
	return all
}

// delays are lies that make a connection look slower once it has settled.
var delays = []struct {
	name    string
	most    float64 // most ticks of rewind above the honest shooter's; 1 if fewer than one packet in 25 is lost
	mean    float64 // most ticks above it in the mean of eight or more seeds
	invents bool    // whether it denies packets that came
	of8     uint64  // how many of eight seeds to play; fewer than eight only on lossy links
	tell    func(rate int) *liar
}{
	{"acknowledgements held back by 200 ms", 1, 0.6, false, 8, func(rate int) *liar {
		return &liar{claim: older(uint32(rate / 5)), hold: func(now time.Duration) time.Duration {
			if now < lieFrom {
				return 0
			}
			return 200 * time.Millisecond
		}}
	}},
	{"held back by 25 ms", 1, 0.6, false, 1, func(rate int) *liar {
		return &liar{claim: older(uint32(rate / 5)), hold: func(now time.Duration) time.Duration {
			if now < lieFrom {
				return 0
			}
			return 25 * time.Millisecond
		}}
	}},
	{"none held back", 1, 0.6, false, 1, func(rate int) *liar { return &liar{claim: older(uint32(rate / 5))} }},
	{"losses invented", 1, 0.6, true, 1, func(rate int) *liar {
		return &liar{claim: older(uint32(rate / 5)), deny: func(now time.Duration, seq uint16) bool {
			return now >= lieFrom && seq%20 < 3
		}}
	}},
	{"as much as is lent", 1.75, 0.9, false, 8, func(int) *liar {
		return &liar{claim: func(now time.Duration, c *netcode.Command) {
			if now >= lieFrom {
				c.Render -= 2
			}
		}}
	}},
}

// With RewindGrowth off, a delay that begins after the connection has settled gains nothing
// over an honest shooter with the same losses: at most a tick of rewind for any shot, and no
// hits. A cheater that always claims the full tolerance gains a little more if a tenth of the
// packets is lost.
//
// With such losses the greatest and the mean rewind of hundreds of shots are random, for the
// cheater and for the honest shooter. The cheater is always at the limit, and the other seldom.
// Of 200 seeds at 30 Hz one in eight gains more than 1.2 ticks in the greatest or the mean
// rewind, and none more than 1.75. So the test also bounds the mean gain of the seeds, by less
// than a tick.
func TestAbuseDelay(t *testing.T) {
	costtest.Figures(t)
	for _, path := range abusePaths() {
		t.Run(fmt.Sprintf("%d Hz %v+%v", path.rate, path.link.Latency, path.link.Jitter), func(t *testing.T) {
			t.Parallel()
			last := uint64(*abuseSeeds)
			if !path.lossy {
				last = (last + 3) / 4
			}
			rows, gains := make([]string, len(delays)), make([][]float64, len(delays))
			for seed := uint64(1); seed <= last; seed++ {
				set := setting{rate: path.rate, snapshot: path.rate, growth: -1}
				honest := duelOn(t, seed, set, path.link, 0, &liar{}, nil)
				require.Greater(t, honest.confirmedPer, 45.0, "half of the shots are aimed to hit, and a claim that is clamped by less than a tick costs none: %+v", honest)
				for i, d := range delays {
					if d.of8 < 8 && (!path.lossy || seed > (last*d.of8+7)/8) {
						continue
					}
					cheat := duelOn(t, seed, set, path.link, 0, d.tell(path.rate), nil)
					most := d.most
					if path.link.Loss < 0.04 {
						most = min(most, 1)
					}
					if d.invents { // an honest shooter with such losses bridges one snapshot more
						most += 0.25
					}
					rows[i] += fmt.Sprintf(" %5.2f%+5.2f", honest.most, cheat.most-honest.most)
					gains[i] = append(gains[i], max(cheat.most-honest.most, cheat.mean-honest.mean))
					require.Greater(t, cheat.shots, 200)
					require.LessOrEqual(t, cheat.most, honest.most+most, "%s, seed %d", d.name, seed)
					require.LessOrEqual(t, cheat.mean, honest.mean+most, "%s, seed %d", d.name, seed)
					require.LessOrEqual(t, cheat.confirmedPer, honest.confirmedPer+2, "%s, seed %d", d.name, seed)
					if i == 0 {
						require.Greater(t, cheat.claims.Raised, uint64(200), "held-back acknowledgements are counted")
					}
					if d.most <= 1 {
						require.Greater(t, cheat.claims.Clamped(), uint64(200))
					}
				}
			}
			for i, row := range rows {
				t.Logf("%-40s%s", delays[i].name, row)
				sum := 0.0
				for _, gain := range gains[i] {
					sum += gain
				}
				if n := len(gains[i]); n >= 8 {
					require.LessOrEqual(t, sum/float64(n), delays[i].mean, delays[i].name)
				}
			}
		})
	}
}

// By default such a delay gains at most what the server grants a slower link, plus a tick. If a
// tenth of the packets is lost, that holds for the mean of some seeds: the honest shooter's
// rewind varies by half a tick, as above.
func TestAbuseDelayByDefault(t *testing.T) {
	costtest.Figures(t)
	for _, path := range abusePaths() {
		t.Run(fmt.Sprintf("%d Hz %v+%v", path.rate, path.link.Latency, path.link.Jitter), func(t *testing.T) {
			t.Parallel()
			set := setting{rate: path.rate, snapshot: path.rate}
			most := lagcomp.DefaultGrowth.Seconds()*float64(path.rate) + 1
			seeds, luck := uint64(1), 0.0
			if path.link.Loss >= 0.04 {
				seeds, luck = uint64(*abuseSeeds), 0.5
			}
			gains := make([]float64, len(delays))
			for seed := uint64(1); seed <= seeds; seed++ {
				honest := duelOn(t, seed, set, path.link, 0, &liar{}, nil)
				require.LessOrEqual(t, percent(int(honest.claims.Clamped()), honest.shots), 3.0)
				for i, d := range delays {
					if small && d.of8 < 8 {
						continue
					}
					cheat := duelOn(t, seed, set, path.link, 0, d.tell(path.rate), nil)
					gain := cheat.most - honest.most
					t.Logf("%-40s %5.2f%+5.2f", d.name, honest.most, gain)
					gains[i] += gain / float64(seeds)
					require.Greater(t, cheat.shots, 200)
					require.LessOrEqual(t, gain, most+luck, d.name)
					require.LessOrEqual(t, cheat.mean, honest.mean+most+luck, d.name)
					require.LessOrEqual(t, cheat.confirmedPer, honest.confirmedPer+2, d.name)
				}
			}
			for i, d := range delays {
				require.LessOrEqual(t, gains[i], most, d.name)
			}
		})
	}
}

// With RewindGrowth off, a latency that rises in the middle of a fight, in both directions or only
// on the way down, gives no more rewind, whether it is true or faked.
func TestAbuseRaisedPing(t *testing.T) {
	costtest.Figures(t)
	for _, both := range []bool{true, false} {
		slow := sim.Link{Latency: 200 * time.Millisecond}
		up := duelLink
		if both {
			up = slow
		}
		honest, cheat := duel(t, 30, duelLink, 0, &liar{}, func(m *rangeMatch) {
			m.Net.At(12*time.Second, func() { m.Link(m.shooters[0].client, up, slow) })
		})
		t.Logf("both %v honest %+v", both, honest)
		t.Logf("both %v cheat  %+v", both, cheat)
		require.Greater(t, cheat.shots, 200)
		require.Greater(t, cheat.claims.ByReason.Of(lagcomp.TooFar), uint64(150))
		require.LessOrEqual(t, cheat.most, honest.most+1)
		require.LessOrEqual(t, cheat.confirmedPer, honest.confirmedPer+2)
	}
}

// A delay faked from the first packet on looks like a real one: the cap limits it,
// and the rest is counted.
func TestAbuseFakedFromTheStart(t *testing.T) {
	costtest.Figures(t)
	l := &liar{claim: func(_ time.Duration, c *netcode.Command) {
		if c.Render > 24 {
			c.Render -= 24
		}
	}, hold: func(time.Duration) time.Duration { return 800 * time.Millisecond }}
	_, cheat := duel(t, 30, duelLink, 0, l, nil)
	t.Logf("cheat %+v", cheat)
	require.Greater(t, cheat.shots, 200)
	require.LessOrEqual(t, cheat.most, 0.6*30+2+0.001)
	require.Greater(t, cheat.claims.ByReason.Of(lagcomp.Cap), uint64(200))
}

// turn is something that happens to the runner that is shot at, and what must hold for shots.
type turn struct {
	name  string
	begin func(g *shootingRange, f *foretick.ServerFrame, player foretick.PlayerID, e ecs.Entity)
	end   func(g *shootingRange, f *foretick.ServerFrame, player foretick.PlayerID, e ecs.Entity)
}

// A shot at a player that was dead, hidden or elsewhere on the server does not hit,
// even if its shooter still saw the player; later shots count again.
func TestAbuseLives(t *testing.T) {
	costtest.Figures(t)
	down := func(is bool) func(*shootingRange, *foretick.ServerFrame, foretick.PlayerID, ecs.Entity) {
		return func(g *shootingRange, f *foretick.ServerFrame, _ foretick.PlayerID, e ecs.Entity) {
			g.pose.Get(f.World, e).Down = is
		}
	}
	visible := func(is bool) func(*shootingRange, *foretick.ServerFrame, foretick.PlayerID, ecs.Entity) {
		return func(_ *shootingRange, f *foretick.ServerFrame, player foretick.PlayerID, e ecs.Entity) {
			f.SetVisible(player, e, is)
		}
	}
	teleport := func(g *shootingRange, f *foretick.ServerFrame, _ foretick.PlayerID, e ecs.Entity) {
		g.pose.Get(f.World, e).Life++
		g.pos.Get(f.World, e).X += 3
	}
	cut := func(g *shootingRange, f *foretick.ServerFrame, _ foretick.PlayerID, e ecs.Entity) {
		f.Teleport(e)
		g.pos.Get(f.World, e).X += 3
	}
	for _, row := range []turn{
		{"dead", down(true), down(false)}, {"hidden", visible(false), visible(true)}, {"teleported", teleport, nil}, {"cut", cut, nil},
	} {
		testTurn(t, row)
	}
}

func testTurn(t *testing.T, row turn) {
	t.Helper()
	const begin, end = 300, 330 // ticks
	m, err := newRange(5, 30, server.Config{SnapshotRate: 10})
	require.NoError(t, err)
	m.game.still = true
	link := sim.Link{Latency: 100 * time.Millisecond}
	var between []float32 // shown positions of the runner, without those at either end
	s := (*shooter)(nil)
	s, err = m.seatAs(simtest.Seat{Up: link, Down: link, After: func(v client.View) {
		if e := s.game.number(v.World, s.target); e != ecs.None {
			if x := s.game.pos.Get(v.World, e).X; x != 0 && x != 3 {
				between = append(between, x)
			}
		}
	}}, 6*time.Second, 16*time.Second)
	require.NoError(t, err)
	s.every = 1
	var target ecs.Entity
	m.game.script = func(f *foretick.ServerFrame) {
		target = m.game.number(f.World, s.target)
		switch {
		case f.Tick == begin:
			row.begin(m.game, f, s.client.View().Player, target)
		case f.Tick == end && row.end != nil:
			row.end(m.game, f, s.client.View().Player, target)
		}
	}
	m.Run(18 * time.Second)
	back := foretick.Tick(begin)
	if row.end != nil {
		back = end
	}
	before, stale, after := 0, 0, 0
	for tick, j := range m.judged[s.client.View().Player] {
		j.hit = j.hit && j.number == s.target
		switch {
		case tick < begin && j.hit:
			before++
		case tick > begin && j.used.Tick < back:
			stale++
			require.False(t, j.hit || j.exists, "%s: executed at %d, judged at %v", row.name, tick, j.used)
		case j.used.Tick > back+1 && j.hit:
			after++
		}
	}
	require.Greater(t, before, 10, row.name)
	require.Greater(t, stale, 1, row.name)
	require.Greater(t, after, 10, row.name)
	if row.name == "teleported" || row.name == "cut" {
		require.Empty(t, between, "a teleport is not drawn as a slide")
	}
}
