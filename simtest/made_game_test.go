package simtest_test

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
)

type madeCmd struct {
	X    int8 `net:"min=-8,max=8"`
	Fire bool `net:"oneshot"`
	Act  bool `net:"oneshot"`
}

type madeGift struct{ N uint8 }

type madeFuse struct{ Left uint8 }

// What a generated system does.
const (
	madeOwn   = iota // computes a component of its rows from another one and the command
	madeLook         // computes a component of its rows from a component of all others
	madePush         // changes a component of an unowned or common entity
	madeFire         // spawns an entity
	madeGrow         // adds a component to its rows, or removes it
	madeRule         // runs on the server only, and changes a predicted component
	madeTell         // runs on the server only, and changes an unpredicted component
	madeGraft        // adds a component to other entities, or removes it
)

// madeRefs is the index of the shape with references to entities.
const madeRefs = 18

// madeRound says which features generated games may have. Each round adds some: 2 references to
// entities, 3 systems that read others, 4 systems that add components to others or remove them, 5
// values longer than a packet, 6 those of madeExtra. A seed gives the same game in each round.
var madeRound = 6

type madeSystem struct {
	what      int
	from, to  int // shapes that the system reads and writes
	cmd       bool
	share     uint64 // the system acts once in this many ticks and rows
	sneaks    bool   // the system does not declare its writes
	everybody bool   // a push reaches players' entities, too
}

// madePlan is the plan of a generated game, which its ends share.
type madePlan struct {
	seed      uint64
	rate      int
	predicted [32]bool
	has       [4][]int // shapes of avatar, pet, thing and shot
	systems   []madeSystem
	guess     bool // clients predict the input of remote players
	looks     bool // a shared system reads components of others
	pushes    bool // a shared system writes components of others, and so may read them
	reads     bool // a shared system reads unpredicted fields of its rows
	long      bool // some entities are longer than a packet
	until     foretick.Tick
	extra     madeExtra
}

var madePrefabs = [...]string{"avatar", "pet", "thing", "shot"}

func newMadePlan(seed uint64) *madePlan {
	r := rand.New(rand.NewPCG(seed, 151))
	n := len(madeShapes()) - 1 // the long one is not drawn with the others: see lengthen
	p := &madePlan{seed: seed, rate: []int{30, 60, 128}[r.IntN(3)], guess: r.IntN(4) == 0}
	var pool []int
	for _, i := range r.Perm(n)[:4+r.IntN(4)] {
		if p.guess && madeShapes()[i].coarse() {
			continue // clients cannot predict others without these fields
		}
		if i == madeRefs && madeRound < 2 {
			continue
		}
		pool = append(pool, i)
		p.predicted[i] = r.IntN(4) > 0
	}
	p.predicted[pool[0]] = true
	p.has[0] = []int{pool[0]}
	for k := range p.has {
		for _, i := range pool {
			if r.IntN(2) == 0 && (k > 0 || i != pool[0]) {
				p.has[k] = append(p.has[k], i)
			}
		}
	}
	one := func(ok func(i int) bool) int {
		for _, k := range r.Perm(len(pool)) {
			if ok(pool[k]) {
				return pool[k]
			}
		}
		return pool[0]
	}
	any := func(int) bool { return true }
	mine := func(i int) bool { return p.predicted[i] }
	kinds := madeGraft + 1
	if madeRound < 4 {
		kinds = madeTell + 1
	}
	for range 3 + r.IntN(5) {
		s := madeSystem{what: r.IntN(kinds), cmd: r.IntN(3) > 0, share: uint64(1 + r.IntN(20)), to: one(mine), from: one(any), everybody: r.IntN(3) == 0}
		if s.what == madeLook && (r.IntN(2) == 0 || madeRound < 3) {
			s.what = madeOwn
		}
		switch s.what {
		case madeOwn:
			if r.IntN(4) > 0 {
				s.from = one(mine)
			}
			p.reads = p.reads || !p.predicted[s.from]
		case madeLook:
			// Others receive unpredicted fields, and fields for owners and allies, less precisely or not at all.
			s.from = one(func(i int) bool { return mine(i) && !madeShapes()[i].coarse() })
			if p.looks = true; madeShapes()[s.from].coarse() {
				continue
			}
		case madeRule:
			s.share, s.sneaks = 40+s.share*20, r.IntN(2) == 0
		case madeTell:
			if s.to = one(func(i int) bool { return !p.predicted[i] }); p.predicted[s.to] {
				continue
			}
		case madePush:
			s.cmd, p.pushes = true, true
		case madeGraft:
			if s.from = one(mine); s.to == pool[0] { // the game's code relies on this shape
				continue
			}
			s.cmd, p.pushes = true, true
		}
		p.systems = append(p.systems, s)
	}
	if p.extra.wild = -1; madeRound > 5 {
		p.extend(rand.New(rand.NewPCG(seed, 166)))
	}
	if madeRound > 4 {
		p.lengthen(rand.New(rand.NewPCG(seed, 152)), n)
	}
	return p
}

// lengthen gives one game in four a shape that is longer than a packet, and that the server changes.
func (p *madePlan) lengthen(r *rand.Rand, long int) {
	if r.IntN(4) > 0 {
		return
	}
	k := r.IntN(3)
	p.long = true
	p.has[k] = append(p.has[k], long)
	p.systems = append(p.systems, madeSystem{what: madeTell, from: p.has[0][0], to: long, share: uint64(10 + r.IntN(60))})
}

// made is one end of a generated game.
type made struct {
	*madePlan
	shapes  []shape
	used    [32]bool // shapes that an entity or system uses
	cmd     ecs.Component[madeCmd]
	fuse    ecs.Component[madeFuse]
	gift    foretick.Request[madeGift]
	prefabs [4]ecs.Prefab
	queries map[int]*ecs.Query
	players *ecs.Query
	pets    map[foretick.PlayerID]ecs.Entity
	parts   madeParts

	// Callbacks that tell the test what happens in the game.
	ran    func(f *foretick.Frame, player foretick.PlayerID, cmd madeCmd)
	ruled  func(f *foretick.Frame, owner foretick.PlayerID, by string)
	pushed func(f *foretick.Frame, by foretick.PlayerID)
	fault  func(f *foretick.Frame) bool
	seen   func(f *foretick.Frame, owner foretick.PlayerID, x uint64)
	fresh  func(f *foretick.Frame, player foretick.PlayerID) // called when a tick begins to run
	drawn  map[string]int                                    // how often each feature of madeExtra happened on the server
	blind  bool                                              // the tick runs only to find out what its systems read
}

func madeMix(x, y uint64) uint64 {
	x = (x ^ y) * 0x9E3779B97F4A7C15
	return x ^ x>>29
}

// due draws whether a system acts in a tick, and a number for what it does. Both ends draw the same.
func (g *made) due(f *foretick.Frame, s *madeSystem, n int, x uint64) (uint64, bool) {
	x = madeMix(madeMix(g.seed+uint64(n)*977, uint64(f.Tick)), x)
	return x >> 8, f.Tick < g.until && x>>40%s.share == 0
}

func (g *made) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("made", 1)
	p.SetTickRate(g.rate)
	g.pets = map[foretick.PlayerID]ecs.Entity{}
	g.shapes, g.queries = madeShapes(), map[int]*ecs.Query{}
	used := &g.used
	for _, has := range g.has {
		for _, i := range has {
			used[i] = true
		}
	}
	for _, s := range g.systems {
		used[s.from], used[s.to] = true, true
	}
	for i, s := range g.shapes {
		switch {
		case !used[i]:
		case g.predicted[i]:
			p.Component(s.handle(), foretick.Predicted(), foretick.FullPrecision())
		default:
			p.Component(s.handle())
		}
	}
	g.parts.declare(g, p)
	p.Component(&g.fuse, foretick.Predicted())
	p.Command(&g.cmd)
	for k := range g.prefabs {
		hs := []ecs.Handle{}
		for _, i := range g.has[k] {
			hs = append(hs, g.shapes[i].handle())
		}
		if k == g.extra.wild {
			hs = append(hs, &g.parts.wild)
		}
		if k == 0 {
			hs = append(hs, &g.cmd)
		} else if k == 3 || len(hs) == 0 {
			hs = append(hs, &g.fuse)
		}
		p.Prefab(&g.prefabs[k], madePrefabs[k], hs...)
	}
	p.Spawns(&g.prefabs[3], foretick.SpawnConfig{})
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		f.Spawn(&g.prefabs[0], player)
		g.pets[player] = f.Spawn(&g.prefabs[1], player)
		g.rule(f.Frame, player, "(outside of systems)")
	})
	g.gift.Handle(p, func(f *foretick.ServerFrame, player foretick.PlayerID, v madeGift) {
		for _, rows := range g.players.Owned(f.World, player) {
			for i := range rows.Len() {
				g.shapes[g.has[0][0]].turn(rows, i, uint64(v.N))
			}
		}
		g.rule(f.Frame, player, "request madeGift")
	})
	for i := range g.shapes {
		if g.used[i] {
			g.query(p, i)
		}
	}
	p.InOrder()
	g.players = p.Query(ecs.With(&g.cmd))
	p.Shared("record", func(f *foretick.Frame, rows ecs.Rows) {
		if g.ran != nil {
			g.ran(f, rows.Owner(), g.cmd.Slice(rows)[0])
			g.begin(f, p, rows.Owner())
		}
	}, ecs.Read(&g.cmd))
	for n := range g.systems {
		if g.matches(&g.systems[n]) {
			g.system(p, n, &g.systems[n])
		}
	}
	g.parts.systems(g, p)
	p.Shared("age", func(f *foretick.Frame, rows ecs.Rows) {
		for i, fuse := 0, g.fuse.Slice(rows); i < len(fuse); i++ {
			if fuse[i].Left == 1 {
				f.Destroy(rows.Entity(i))
			} else if fuse[i].Left > 1 {
				fuse[i].Left--
			}
		}
	}, ecs.Write(&g.fuse), ecs.Structural())
	first := g.shapes[g.has[0][0]]
	p.Shared("planted", func(f *foretick.Frame, rows ecs.Rows) {
		for i := range rows.Len() {
			if g.fault != nil && g.fault(f) {
				first.turn(rows, i, uint64(f.Tick))
			}
		}
	}, ecs.Write(first.handle()), ecs.With(&g.cmd))
	if g.guess {
		foretick.PredictRemote(p, &g.cmd, func(_ *foretick.Frame, _ ecs.Entity, _ int, cmd *madeCmd) { cmd.X = 1 }, foretick.RemoteConfig{})
	}
	return p
}

func (g *made) rule(f *foretick.Frame, owner foretick.PlayerID, by string) {
	if g.ruled != nil {
		g.ruled(f, owner, by)
	}
}

// query returns the query for the entities with a shape.
func (g *made) query(p *foretick.Protocol, i int) *ecs.Query {
	if g.queries[i] == nil {
		g.queries[i] = p.Query(ecs.With(g.shapes[i].handle()))
	}
	return g.queries[i]
}

// matches reports whether some prefab has the components that a system needs. A protocol refuses
// a system that would never run.
func (g *made) matches(s *madeSystem) bool {
	if s.what != madeOwn && s.what != madeLook {
		return true
	}
	grows := func(i int) bool {
		return slices.ContainsFunc(g.systems, func(o madeSystem) bool {
			return (o.what == madeGrow || o.what == madeGraft) && o.to == i || o.what == madeFire && slices.Contains(g.has[3], i)
		})
	}
	for k, has := range g.has {
		fits := func(i int) bool { return slices.Contains(has, i) || grows(i) }
		if fits(s.to) && (s.what == madeLook || fits(s.from)) && (!s.cmd || k == 0) {
			return true
		}
	}
	return false
}

func (g *made) system(p *foretick.Protocol, n int, s *madeSystem) {
	name := fmt.Sprintf("system %d", n)
	from, to := g.shapes[s.from], g.shapes[s.to]
	access := []ecs.Access{}
	if s.cmd || s.what == madeFire || s.what == madeGrow {
		access = append(access, ecs.Read(&g.cmd))
	}
	command := func(rows ecs.Rows, i int) (x uint64) {
		if s.cmd {
			cmd := &g.cmd.Slice(rows)[i]
			x = uint64(cmd.X+8) * 4
			if cmd.Fire {
				x++
			}
			if cmd.Act {
				x += 2
			}
		}
		return x
	}
	switch s.what {
	case madeOwn:
		if s.from != s.to {
			access = append(access, ecs.Read(from.handle()))
		}
		p.Shared(name, func(f *foretick.Frame, rows ecs.Rows) {
			for i := range rows.Len() {
				if x, ok := g.due(f, s, n, madeMix(command(rows, i), from.read(rows, i))); ok {
					to.turn(rows, i, x)
				}
			}
		}, append(access, ecs.Write(to.handle()))...)
	case madeLook:
		all := g.query(p, s.from)
		p.Shared(name, func(f *foretick.Frame, rows ecs.Rows) {
			sum := uint64(0)
			for _, others := range all.All(f.World) {
				for i := range others.Len() {
					sum += madeMix(7, from.read(others, i))
				}
			}
			g.saw(f, rows.Owner(), g.readBy(all.All(f.World), from))
			for i := range rows.Len() {
				if x, ok := g.due(f, s, n, madeMix(command(rows, i), sum)); ok {
					to.turn(rows, i, x)
				}
			}
		}, append(access, ecs.ReadOther(from.handle()), ecs.Write(to.handle()))...)
	case madePush:
		all := g.query(p, s.to)
		p.Shared(name, func(f *foretick.Frame, rows ecs.Rows) {
			for i := range rows.Len() {
				x, ok := g.due(f, s, n, command(rows, i))
				if !ok || !g.cmd.Slice(rows)[i].Act {
					continue
				}
				g.push(f, rows.Owner())
				for _, others := range all.All(f.World) {
					if o := others.Owner(); s.everybody || o == ecs.Nobody || o == ecs.Common {
						for k := range others.Len() {
							to.turn(others, k, x)
						}
					}
				}
			}
		}, append(access, ecs.WriteOther(to.handle()))...)
	case madeGraft:
		all := g.query(p, s.from)
		p.Shared(name, func(f *foretick.Frame, rows ecs.Rows) {
			for i := range rows.Len() {
				x, ok := g.due(f, s, n, command(rows, i))
				if !ok || !g.cmd.Slice(rows)[i].Act {
					continue
				}
				g.push(f, rows.Owner())
				for _, others := range all.All(f.World) {
					if o := others.Owner(); s.everybody || o == ecs.Nobody || o == ecs.Common {
						for k := range others.Len() {
							g.toggle(f, to, others.Entity(k), x)
						}
					}
				}
			}
		}, append(access, ecs.WriteOther(from.handle(), to.handle()), ecs.Create(to.handle()), ecs.Structural())...)
	case madeFire:
		create := []ecs.Handle{&g.fuse}
		for _, i := range g.has[3] {
			create = append(create, g.shapes[i].handle())
		}
		p.Shared(name, func(f *foretick.Frame, rows ecs.Rows) {
			for i, cmd := range g.cmd.Slice(rows) {
				if x, ok := g.due(f, s, n, uint64(cmd.X)); ok && cmd.Fire {
					g.fuse.Get(f.World, f.SpawnBy(rows.Entity(i), &g.prefabs[3])).Left = uint8(5 + x%60)
				}
			}
		}, append(access, ecs.Create(create...))...)
	case madeGrow:
		p.Shared(name, func(f *foretick.Frame, rows ecs.Rows) {
			for i, cmd := range g.cmd.Slice(rows) {
				if x, ok := g.due(f, s, n, uint64(cmd.X)); ok && cmd.Act && s.to != g.has[0][0] {
					g.toggle(f, to, rows.Entity(i), x)
				}
			}
		}, append(access, ecs.Create(to.handle()), ecs.Structural())...)
	case madeRule, madeTell:
		if !s.sneaks {
			access = []ecs.Access{ecs.Write(to.handle())}
		} else {
			access = []ecs.Access{ecs.With(to.handle())}
		}
		p.Server(name, func(f *foretick.ServerFrame, rows ecs.Rows) {
			if s.sneaks { // debug builds refuse undeclared writes
				defer f.World.Guard(f.World.Guard(false))
			}
			for i := range rows.Len() {
				if x, ok := g.due(f.Frame, s, n, uint64(rows.Owner())*8+uint64(i)); ok {
					if to.turn(rows, i, x); s.to == len(g.shapes)-1 {
						g.happens("big entities")
					}
					if s.what == madeRule {
						g.rule(f.Frame, rows.Owner(), name)
					}
				}
			}
		}, access...)
	}
}

func (g *made) push(f *foretick.Frame, by foretick.PlayerID) {
	if g.pushed != nil {
		g.pushed(f, by)
	}
}

func (g *made) toggle(f *foretick.Frame, to shape, e ecs.Entity, x uint64) {
	if to.has(f.World, e) {
		to.remove(f.World, e)
	} else {
		to.add(f.World, e, x)
	}
}

// sample returns the script of a player's input.
func (g *made) sample(who func() uint64) client.Sampler {
	return client.Sample(&g.cmd, func(v client.View) madeCmd {
		if v.Tick > g.until {
			return madeCmd{}
		}
		x := madeMix(madeMix(g.seed, who()), uint64(v.Tick/4))
		return madeCmd{X: int8(x>>9%17) - 8, Fire: x>>20%4 == 0, Act: x>>30%6 == 0}
	})
}
