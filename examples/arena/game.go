package main

import (
	"math"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
)

// The components. What a shared system writes is predicted; what only its owner
// must know is marked so.
type (
	// Position is where a body or a bolt is, in metres.
	Position struct {
		X, Y float32 `net:"min=-64,max=64,step=0.01,lerp"`
	}
	// Velocity is a body's own, in metres a second.
	Velocity struct {
		X, Y float32 `net:"min=-32,max=32,step=0.01,owner"`
	}
	// Facing is where a body looks, in radians.
	Facing struct {
		Angle float32 `net:"angle,bits=12,lerp"`
	}
	// Status is what stops a body from acting.
	Status struct {
		Stun uint8 `net:"max=60"` // ticks left
		Dead bool
	}
	// Weapon is a body's guns, in ticks and rounds.
	Weapon struct {
		Kind     uint8 `net:"max=2,owner"`
		Ammo     uint8 `net:"max=60,owner"`
		Cooldown uint8 `net:"max=120,owner"`
		Reload   uint8 `net:"max=120,owner"`
	}
	// Health of a body. Only the server writes it.
	Health struct {
		Points int16 `net:"min=0,max=100"`
	}
	// Team that a body plays for, 0 or 1.
	Team struct {
		ID uint8 `net:"max=1"`
	}
	// Command is a player's input.
	Command struct {
		MoveX, MoveY float32 `net:"min=-1,max=1,step=0.0078125"`
		Aim          float32 `net:"angle,bits=12,press"` // of the frame in which Shoot was pressed
		Weapon       uint8   `net:"max=2"`
		Fire         bool    // held: the automatic gun and the launcher
		Shoot        bool    `net:"oneshot"` // pressed: the semi-automatic gun
	}
	// Bolt is a slow projectile's flight; the server alone flies it.
	Bolt struct {
		VX, VY float32
		Ticks  uint16
		By     foretick.PlayerID
	}
	// Life is the server's account of a body.
	Life struct {
		Respawn uint16 // ticks until it stands up again
		Deaths  uint16
		Told    uint16 // how many hits
	}
)

// Shot is raised when a hitscan gun fires.
type Shot struct {
	Ray    lagcomp.Ray
	Damage int16
	Gun    uint8
}

// Launch is raised when the launcher fires.
type Launch struct{ X, Y, Angle float32 }

// The messages that every player gets for certain.
type (
	// Kill says who brought whom down.
	Kill struct {
		By, Target uint16
		ID         uint32
	}
	// Beat comes once a second; its ids have no gap.
	Beat struct{ ID uint32 }
)

// Hurt tells a victim, and nobody else, what hit it: whose gun of which kind, how
// far the server looked back for it, in milliseconds, and where its shooter saw it.
// Bolts hit in the present.
type Hurt struct {
	By      uint16  `net:"max=255"`
	Gun     uint8   `net:"max=2"`
	Rewound uint16  `net:"max=1023"`
	X, Y    float32 `net:"min=-64,max=64,step=0.01"`
	ID      uint16  // has no gap for one victim
}

// Options change the rules, for comparisons and planted faults.
type Options struct {
	TickRate int
	Peaceful bool // no stun, no damage
	Bias     bool // plants a fault in the movement code of this end
}

// Game holds the handles of one end. There are no globals: server and clients
// each build their own.
type Game struct {
	opt Options

	Pos    ecs.Component[Position]
	Vel    ecs.Component[Velocity]
	Face   ecs.Component[Facing]
	Status ecs.Component[Status]
	Gun    ecs.Component[Weapon]
	HP     ecs.Component[Health]
	Team   ecs.Component[Team]
	Cmd    ecs.Component[Command]
	Bolt   ecs.Component[Bolt]
	Life   ecs.Component[Life]

	Avatar ecs.Prefab
	Bolts  ecs.Prefab

	Shot   foretick.Event[Shot]
	Launch foretick.Event[Launch]
	Kill   foretick.Message[Kill]
	Beat   foretick.Message[Beat]
	Hurt   foretick.Message[Hurt]

	avatars *ecs.Query
	flights *ecs.Query // of bolts
	beats   uint32
	kills   uint32
	told    int  // victims of what hit them
	quiet   bool // the server stops hurting anybody: the match comes to rest

	watch Watch
}

// Watch is told what happens, for the report. Every function may be nil.
type Watch struct {
	before     func(f *foretick.Frame, rows ecs.Rows)                                                  // server: bodies ahead of the guns
	judged     func(f *foretick.Frame, by foretick.PlayerID, ray lagcomp.Ray, hit ecs.Entity, ok bool) // server: a shot
	explain    func(f *foretick.Frame, by foretick.PlayerID, seen foretick.HitView, ray lagcomp.Ray)   // server: the same, to lay it open
	screenshot func(f *foretick.Frame, by foretick.PlayerID, seen foretick.HitView)                    // client: what the shooter saw
	fired      func(f *foretick.Frame, by ecs.Entity, hit foretick.Hit, at lagcomp.Sphere)             // client: a predicted shot, and where what it hits was shown
	hurt       func(f *foretick.Frame, sent foretick.Tick, h Hurt)                                     // client: it was told what hit it
	stunned    func(f *foretick.Frame, player foretick.PlayerID)                                       // server
	died       func(f *foretick.Frame, who ecs.Entity)                                                 // server
	received   func(f *foretick.Frame, sent foretick.Tick, kind string, id uint32)                     // client: a message
	render     func(f *foretick.Frame, rows ecs.Rows)                                                  // client: bodies shown
	sent       func(kind string, id uint32)                                                            // server: a message, to everybody
	born       func(f *foretick.Frame, player foretick.PlayerID, by string)                            // server: a body was made anew
	stepped    func(f *foretick.Frame, rows ecs.Rows)                                                  // client: a tick was predicted
	aimed      func(f *foretick.Frame, by foretick.PlayerID, ray lagcomp.Ray, seen foretick.HitView)   // client: a predicted shot's line
	turned     func(f *foretick.Frame, rows ecs.Rows)                                                  // bodies that have just turned
}

// The rules, in metres, seconds and ticks of a 30 Hz match.
const (
	bodyRadius   = 0.5
	topSpeed     = 6
	acceleration = 40
	friction     = 30
	gunRange     = 40
	boltSpeed    = 14
	stunTicks    = 8
	respawnTicks = 45
	magazine     = 30
)

// The stages of a tick: what befalls bodies, what they do, what flies and heals.
const (
	stageRules = "rules"
	stageAct   = "act"
	stageWorld = "world"
	stageWatch = "watch"
)

// NewGame makes one end's game.
func NewGame(opt Options) *Game { return &Game{opt: opt} }

// ticks turns ticks at 30 Hz into ticks at the game's rate.
func (g *Game) ticks(at30 int) int {
	return max(1, (at30*g.opt.TickRate+15)/30)
}

// Protocol declares the game.
func (g *Game) Protocol() (*foretick.Protocol, error) {
	p := foretick.NewProtocol("arena", 1)
	p.SetTickRate(g.opt.TickRate)
	p.Stages(stageRules, stageAct, stageWorld, stageWatch)
	p.Component(&g.Pos, foretick.Predicted())
	p.Component(&g.Vel, foretick.Predicted())
	p.Component(&g.Face, foretick.Predicted())
	p.Component(&g.Status, foretick.Predicted())
	p.Component(&g.Gun, foretick.Predicted())
	p.Component(&g.HP)
	p.Component(&g.Team)
	p.LocalComponent(&g.Bolt)
	p.LocalComponent(&g.Life)
	p.Command(&g.Cmd)
	p.Prefab(&g.Avatar, "avatar", &g.Pos, &g.Vel, &g.Face, &g.Status, &g.Gun, &g.HP, &g.Team, &g.Cmd, &g.Life)
	p.Prefab(&g.Bolts, "bolt", &g.Pos, &g.Face, &g.Bolt)
	foretick.Default(p, &g.Avatar, &g.HP, Health{Points: 100})
	foretick.Default(p, &g.Avatar, &g.Gun, Weapon{Ammo: magazine})
	foretick.Hitbox2(p, &g.Pos, &g.Status, body)
	g.Kill.OnClient(p, func(f *foretick.Frame, t foretick.Tick, k Kill) { g.got(f, t, "kill", k.ID) })
	g.Beat.OnClient(p, func(f *foretick.Frame, t foretick.Tick, b Beat) { g.got(f, t, "beat", b.ID) })
	g.Hurt.OnClient(p, g.learn)
	p.CompressionTables(learned)
	p.Use(movement{g}, guns{g}, lives{g})
	g.flights = ecs.NewQuery(p.Types(), ecs.With(&g.Pos, &g.Face), ecs.Without(&g.Status))
	g.avatars = ecs.NewQuery(p.Types(), ecs.With(&g.Pos, &g.Team, &g.Cmd))
	return p, p.Err()
}

// body is what can be hit: a disc, while its owner lives.
func body(at *Position, s *Status) lagcomp.Sphere {
	if s.Dead {
		return lagcomp.Sphere{}
	}
	return lagcomp.Sphere{X: at.X, Y: at.Y, R: bodyRadius}
}

func (g *Game) got(f *foretick.Frame, t foretick.Tick, kind string, id uint32) {
	if g.watch.received != nil {
		g.watch.received(f, t, kind, id)
	}
}

// learn takes the word on what hit this player.
func (g *Game) learn(f *foretick.Frame, t foretick.Tick, h Hurt) {
	g.got(f, t, "hurt", uint32(h.ID))
	if g.watch.hurt != nil {
		g.watch.hurt(f, t, h)
	}
}

func sincos(a float32) (sin, cos float32) {
	s, c := math.Sincos(float64(a))
	return float32(s), float32(c)
}
