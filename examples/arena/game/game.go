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
		Aim          float32 `net:"angle,bits=12,press"` // the aim in the frame in which Shoot was pressed
		Weapon       uint8   `net:"max=2"`
		Fire         bool    // held: fires the automatic gun and the launcher
		Shoot        bool    `net:"oneshot"` // pressed: fires the semi-automatic gun
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
		// Kills is the number of kills in the match. Every body gets the new number at each kill.
		Kills uint32
		// Present makes the body's shots be judged in the present: see Wish.
		Present bool
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
	ID      uint16  // numbers the victim's hits without gaps
}

// Options change the rules, for comparisons and planted faults.
type Options struct {
	TickRate int
	Peaceful bool // no stun, no damage
	Bias     bool // plants a fault in the movement code of this end
	// Wishes lets players ask to be judged without lag compensation or late inputs: see Wish.
	Wishes bool
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

	Avatars *ecs.Query // finds the bodies
	Flights *ecs.Query // finds the bolts

	// QuietFrom is the first tick in which the server does no damage, because the match comes to rest.
	// 0 means that there is none yet. Earlier ticks that run again still do damage.
	QuietFrom foretick.Tick

	// Wish is declared only with Options.Wishes.
	Wish foretick.Request[Wish]

	// Watch may be set before the first tick.
	Watch Watch
}

// Watch receives events for the report. Every function may be nil. With Late.World, a server calls its
// functions again when a tick runs again, after Began.
type Watch struct {
	// Began is called on the server when a tick begins. If f.Replay is true, the tick runs again, and
	// what it and later ticks did is undone.
	Began func(f *foretick.Frame)
	// Before is called on the server with the bodies, before the guns work.
	Before func(f *foretick.Frame, rows ecs.Rows)
	// Judged is called on the server for each shot.
	Judged func(f *foretick.Frame, by foretick.PlayerID, ray lagcomp.Ray, hit ecs.Entity, ok bool)
	// Explain is called on the server for each shot, with the view that the shot was judged in.
	Explain func(f *foretick.Frame, by foretick.PlayerID, seen foretick.HitView, ray lagcomp.Ray)
	// Screenshot is called on a client with what its shooter saw.
	Screenshot func(f *foretick.Frame, by foretick.PlayerID, seen foretick.HitView)
	// Fired is called on a client for a predicted shot. at is the position on the screen of the body
	// that it hits.
	Fired func(f *foretick.Frame, by ecs.Entity, hit foretick.Hit, at lagcomp.Sphere)
	// Hurt is called on a client for the report of a hit.
	Hurt func(f *foretick.Frame, sent foretick.Tick, h Hurt)
	// Stunned is called on the server when a player is stunned.
	Stunned func(f *foretick.Frame, player foretick.PlayerID)
	// Died is called on the server when a body dies.
	Died func(f *foretick.Frame, who ecs.Entity)
	// Received is called on a client for each message.
	Received func(f *foretick.Frame, sent foretick.Tick, kind string, id uint32)
	// Render is called on a client with the bodies on the screen.
	Render func(f *foretick.Frame, rows ecs.Rows)
	// Born is called on the server when a body was created or reset.
	Born func(f *foretick.Frame, player foretick.PlayerID, by string)
	// Stepped is called on a client after a tick was predicted, and on the server after one ran again.
	Stepped func(f *foretick.Frame, rows ecs.Rows)
	// Aimed is called on a client with the line of a predicted shot.
	Aimed func(f *foretick.Frame, by foretick.PlayerID, ray lagcomp.Ray, seen foretick.HitView)
	// Turned is called on both ends with bodies that have just turned.
	Turned func(f *foretick.Frame, rows ecs.Rows)
	// Wished is called on the server when a player made a Wish.
	Wished func(f *foretick.Frame, player foretick.PlayerID, w Wish)
}

// Wish is a player's request to play without one of the server's techniques, to see what the technique
// does. Only a server with Options.Wishes accepts it.
type Wish struct {
	NoLagCompensation bool
	NoLateInputs      bool
}

// wish fulfils a player's request.
func (g *Game) wish(f *foretick.ServerFrame, player foretick.PlayerID, w Wish) {
	if life := g.Life.Find(f.World, g.bodyOf(f.Frame, player)); life != nil {
		life.Present = w.NoLagCompensation
	}
	if g.Watch.Wished != nil {
		g.Watch.Wished(f.Frame, player, w)
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

// The stages of a tick: effects on bodies, then their actions, then bolts and respawns, and then the
// log.
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
	foretick.Hitboxes(p, g.body, &g.Pos, &g.Status)
	g.Kill.OnClient(p, func(f *foretick.Frame, t foretick.Tick, k Kill) { g.got(f, t, "kill", k.ID) })
	g.Beat.OnClient(p, func(f *foretick.Frame, t foretick.Tick, b Beat) { g.got(f, t, "beat", b.ID) })
	g.Hurt.OnClient(p, g.learn)
	if g.opt.Wishes {
		g.Wish.Handle(p, g.wish)
	}
	p.CompressionTables(Tables())
	p.Use(movement{g}, guns{g}, lives{g})
	g.Flights = p.Query(ecs.With(&g.Pos, &g.Face), ecs.Without(&g.Status))
	g.Avatars = p.Query(ecs.With(&g.Pos, &g.Team, &g.Cmd))
	return p, p.Err()
}

// body gives an avatar its hitbox: a disc while it is alive.
func (g *Game) body(b *foretick.HitboxBuilder) {
	if at := foretick.HitboxField(b, &g.Pos); !foretick.HitboxField(b, &g.Status).Dead {
		b.Add(lagcomp.SphereHitbox(lagcomp.Sphere{X: at.X, Y: at.Y, R: BodyRadius}))
	}
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
