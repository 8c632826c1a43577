package campaign

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport"
)

// The game that rogues play when [Rogues.New] is nil. Every handler may do
// anything that a game may do: kick, ban, change the level, spawn, hide, send
// too much, panic.
type (
	roguePlace struct {
		X, Y float32 `net:"min=-64,max=64,step=0.01,lerp"`
	}
	rogueMark struct {
		Open uint32
		Mine uint64 `net:"owner"`
	}
	rogueInput struct {
		X    float32 `net:"min=-1,max=1,step=0.0078125"`
		Aim  float32 `net:"angle,bits=12"`
		Fire bool    `net:"oneshot"`
	}
	rogueNews struct{ N uint32 }
	rogueMail struct {
		Text string `net:"max=200"`
	}
	// rogueWish asks the server to do something: one byte for the action, one
	// for its target.
	rogueWish struct {
		What uint8
		Whom uint8
	}
)

type rogueGame struct {
	server *server.Server
	place  ecs.Component[roguePlace]
	mark   ecs.Component[rogueMark]
	input  ecs.Component[rogueInput]
	body   ecs.Prefab
	crate  ecs.Prefab
	shot   foretick.Event[lagcomp.Ray]
	news   foretick.Message[rogueNews]
	mail   foretick.Message[rogueMail]
	spark  foretick.Message[rogueNews]
	wish   foretick.Request[rogueWish]
	bodies *ecs.Query
	crates *ecs.Query
	banned [][]byte
	rest   bool // the game does nothing unusual any more
	told   uint32
}

// rogueCrates is the number of entities without an owner.
const rogueCrates = 4

// rogueBodies is the most entities of one player.
const rogueBodies = 3

// errRogue is the value of the game's intentional panics.
var errRogue = errors.New("a panic of the game's own")

func newRogueGame() simtest.Player {
	g := &rogueGame{}
	return simtest.Player{
		Protocol: g.protocol(), Begin: g.beginGame, Rest: func(on bool) {
			if g.rest = on; on {
				g.unban()
			}
		},
		Sample: client.Sample(&g.input, func(v client.View) rogueInput {
			return rogueInput{X: float32(v.Tick%3) - 1, Fire: v.Tick%9 == 0}
		}),
		Act: func(c *client.Client) {
			if c.View().Tick%64 == 7 {
				_ = g.wish.Send(c, rogueWish{What: wishNothing, Whom: uint8(c.View().Tick)}) // Send fails if too many requests are queued
			}
		},
	}
}

func (g *rogueGame) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("rogues", 1)
	p.Channel("mail", netcode.Channel{Reliable: true})
	p.Channel("sparks", netcode.Channel{Repeat: 2})
	p.Component(&g.place, foretick.Predicted())
	p.Component(&g.mark)
	p.Command(&g.input)
	p.Prefab(&g.body, "body", &g.place, &g.mark, &g.input)
	p.Prefab(&g.crate, "crate", &g.place)
	foretick.Hitbox(p, &g.place, func(at *roguePlace) lagcomp.Sphere { return lagcomp.Sphere{X: at.X, Y: at.Y, R: 1} })
	foretick.CheckCommand(p, &g.input, g.validateInput)
	p.OnJoin(g.joinPlayer)
	p.OnLeave(g.playerLeft)
	p.OnDisconnect(func(f *foretick.ServerFrame, player foretick.PlayerID) { g.now(f, player, 3, 24) })
	p.OnReconnect(func(f *foretick.ServerFrame, player foretick.PlayerID) { g.now(f, player, 4, 24) })
	p.OnLevel(func(*foretick.Frame, []byte) {})
	p.Shared("move", g.moveBodies, ecs.Read(&g.input), ecs.Write(&g.place))
	p.Server("tell", g.sendNews, ecs.Once())
	g.shot.OnServer(p, g.judgeShot, ecs.Create(&g.place, &g.mark, &g.input))
	g.news.OnClient(p, func(*foretick.Frame, foretick.Tick, rogueNews) {})
	g.mail.Channel = "mail"
	g.mail.OnClient(p, func(*foretick.Frame, foretick.Tick, rogueMail) {})
	g.spark.Channel = "sparks"
	g.spark.OnClient(p, func(*foretick.Frame, foretick.Tick, rogueNews) {})
	g.wish.Handle(p, g.grant)
	g.bodies = p.Query(ecs.With(&g.mark))
	g.crates = p.Query(ecs.With(&g.place), ecs.Without(&g.mark))
	return p
}

func (g *rogueGame) beginGame(s *server.Server) {
	g.server = s
	g.furnish(s.Frame())
}

func (g *rogueGame) furnish(f *foretick.ServerFrame) {
	for i := range rogueCrates {
		g.place.Get(f.World, f.Spawn(&g.crate, ecs.Nobody)).X = float32(i)
	}
}

func (g *rogueGame) spawnBody(f *foretick.ServerFrame, player foretick.PlayerID) {
	e := f.Spawn(&g.body, player)
	g.mark.Get(f.World, e).Mine = uint64(player)
	g.place.Get(f.World, e).Y = float32(player % 60)
}

func (g *rogueGame) joinPlayer(f *foretick.ServerFrame, player foretick.PlayerID) {
	if g.one(f.Frame, 1, player, 2) {
		g.spawnBody(f, player)
		g.now(f, player, 2, 12)
		return
	}
	g.now(f, player, 2, 12)
	g.spawnBody(f, player)
}

func (g *rogueGame) playerLeft(f *foretick.ServerFrame, player foretick.PlayerID) {
	g.now(f, player, 5, 24)
}

func (g *rogueGame) validateInput(f *foretick.Frame, player foretick.PlayerID, in rogueInput) error {
	if in.Fire && g.one(f, 6, player, 200) {
		g.kick(player, transport.Kicked)
		return nil
	}
	if in.X > 0.9 && in.Aim > 3 {
		return errors.New("not so far")
	}
	return nil
}

func (g *rogueGame) moveBodies(f *foretick.Frame, rows ecs.Rows) {
	at, in := g.place.Slice(rows), g.input.Slice(rows)
	for i := range at {
		at[i].X = min(max(at[i].X+in[i].X*5*f.DT, -60), 60)
		if in[i].Fire {
			g.shot.Raise(f, rows.Entity(i), lagcomp.Ray2D(at[i].X, at[i].Y, in[i].Aim, 60))
		}
	}
}

func (g *rogueGame) judgeShot(f *foretick.ServerFrame, by foretick.By, ray lagcomp.Ray) {
	f.Rewind(by.Player).Raycast(ray)
	g.now(f, by.Player, 7, 400)
}

func (g *rogueGame) sendNews(f *foretick.ServerFrame, _ ecs.Rows) {
	if f.Tick%16 != 0 {
		return
	}
	g.told++
	g.news.Broadcast(f, rogueNews{g.told})
	g.spark.Broadcast(f, rogueNews{g.told})
}

// one returns true once in n times on average, drawn from the tick, a number for the place in
// the code, and the player.
func (g *rogueGame) one(f *foretick.Frame, place uint64, player foretick.PlayerID, n uint64) bool {
	return !g.rest && f.Rand(place<<32|uint64(player))%n == 0
}

// now does a random thing once in n times on average.
func (g *rogueGame) now(f *foretick.ServerFrame, player foretick.PlayerID, place, n uint64) {
	if g.one(f.Frame, place, player, n) {
		x := f.Rand(place<<40 | uint64(player))
		_ = g.do(f, player, uint8(x), uint8(x>>8))
	}
}

func (g *rogueGame) grant(f *foretick.ServerFrame, player foretick.PlayerID, w rogueWish) {
	_ = g.do(f, player, w.What, w.Whom)
}

// The action of a wish, modulo wishes.
const (
	wishNothing = iota
	wishKickSelf
	wishKick
	wishBan
	wishLevel
	wishSpawn
	wishDestroy
	wishMail
	wishFlood
	wishPanic
	wishHide
	wishTeleport
	wishKickAll
	wishKickTwice
	wishes
)

func (g *rogueGame) do(f *foretick.ServerFrame, player foretick.PlayerID, what, whom uint8) error {
	if g.honest(player) {
		return nil
	}
	other := foretick.PlayerID(whom % 64)
	switch what % wishes {
	case wishKickSelf:
		g.kick(player, transport.Kicked)
	case wishKick:
		g.kick(other, transport.FirstUserCode+transport.Code(whom))
	case wishBan:
		g.ban(f.Frame, player)
	case wishLevel:
		if whom%8 == 0 {
			return g.server.NextLevel([]byte{whom}, g.build)
		}
	case wishSpawn:
		g.spawns(f, player, int(whom%8))
	case wishDestroy:
		g.destroyBodies(f.Frame, player)
	case wishMail:
		if g.honest(other) {
			other = player // an honest player must not get too much mail
		}
		return g.mail.Send(f, other, rogueMail{fmt.Sprintf("%0*d", whom, whom)})
	case wishFlood:
		for range int(whom) * 8 {
			if err := g.mail.Send(f, player, rogueMail{"much"}); err != nil {
				return err
			}
		}
	case wishPanic:
		panic(errRogue)
	case wishHide:
		if !g.honest(other) {
			g.hide(f, other, whom&1 == 0)
		}
	case wishTeleport:
		g.teleport(f.Frame, player)
	case wishKickAll, wishKickTwice:
		g.kickMany(player, what%wishes == wishKickAll)
	}
	return nil
}

// kick drops a player, unless it is an honest one.
func (g *rogueGame) kick(player foretick.PlayerID, code transport.Code) {
	if !g.honest(player) {
		g.server.Frame().Kick(player, code, "the game says so")
	}
}

func (g *rogueGame) kickMany(player foretick.PlayerID, all bool) {
	g.kick(player, transport.Kicked)
	g.kick(player, transport.FirstUserCode)
	if all {
		g.server.KickIdentity(g.server.Identity(g.server.Player(player)), "all of them")
		g.kick(player+1, transport.Kicked)
	}
}

// ban bans an identity for a while.
func (g *rogueGame) ban(f *foretick.Frame, player foretick.PlayerID) {
	if id := g.server.Identity(g.server.Player(player)); g.server.Ban(id, simtest.Epoch.Add(f.Time()+2*time.Second), "for a while") {
		g.banned = append(g.banned, id)
	}
}

// unban ends all bans, which otherwise last until their identity comes back.
func (g *rogueGame) unban() {
	for _, id := range g.banned {
		g.server.Unban(id)
	}
	g.banned = g.banned[:0]
}

// honest reports whether a player is one that must not be harmed.
func (g *rogueGame) honest(player foretick.PlayerID) bool {
	return strings.HasPrefix(string(g.server.Identity(g.server.Player(player))), honestIdentity)
}

// build creates the contents of a new level.
func (g *rogueGame) build(f *foretick.ServerFrame) {
	g.furnish(f)
	for _, player := range g.server.Players(nil) {
		g.spawnBody(f, player.ID)
	}
}

// spawns creates more bodies for a player.
func (g *rogueGame) spawns(f *foretick.ServerFrame, player foretick.PlayerID, n int) {
	has := 0
	for _, rows := range g.bodies.Owned(f.World, player) {
		has += rows.Len()
	}
	for range min(n, rogueBodies-has) {
		g.spawnBody(f, player)
	}
}

func (g *rogueGame) destroyBodies(f *foretick.Frame, player foretick.PlayerID) {
	ecs.Engine(f.World).Lock()
	defer ecs.Engine(f.World).Unlock()
	for _, rows := range g.bodies.Owned(f.World, player) {
		for i := range rows.Len() {
			f.Destroy(rows.Entity(i))
		}
	}
}

func (g *rogueGame) hide(f *foretick.ServerFrame, from foretick.PlayerID, visible bool) {
	for _, rows := range g.crates.All(f.World) {
		for i := range rows.Len() {
			f.SetVisible(from, rows.Entity(i), visible)
		}
	}
}

func (g *rogueGame) teleport(f *foretick.Frame, player foretick.PlayerID) {
	for _, rows := range g.bodies.Owned(f.World, player) {
		for i, at := range g.place.Slice(rows) {
			g.place.Slice(rows)[i].X = -at.X
			f.Teleport(rows.Entity(i))
		}
	}
}
