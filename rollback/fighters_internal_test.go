package rollback

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

// fighters is a game of the tests: players walk, jump and shoot. Shots are spawned and destroyed, hit by distance,
// and leave crates that nobody owns.
type fighters struct {
	pos   ecs.Component[position]
	body  ecs.Component[fighter]
	shot  ecs.Component[bolt]
	crate ecs.Component[crate]
	cmd   ecs.Component[control]
	score ecs.Singleton[score]
	hit   foretick.Event[strike]

	fighter, bolt, box ecs.Prefab
	bodies             *ecs.Query

	heard  heard
	finals []strike
	plant  plant
	boxes  int                               // boxes is how many boxes are there when the match begins.
	shown  func(f *foretick.Frame, s strike) // shown, when set, is called by the handler of OnPredicted.
	walked func(f *foretick.Frame)           // walked, when set, is called by the system walk.
}

// plant makes a system of one peer compute otherwise, in all ticks from one on.
type plant struct {
	system string
	field  string
	from   foretick.Tick
	chance bool                   // chance makes each run of a tick another one.
	did    map[foretick.Tick]bool // did has the ticks whose newest run computed otherwise.
}

// after is called at the end of each system, and of a handler.
func (g *fighters) after(system string, f *foretick.Frame, of ecs.Entity) {
	if g.plant.system != system || f.Tick < g.plant.from {
		return
	}
	w, times := f.World, 1
	if g.plant.chance {
		times += rand.IntN(50)
	}
	field := g.plant.field
	if field == "spawn" {
		f.SpawnBy(of, &g.box)
		g.plant.did[f.Tick] = true
		return
	}
	if strings.HasPrefix(field, "score.") {
		v, err := w.SingletonValue(field)
		if err == nil {
			err = w.SetSingletonValue(field, another(v))
		}
		g.plant.did[f.Tick] = err == nil
		return
	}
	v, err := w.Value(of, field)
	for i := 0; err == nil && i < times; i++ {
		v = another(v)
	}
	if err == nil {
		err = w.SetValue(of, field, v)
	}
	g.plant.did[f.Tick] = err == nil
}

// prefabsOf returns the prefabs of entities that have a field.
func prefabsOf(field string) []string {
	switch name, _, _ := strings.Cut(field, "."); name {
	case "position":
		return []string{"fighter", "bolt", "box"}
	case "fighter", "bolt":
		return []string{name}
	case "crate":
		return []string{"box"}
	}
	return []string{""} // a singleton
}

// another returns another value of the same type.
func another(v any) any {
	switch v := v.(type) {
	case float32:
		return v + 2
	case int16:
		return v + 1
	case int32:
		return v + 1
	case uint8:
		return v | 128
	case uint16:
		return v + 1
	case uint32:
		return v + 1
	}
	panic(v)
}

type position struct {
	X, Y float32 `net:"min=-200,max=200,step=0.01"`
}

type fighter struct {
	VY      float32
	HP      int16
	Cool    uint8
	Presses uint16
	Hits    uint16
	Turned  int32
	Last    ecs.Entity // Last is the newest shot.
}

type bolt struct {
	VX, VY float32
	Fuse   uint8
	By     ecs.Entity
}

type crate struct{ Age uint8 }

type control struct {
	Move int8  `net:"min=-1,max=1"`
	Turn int16 `net:"sum,min=-90,max=90"`
	Jump bool  `net:"oneshot"`
	Fire bool  `net:"oneshot"`
}

type score struct {
	Hits  uint32
	Joins uint16
}

type strike struct {
	Of   ecs.Entity
	By   foretick.PlayerID
	HP   int16
	Tick foretick.Tick
}

type heard struct{ predicted, confirmed, cancelled, onServer int }

func (g *fighters) protocol(t testing.TB) *foretick.Protocol {
	p := foretick.NewProtocol("fighters", 1)
	p.SetTickRate(60)
	for _, h := range []ecs.Handle{&g.pos, &g.body, &g.shot, &g.crate} {
		p.Component(h, foretick.Predicted(), foretick.FullPrecision())
	}
	p.Singleton(&g.score, foretick.Predicted())
	p.Command(&g.cmd)
	p.Prefab(&g.fighter, "fighter", &g.pos, &g.body, &g.cmd)
	p.Prefab(&g.bolt, "bolt", &g.pos, &g.shot)
	p.Prefab(&g.box, "box", &g.pos, &g.crate)
	p.Spawns(&g.bolt, foretick.SpawnConfig{})
	g.bodies = p.Query(ecs.With(&g.pos, &g.body))
	p.InOrder()
	p.Shared("walk", g.walk, ecs.Read(&g.cmd), ecs.Write(&g.pos, &g.body))
	p.Shared("fire", g.fire, ecs.Read(&g.cmd, &g.pos), ecs.Write(&g.body), ecs.Create(&g.shot, &g.pos))
	p.Shared("fly", g.fly, ecs.Write(&g.pos, &g.shot), ecs.ReadOther(&g.pos, &g.body), ecs.Structural())
	p.Shared("rot", g.rot, ecs.Write(&g.crate), ecs.Structural())
	g.hit.OnServer(p, g.strike, ecs.WriteOther(&g.body, &g.pos, &g.score), ecs.Create(&g.crate, &g.pos))
	g.hit.OnPredicted(p, func(f *foretick.Frame, _ foretick.By, s strike) {
		g.heard.predicted++
		if g.shown != nil {
			g.shown(f, s)
		}
	})
	g.hit.OnConfirmed(p, func(*foretick.Frame, foretick.By, strike) { g.heard.confirmed++ })
	g.hit.OnCancelled(p, func(*foretick.Frame, foretick.By, strike) { g.heard.cancelled++ })
	g.hit.OnFinal(p, func(_ *foretick.ServerFrame, _ foretick.By, s strike) { g.finals = append(g.finals, s) })
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		e := f.Spawn(&g.fighter, player)
		*g.pos.Get(f.World, e) = position{X: 10*float32(player) - 20}
		*g.body.Get(f.World, e) = fighter{HP: 100}
		for i := 0; i < g.boxes && g.score.Get(f.World).Joins == 0; i++ {
			f.Spawn(&g.box, ecs.Nobody)
		}
		g.score.Get(f.World).Joins++
	})
	p.OnLeave(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		for _, rows := range g.bodies.Owned(f.World, player) {
			at := g.pos.Slice(rows)[0]
			e := f.Spawn(&g.box, ecs.Nobody)
			*g.pos.Get(f.World, e) = at
		}
	})
	require.NoError(t, p.Err())
	return p
}

func (g *fighters) walk(f *foretick.Frame, rows ecs.Rows) {
	pos, body, cmd := g.pos.Slice(rows), g.body.Slice(rows), g.cmd.Slice(rows)
	for i := range body {
		pos[i].X = min(max(pos[i].X+float32(cmd[i].Move)*6*f.DT, -12), 12)
		if cmd[i].Jump && pos[i].Y == 0 {
			body[i].VY = 8 + float32(f.Rand(uint64(rows.Owner()))%100)/100
		}
		body[i].VY -= 20 * f.DT
		if pos[i].Y += body[i].VY * f.DT; pos[i].Y <= 0 {
			pos[i].Y, body[i].VY = 0, 0
		}
		body[i].Turned += int32(cmd[i].Turn)
		if cmd[i].Jump || cmd[i].Fire {
			body[i].Presses++
		}
	}
	if g.walked != nil {
		g.walked(f)
	}
	delete(g.plant.did, f.Tick)
	g.after("walk", f, rows.Entity(0))
}

func (g *fighters) fire(f *foretick.Frame, rows ecs.Rows) {
	pos, body, cmd := g.pos.Slice(rows), g.body.Slice(rows), g.cmd.Slice(rows)
	for i := range body {
		if body[i].Cool > 0 {
			body[i].Cool--
		}
		if !cmd[i].Fire || body[i].Cool > 0 {
			continue
		}
		at := pos[i]
		body[i].Cool = 6
		for _, side := range []float32{-1, 1} {
			e := f.SpawnBy(rows.Entity(i), &g.bolt)
			*g.pos.Get(f.World, e) = at
			*g.shot.Get(f.World, e) = bolt{VX: side * 15, VY: float32(f.Rand(uint64(e))%64) / 64, Fuse: 40, By: rows.Entity(i)}
			body[i].Last = e
		}
	}
	g.after("fire", f, rows.Entity(0))
}

func (g *fighters) fly(f *foretick.Frame, rows ecs.Rows) {
	pos, shots := g.pos.Slice(rows), g.shot.Slice(rows)
	defer g.after("fly", f, rows.Entity(0))
	for i := range shots {
		pos[i].X += shots[i].VX * f.DT
		pos[i].Y += shots[i].VY * f.DT
		if shots[i].Fuse--; shots[i].Fuse == 0 {
			f.Destroy(rows.Entity(i))
			continue
		}
		for _, targets := range g.bodies.All(f.World) {
			at, body := g.pos.Slice(targets), g.body.Slice(targets)
			for k := range at {
				dx, dy := at[k].X-pos[i].X, at[k].Y-pos[i].Y
				if e := targets.Entity(k); e != shots[i].By && dx*dx+dy*dy < 1 && f.Destroy(rows.Entity(i)) {
					g.hit.Raise(f, rows.Entity(i), strike{Of: e, By: rows.Owner(), HP: body[k].HP, Tick: f.Tick})
				}
			}
		}
	}
}

func (g *fighters) strike(f *foretick.ServerFrame, by foretick.By, s strike) {
	g.heard.onServer++
	defer g.after("OnServer handlers", f.Frame, s.Of)
	body := g.body.Find(f.World, s.Of)
	if body == nil {
		return
	}
	g.score.Get(f.World).Hits++
	if body.HP -= 10; body.HP > 0 {
		return
	}
	body.HP = 100
	e := f.Spawn(&g.box, ecs.Nobody)
	*g.pos.Get(f.World, e) = *g.pos.Get(f.World, s.Of)
	g.pos.Get(f.World, s.Of).X = -g.pos.Get(f.World, s.Of).X
	for _, rows := range g.bodies.Owned(f.World, s.By) {
		g.body.Slice(rows)[0].Hits++
	}
}

func (g *fighters) rot(f *foretick.Frame, rows ecs.Rows) {
	for i, c := 0, g.crate.Slice(rows); i < len(c); i++ {
		if c[i].Age++; c[i].Age == 90 {
			f.Destroy(rows.Entity(i))
		}
	}
	g.after("rot", f, rows.Entity(0))
}

// presses returns how often a player pressed something, as its fighter knows.
func (g *fighters) presses(w *ecs.World, player foretick.PlayerID) int {
	for _, rows := range g.bodies.Owned(w, player) {
		return int(g.body.Slice(rows)[0].Presses)
	}
	return 0
}

// simulation makes a simulation of the game.
func (g *fighters) simulation(t testing.TB, window int) *simulation {
	p := g.protocol(t)
	require.NoError(t, refuseProtocol(compiledOf(p)))
	m := newSimulation(compiledOf(p), nil, window)
	m.start(1)
	return m
}

// random is a player that presses keys at random, and holds them for a while.
type random struct {
	*rand.Rand
	now control
}

func (r *random) next() control {
	if r.IntN(12) == 0 {
		r.now.Move = int8(r.IntN(3) - 1)
	}
	c := r.now
	c.Fire, c.Jump = r.IntN(7) == 0, r.IntN(40) == 0
	if r.IntN(5) == 0 {
		c.Turn = int16(r.IntN(181) - 90)
	}
	return c
}
