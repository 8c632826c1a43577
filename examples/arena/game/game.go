// Package game has the rules of the arena: a top-down shooter with guns, bolts, stuns and
// respawns. Server, bots, people and the page in the browser share it.
package game

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
)

// The components. Components that a shared system writes are predicted; fields
// that only the owner may know are marked "owner".
type (
	// Position of a body or a bolt, in metres.
	Position struct {
		X, Y float32 `net:"min=-64,max=64,step=0.01,lerp"`
	}
	// Velocity of a body, in metres a second.
	Velocity struct {
		X, Y float32 `net:"min=-32,max=32,step=0.01,owner"`
	}
	// Facing is the direction that a body looks in, in radians.
	Facing struct {
		Angle float32 `net:"angle,bits=12,lerp"`
	}
	// Status holds what stops a body from acting.
	Status struct {
		Stun uint8 `net:"max=60"` // ticks left
		Dead bool
	}
	// Weapon is the state of a body's guns, in ticks and rounds.
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
	// Team of a body, 0 or 1.
	Team struct {
		ID uint8 `net:"max=1"`
	}
	// Command is a player's input.
	Command struct {
		MoveX, MoveY float32 `net:"min=-1,max=1,step=0.0078125"`
		Aim          float32 `net:"angle,bits=12,press"` // at the frame in which Shoot was pressed
		Weapon       uint8   `net:"max=2"`
		Fire         bool    // held: the automatic gun and the launcher
		Shoot        bool    `net:"oneshot"` // pressed: the semi-automatic gun
	}
	// Bolt is a slow projectile; only the server moves it.
	Bolt struct {
		VX, VY float32
		Ticks  uint16
		By     foretick.PlayerID
	}
	// Life is the server's bookkeeping for a body.
	Life struct {
		Respawn uint16 // ticks until the respawn
		Deaths  uint16
		Told    uint16 // number of hits reported to the player
		Kills   uint32 // in the match: the newest number that somebody's death had
		Present bool   // its shots are judged in the present: see Wish
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

// The reliable messages to every player.
type (
	// Kill says who killed whom.
	Kill struct {
		By, Target uint16
		ID         uint32
	}
	// Beat is sent once a second; its ids have no gaps.
	Beat struct{ ID uint32 }
)

// Hurt tells a victim, and only the victim, what hit it: the shooter and its kind
// of gun, the rewind in milliseconds, and the victim's position on the shooter's
// screen. Bolts hit in the present.
type Hurt struct {
	By      uint16  `net:"max=255"`
	Gun     uint8   `net:"max=2"`
	Rewound uint16  `net:"max=1023"`
	X, Y    float32 `net:"min=-64,max=64,step=0.01"`
	ID      uint16  // has no gaps per victim
}

// Options change the rules, for comparisons and planted faults.
type Options struct {
	TickRate int
	Peaceful bool // no stun, no damage
	Bias     bool // plants a fault in the movement code of this end
	Wishes   bool // players may ask to be judged without lag compensation or late inputs: see Wish
}

// Game holds the handles of one end. There are no globals: server and clients
// each create their own.
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

	Avatars *ecs.Query // of bodies
	Flights *ecs.Query // of bolts

	// QuietFrom is the first tick in which the server does no damage: the match comes to
	// rest. 0 means none. Ticks before it run again as they were.
	QuietFrom foretick.Tick

	// Wish is there with Options.Wishes alone.
	Wish foretick.Request[Wish]

	// Watch may be set before the first tick.
	Watch Watch
}

// Watch receives events for the report. Every function may be nil. A server with LateWorld
// calls those of the server again when a tick runs again, after Began.
type Watch struct {
	Began      func(f *foretick.Frame)                                                                 // server: a tick begins; with f.Replay it runs again, and what it and later ticks did is undone
	Before     func(f *foretick.Frame, rows ecs.Rows)                                                  // server: bodies before the guns work
	Judged     func(f *foretick.Frame, by foretick.PlayerID, ray lagcomp.Ray, hit ecs.Entity, ok bool) // server: a shot
	Explain    func(f *foretick.Frame, by foretick.PlayerID, seen foretick.HitView, ray lagcomp.Ray)   // server: the same, for an explanation
	Screenshot func(f *foretick.Frame, by foretick.PlayerID, seen foretick.HitView)                    // client: what the shooter saw
	Fired      func(f *foretick.Frame, by ecs.Entity, hit foretick.Hit, at lagcomp.Sphere)             // client: a predicted shot, and the position on screen of what it hits
	Hurt       func(f *foretick.Frame, sent foretick.Tick, h Hurt)                                     // client: the report of a hit
	Stunned    func(f *foretick.Frame, player foretick.PlayerID)                                       // server
	Died       func(f *foretick.Frame, who ecs.Entity)                                                 // server
	Received   func(f *foretick.Frame, sent foretick.Tick, kind string, id uint32)                     // client: a message
	Render     func(f *foretick.Frame, rows ecs.Rows)                                                  // client: bodies on screen
	Born       func(f *foretick.Frame, player foretick.PlayerID, by string)                            // server: a body was created or reset
	Stepped    func(f *foretick.Frame, rows ecs.Rows)                                                  // client: a tick was predicted; server: one ran again
	Aimed      func(f *foretick.Frame, by foretick.PlayerID, ray lagcomp.Ray, seen foretick.HitView)   // client: a predicted shot's line
	Turned     func(f *foretick.Frame, rows ecs.Rows)                                                  // bodies that have just turned
	Wished     func(f *foretick.Frame, player foretick.PlayerID, w Wish)                               // server: a player asked for something
}

// Wish is a player's request to play without a technique of the server's, so that it can be
// seen what it is for. Only a server for that has it: see Options.Wishes.
type Wish struct {
	NoLagCompensation bool
	NoLateInputs      bool
}

// wish takes a player's request.
func (g *Game) wish(f *foretick.Frame, player foretick.PlayerID, w Wish) {
	if life := g.Life.Find(f.World, g.bodyOf(f, player)); life != nil {
		life.Present = w.NoLagCompensation
	}
	if g.Watch.Wished != nil {
		g.Watch.Wished(f, player, w)
	}
}

// The rules, in metres, seconds and ticks of a 30 Hz match.
const (
	BodyRadius   = 0.5
	topSpeed     = 6
	acceleration = 40
	friction     = 30
	GunRange     = 40
	boltSpeed    = 14
	stunTicks    = 8
	respawnTicks = 45
	Magazine     = 30
)

// The stages of a tick: effects on bodies, their actions, and then what flies and
// heals.
const (
	stageRules = "rules"
	stageAct   = "act"
	stageWorld = "world"
	stageWatch = "watch"
)

// NewGame returns the game of one end.
func NewGame(opt Options) *Game { return &Game{opt: opt} }

// ticks converts ticks at 30 Hz to ticks at the game's rate.
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
	foretick.Default(p, &g.Avatar, &g.Gun, Weapon{Ammo: Magazine})
	foretick.Hitbox2(p, &g.Pos, &g.Status, body)
	g.Kill.OnClient(p, func(f *foretick.Frame, t foretick.Tick, k Kill) { g.got(f, t, "kill", k.ID) })
	g.Beat.OnClient(p, func(f *foretick.Frame, t foretick.Tick, b Beat) { g.got(f, t, "beat", b.ID) })
	g.Hurt.OnClient(p, g.learn)
	if g.opt.Wishes {
		g.Wish.Handle(p, g.wish)
	}
	p.CompressionTables(Tables())
	p.Use(movement{g}, guns{g}, lives{g})
	g.Flights = ecs.NewQuery(p.Types(), ecs.With(&g.Pos, &g.Face), ecs.Without(&g.Status))
	g.Avatars = ecs.NewQuery(p.Types(), ecs.With(&g.Pos, &g.Team, &g.Cmd))
	return p, p.Err()
}

// body returns the hitbox of a body: a disc while it is alive.
func body(at *Position, s *Status) lagcomp.Sphere {
	if s.Dead {
		return lagcomp.Sphere{}
	}
	return lagcomp.Sphere{X: at.X, Y: at.Y, R: BodyRadius}
}

func (g *Game) got(f *foretick.Frame, t foretick.Tick, kind string, id uint32) {
	if g.Watch.Received != nil {
		g.Watch.Received(f, t, kind, id)
	}
}

// learn handles the report of a hit on this player.
func (g *Game) learn(f *foretick.Frame, t foretick.Tick, h Hurt) {
	g.got(f, t, "hurt", uint32(h.ID))
	if g.Watch.Hurt != nil {
		g.Watch.Hurt(f, t, h)
	}
}
