package simtest_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/simtest/campaign"
	"github.com/foretick/foretick/transport/sim"
)

type badge struct {
	Mine   uint64 `net:"owner"`
	Public uint64
}

type tick struct{ N uint32 }

// club is a small game with everything that the standard checkers check.
type club struct {
	pos   ecs.Component[position]
	badge ecs.Component[badge]
	cmd   ecs.Component[move]
	body  ecs.Prefab
	shot  foretick.Event[lagcomp.Ray]
	tick  foretick.Message[tick]
	ask   foretick.Request[tick]

	asked uint32
	rest  bool
	leak  bool                                   // the game writes secrets into a public field
	hoard *[][]byte                              // memory that the game keeps, as a planted leak
	draw  func(f *foretick.Frame, rows ecs.Rows) // called for each rendered frame of a client
}

func (g *club) player() simtest.Player {
	p := foretick.NewProtocol("club", 1)
	p.Component(&g.pos, foretick.Predicted())
	p.Component(&g.badge)
	p.Command(&g.cmd)
	p.Prefab(&g.body, "body", &g.pos, &g.badge, &g.cmd)
	foretick.Hitbox(p, &g.pos, func(at *position) lagcomp.Sphere { return lagcomp.Sphere{X: at.X, Y: at.Y, R: 1} })
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		b := g.badge.Get(f.World, f.Spawn(&g.body, player))
		b.Mine = campaign.Secret(player)
		if g.leak {
			b.Public = b.Mine
		}
	})
	p.Shared("move", func(f *foretick.Frame, rows ecs.Rows) {
		pos, cmd := g.pos.Slice(rows), g.cmd.Slice(rows)
		for i := range pos {
			pos[i].X = min(max(pos[i].X+cmd[i].X*5*f.DT, -90), 90)
			if f.Tick%7 == 0 {
				g.shot.Raise(f, rows.Entity(i), lagcomp.Ray2D(pos[i].X, 0, 0, 50))
			}
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.pos))
	g.shot.OnServer(p, func(f *foretick.ServerFrame, by foretick.By, r lagcomp.Ray) { f.Rewind(by.Player).Raycast(r) })
	p.Server("tell", func(f *foretick.ServerFrame, _ ecs.Rows) {
		if f.Tick%10 == 0 && !g.rest {
			g.tick.Broadcast(f, tick{f.Tick})
		}
		if g.hoard != nil {
			*g.hoard = append(*g.hoard, make([]byte, 1024))
		}
	}, ecs.Once())
	if g.draw != nil {
		p.Render("draw", g.draw, ecs.Read(&g.pos))
	}
	g.tick.OnClient(p, func(*foretick.Frame, foretick.Tick, tick) {})
	g.ask.Handle(p, func(*foretick.ServerFrame, foretick.PlayerID, tick) {})
	act := func(c *client.Client) {
		if c.View().Tick%11 == 0 && g.ask.Send(c, tick{g.asked}) == nil {
			g.asked++
		}
	}
	return simtest.Player{Protocol: p, Act: act, Rest: func(on bool) { g.rest = on }, Sample: client.Sample(&g.cmd, func(v client.View) move {
		return move{X: float32(v.Tick*7919%257)/128 - 1}
	})}
}

func newClub() simtest.Player { return (&club{}).player() }

// An own game's matches on a terrible network take one call. This is also row 1
// of docs/RELIABILITY.md with a second game.
func TestCheck(t *testing.T) {
	all := simtest.Check(t, simtest.Plan{New: newClub, Clients: 4, Play: 20 * time.Second}, 3)
	require.Len(t, all, 3)
	require.NotEqual(t, all[0].Trace, all[1].Trace)
	for _, o := range all {
		require.Greater(t, o.Snapshots, uint64(500))
		require.NotZero(t, o.Mended, "no prediction was ever wrong: the network was no trouble")
		require.Len(t, o.Worked, 7)
	}
}

// everything returns a plan with every kind of fault.
func everything() simtest.Plan {
	return simtest.Plan{
		New: newClub, Clients: 4, Play: 40 * time.Second, Quiet: 20 * time.Second, Links: []sim.Link{sim.Hell, sim.Train, sim.WiFi},
		Observers: 4, Stay: 30 * time.Second, ClientKills: 8 * time.Second, ServerKills: 15 * time.Second, Freezes: 5 * time.Second, Drift: 0.001,
		ServerFreezes: 8 * time.Second, Rest: 3 * time.Second,
	}
}

// Processes crash and restart, clocks drift, players come and go: the same seed
// plays the same match, and at the end both ends agree.
func TestProcessesFall(t *testing.T) {
	a, err := everything().Run(5)
	require.NoError(t, err)
	require.Equal(t, 2, a.Quiets)
	require.NotZero(t, a.Leaves)
	require.Greater(t, a.Kills, 2)
	require.NotZero(t, a.Freezes)
	require.Greater(t, a.Joins, 4)
	b, err := everything().Run(5)
	require.NoError(t, err)
	require.Equal(t, a, b)
	c, err := everything().Run(6)
	require.NoError(t, err)
	require.NotEqual(t, a.Trace, c.Trace)
}

// The server kicks players, others take their places, and at the end both ends agree. What a
// kick does is not blamed on code.
func TestPlayersAreKicked(t *testing.T) {
	p := simtest.Plan{New: newClub, Clients: 4, Play: 30 * time.Second, Quiet: 10 * time.Second, Kicks: 2 * time.Second}
	for seed := range uint64(costtest.Count(1, 3)) {
		out, err := p.Run(seed)
		require.NoError(t, err, "seed %d", seed)
		require.GreaterOrEqual(t, out.Kicks, 8)
		require.Greater(t, out.Joins, 4+out.Kicks/2, "others took their places")
		require.Zero(t, out.Causes.Of(prediction.Code))
		require.Equal(t, 3, out.Quiets)
		require.Contains(t, out.String(), fmt.Sprintf("%d kicks", out.Kicks))
	}
	p.Rest, p.Quiet = -1, 0
	out, err := p.Run(9)
	require.NoError(t, err, "a match that never rests")
	require.NotZero(t, out.Kicks)
}

// Each checker finds the kind of fault that it checks for.
func TestCheckersFindFaults(t *testing.T) {
	var hoard [][]byte
	calm := []sim.Link{sim.LAN}
	for name, row := range map[string]struct {
		plan simtest.Plan
		want simtest.Checker
		says string
	}{
		"a frame that writes": {simtest.Plan{New: func() simtest.Player {
			g := &club{}
			g.draw = func(f *foretick.Frame, rows ecs.Rows) {
				defer f.World.Guard(f.World.Guard(false)) // debug builds find it sooner
				for i, pos := 0, g.pos.Slice(rows); i < len(pos); i++ {
					pos[i].Y = 3
				}
			}
			return g.player()
		}, Checkers: func() []simtest.Checker { return []simtest.Checker{&simtest.Agreement{}} }}, &simtest.Agreement{}, "position.Y"},
		"a system that draws and writes": {simtest.Plan{New: func() simtest.Player {
			g := &club{}
			g.draw = func(f *foretick.Frame, rows ecs.Rows) {
				defer f.World.Guard(f.World.Guard(false))
				for i, pos := 0, g.pos.Slice(rows); i < len(pos); i++ {
					pos[i].Y = 3
				}
			}
			return g.player()
		}}, &simtest.Causes{}, `position of entity 0.1 was written by a render system; first in system "draw"`},
		"a secret in public": {simtest.Plan{
			New:      func() simtest.Player { return (&club{leak: true}).player() },
			Checkers: func() []simtest.Checker { return []simtest.Checker{&campaign.Secrets{}} },
		}, &campaign.Secrets{}, "the secret of player"},
		"further back than allowed": {simtest.Plan{
			New:      newClub,
			Checkers: func() []simtest.Checker { return []simtest.Checker{&simtest.Limits{MaxRewind: time.Millisecond}} },
		}, &simtest.Limits{}, "ticks, and"},
		"memory that is kept": {simtest.Plan{
			New: func() simtest.Player { return (&club{hoard: &hoard}).player() }, Quiet: time.Second,
			Checkers: func() []simtest.Checker { return []simtest.Checker{&campaign.Flat{Every: time.Second}} },
		}, &campaign.Flat{}, "not flat"},
		"nobody is let in": {simtest.Plan{New: newClub, Links: []sim.Link{{Loss: 1}}}, nil, "disconnected: timeout"},
		"nothing to compare": {simtest.Plan{
			New: newClub, Checkers: func() []simtest.Checker { return []simtest.Checker{&simtest.Agreement{Every: 1 << 30}} },
		}, &simtest.Agreement{}, "nothing was compared"},
		"no game": {simtest.Plan{}, nil, "Plan.New is nil"},
	} {
		t.Run(name, func(t *testing.T) {
			p := row.plan
			p.Clients, p.Play = 2, 8*time.Second
			if p.Links == nil {
				p.Links = calm
			}
			_, err := p.Run(1)
			require.ErrorContains(t, err, row.says)
			if row.want != nil {
				var f *simtest.Fault
				require.ErrorAs(t, err, &f)
				require.IsType(t, row.want, f.Checker)
			}
		})
	}
}

// A match in which clients never play fails, because too little happened.
func TestIdleMatchFails(t *testing.T) {
	p := simtest.Plan{New: newClub, Clients: 2, Play: 4 * time.Second, Links: []sim.Link{{Loss: 1}}, Rest: time.Second,
		Checkers: func() []simtest.Checker { return []simtest.Checker{&simtest.Limits{}} }}
	_, err := p.Run(1)
	require.ErrorContains(t, err, "too little happened")
}

// A game that never rests is still checked: every snapshot that a client receives,
// and that all clients are back at the end.
func TestMatchThatNeverRests(t *testing.T) {
	restless := func() simtest.Player {
		p := newClub()
		p.Protocol.Server("wander", func(*foretick.ServerFrame, ecs.Rows) {}, ecs.Once())
		p.Rest = func(on bool) { require.False(t, on, "it was told to rest") }
		return p
	}
	plan := everything()
	plan.New, plan.Play, plan.Quiet, plan.Rest = restless, 20*time.Second, 0, -1
	out, err := plan.Run(3)
	require.NoError(t, err)
	require.Zero(t, out.Quiets)
	require.Contains(t, out.Worked[0], "0 clients at rest")
	require.Greater(t, out.Snapshots, uint64(500))

	plan.Quiet = time.Second
	_, err = plan.Run(3)
	require.ErrorContains(t, err, "leave Quiet out")

	// A client that is not back at the end fails the match.
	plan = simtest.Plan{New: restless, Clients: 1, Play: 20 * time.Second, Rest: -1,
		Links: []sim.Link{sim.LAN, {Loss: 1}}, Change: 8 * time.Second, Calm: sim.Link{Latency: time.Millisecond, Loss: 1}}
	away := 0
	for seed := range uint64(12) { // with some seeds the link is dead at the end, but not at the beginning
		if _, err = plan.Run(seed); err != nil && strings.Contains(err.Error(), "not back in the match") {
			away++
		}
	}
	require.Positive(t, away, err)
	// A match without any comparison fails, too.
	plan.Calm, plan.Links, plan.Checkers = sim.LAN, plan.Links[:1], func() []simtest.Checker { return []simtest.Checker{&simtest.Agreement{Every: 1 << 30}} }
	_, err = plan.Run(1)
	require.ErrorContains(t, err, "nothing was compared: no client received a snapshot of a tick that is compared, which is every 1073741824.")
	var fault *simtest.Fault
	require.ErrorAs(t, err, &fault)
	require.NotZero(t, fault.Tick, "the tick at which the checker was asked")
}

// keeper keeps the last message that arrived.
type keeper struct {
	*simtest.Delivery
	last simtest.MessageReceived
}

func (k *keeper) Received(m *simtest.Match, c *client.Client, r simtest.MessageReceived) error {
	k.last = r
	k.last.Payload = slices.Clone(r.Payload)
	return k.Delivery.Received(m, c, r)
}

// Delivery finds a message that comes twice, out of order or not at all.
func TestDeliveryFinds(t *testing.T) {
	for name, tamper := range map[string]func(m *simtest.Match, d *simtest.Delivery, c *client.Client, r simtest.MessageReceived) error{
		"twice": func(m *simtest.Match, d *simtest.Delivery, c *client.Client, r simtest.MessageReceived) error {
			return d.Received(m, c, r)
		},
		"changed": func(m *simtest.Match, d *simtest.Delivery, c *client.Client, r simtest.MessageReceived) error {
			r.Payload = append([]byte{1}, r.Payload...)
			return d.Received(m, c, r)
		},
		"never": func(m *simtest.Match, d *simtest.Delivery, c *client.Client, _ simtest.MessageReceived) error {
			me := c.View().Player
			st, _ := m.Server().PlayerStats(m.Server().Player(me))
			d.Sent(m, simtest.MessageSent{To: me, Session: st.SessionNumber, Tick: 7, Payload: []byte{9}})
			return d.Quiet(m)
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, d := simtest.New(1), &simtest.Delivery{}
			k := &keeper{Delivery: d}
			m.Watch(k)
			g := &club{}
			_, err := m.Serve(server.Config{Protocol: g.player().Protocol})
			require.NoError(t, err)
			c, err := m.Join(client.Config{Protocol: newClub().Protocol}, simtest.Seat{Up: sim.LAN, Down: sim.LAN})
			require.NoError(t, err)
			m.Run(3 * time.Second)
			g.rest = true
			m.Run(4 * time.Second)
			require.NoError(t, m.Err())
			require.NoError(t, d.Quiet(m))
			require.NotZero(t, d.Messages)
			require.Error(t, tamper(m, d, c, k.last))
		})
	}
}

// The server's process is killed and restarted: all clients notice, and are back
// within two seconds of its return.
func TestServerRestart(t *testing.T) {
	m := simtest.New(3)
	serve := func() {
		_, err := m.Serve(server.Config{Protocol: newClub().Protocol})
		require.NoError(t, err)
	}
	serve()
	for range 4 {
		p := newClub()
		_, err := m.Join(client.Config{Protocol: p.Protocol, Sample: p.Sample}, simtest.Seat{Up: sim.WiFi, Down: sim.WiFi})
		require.NoError(t, err)
	}
	states := func(want client.State) {
		t.Helper()
		clients := m.Clients(nil)
		require.Len(t, clients, 4)
		for _, c := range clients {
			require.Equal(t, want, c.View().State)
		}
	}
	m.Run(4 * time.Second)
	states(client.Playing)
	for range 3 {
		m.KillServer()
		require.Nil(t, m.Server())
		m.Run(m.Net.Now() + 5*time.Second + 100*time.Millisecond)
		states(client.Resuming)
		serve()
		m.Run(m.Net.Now() + 2*time.Second)
		states(client.Playing)
		require.Len(t, m.Server().Players(nil), 4)
	}
}

// The server tracks a client's clock that is too fast or too slow, even by three percent: except
// in the first seconds there is no effect.
func TestClocksDrift(t *testing.T) {
	m := simtest.New(3)
	_, err := m.Serve(server.Config{Protocol: newClub().Protocol})
	require.NoError(t, err)
	for _, drift := range []float64{-0.03, -0.01, -0.0002, 0.0002, 0.01, 0.03} {
		p := newClub()
		_, err := m.Join(client.Config{Protocol: p.Protocol, Sample: p.Sample}, simtest.Seat{Up: sim.LAN, Down: sim.LAN, Drift: drift})
		require.NoError(t, err)
	}
	m.Run(5 * time.Second)
	before := m.Server().Stats().InputsMissing
	m.Run(65 * time.Second)
	require.LessOrEqual(t, m.Server().Stats().InputsMissing-before, uint64(4*1800/1000))
	for _, c := range m.Clients(nil) {
		require.Zero(t, c.Stats().HardResets)
	}
}

// recorder is a testing.TB whose failure does not end the real test.
type recorder struct {
	testing.TB
	said string
}

func (r *recorder) Helper()      {}
func (r *recorder) Name() string { return "TestX/deep" }
func (r *recorder) Logf(string, ...any) {
}
func (r *recorder) Fatalf(format string, args ...any) {
	r.said = fmt.Sprintf(format, args...)
	panic(r)
}

// A match that fails says with which command it fails again.
func TestFailureNamesItsCommand(t *testing.T) {
	r := &recorder{TB: t}
	func() {
		defer func() { require.Equal(t, r, recover()) }()
		simtest.Check(r, simtest.Plan{New: newClub, Clients: 1, Play: time.Second, Links: []sim.Link{{Loss: 1}}}, 2)
	}()
	require.Contains(t, r.said, "seed 1:")
	tags := ""
	if debugging {
		tags = " -tags foretick_debug" // another build would play another match
	}
	require.Contains(t, r.said, "SIMTEST_SEED=1 go test -count=1 -v"+tags+" -run '^TestX$/^deep$' github.com/foretick/foretick/simtest")
	require.Contains(t, r.said, "predictions corrected (none)")
	t.Setenv("SIMTEST_SEED", "77")
	all := simtest.Check(t, simtest.Plan{New: newClub, Clients: 2, Play: 3 * time.Second, Links: []sim.Link{sim.LAN}}, 100)
	require.Len(t, all, 1)
	require.EqualValues(t, 77, all[0].Seed)
}

func TestMapEntries(t *testing.T) {
	type inner struct {
		empty map[string]int
		full  map[int]*inner
	}
	type outer struct {
		list []any
		self *outer
	}
	o := &outer{list: []any{&inner{full: map[int]*inner{1: {full: map[int]*inner{2: nil, 3: nil}}}}}}
	o.self = o
	got := campaign.MapEntries(o)
	require.Len(t, got, 2)
	sum := 0
	for path, n := range got {
		require.True(t, strings.HasPrefix(path, "*simtest_test.outer.list[].full"), path)
		sum += n
	}
	require.Equal(t, 3, sum)
	require.Empty(t, campaign.MapEntries(&inner{empty: map[string]int{}}))
	require.Empty(t, campaign.MapEntries(errors.New("nothing")))
}

// An absent player has no newer measurements; its body's rewind is still limited
// from the tick that runs.
func TestAwayPlayerLooksNoFurtherBack(t *testing.T) {
	m, l := simtest.New(4), &simtest.Limits{}
	m.Watch(l)
	_, err := m.Serve(server.Config{Protocol: newClub().Protocol})
	require.NoError(t, err)
	p := newClub()
	c, err := m.Join(client.Config{Protocol: p.Protocol, Sample: p.Sample}, simtest.Seat{Up: sim.WiFi, Down: sim.WiFi})
	require.NoError(t, err)
	m.Run(25 * time.Second)
	m.Link(c, sim.Link{Loss: 1}, sim.Link{Loss: 1})
	m.Run(31 * time.Second)
	require.Equal(t, client.Resuming, c.View().State)
	away := l.Claims
	m.Run(47 * time.Second)
	require.NoError(t, m.Err())
	require.Greater(t, l.Claims, away+50, "its body went on shooting")
	require.LessOrEqual(t, l.MostRewind, float32(18.01))
}

// Delivery does not require that unreliable messages arrive.
func TestOnlyEffects(t *testing.T) {
	type spark struct{ X uint8 }
	type at struct {
		X float32 `net:"min=-1,max=1,step=0.5"`
	}
	only := func() []simtest.Checker { return []simtest.Checker{&simtest.Delivery{}} }
	simtest.Check(t, simtest.Plan{Play: 2 * time.Second, Checkers: only, Idle: true, New: func() simtest.Player {
		var (
			sparks foretick.Message[spark]
			pos    ecs.Component[at]
			body   ecs.Prefab
		)
		p := foretick.NewProtocol("effects", 1)
		p.Component(&pos)
		p.Prefab(&body, "body", &pos)
		p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
			f.Spawn(&body, player)
			sparks.Broadcast(f, spark{1})
		})
		p.Channel("effects", netcode.Channel{})
		sparks.Channel = "effects"
		sparks.OnClient(p, func(*foretick.Frame, foretick.Tick, spark) {})
		return simtest.Player{Protocol: p}
	}}, 1)
}
