package bridge_test

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/bridge"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
)

// The game of these tests: tanks push one another and crates, and fire shells. It is written
// twice from the same rules: in Foretick's world, and for own entities behind a bridge.
type (
	Body struct {
		X, Y   float32 `net:"min=-40,max=40,step=0.01,lerp"`
		VX, VY float32 `net:"min=-20,max=20,step=0.01"`
	}
	ID struct {
		N uint32
	}
	Gun struct {
		Shots uint16
		Wait  uint8 `net:"max=30"`
	}
	Fuse struct {
		Left uint8 `net:"max=60"`
	}
	Stick struct {
		X, Y float32 `net:"min=-1,max=1,step=0.0078125"`
		Fire bool
	}
)

type Game struct {
	Body  ecs.Component[Body]
	ID    ecs.Component[ID]
	Gun   ecs.Component[Gun]
	Fuse  ecs.Component[Fuse]
	Stick ecs.Component[Stick]

	Tank, Shell, Crate ecs.Prefab

	bodies *ecs.Query
	seen   []near
	spots  []spot // positions of seen, in the direct version

	bridge *bridge.Bridge[*thing]
	things map[*thing]bool // the game's own world
}

// thing is an entity of the game's own.
type thing struct {
	prefab string
	body   Body
	id     uint32
	gun    Gun
	fuse   Fuse
	stick  Stick
}

// near is the state of a body before the tick.
type near struct {
	id uint32
	Body
}

func (b *Body) drive(s Stick, dt float32) {
	b.VX += float32((float32(s.X*8) - b.VX) * 4 * dt)
	b.VY += float32((float32(s.Y*8) - b.VY) * 4 * dt)
}

// push moves a body away from those that it touches, in the order of ids.
func (b *Body) push(id uint32, others []near, dt float32) {
	for _, o := range others {
		x, y := b.X-o.X, b.Y-o.Y
		if o.id != id && float32(x*x)+float32(y*y) < 4 {
			b.VX, b.VY = b.VX+float32(x*6*dt), b.VY+float32(y*6*dt)
		}
	}
	b.VX, b.VY = float32(b.VX*0.95), float32(b.VY*0.95)
	if max(b.VX, -b.VX, b.VY, -b.VY) < 0.1 {
		b.VX, b.VY = 0, 0 // a slow body stops
	}
	b.X, b.Y = max(-30, min(b.X+float32(b.VX*dt), 30)), max(-30, min(b.Y+float32(b.VY*dt), 30))
}

// fire reports whether a gun shoots in this tick.
func (g *Gun) fire(s Stick) bool {
	if g.Wait > 0 {
		g.Wait--
		return false
	}
	if s.Fire {
		g.Wait, g.Shots = 6, g.Shots+1
	}
	return s.Fire
}

func shell(b Body, id uint32, g Gun) (Body, uint32) {
	return Body{X: b.X, Y: b.Y + 1.5, VX: b.VX, VY: b.VY + 12}, id*100000 + uint32(g.Shots)
}

// declare makes the declarations that both versions have.
func (g *Game) declare() *foretick.Protocol {
	p := foretick.NewProtocol("bridge-test", 1)
	p.InOrder()
	p.Component(&g.Body, foretick.Predicted(), foretick.FullPrecision())
	p.Component(&g.ID, foretick.Predicted())
	p.Component(&g.Gun, foretick.Predicted())
	p.Component(&g.Fuse, foretick.Predicted())
	p.Command(&g.Stick)
	p.Prefab(&g.Tank, "tank", &g.Body, &g.ID, &g.Gun, &g.Stick)
	p.Prefab(&g.Shell, "shell", &g.ID, &g.Body, &g.Fuse)
	p.Prefab(&g.Crate, "crate", &g.Body, &g.ID)
	foretick.Default(p, &g.Shell, &g.Fuse, Fuse{Left: 20})
	p.Spawns(&g.Shell, foretick.SpawnConfig{})
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		e := f.Spawn(&g.Tank, player)
		*g.Body.Get(f.World, e) = Body{X: float32(player)*3 - 6}
		g.ID.Get(f.World, e).N = uint32(player)
	})
	g.bodies = p.Query(ecs.With(&g.Body, &g.ID))
	return p
}

func (g *Game) begin(s *server.Server) {
	for n := range uint32(6) {
		e := s.Frame().Spawn(&g.Crate, ecs.Nobody)
		*g.Body.Get(s.World(), e) = Body{X: float32(n)*2 - 6, Y: 3}
		g.ID.Get(s.World(), e).N = 1000 + n
	}
}

// Direct returns the protocol of the game as it is written for Foretick's world.
func (g *Game) Direct() *foretick.Protocol {
	p := g.declare()
	p.Shared("drive", g.drive, ecs.Read(&g.Stick), ecs.Write(&g.Body))
	p.Shared("push", g.push, ecs.Once(), ecs.Read(&g.ID), ecs.WriteOther(&g.Body))
	p.Shared("fire", g.fire, ecs.Read(&g.Stick, &g.Body, &g.ID), ecs.Write(&g.Gun), ecs.Create(&g.Body, &g.ID, &g.Fuse))
	p.Shared("burn", g.burn, ecs.Write(&g.Fuse), ecs.Structural())
	return p
}

func (g *Game) drive(f *foretick.Frame, rows ecs.Rows) {
	body, stick := g.Body.Slice(rows), g.Stick.Slice(rows)
	for i := range body {
		body[i].drive(stick[i], f.DT)
	}
}

type spot struct {
	id uint32
	e  ecs.Entity
}

func (g *Game) push(f *foretick.Frame, _ ecs.Rows) {
	g.seen, g.spots = g.seen[:0], g.spots[:0]
	for _, rows := range g.bodies.All(f.World) {
		body, id := g.Body.Slice(rows), g.ID.Slice(rows)
		for i, e := range rows.Entities() {
			g.seen, g.spots = append(g.seen, near{id[i].N, body[i]}), append(g.spots, spot{id[i].N, e})
		}
	}
	slices.SortFunc(g.seen, func(a, b near) int { return cmp.Compare(a.id, b.id) })
	for _, s := range g.spots {
		if f.Simulates(s.e) {
			g.Body.Get(f.World, s.e).push(s.id, g.seen, f.DT)
		}
	}
}

func (g *Game) fire(f *foretick.Frame, rows ecs.Rows) {
	stick, body, id, gun := g.Stick.Slice(rows), g.Body.Slice(rows), g.ID.Slice(rows), g.Gun.Slice(rows)
	for i, e := range rows.Entities() {
		if !gun[i].fire(stick[i]) {
			continue
		}
		b, n := shell(body[i], id[i].N, gun[i])
		s := f.SpawnBy(e, &g.Shell)
		*g.Body.Get(f.World, s), *g.ID.Get(f.World, s) = b, ID{n}
	}
}

func (g *Game) burn(f *foretick.Frame, rows ecs.Rows) {
	fuse := g.Fuse.Slice(rows)
	for i, e := range rows.Entities() {
		if fuse[i].Left--; fuse[i].Left == 0 {
			f.Destroy(e)
		}
	}
}

// Bridged returns the protocol of the game as it is written for own entities.
func (g *Game) Bridged() *foretick.Protocol {
	p := g.declare()
	g.things = map[*thing]bool{}
	g.bridge = bridge.New(g.spawn, g.remove)
	bridge.Component(g.bridge, &g.Body, func(t *thing) *Body { return &t.body })
	bridge.Component(g.bridge, &g.Gun, func(t *thing) *Gun { return &t.gun })
	bridge.Component(g.bridge, &g.Fuse, func(t *thing) *Fuse { return &t.fuse })
	bridge.Component(g.bridge, &g.Stick, func(t *thing) *Stick { return &t.stick })
	bridge.Convert(g.bridge, &g.ID, func(t *thing, v *ID) { t.id = v.N }, func(t *thing, v *ID) { v.N = t.id })
	bridge.Order(g.bridge, &g.ID, func(v *ID) uint64 { return uint64(v.N) })
	g.bridge.System(p, "drive", g.driveOwn, ecs.Read(&g.Stick), ecs.Write(&g.Body))
	g.bridge.System(p, "push", g.pushOwn, ecs.ReadOther(&g.ID), ecs.WriteOther(&g.Body))
	g.bridge.System(p, "fire", g.fireOwn, ecs.Read(&g.Stick, &g.Body, &g.ID), ecs.Write(&g.Gun), ecs.Create(&g.Body, &g.ID, &g.Fuse))
	g.bridge.System(p, "burn", g.burnOwn, ecs.Write(&g.Fuse), ecs.Structural())
	return p
}

func (g *Game) spawn(prefab string) *thing {
	t := &thing{prefab: prefab}
	g.things[t] = true
	return t
}

func (g *Game) remove(t *thing) { delete(g.things, t) }

func (g *Game) driveOwn(f *foretick.Frame, active []*thing) {
	for _, t := range active {
		t.body.drive(t.stick, f.DT)
	}
}

func (g *Game) pushOwn(f *foretick.Frame, active []*thing) {
	g.seen = g.seen[:0]
	for t := range g.things {
		if f.World.Alive(g.bridge.Entity(t)) && (t.prefab != "shell" || t.id != 0) {
			g.seen = append(g.seen, near{t.id, t.body})
		}
	}
	slices.SortFunc(g.seen, func(a, b near) int { return cmp.Compare(a.id, b.id) })
	for _, t := range active {
		t.body.push(t.id, g.seen, f.DT)
	}
}

func (g *Game) fireOwn(f *foretick.Frame, active []*thing) {
	for _, t := range active {
		if t.gun.fire(t.stick) {
			s, _ := g.bridge.Own(f, f.SpawnBy(g.bridge.Entity(t), &g.Shell))
			s.body, s.id = shell(t.body, t.id, t.gun)
		}
	}
}

func (g *Game) burnOwn(f *foretick.Frame, active []*thing) {
	for _, t := range active {
		if t.fuse.Left--; t.fuse.Left == 0 {
			f.Destroy(g.bridge.Entity(t))
		}
	}
}

// wander returns random input, drawn from a seed.
func wander(seed uint64) func(client.View) Stick {
	luck, until, s := rand.New(rand.NewPCG(seed, 7)), foretick.Tick(0), Stick{}
	return func(v client.View) Stick {
		if v.Tick >= until {
			until = v.Tick + 5 + luck.Uint32N(20)
			s = Stick{X: luck.Float32()*2 - 1, Y: luck.Float32()*2 - 1, Fire: luck.IntN(2) == 0}
		}
		return s
	}
}

func player(direct bool) func() simtest.Player {
	var n uint64
	return func() simtest.Player {
		g, n0 := &Game{}, n
		n++
		p := g.Direct
		if !direct {
			p = g.Bridged
		}
		return simtest.Player{Protocol: p(), Sample: client.Sample(&g.Stick, wander(n0)), Begin: g.begin}
	}
}
