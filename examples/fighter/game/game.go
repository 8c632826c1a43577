// Package game has the rules of a fighting game for two players: frame data, hitboxes, blocking, a
// jump, a fireball and rounds. It computes with integers alone, so it is equal on every machine.
//
// A tick is a sixtieth of a second, and a place is in millimetres. Its systems run in the order in
// which Protocol declares them:
//
//  1. press takes each player's command.
//  2. act lets each fighter do what it does: walk, jump, attack, or wait until a stun is over.
//  3. fly moves fireballs.
//  4. strike finds out who is hit, for both at once: two fighters may hit each other.
//  5. part keeps the fighters apart and on the stage, and turns them to each other.
//  6. judge counts the round's time, and who won it.
package game

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

// TickRate is how many times a second the rules run.
const TickRate = 60

// The stage, and what a fighter can do, in millimetres and ticks.
const (
	edge      = 3600 // from the middle to either end of the stage
	start     = 900  // from the middle to where a round begins
	forward   = 26   // a tick
	backward  = 20   // a tick
	leap      = 34   // sideways, a tick
	jump      = 130  // upwards in the first tick
	gravity   = 7    // a tick and tick
	ballSpeed = 80   // a tick
	memory    = 6    // for how many ticks a press waits until the fighter is free
	freeze    = 8    // for how many ticks a hit holds both still
	lying     = 40   // for how many ticks a fighter lies on the ground
	fullLife  = 1000
)

// Button is an attack that a player pressed.
type Button uint8

// The buttons, in the order in which they count if several are pressed at once.
const (
	NoButton Button = iota
	Special
	Kick
	Punch
)

type (
	// Command is a player's input for a tick.
	Command struct {
		X       int8 `net:"min=-1,max=1" input:"move.x"` // 1 is to the right
		Y       int8 `net:"min=-1,max=1" input:"move.y"` // 1 is up
		Punch   bool `net:"oneshot" input:"punch,just_pressed"`
		Kick    bool `net:"oneshot" input:"kick,just_pressed"`
		Special bool `net:"oneshot" input:"special,just_pressed"`
	}
	// Fighter is the whole state of a fighter.
	Fighter struct {
		X, Y   int32  `net:"min=-8191,max=8191,lerp"` // the middle of its feet
		VX, VY int32  `net:"min=-1023,max=1023"`
		Right  bool   // began the round on the right
		Left   bool   // looks to the left
		Act    Act    `net:"max=15"`
		For    uint16 `net:"max=1023"` // for how many ticks it has done so, this one included
		Stun   uint8  // how many ticks it cannot act any more
		Still  uint8  // how many ticks a hit still holds it where it is
		Landed bool   // this attack has hit, and hits no more
		X0, Y0 int8   `net:"min=-1,max=1"` // where its player points the stick
		Button Button `net:"max=3"`        // what it will do once it is free
		Wait   uint8  `net:"max=15"`       // for how many more ticks it remembers that
		Life   int16  `net:"min=0,max=1000"`
		Wins   uint8  `net:"max=3"`
	}
	// Fireball flies until it hits a fighter, another fireball, or the end of the stage.
	Fireball struct {
		X, Y int32 `net:"min=-8191,max=8191,lerp"`
		VX   int32 `net:"min=-1023,max=1023"`
	}
	// Round is the state of the match.
	Round struct {
		Phase  Phase  `net:"max=7"`
		Clock  uint16 `net:"max=8191"` // ticks until the phase ends
		Number uint8  // of the round, from 1 on
	}
	// Strike is raised when an attack meets a fighter.
	Strike struct {
		On      ecs.Entity
		Act     Act
		Blocked bool
	}
)

// Game holds the handles of one end.
type Game struct {
	Fighter  ecs.Component[Fighter]
	Fireball ecs.Component[Fireball]
	Command  ecs.Component[Command]
	Round    ecs.Singleton[Round]

	Body, Ball ecs.Prefab

	Struck foretick.Event[Strike]
	// Heard, if set, is called once for each strike: it plays a sound.
	Heard func(by ecs.Entity, s Strike)
	// Settled, if set, is called for each strike once nothing can undo it any more.
	Settled func(by ecs.Entity, s Strike)

	fighters, balls *ecs.Query
}

// Protocol declares the game.
func (g *Game) Protocol() *foretick.Protocol {
	p := foretick.NewProtocol("fighter", 1)
	p.SetTickRate(TickRate)
	p.InOrder()
	p.Component(&g.Fighter, foretick.Predicted(), foretick.FullPrecision())
	p.Component(&g.Fireball, foretick.Predicted(), foretick.FullPrecision())
	p.Singleton(&g.Round, foretick.Predicted())
	p.Command(&g.Command)
	p.Prefab(&g.Body, "fighter", &g.Fighter, &g.Command)
	p.Prefab(&g.Ball, "fireball", &g.Fireball)
	p.Spawns(&g.Ball, foretick.SpawnConfig{})
	g.fighters = p.Query(ecs.With(&g.Fighter))
	g.balls = p.Query(ecs.With(&g.Fireball))
	p.OnJoin(g.join)
	p.Shared("press", g.press, ecs.Read(&g.Command, &g.Round), ecs.Write(&g.Fighter))
	p.Shared("act", g.act, ecs.Write(&g.Fighter), ecs.Create(&g.Fireball))
	p.Shared("fly", g.fly, ecs.Write(&g.Fireball), ecs.Structural())
	p.Shared("strike", g.strike, ecs.Once(), ecs.Read(&g.Round), ecs.WriteOther(&g.Fighter, &g.Fireball), ecs.Structural())
	p.Shared("part", g.part, ecs.Once(), ecs.WriteOther(&g.Fighter))
	p.Shared("judge", g.judge, ecs.Once(), ecs.Write(&g.Round), ecs.WriteOther(&g.Fighter), ecs.ReadOther(&g.Fireball), ecs.Structural())
	g.Struck.OnPredicted(p, func(_ *foretick.Frame, by foretick.By, s Strike) {
		if g.Heard != nil {
			g.Heard(by.Entity, s)
		}
	})
	g.Struck.OnFinal(p, func(_ *foretick.ServerFrame, by foretick.By, s Strike) {
		if g.Settled != nil {
			g.Settled(by.Entity, s)
		}
	})
	return p
}

// join gives a player a fighter, if a side is free.
func (g *Game) join(f *foretick.ServerFrame, player foretick.PlayerID) {
	for at, e := range g.sides(f.World) {
		if e == ecs.None {
			*g.Fighter.Get(f.World, f.Spawn(&g.Body, player)) = fresh(at == 1, 0)
			return
		}
	}
}

// fresh returns a fighter at the begin of a round.
func fresh(right bool, wins uint8) Fighter {
	x := int32(-start)
	if right {
		x = start
	}
	return Fighter{X: x, Right: right, Left: right, Life: fullLife, Wins: wins}
}

// Balls returns the query that matches the fireballs.
func (g *Game) Balls() *ecs.Query { return g.balls }

// Pair returns the fighters, the one that began on the left first. It returns false while there
// are not two.
func (g *Game) Pair(w *ecs.World) (pair [2]ecs.Entity, ok bool) {
	pair = g.sides(w)
	return pair, pair[0] != ecs.None && pair[1] != ecs.None
}

// sides returns who began on the left and on the right. A free side is ecs.None.
func (g *Game) sides(w *ecs.World) (sides [2]ecs.Entity) {
	for _, rows := range g.fighters.All(w) {
		fighter := g.Fighter.Slice(rows)
		for i, e := range rows.Entities() {
			if fighter[i].Right {
				sides[1] = e
			} else {
				sides[0] = e
			}
		}
	}
	return sides
}

// both returns the states of the fighters of Pair. The pointers are good until the system ends.
func (g *Game) both(w *ecs.World) (pair [2]ecs.Entity, of [2]*Fighter, ok bool) {
	if pair, ok = g.Pair(w); ok {
		of = [2]*Fighter{g.Fighter.Get(w, pair[0]), g.Fighter.Get(w, pair[1])}
	}
	return pair, of, ok
}
