package field

import (
	"github.com/yohamta/donburi"
	"github.com/yohamta/donburi/component"
	"github.com/yohamta/donburi/filter"

	"github.com/foretick/foretick/bridge"
	"github.com/foretick/foretick/client"
)

// A donburi game has these parts without Foretick: component types, entities, and queries for drawing.
var (
	position = donburi.NewComponentType[Position]()
	motion   = donburi.NewComponentType[Motion]()
	purse    = donburi.NewComponentType[Purse]()
	fuse     = donburi.NewComponentType[Fuse]()
	pad      = donburi.NewComponentType[Pad]()
	sprite   = donburi.NewComponentType[Sprite]() // only for drawing: not bound to a component of Foretick

	drawn = donburi.NewQuery(filter.Contains(position, sprite))
)

// Sprite says how an entity looks.
type Sprite struct {
	Sign  rune
	Steps int // how many frames have drawn it
}

// archetypes are the donburi components of each prefab's entities.
var archetypes = map[string][]component.IComponentType{
	"runner": {position, motion, purse, pad, sprite},
	"ball":   {position, motion, fuse, sprite},
	"coin":   {position, sprite},
}

var signs = map[string]rune{"runner": '@', "ball": '*', "coin": '$'}

// connect makes the donburi world follow Foretick's.
func (g *Game) connect() {
	g.own = donburi.NewWorld()
	g.bridge = bridge.New(g.spawn, g.own.Remove)
	bridge.Component(g.bridge, &g.Position, at(g.own, position))
	bridge.Component(g.bridge, &g.Motion, at(g.own, motion))
	bridge.Component(g.bridge, &g.Purse, at(g.own, purse))
	bridge.Component(g.bridge, &g.Fuse, at(g.own, fuse))
	bridge.Component(g.bridge, &g.Pad, at(g.own, pad))
}

// at returns where donburi keeps a component.
func at[T any](w donburi.World, c *donburi.ComponentType[T]) func(donburi.Entity) *T {
	return func(e donburi.Entity) *T { return c.Get(w.Entry(e)) }
}

// spawn makes the donburi entity of a new entity.
func (g *Game) spawn(prefab string) donburi.Entity {
	e := g.own.Create(archetypes[prefab]...)
	sprite.Get(g.own.Entry(e)).Sign = signs[prefab]
	return e
}

// picture draws the donburi world as text. It uses nothing of Foretick.
func (g *Game) picture(v client.View) string {
	var field [high + 1][wide + 1]rune
	for y := range field {
		for x := range field[y] {
			field[y][x] = ' '
		}
	}
	for _, w := range walls {
		for y := int(w.b); y < int(w.t); y++ {
			for x := int(w.l); x < int(w.r); x++ {
				field[y][x] = '#'
			}
		}
	}
	drawn.Each(g.own, func(e *donburi.Entry) {
		p, s := position.Get(e), sprite.Get(e)
		s.Steps++
		sign := s.Sign
		if e.HasComponent(purse) {
			sign = '0' + rune(purse.Get(e).Coins%10)
		}
		field[min(max(int(p.Y), 0), high)][min(max(int(p.X), 0), wide)] = sign
	})
	var out []rune
	for _, line := range field {
		out = append(append(append(out, '|'), line[:]...), '|', '\n')
	}
	return string(out)
}
