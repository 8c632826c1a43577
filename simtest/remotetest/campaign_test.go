package remotetest

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport/sim"
)

var (
	meleeSeeds = flag.Int("melees", costtest.Count(1, 4), "how many matches TestRemotePredictedCampaign plays")
	meleeFirst = flag.Uint64("melee", 1, "the seed of the first")
)

// throttle has the input that remote prediction continues, and the server's effects on a car.
type throttle struct {
	X, Y   float32 `net:"min=-1,max=1,step=0.0078125"`
	Held   bool    // the trigger is held
	Stun   uint8   `net:"max=60"` // remaining ticks of a stun, which only the server begins
	Hidden bool    // the car is not solid, since others cannot see it
}

// trunk is a car's load, with fields for all players, for allies and for the owner.
type trunk struct {
	Boxes uint8  `net:"max=9"`
	Plan  uint8  `net:"max=200,allies"`
	Worth uint16 `net:"max=60000,owner"`
}

// score is a component that only the server has.
type score struct {
	Hits uint16
	Last ecs.Entity
}

type kick struct {
	X, Y  float32 `net:"min=-1,max=1,step=0.0078125"`
	Held  bool
	Fire  bool `net:"oneshot"`
	Burst bool `net:"oneshot"`
	Swap  bool `net:"oneshot"`
	Drop  bool `net:"oneshot"`
}

// rules are the settings of a match, the same on both ends.
type rules struct {
	rate     int
	interest bool
	guess    int // guess of remote input. 0: nothing pressed; 1: the input continues; 2: it also fires; 3: it fades
	local    bool
	late     lateKind
}

// lateKind is how a melee's server treats late inputs.
type lateKind int

const (
	lateNone lateKind = iota
	lateOwn           // only the late player's part runs again, so no car pushes and no client predicts others
	lateWhole
)

func (k lateKind) String() string { return [...]string{"in time", "own part", "whole world"}[k] }

// dice returns the server's random numbers. A tick that runs again gets the same.
func (g *melee) dice(f *foretick.Frame, salt uint64) *rand.Rand {
	if g.late == lateNone {
		return g.rand
	}
	return rand.New(rand.NewPCG(f.Rand(salt), uint64(f.Tick)))
}

// boosted is a component that is added and removed. A car that has it is fast.
type boosted struct {
	Left uint8 `net:"max=60"`
}

// melee is a game of cars with every kind of event.
type melee struct {
	rules
	body  ecs.Component[chassis]
	gas   ecs.Component[throttle]
	trunk ecs.Component[trunk]
	score ecs.Component[score]
	boost ecs.Component[boosted]
	cmd   ecs.Component[kick]

	car, puff, ball, shell, flare, spark ecs.Prefab

	cars, balls *ecs.Query

	shot  foretick.Event[foretick.Tick]
	crash foretick.Event[foretick.Tick]

	rand *rand.Rand // the server's, like rest, srv and told
	rest bool
	srv  *server.Server
	told map[string]int // number of events that players' entities raised, by event, owner and tick
	me   func() foretick.PlayerID

	events map[string]int      // on a client: predicted events that are neither confirmed nor cancelled
	ends   map[string]int      // on a client: confirmed and cancelled events
	shells map[ecs.Entity]bool // on a client: predicted shells that are neither confirmed nor cancelled
	faults []string
	n      map[string]int
	what   string
	blind  bool
}

func (g *melee) fault(format string, args ...any) {
	g.faults = append(g.faults, fmt.Sprintf(format, args...))
}

func (g *melee) protocol() *foretick.Protocol {
	g.ends = map[string]int{}
	g.told, g.events, g.shells, g.n = map[string]int{}, map[string]int{}, map[ecs.Entity]bool{}, map[string]int{}
	p := foretick.NewProtocol("melee", 1)
	p.SetTickRate(g.rate)
	p.Component(&g.body, foretick.Predicted(), foretick.FullPrecision())
	p.Component(&g.gas, foretick.Predicted(), foretick.FullPrecision())
	p.Component(&g.boost, foretick.Predicted())
	p.Component(&g.trunk, foretick.Predicted())
	p.Component(&g.score)
	p.Command(&g.cmd)
	p.Prefab(&g.car, "car", &g.body, &g.gas, &g.trunk, &g.score, &g.cmd)
	p.Prefab(&g.puff, "puff", &g.body)
	p.Prefab(&g.ball, "ball", &g.body)
	p.Prefab(&g.shell, "shell", &g.body)
	p.Prefab(&g.flare, "flare", &g.body)
	p.Prefab(&g.spark, "spark", &g.body)
	spawns := foretick.SpawnConfig{
		OnPredicted: func(f *foretick.Frame, e ecs.Entity) {
			if g.shells[e] {
				g.fault("spawn %v predicted again", e)
			}
			if f.World.Alive(e) && f.World.Owner(e) != g.me() {
				g.fault("spawn %v of another was told", e)
			}
			g.shells[e] = true
		},
		OnConfirmed: func(f *foretick.Frame, e ecs.Entity) {
			if !g.shells[e] {
				g.fault("spawn %v confirmed, not open", e)
			}
			delete(g.shells, e)
		},
		OnCancelled: func(f *foretick.Frame, e ecs.Entity) {
			if !g.shells[e] {
				g.fault("spawn %v cancelled, not open", e)
			}
			delete(g.shells, e)
		},
	}
	p.Spawns(&g.shell, spawns)
	p.Spawns(&g.flare, spawns)
	if g.local {
		p.Spawns(&g.spark, foretick.SpawnConfig{ClientOnly: true})
	}
	if g.interest {
		foretick.Interest(p, &g.body, snapshot.AreaConfig{Enter: 12, Leave: 14}, func(b *chassis) (x, y, z float32) { return b.X, b.Y, 0 })
	}
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		f.SetTeam(player, uint8(player%3))
		g.enter(f, player)
	})
	p.Stages("act", "move", "touch", "late")
	p.Shared("press", g.press, ecs.Stage("act"), ecs.Read(&g.cmd), ecs.Write(&g.gas))
	p.Shared("burst", func(f *foretick.Frame, rows ecs.Rows) {
		for i, cmd := range g.cmd.Slice(rows) {
			if cmd.Burst {
				g.boost.Add(f.World, rows.Entity(i), boosted{Left: 12})
			}
		}
	}, ecs.Stage("act"), ecs.Read(&g.cmd), ecs.Create(&g.boost))
	p.Shared("drive", g.drive, ecs.Stage("move"), ecs.Read(&g.gas), ecs.Optional(&g.boost), ecs.Write(&g.body))
	p.Shared("tire", func(f *foretick.Frame, rows ecs.Rows) {
		b := g.boost.Slice(rows)
		for i := range b {
			if b[i].Left--; b[i].Left == 0 {
				g.boost.Remove(f.World, rows.Entity(i))
			}
		}
	}, ecs.Stage("move"), ecs.Write(&g.boost), ecs.Structural(), ecs.After("drive"))
	if g.late != lateOwn {
		p.Shared("bump", g.bump, ecs.Stage("touch"), ecs.Read(&g.cmd, &g.gas), ecs.Write(&g.body),
			ecs.ReadOther(&g.body, &g.gas), ecs.WriteOther(&g.body))
	}
	p.Shared("stow", func(f *foretick.Frame, rows ecs.Rows) {
		t, cmd := g.trunk.Slice(rows), g.cmd.Slice(rows)
		for i := range t {
			if cmd[i].Swap {
				t[i].Worth++
				t[i].Boxes = uint8(t[i].Worth % 10)
				t[i].Plan = uint8((int(t[i].Plan) + int(t[i].Boxes)) % 200)
			}
		}
	}, ecs.Stage("touch"), ecs.Read(&g.cmd), ecs.Write(&g.trunk))
	p.Shared("fire", g.fire, ecs.Stage("late"), ecs.Read(&g.cmd, &g.gas, &g.body), ecs.Create(&g.body))
	p.Shared("fly", func(f *foretick.Frame, rows ecs.Rows) {
		body := g.body.Slice(rows)
		for i := range body {
			b := &body[i]
			b.X, b.Y = b.X+b.VX*f.DT, b.Y+b.VY*f.DT
			if b.Y > 20 {
				f.Destroy(rows.Entity(i))
			}
			b.VX *= 0.98
			if b.VX < 0.05 && b.VX > -0.05 {
				b.VX = 0
			}
			if rows.Owner() == ecs.Nobody || rows.Owner() == ecs.Common {
				b.VY *= 0.98
				if b.VY < 0.05 && b.VY > -0.05 {
					b.VY = 0
				}
				b.X, b.Y = min(max(b.X, -18), 18), min(max(b.Y, -18), 18)
			}
		}
	}, ecs.Stage("move"), ecs.Write(&g.body), ecs.Without(&g.gas), ecs.Structural())
	p.Server("chaos", g.chaos, ecs.Stage("late"), ecs.Once(), ecs.Structural(), ecs.Create(&g.body, &g.gas, &g.trunk, &g.score, &g.cmd),
		ecs.ReadOther(&g.body, &g.gas), ecs.WriteOther(&g.body, &g.gas))
	p.Server("zap", func(f *foretick.ServerFrame, rows ecs.Rows) {
		gas := g.gas.Slice(rows)
		for i := range gas {
			if !g.rest && g.dice(f.Frame, uint64(rows.Entity(i))).IntN(300) == 0 {
				gas[i].Stun = 20
			}
		}
	}, ecs.Stage("act"), ecs.Write(&g.gas))
	tell := func(name string) func(*foretick.ServerFrame, foretick.By, foretick.Tick) {
		return func(_ *foretick.ServerFrame, by foretick.By, v foretick.Tick) {
			g.told[fmt.Sprint(name, by.Player, " ", v)]++
		}
	}
	g.shot.OnFinal(p, tell("shot"))
	g.crash.OnFinal(p, tell("crash"))
	g.shot.OnServer(p, func(f *foretick.ServerFrame, by foretick.By, v foretick.Tick) {
		for _, rows := range g.cars.Owned(f.World, by.Player) {
			t := g.score.Slice(rows)
			for i := range t {
				t[i].Hits++
				t[i].Last = rows.Entity(rows.Len() - 1)
			}
		}
	}, ecs.WriteOther(&g.score))
	watch(p, g, &g.shot, "shot")
	watch(p, g, &g.crash, "crash")
	if g.late != lateOwn {
		foretick.PredictRemote(p, &g.cmd, g.guessing, foretick.RemoteConfig{Skip: []string{"stow"}, Also: []*ecs.Prefab{&g.shell}})
	}
	g.cars = p.Query(ecs.With(&g.body, &g.gas, &g.score, &g.cmd))
	g.balls = p.Query(ecs.With(&g.body), ecs.Without(&g.gas))
	return p
}

// watch checks that each predicted event is later confirmed or cancelled once.
func watch(p *foretick.Protocol, g *melee, e *foretick.Event[foretick.Tick], name string) {
	key := func(by ecs.Entity, v foretick.Tick) string { return fmt.Sprint(name, by, v) }
	e.OnPredicted(p, func(f *foretick.Frame, by foretick.By, v foretick.Tick) {
		// A client that does not predict gets an event when the screen shows it. The car may then be gone.
		if owner := by.Player; owner != g.me() && owner != ecs.Common && !g.blind {
			g.fault("tick %d: a %s of player %d's was told here", f.Tick, name, owner)
		}
		g.n[name]++
		g.events[key(by.Entity, v)]++
	})
	end := func(what string) func(f *foretick.Frame, by foretick.By, v foretick.Tick) {
		return func(f *foretick.Frame, by foretick.By, v foretick.Tick) {
			g.n[name+what]++
			if by.Player != ecs.Common {
				g.ends[fmt.Sprint(name, g.me(), " ", v)+what]++
			}
			if g.events[key(by.Entity, v)]--; g.events[key(by.Entity, v)] < 0 {
				g.fault("tick %d: a %s %s that was not predicted", f.Tick, name, what)
			}
			if g.events[key(by.Entity, v)] == 0 {
				delete(g.events, key(by.Entity, v))
			}
		}
	}
	e.OnConfirmed(p, end(" confirmed"))
	e.OnCancelled(p, end(" cancelled"))
}

func (g *melee) guessing(f *foretick.Frame, e ecs.Entity, ahead int, cmd *kick) {
	if *cmd != (kick{}) || ahead < 1 {
		g.fault("guess ahead %d, with %v", ahead, *cmd)
	}
	gas := g.gas.Get(f.World, e)
	if g.guess == 0 || g.guess == 3 && ahead > 15 {
		return
	}
	cmd.X, cmd.Y, cmd.Held = gas.X, gas.Y, gas.Held
	if g.guess == 2 {
		if cmd.Fire = gas.Held && f.Tick%9 == 0; cmd.Fire {
			g.n["guessed shot"]++
		}
		cmd.Burst = gas.Held && f.Rand(uint64(f.Tick))%40 == 0
		cmd.Drop = gas.Held
	}
}

func (g *melee) enter(f *foretick.ServerFrame, player foretick.PlayerID) ecs.Entity {
	e := f.Spawn(&g.car, player)
	r := g.dice(f.Frame, uint64(e))
	*g.body.Get(f.World, e) = chassis{X: float32(r.IntN(1600))/100 - 8, Y: float32(r.IntN(1600))/100 - 8}
	*g.trunk.Get(f.World, e) = trunk{Worth: uint16(player), Plan: uint8(player)}
	return e
}

func (g *melee) press(f *foretick.Frame, rows ecs.Rows) {
	gas, cmd := g.gas.Slice(rows), g.cmd.Slice(rows)
	for i := range gas {
		gas[i].X, gas[i].Y, gas[i].Held = cmd[i].X, cmd[i].Y, cmd[i].Held
		if gas[i].Stun > 0 {
			gas[i].X, gas[i].Y = 0, 0
			gas[i].Stun--
		}
	}
}

func (g *melee) drive(f *foretick.Frame, rows ecs.Rows) {
	speed := float32(8)
	if rows.Has(g.boost.ID()) {
		speed = 14
	}
	body, gas := g.body.Slice(rows), g.gas.Slice(rows)
	for i := range body {
		b := &body[i]
		b.VX += (gas[i].X*speed - b.VX) * 2 * f.DT
		b.VY += (gas[i].Y*speed - b.VY) * 2 * f.DT
		b.X = min(max(b.X+b.VX*f.DT, -15), 15)
		b.Y = min(max(b.Y+b.VY*f.DT, -15), 15)
	}
}

func (g *melee) bump(f *foretick.Frame, rows ecs.Rows) {
	body, gas := g.body.Slice(rows), g.gas.Slice(rows)
	for i := range body {
		if gas[i].Hidden {
			continue
		}
		me, hit := rows.Entity(i), false
		for _, others := range g.cars.All(f.World) {
			theirs := g.gas.Slice(others)
			for k, e := range others.Entities() {
				if o := &g.body.Slice(others)[k]; e != me && !theirs[k].Hidden {
					hit = push(&body[i], o) || hit
				}
			}
		}
		for _, balls := range g.balls.All(f.World) {
			if balls.Owner() != ecs.Nobody && balls.Owner() != ecs.Common {
				continue
			}
			for k := range balls.Len() {
				o := &g.body.Slice(balls)[k]
				from := *o
				if push(&from, &body[i]) {
					o.VX, o.VY = from.VX, from.VY
				}
			}
		}
		if hit {
			g.crash.Raise(f, me, f.Tick)
		}
	}
}

func (g *melee) fire(f *foretick.Frame, rows ecs.Rows) {
	body, cmd, gas := g.body.Slice(rows), g.cmd.Slice(rows), g.gas.Slice(rows)
	if o := rows.Owner(); o == ecs.Nobody || o == ecs.Common {
		return
	}
	for i := range body {
		if cmd[i].Fire {
			g.shot.Raise(f, rows.Entity(i), f.Tick)
			e := f.SpawnBy(rows.Entity(i), &g.shell)
			if e != ecs.None {
				*g.body.Get(f.World, e) = chassis{X: body[i].X, Y: body[i].Y, VX: body[i].VX, VY: 9}
			}
			if g.local {
				if e := f.SpawnBy(rows.Entity(i), &g.spark); e != ecs.None {
					*g.body.Get(f.World, e) = chassis{X: body[i].X, Y: body[i].Y + 10, VY: 15}
				}
			}
		}
		if cmd[i].Drop && gas[i].Held && f.Tick%5 == 0 {
			if e := f.SpawnBy(rows.Entity(i), &g.flare); e != ecs.None {
				*g.body.Get(f.World, e) = chassis{X: body[i].X, Y: body[i].Y + 8, VY: 12}
			}
		}
	}
}

// chaos is the system that only the server runs.
func (g *melee) chaos(f *foretick.ServerFrame, _ ecs.Rows) {
	if g.rest {
		return
	}
	r := g.dice(f.Frame, 0)
	n := func(every int) bool { return r.IntN(every*g.rate/30) == 0 }
	players := g.srv.Players(nil)
	if len(players) == 0 {
		return
	}
	anyone := func() foretick.PlayerID { return players[r.IntN(len(players))].ID }
	var cars, balls, puffs []ecs.Entity
	for _, rows := range g.cars.All(f.World) {
		cars = append(cars, rows.Entities()...)
	}
	for _, rows := range g.balls.All(f.World) {
		if rows.Owner() == ecs.Nobody {
			balls = append(balls, rows.Entities()...)
		} else {
			puffs = append(puffs, rows.Entities()...)
		}
	}
	pick := func(es []ecs.Entity) ecs.Entity { return es[r.IntN(len(es))] }
	if n(60) && len(cars) > 0 { // another player gets the car
		to := anyone()
		if r.IntN(4) == 0 && !g.interest {
			to = ecs.Nobody
		}
		e := pick(cars)
		g.hide(f, e, false)
		_ = f.World.Transfer(e, to)
	}
	if n(60) && len(puffs) > 0 {
		_ = f.World.Transfer(pick(puffs), anyone())
	}
	if n(90) && len(cars) > 0 {
		f.Destroy(pick(cars))
	}
	if n(40) && len(cars) < 2*len(players) {
		g.enter(f, anyone())
	}
	if n(40) && len(cars) > 0 { // hides a car from all, or shows it again
		e := pick(cars)
		g.hide(f, e, !g.gas.Get(f.World, e).Hidden)
	}
	if n(50) && len(cars) > 0 {
		e := pick(cars)
		b := g.body.Get(f.World, e)
		b.X, b.Y = float32(r.IntN(20)-10), float32(r.IntN(20)-10)
		f.Teleport(e)
	}
	if n(30) && len(puffs) < 20 {
		e := f.Spawn(&g.puff, anyone())
		*g.body.Get(f.World, e) = chassis{X: float32(r.IntN(20) - 10), Y: float32(r.IntN(20) - 10), VY: float32(4 + r.IntN(3))}
	}
	if n(60) && len(puffs) > 0 {
		f.Destroy(pick(puffs))
	}
	if n(60) && len(balls) < 3 {
		e := f.Spawn(&g.ball, ecs.Nobody)
		*g.body.Get(f.World, e) = chassis{X: float32(r.IntN(20) - 10), Y: float32(r.IntN(20) - 10)}
	}
	if n(150) && len(balls) > 0 {
		f.Destroy(pick(balls))
	}
	if n(100) {
		f.SetTeam(anyone(), uint8(r.IntN(3)))
	}
	if n(400) {
		_ = g.srv.NextLevel(nil, func(f *foretick.ServerFrame) {
			for _, player := range g.srv.Players(nil) {
				g.enter(f, player.ID)
			}
			f.Spawn(&g.ball, ecs.Nobody)
		})
	}
}

// hide hides a car from all but its owner, and makes it not solid for them.
func (g *melee) hide(f *foretick.ServerFrame, e ecs.Entity, hidden bool) {
	owner := f.World.Owner(e)
	hidden = hidden && owner != ecs.Nobody
	g.gas.Get(f.World, e).Hidden = hidden
	for _, player := range g.srv.Players(nil) {
		f.SetVisible(player.ID, e, !hidden || player.ID == owner)
	}
}

// fray is a match of melee.
type fray struct {
	m     *simtest.Match
	g     *melee
	ends  map[*client.Client]*melee
	rest  bool
	seed  uint64
	r     *rand.Rand
	wrong []string
	stats stats.Client
	n     map[string]int
	what  string
}

func (b *fray) fault(format string, args ...any) {
	b.wrong = append(b.wrong, fmt.Sprintf(format, args...))
}

func (b *fray) link() sim.Link {
	r := b.r
	ms := func(n int) time.Duration { return time.Duration(r.IntN(n+1)) * time.Millisecond }
	l := sim.Link{Latency: ms(200), Jitter: ms(60), InOrder: r.IntN(2) == 0}
	switch r.IntN(3) {
	case 1:
		l.Loss, l.Duplicate, l.Reorder = r.Float64()*0.2, r.Float64()*0.1, r.Float64()*0.1
	case 2:
		l.Loss, l.Burst, l.MaxBurst = r.Float64()*0.2, 1+r.IntN(6), 10
	}
	return l
}

func (b *fray) join(rules rules) {
	g := &melee{rules: rules}
	r := b.r
	salt := r.Uint64()
	hold := 5 + r.IntN(60)
	var c *client.Client
	cfg := client.Config{Protocol: g.protocol(), Timeout: 2 * time.Second, NoPrediction: r.IntN(12) == 0}
	cfg.Sample = client.Sample(&g.cmd, func(v client.View) kick {
		if b.rest {
			return kick{}
		}
		x := (uint64(v.Tick)/uint64(hold) + salt) * 0x9E3779B97F4A7C15
		x ^= x >> 31
		return kick{
			X: float32(x%5)/2 - 1, Y: float32(x/5%5)/2 - 1, Held: x>>20%2 == 0,
			Fire: v.Tick%7 == 0, Burst: x>>30%8 == 0 && v.Tick%16 == 0, Swap: v.Tick%13 == 0, Drop: x>>40%3 == 0,
		}
	})
	again := 0
	if r.IntN(3) == 0 {
		again = 1 + r.IntN(8)
	}
	cfg.OnMisprediction = func(m prediction.Misprediction) {
		if g.interest && c.View().World.Owner(ecs.Entity(m.Entity)) == ecs.Common {
			return // the player that pushes a common entity may be too far away to be known
		}
		if m.Cause == prediction.Code || m.Cause == prediction.Untracked {
			g.fault("%v (entity %v of player %d, %d components)", m, ecs.Entity(m.Entity), c.View().World.Owner(ecs.Entity(m.Entity)), len(ecs.Engine(c.View().World).Mask(ecs.Entity(m.Entity)).IDs()))
		}
	}
	seat := simtest.Seat{SyncTest: again, OnDesync: func(d simtest.Desync) { g.fault("%v", d) }, Up: b.link(), Down: b.link(), FrameRate: []int{20, 30, 60, 90, 144}[r.IntN(5)], Drift: (r.Float64()*2 - 1) * 0.0005}
	var err error
	c, err = b.m.Join(cfg, seat)
	if err != nil {
		b.fault("join: %v", err)
		return
	}
	g.blind = cfg.NoPrediction
	g.what = fmt.Sprintf("rehearse %d, blind %v, %d frames", again, cfg.NoPrediction, seat.FrameRate)
	g.me = func() foretick.PlayerID { return c.View().Player }
	b.ends[c] = g
}

// done adds the faults and counts of a client's end.
func (b *fray) done(c *client.Client, stayed bool) {
	g := b.ends[c]
	for _, f := range g.faults {
		b.fault("player %d: %s", c.View().Player, f)
	}
	for k, v := range g.n {
		b.n[k] += v
	}
	for k, v := range g.ends {
		if k, ok := strings.CutSuffix(k, " confirmed"); ok && v > b.g.told[k] {
			b.n["falsely confirmed"] += v - b.g.told[k]
		}
		if k, ok := strings.CutSuffix(k, " cancelled"); ok {
			if n := min(v, b.g.told[k]-g.ends[k+" confirmed"]); n > 0 {
				b.n["falsely cancelled"] += n
			}
		}
	}
	st := c.Stats()
	b.stats.Add(&st)
	b.what += fmt.Sprintf("; player %d: %s", c.View().Player, g.what)
	if !stayed {
		return
	}
	if len(g.events) > 0 {
		b.fault("player %d: %d events neither confirmed nor cancelled", c.View().Player, len(g.events))
	}
	if len(g.shells) > 0 {
		b.fault("player %d: %d spawns neither confirmed nor cancelled", c.View().Player, len(g.shells))
	}
}

// sizes returns the sizes of the collections that a client keeps.
func sizes(c *client.Client) map[string]int {
	out := map[string]int{}
	var walk func(name string, v reflect.Value, deep int)
	walk = func(name string, v reflect.Value, deep int) {
		switch v.Kind() {
		case reflect.Map, reflect.Slice:
			out[name] = v.Len()
		case reflect.Pointer:
			if name == ".base.world" {
				walk(name, v.Elem(), deep)
			}
		case reflect.Struct:
			for i := range v.NumField() {
				if f := v.Type().Field(i).Name; deep > 0 && f != "cfg" && f != "p" && f != "conn" {
					walk(name+"."+f, v.Field(i), deep-1)
				}
			}
		}
	}
	walk("", reflect.ValueOf(c).Elem(), 4)
	return out
}

// playMelee plays a match from its seed and returns it with its faults.
func playMelee(seed uint64, play time.Duration, late lateKind, grown map[string]int) (b *fray) {
	r := rand.New(rand.NewPCG(seed, 77))
	b = &fray{m: simtest.New(seed), ends: map[*client.Client]*melee{}, seed: seed, r: r, n: map[string]int{}}
	defer func() {
		if x := recover(); x != nil {
			b.fault("panic after %v: %v\n%s", b.m.Net.Now(), x, debug.Stack())
		}
	}()
	rules := rules{rate: []int{20, 30, 60}[r.IntN(3)], interest: r.IntN(3) == 0, guess: r.IntN(4), local: r.IntN(2) == 0, late: late}
	b.g = &melee{rules: rules, rand: rand.New(rand.NewPCG(seed, 78))}
	cfg := server.Config{Protocol: b.g.protocol(), Timeout: 2 * time.Second, ReconnectWindow: time.Second}
	if r.IntN(2) == 0 {
		cfg.SnapshotRate = rules.rate / 2
	}
	if r.IntN(3) == 0 {
		cfg.SendRate = 3000 + r.IntN(8000)
	}
	if late != lateNone {
		dice := rand.New(rand.NewPCG(seed, 79))
		cfg.Late.Window, cfg.Late.World = time.Duration(50+dice.IntN(200))*time.Millisecond, late == lateWhole
		if dice.IntN(3) == 0 {
			cfg.Late.Share = dice.Float64() * 0.2
		}
	}
	srv, err := b.m.Serve(cfg)
	if err != nil {
		b.fault("serve: %v", err)
		return b
	}
	b.g.srv = srv
	b.m.Watch(&simtest.Agreement{}, &simtest.Limits{})
	b.what = fmt.Sprintf("%+v, snapshots %d, send %d, late %v, share %v", rules, cfg.SnapshotRate, cfg.SendRate, cfg.Late.Window, cfg.Late.Share)
	calm := r.IntN(3) == 0 // nothing happens to the clients themselves
	n := 1 + r.IntN(6)
	for range n {
		b.join(rules)
	}
	var act func() // what happens to clients and to the server's process
	act = func() {
		defer func() { b.m.Net.At(b.m.Net.Now()+time.Duration(200+r.IntN(1500))*time.Millisecond, act) }()
		all := b.m.Clients(nil)
		if b.rest || calm || len(all) == 0 {
			return
		}
		c := all[r.IntN(len(all))]
		switch r.IntN(12) {
		case 0:
			b.done(c, false)
			_ = b.m.Leave(c)
			b.join(rules)
		case 1:
			b.done(c, false)
			b.m.KillClient(c)
			b.join(rules)
		case 2, 3:
			b.m.Freeze(c, true)
			b.m.Net.At(b.m.Net.Now()+time.Duration(r.IntN(3500))*time.Millisecond, func() { b.m.Freeze(c, false) })
		case 4:
			b.m.FreezeServer(true)
			b.m.Net.At(b.m.Net.Now()+time.Duration(r.IntN(700))*time.Millisecond, func() { b.m.FreezeServer(false) })
		case 5: // cut off
			b.m.Link(c, sim.Link{Loss: 1}, sim.Link{Loss: 1})
			b.m.Net.At(b.m.Net.Now()+time.Duration(r.IntN(4000))*time.Millisecond, func() { b.m.Link(c, b.link(), b.link()) })
		default:
			b.m.Link(c, b.link(), b.link())
		}
	}
	act()
	b.m.Run(play)
	b.rest, b.g.rest = true, true
	b.m.FreezeServer(false)
	quiet := sim.Link{Latency: 20 * time.Millisecond}
	for _, c := range b.m.Clients(nil) {
		b.m.Freeze(c, false)
		b.m.Link(c, quiet, quiet)
	}
	b.m.Run(play + 12*time.Second)
	for _, c := range b.m.Clients(nil) {
		b.m.Freeze(c, false)
		b.m.Link(c, quiet, quiet)
	}
	b.m.Run(play + 16*time.Second)
	if err := b.m.Err(); err != nil {
		b.fault("%v", err)
	}
	for _, c := range b.m.Clients(nil) {
		a := b.m.Audit(c)
		if a.Differences > 0 {
			b.fault("player %d: %d differences, the first: %s", c.View().Player, a.Differences, a.First)
		}
		if n := c.View().World.Len(); n != a.Entities {
			b.fault("player %d: %d entities in the world, %d of the server's", c.View().Player, n, a.Entities)
		}
		b.done(c, true)
		for k, v := range sizes(c) {
			grown[k] = max(grown[k], v)
		}
	}
	st := srv.Stats()
	b.n["run late"] += int(st.InputsRerun)
	b.n["refused for hindsight"] += int(st.InputsHindsight)
	b.n["joins"] += int(st.Joined)
	b.n["came back"] += int(st.Resumed)
	return b
}

// playCampaign plays matches of several seeds.
func playCampaign(t *testing.T, first, seeds uint64, late lateKind) (all stats.Client, n map[string]int) {
	grown := map[string]int{}
	n = map[string]int{}
	for seed := first; seed < first+seeds; seed++ {
		b := playMelee(seed, 8*time.Second, late, grown)
		all.Add(&b.stats)
		for k, v := range b.n {
			n[k] += v
		}
		for _, w := range b.wrong[:min(len(b.wrong), 3)] {
			t.Errorf("seed %d, %v: %s", seed, late, w)
		}
		if len(b.wrong) > 0 {
			t.Logf("seed %d: %d faults; %s", seed, len(b.wrong), b.what)
		}
	}
	t.Logf("%v: %d of %d ticks mispredicted, by cause %v; %d of %d foreseen wrongly; spawns %d, %d matched, %d cancelled; %v", late,
		all.Mispredictions, all.PredictedTicks, all.ByCause, all.RemoteMispredicted, all.RemotePredicted, all.SpawnsPredicted, all.SpawnsMatched, all.SpawnsCancelled, n)
	require.Positive(t, all.SpawnsMatched)
	share := 20
	if seeds < 10 {
		share = 10 // few matches vary more
	}
	require.Less(t, n["falsely confirmed"]+n["falsely cancelled"], (n["shot"]+n["crash"])/share)
	return all, n
}

// Whatever happens, both ends agree at rest, all events and spawns are settled, and mispredictions have causes.
func TestRemotePredictedCampaign(t *testing.T) {
	all, _ := playCampaign(t, *meleeFirst, uint64(*meleeSeeds), lateNone)
	require.Positive(t, all.RemotePredicted)
}

// The same holds with late inputs, in both modes, with every feature that each mode allows.
func TestLateCampaign(t *testing.T) {
	for _, late := range []lateKind{lateOwn, lateWhole} {
		all, n := playCampaign(t, *meleeFirst, uint64(*meleeSeeds), late)
		require.Equal(t, late == lateWhole, all.RemotePredicted > 0)
		require.Positive(t, n["run late"])
	}
}

// A snapshot has an entity's new owner, and a newer snapshot, which arrives first, postponed it.
func TestOvertakenTransfer(t *testing.T) {
	require.Empty(t, playMelee(179, 8*time.Second, lateOwn, map[string]int{}).wrong)
}

// A client's collections do not grow with the length of the match.
func TestRemotePredictedMemory(t *testing.T) {
	costtest.Long(t) // a short match cannot tell what grows with time
	short, long := map[string]int{}, map[string]int{}
	require.Empty(t, playMelee(2, 5*time.Second, lateNone, short).wrong)
	require.Empty(t, playMelee(2, 25*time.Second, lateNone, long).wrong)
	require.Contains(t, long, ".base.world.rec")
	for k, v := range long {
		if v > 3*short[k]+64 {
			t.Errorf("%s: %d after a short match, %d after a long one", k, short[k], v)
		}
	}
}
