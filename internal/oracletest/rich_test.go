package oracletest

import (
	"errors"
	"math"
	"math/rand/v2"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/snapshot"
)

type (
	place struct {
		X, Y float32 `net:"min=-60,max=60,step=0.01,lerp"`
	}
	heading struct {
		Angle float32 `net:"angle,bits=12,lerp"`
	}
	gun struct {
		Ammo, Cool uint8 `net:"owner"`
		Shots      uint8
	}
	health struct {
		Points int16 `net:"max=100"`
		Lives  uint8
	}
	plot struct { // sent to allies only
		Target uint16 `net:"allies"`
		Crew   uint8
	}
	password struct{ Word uint32 } // sent to an audience of the game's own
	badge    struct{ N uint8 }     // a component of props
	ball     struct {
		X, Y   float32 `net:"min=-60,max=60,step=0.01,lerp"`
		VX, VY float32 `net:"min=-20,max=20,step=0.01"`
	}
	fuse   struct{ Left uint8 }
	streak struct{ Left uint8 } // a component of a bullet, which each end has for itself
	leash  struct{ N uint16 }   // a component of a pet, only on the server
	scroll struct {
		Words []uint32 `net:"max=512"`
	}
	motto struct {
		Text string  `net:"max=8"`
		List []uint8 `net:"max=4"`
	}
	limit struct {
		A float32
		B float64
	}
	armour struct{ Plates uint16 }
	mark   struct { // the last rocket that a body fired
		Rocket ecs.Entity
		N      uint8
	}
	crowd struct{ Near uint8 } // number of bodies near a body
	shell struct {             // a component of the server's projectiles
		VX, VY, Behind float32
		Left           uint8
	}
	seen    struct{ Since uint32 }
	command struct {
		X, Y float32 `net:"min=-1,max=1,step=0.01"`
		Turn float32 `net:"min=-1,max=1,step=0.01,sum"`
		Aim  float32 `net:"angle,bits=12,press"`
		Fire bool    `net:"oneshot,press"`
		Run  bool
	}
	score   struct{ Red, Blue, Final uint16 }
	weather struct{ Seed, Draws uint64 } // a singleton that only the server has
	pace    struct{ N uint16 }
	launch  struct{ X, Y, VX, VY float32 }
	shot    struct {
		Ray  lagcomp.Ray
		Tick foretick.Tick
	}
	fallen struct {
		Who  uint16
		Tick uint32
	}
	chirp struct{ N uint16 }
	chat  struct {
		N    uint16
		Text string `net:"max=40"`
	}
)

// rules say which parts of the game a match has. Late without Late.World refuses some parts.
type rules struct {
	rate     int
	remote   bool // clients predict others
	balls    bool // there are balls that all players push
	text     bool // there are predicted strings and lists
	paced    bool // there is a predicted singleton
	storm    bool // there is a shared system with a tag of the match
	partial  bool // clients draw parts of ticks
	interest bool // players receive only entities that are near
	long     bool // there are entities longer than a packet
	infinite bool // there are infinite values
	family   bool // there are parents and children
	younger  bool // the game is another build
	shove    bool // a hit moves a body, and with Late.World bodies push one another
	open     bool // nothing is hidden
	stray    bool // a system counts outside of components, which a sync test finds
	level    foretick.Tick
}

// rich is one end of a game with a bit of everything.
type rich struct {
	rules
	note noter
	srv  *serverEnd

	place    ecs.Component[place]
	heading  ecs.Component[heading]
	gun      ecs.Component[gun]
	health   ecs.Component[health]
	plot     ecs.Component[plot]
	password ecs.Component[password]
	badge    ecs.Component[badge]
	ball     ecs.Component[ball]
	fuse     ecs.Component[fuse]
	streak   ecs.Component[streak]
	leash    ecs.Component[leash]
	scroll   ecs.Component[scroll]
	motto    ecs.Component[motto]
	limit    ecs.Component[limit]
	armour   ecs.Component[armour]
	seen     ecs.Component[seen]
	mark     ecs.Component[mark]
	crowd    ecs.Component[crowd]
	shell    ecs.Component[shell]
	cmd      ecs.Component[command]
	score    ecs.Singleton[score]
	weather  ecs.Singleton[weather]
	pace     ecs.Singleton[pace]

	body, rocket, bullet, crate, prop, pet, sheet, shield, bomb ecs.Prefab

	shot   foretick.Event[shot]
	launch foretick.Event[launch]
	fallen foretick.Message[fallen]
	chirp  foretick.Message[chirp]
	chat   foretick.Message[chat]
	ask    foretick.Request[chat]

	members                      schema.Audience
	bodies, rolling, props, pets *ecs.Query
	hits                         []foretick.Hit
	turns                        int // with stray, counts runs for all bodies
}

func newRich(r rules) func(note noter) game {
	return func(note noter) game { return &rich{rules: r, note: note} }
}

func (g *rich) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("oracle", 1)
	if g.rate != 0 {
		p.SetTickRate(g.rate)
	}
	p.Stages("act", "world")
	if g.family {
		p.Hierarchy()
	}
	p.Channel("birds", netcode.Channel{Repeat: 2, MaxAge: 300 * ms})
	p.Channel("talk", netcode.Channel{Reliable: true, Priority: 3})
	g.members = p.Audience("club")
	g.components(p)
	g.prefabs(p)
	g.rewinds(p)
	g.hooks(p)
	g.words(p)
	g.shared(p)
	g.servers(p)
	if g.remote {
		foretick.PredictRemote(p, &g.cmd, func(_ *foretick.Frame, _ ecs.Entity, ahead int, cmd *command) {
			cmd.Run = ahead < 4
		}, foretick.RemoteConfig{Also: []*ecs.Prefab{&g.rocket}, Skip: []string{"shoot"}})
	}
	return p
}

func (g *rich) components(p *foretick.Protocol) {
	own := []foretick.ComponentOption{foretick.Predicted()}
	if g.remote || g.balls {
		own = append(own, foretick.FullPrecision())
	}
	if g.younger {
		p.Component(&g.armour)
	}
	p.Component(&g.place, own...)
	p.Component(&g.heading, own...)
	p.Component(&g.gun, foretick.Predicted())
	p.Component(&g.fuse, own...)
	p.Component(&g.mark, own...)
	p.Component(&g.crowd, own...)
	p.Component(&g.health)
	p.Component(&g.plot)
	p.Component(&g.password, foretick.For(g.members))
	p.Component(&g.badge)
	p.LocalComponent(&g.streak)
	p.LocalComponent(&g.leash)
	p.LocalComponent(&g.shell)
	p.LocalComponent(&g.seen)
	p.Command(&g.cmd)
	p.Singleton(&g.score)
	p.Fail(p.Types().RegisterSingleton(&g.weather))
	if g.balls {
		p.Component(&g.ball, own...)
	}
	if g.text {
		p.Component(&g.motto, own...)
	}
	if g.infinite {
		p.Component(&g.limit, own...)
	}
	if g.long {
		p.Component(&g.scroll)
	}
	if g.paced {
		p.Singleton(&g.pace, foretick.Predicted())
	}
}

func (g *rich) prefabs(p *foretick.Protocol) {
	has := []ecs.Handle{&g.place, &g.heading, &g.gun, &g.health, &g.plot, &g.password, &g.seen, &g.mark, &g.crowd, &g.cmd}
	if g.text {
		has = append(has, &g.motto)
	}
	if g.infinite {
		has = append(has, &g.limit)
	}
	if g.younger {
		has = append(has, &g.armour)
		p.Prefab(&g.shield, "shield", &g.armour)
	}
	p.Prefab(&g.body, "body", has...)
	p.Prefab(&g.rocket, "rocket", &g.place, &g.heading, &g.fuse)
	p.Prefab(&g.bullet, "bullet", &g.streak)
	p.Prefab(&g.prop, "prop", &g.place, &g.badge, &g.password, &g.seen)
	p.Prefab(&g.pet, "pet", &g.place, &g.heading, &g.leash, &g.badge)
	p.Prefab(&g.bomb, "bomb", &g.place, &g.shell)
	foretick.Default(p, &g.body, &g.health, health{Points: 100})
	foretick.Default(p, &g.body, &g.gun, gun{Ammo: 200})
	p.Interpolated(&g.pet)
	if g.balls {
		p.Prefab(&g.crate, "crate", &g.ball)
		g.rolling = p.Query(ecs.With(&g.ball))
	}
	if g.long {
		p.Prefab(&g.sheet, "sheet", &g.scroll)
	}
	called := func(what string) func(*foretick.Frame, ecs.Entity) {
		return func(f *foretick.Frame, e ecs.Entity) { g.note(what, uint64(f.Tick), uint64(e)) }
	}
	p.Spawns(&g.rocket, foretick.SpawnConfig{OnPredicted: called("rocket"), OnConfirmed: called("rocket confirmed"),
		OnCancelled: called("rocket cancelled"), OnRestored: called("rocket restored")})
	p.Spawns(&g.bullet, foretick.SpawnConfig{ClientOnly: true})
	g.bodies = p.Query(ecs.With(&g.place, &g.cmd))
	g.props = p.Query(ecs.With(&g.badge), ecs.Without(&g.leash))
	g.pets = p.Query(ecs.With(&g.leash))
}

func (g *rich) rewinds(p *foretick.Protocol) {
	foretick.Hitbox(p, &g.place, func(v *place) lagcomp.Sphere { return lagcomp.Sphere{X: v.X, Y: v.Y, R: 1.5} })
	foretick.Hitboxes(p, func(b *foretick.HitboxBuilder) {
		at := foretick.HitboxField(b, &g.place)
		b.Add(lagcomp.SphereHitbox(lagcomp.Sphere{X: at.X, Y: at.Y + 2, R: 0.5}).On(1, 0),
			lagcomp.CapsuleHitbox(lagcomp.Capsule{A: lagcomp.Vec{X: at.X, Y: at.Y}, B: lagcomp.Vec{X: at.X, Y: at.Y + 2}, R: 0.25}).On(2, 1))
	}, &g.place, &g.health)
	foretick.LifeID(p, &g.health, func(h *health) uint32 { return uint32(h.Lives) })
	foretick.Interpolate(p, &g.heading, func(from, to heading, t float32) heading {
		return heading{from.Angle + float32((to.Angle-from.Angle)*t)}
	})
	foretick.TrackHistory(p, &g.heading)
	if g.interest {
		foretick.Interest(p, &g.place, snapshot.AreaConfig{Enter: 14, Leave: 18, Cell: 8}, func(v *place) (x, y, z float32) { return v.X, v.Y, 0 })
		p.Relevant(func(f *foretick.Frame, player foretick.PlayerID, e ecs.Entity) snapshot.Relevance {
			if f.Tick/90%2 == 1 && e.Index()%3 == uint32(player)%3 {
				return snapshot.Always
			}
			return snapshot.ByDistance
		}, &g.prop)
	}
	foretick.Decay(p, &g.cmd, func(c *command, missing int) { c.X, c.Y = c.X/2, c.Y/float32(missing+1) })
	foretick.CheckCommand(p, &g.cmd, func(f *foretick.Frame, player foretick.PlayerID, c command) error {
		if c.Fire && (f.Tick+uint32(player))%11 == 3 {
			return errors.New("the gun is jammed")
		}
		return nil
	})
}

func (g *rich) hooks(p *foretick.Protocol) {
	called := func(what string) func(*foretick.ServerFrame, foretick.PlayerID) {
		return func(f *foretick.ServerFrame, player foretick.PlayerID) { g.note(what, uint64(f.Tick), uint64(player)) }
	}
	p.OnJoin(g.arrive)
	p.OnJoin(called("join"))
	p.OnLeave(called("leave"))
	p.OnDisconnect(called("lost"))
	p.OnReconnect(called("back"))
	p.OnLevel(func(f *foretick.Frame, data []byte) { g.note("level "+string(data), uint64(f.Tick)) })
	p.OnAppear(func(f *foretick.Frame, e ecs.Entity) {
		g.note("appear", uint64(f.Tick), uint64(e))
		if s := g.seen.Find(f.World, e); s != nil {
			s.Since = f.Tick
		}
	})
	p.OnVanish(func(f *foretick.Frame, e ecs.Entity) { g.note("vanish", uint64(f.Tick), uint64(e)) }, foretick.OfPrefab(&g.prop))
}

// arrive spawns a player's body and pet.
func (g *rich) arrive(f *foretick.ServerFrame, player foretick.PlayerID) {
	f.SetTeam(player, uint8(1+player%2))
	e := f.Spawn(&g.body, player)
	at := place{X: float32(int(player)*7%20) - 10, Y: float32(int(player)*5%16) - 8}
	*g.place.Get(f.World, e) = at
	g.password.Get(f.World, e).Word = uint32(player) * 2654435761
	g.plot.Get(f.World, e).Target = uint16(player) + 500
	pet := f.Spawn(&g.pet, player)
	*g.place.Get(f.World, pet) = at
	f.SetGroup(pet, e)
	if g.family {
		child := f.Spawn(&g.prop, player)
		_ = f.World.SetParent(child, e)
	}
	f.SetAudience(player, ecs.None, g.members, player%2 == 0)
}

func (g *rich) words(p *foretick.Protocol) {
	g.chirp.Channel, g.chat.Channel = "birds", "talk"
	g.fallen.OnClient(p, func(f *foretick.Frame, t foretick.Tick, v fallen) {
		g.note("fallen", uint64(f.Tick), uint64(t), uint64(v.Who))
	})
	g.chirp.OnClient(p, func(f *foretick.Frame, t foretick.Tick, v chirp) {
		g.note("chirp", uint64(f.Tick), uint64(t), uint64(v.N))
	})
	g.chat.OnClient(p, func(f *foretick.Frame, t foretick.Tick, v chat) { g.note(v.Text, uint64(f.Tick), uint64(t)) })
	g.ask.Handle(p, func(f *foretick.ServerFrame, player foretick.PlayerID, v chat) {
		g.note("asked "+v.Text, uint64(f.Tick), uint64(player), uint64(v.N))
		g.chat.Broadcast(f, v)
	})
	struck := []ecs.Access{ecs.ReadOther(&g.place), ecs.WriteOther(&g.health)}
	if g.shove {
		struck = []ecs.Access{ecs.WriteOther(&g.health, &g.place)}
	}
	g.shot.OnServer(p, g.struck, struck...)
	g.launch.OnServer(p, g.launched, ecs.WriteOther(&g.health, &g.place), ecs.Create(&g.place, &g.shell))
	g.shot.OnFinal(p, func(f *foretick.ServerFrame, by foretick.By, s shot) {
		again := uint64(0)
		if f.Replay {
			again = 1
		}
		g.note("final", uint64(f.Tick), uint64(by.Player), uint64(s.Tick), again)
		g.score.Get(f.World).Final++
	}, ecs.WriteOther(&g.score))
	on := func(what string) func(*foretick.Frame, foretick.By, shot) {
		return func(f *foretick.Frame, by foretick.By, s shot) {
			g.note(what, uint64(f.Tick), uint64(by.Entity), uint64(s.Tick), math.Float64bits(float64(s.Ray.Range)))
		}
	}
	g.shot.OnPredicted(p, func(f *foretick.Frame, by foretick.By, s shot) {
		view := f.Rewind(by.Player)
		hit, _ := view.Raycast(s.Ray)
		g.note("shot", uint64(f.Tick), uint64(by.Entity), uint64(hit.Entity), uint64(math.Float32bits(hit.Distance)), uint64(f.Final()), uint64(math.Float32bits(f.DrawnPart(by.Player))))
	})
	g.shot.OnConfirmed(p, on("shot confirmed"))
	g.shot.OnCancelled(p, on("shot cancelled"))
}

// struck judges a shot in the view that its player saw.
func (g *rich) struck(f *foretick.ServerFrame, by foretick.By, s shot) {
	view := f.Rewind(by.Player)
	hit, ok := view.Raycast(s.Ray)
	if ball := (lagcomp.Sphere{X: s.Ray.X, Y: s.Ray.Y, R: 3}); s.Tick%2 == 0 {
		g.hits = view.Overlap(ball, g.hits[:0])
	}
	told := uint64(0)
	if ok {
		told = uint64(hit.Entity)
		if h, ok := foretick.ComponentAt(view, &g.heading, hit.Entity); ok {
			told ^= uint64(math.Float32bits(h.Angle))
		}
	}
	g.note("struck", uint64(f.Tick), uint64(by.Player), told, uint64(view.Used.Tick), uint64(view.Reason), uint64(len(g.hits)), uint64(f.Final()), uint64(math.Float32bits(f.DrawnPart(by.Player))))
	g.judge(f.Frame, view, s, hit.Entity)
	if !ok {
		return
	}
	if at := g.place.Find(f.World, hit.Entity); at != nil && g.shove {
		at.X = within(at.X + 1)
	}
	hp := g.health.Find(f.World, hit.Entity)
	if hp == nil || hp.Points <= 0 {
		return
	}
	if hp.Points -= 30; hp.Points <= 0 {
		g.fallen.Broadcast(f, fallen{uint16(f.World.Owner(hit.Entity)), f.Tick})
	}
}

// judge calls all queries of a view of the past.
func (g *rich) judge(f *foretick.Frame, view foretick.HitView, s shot, target ecs.Entity) {
	at, by := lagcomp.Vec{X: s.Ray.X, Y: s.Ray.Y}, view
	switch s.Tick % 5 {
	case 0:
		by = view.Only(target)
	case 1:
		by = view.Except(target)
	case 2:
		by = f.Present()
	case 3:
		by = f.RewindTo(ecs.Nobody, f.Tick-min(f.Tick, 4), 0.5)
	}
	cast, _ := by.SphereCast(s.Ray, 0.75)
	near, _ := by.Nearest(at, 20)
	check, _ := by.CheckHit(target, s.Ray)
	for _, hit := range []foretick.Hit{cast, near, check} {
		g.note("judged", uint64(hit.Entity), uint64(math.Float32bits(hit.Distance)), uint64(hit.Part), uint64(math.Float32bits(view.Behind())))
	}
	for _, c := range view.Explain(s.Ray, 2).Bodies {
		g.note("explained", c.ID, c.Owner, uint64(len(c.Claimed)))
	}
}

// launched moves a bomb up to the present. From there the server's system moves it.
func (g *rich) launched(f *foretick.ServerFrame, by foretick.By, l launch) {
	shot := lagcomp.Projectile{Position: lagcomp.Vec{X: l.X, Y: l.Y}, Velocity: lagcomp.Vec{X: l.VX, Y: l.VY}, Radius: 0.3}
	behind, hit, ok := f.Rewind(by.Player).CatchUp(&shot)
	if g.note("caught up", uint64(f.Tick), uint64(hit.Entity), uint64(math.Float32bits(behind))); ok {
		g.hurt(f.Frame, hit.Entity)
		return
	}
	e := f.Spawn(&g.bomb, by.Player)
	*g.place.Get(f.World, e) = place{within(shot.Position.X), within(shot.Position.Y)}
	*g.shell.Get(f.World, e) = shell{l.VX, l.VY, behind, 25}
}

// hurt takes health of a body.
func (g *rich) hurt(f *foretick.Frame, e ecs.Entity) {
	if hp := g.health.Find(f.World, e); hp != nil && hp.Points > 0 {
		hp.Points -= 20
	}
}

func (g *rich) serves(srv *serverEnd) { g.srv = srv }

// level spawns things that nobody owns, and bodies for these players.
func (g *rich) level(f *foretick.ServerFrame, players []server.Player) {
	for i := range 10 {
		e := f.Spawn(&g.prop, ecs.Nobody)
		*g.place.Get(f.World, e) = place{X: float32(i*11%60) - 30, Y: float32(i*17%50) - 25}
		g.badge.Get(f.World, e).N = uint8(i)
		if i%3 == 0 {
			f.SetEntityTeam(e, uint8(1+i%2))
		}
	}
	for i := 0; g.balls && i < 3; i++ {
		*g.ball.Get(f.World, f.Spawn(&g.crate, ecs.Nobody)) = ball{X: float32(i*6) - 6, Y: float32(i * 2)}
	}
	for i := 0; g.long && i < 2; i++ {
		g.scroll.Get(f.World, f.Spawn(&g.sheet, ecs.Nobody)).Words = make([]uint32, 380+40*i)
	}
	for _, player := range players {
		g.arrive(f, player.ID)
	}
}

func (g *rich) call(name string) func(*foretick.ServerFrame) {
	switch name {
	case "heal":
		return func(f *foretick.ServerFrame) {
			for _, rows := range g.bodies.All(f.World) {
				for i := range rows.Len() {
					g.health.Get(f.World, rows.Entity(i)).Points = 90
				}
			}
		}
	case "level":
		return func(*foretick.ServerFrame) {
			_ = g.srv.NextLevel([]byte("of a call"), func(f *foretick.ServerFrame) { g.level(f, g.srv.Players(nil)) })
		}
	case "swap":
		return func(f *foretick.ServerFrame) { // a pet gets another owner
			for _, rows := range g.pets.All(f.World) {
				if players := g.srv.Players(nil); rows.Len() > 0 && len(players) > 0 {
					_ = f.World.Transfer(rows.Entity(0), players[len(players)-1].ID)
					return
				}
			}
		}
	}
	return nil
}

func (g *rich) send(c *clientEnd, n uint16) {
	if err := g.ask.Send(c, chat{n, "can anybody hear me"}); err != nil {
		g.note(err.Error(), uint64(n))
	}
}

// sampler returns a script drawn from a seed, which changes its direction every half second.
func (g *rich) sampler(seed uint64) client.Sampler {
	r := rand.New(rand.NewPCG(seed, 77))
	var c command
	frames := 0
	return client.Sample(&g.cmd, func(v client.View) command {
		if frames++; frames%30 == 1 {
			c.X, c.Y = float32(r.IntN(201)-100)/100, float32(r.IntN(201)-100)/100
			c.Run = r.IntN(3) == 0
			c.Turn = float32(r.IntN(21)-10) / 100
		}
		c.Fire = r.IntN(25) == 0
		c.Aim = g.aim(v)
		return c
	})
}

// aim returns the angle to the nearest body of another player on the screen.
func (g *rich) aim(v client.View) (angle float32) {
	var me place
	if e := g.bodies.FirstOwned(v.World, v.Player); e != ecs.None {
		me = *g.place.Get(v.World, e)
	}
	near := float32(1e9)
	for _, rows := range g.bodies.All(v.World) {
		if rows.Owner() == v.Player {
			continue
		}
		for _, at := range g.place.Slice(rows) {
			if d := length(at.X-me.X, at.Y-me.Y); d < near {
				near, angle = d, float32(math.Atan2(float64(at.Y-me.Y), float64(at.X-me.X)))
			}
		}
	}
	return angle
}
