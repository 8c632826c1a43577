package simtest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
)

// The game that rogues play when [Rogues.New] is nil. Every handler may do what a
// game is allowed to do at any time: kick, ban, change the level, spawn, hide,
// send too much, panic.
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
	// rogueWish has the server do something: one byte for what, one for whom.
	rogueWish struct {
		What uint8
		Whom uint8
	}
)

type rogueGame struct {
	server *foretick.Server
	place  ecs.Component[roguePlace]
	mark   ecs.Component[rogueMark]
	input  ecs.Component[rogueInput]
	body   ecs.Kind
	crate  ecs.Kind
	shot   foretick.Event[lagcomp.Ray]
	news   foretick.Message[rogueNews]
	mail   foretick.Message[rogueMail]
	spark  foretick.Message[rogueNews]
	wish   foretick.Request[rogueWish]
	bodies *ecs.Query
	crates *ecs.Query
	banned [][]byte
	rest   bool // nothing out of the ordinary any more
	told   uint32
}

// rogueCrates is how many entities belong to nobody.
const rogueCrates = 4

// rogueBodies is how many entities a player has at most.
const rogueBodies = 3

// errRogue is what the game panics with on purpose.
var errRogue = errors.New("a panic of the game's own")

func newRogueGame() Player {
	g := &rogueGame{}
	return Player{
		Protocol: g.protocol(), Begin: g.begin, Rest: func(on bool) {
			if g.rest = on; on {
				g.pardon()
			}
		},
		Sample: foretick.Sample(&g.input, func(v foretick.View) rogueInput {
			return rogueInput{X: float32(v.Tick%3) - 1, Fire: v.Tick%9 == 0}
		}),
		Act: func(c *foretick.Client) {
			if c.View().Tick%64 == 7 {
				_ = g.wish.Send(c, rogueWish{What: wishNothing, Whom: uint8(c.View().Tick)}) // too many are dropped
			}
		},
	}
}

func (g *rogueGame) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("rogues", 1)
	p.Channel("mail", netcode.Channel{Reliable: true})
	p.Channel("sparks", netcode.Channel{Repeat: 2})
	p.Component(&g.place, foretick.Predicted)
	p.Component(&g.mark)
	p.Command(&g.input)
	p.Kind(&g.body, "body", &g.place, &g.mark, &g.input)
	p.Kind(&g.crate, "crate", &g.place)
	foretick.Volume(p, &g.place, func(at *roguePlace) lagcomp.Sphere { return lagcomp.Sphere{X: at.X, Y: at.Y, R: 1} })
	foretick.Validate(p, &g.input, g.validate)
	p.Join(g.join)
	p.Leave(g.leave)
	p.Absent(func(f *foretick.Frame, who ecs.Owner) { g.now(f, who, 3, 24) })
	p.Return(func(f *foretick.Frame, who ecs.Owner) { g.now(f, who, 4, 24) })
	p.Level(func(*foretick.Frame, []byte) {})
	p.Shared("move", g.move, ecs.Read(&g.input), ecs.Write(&g.place))
	p.Server("tell", g.tell, ecs.Once())
	foretick.OnServer(p, &g.shot, g.judge, ecs.Create(&g.place, &g.mark, &g.input))
	foretick.OnClient(p, &g.news, func(*foretick.Frame, foretick.Tick, rogueNews) {})
	foretick.OnClient(p, &g.mail, func(*foretick.Frame, foretick.Tick, rogueMail) {}, foretick.Via("mail"))
	foretick.OnClient(p, &g.spark, func(*foretick.Frame, foretick.Tick, rogueNews) {}, foretick.Via("sparks"))
	foretick.OnRequest(p, &g.wish, g.grant)
	g.bodies = ecs.NewQuery(p.Types(), ecs.With(&g.mark))
	g.crates = ecs.NewQuery(p.Types(), ecs.With(&g.place), ecs.Without(&g.mark))
	return p
}

func (g *rogueGame) begin(s *foretick.Server) {
	g.server = s
	g.furnish(s.Frame())
}

func (g *rogueGame) furnish(f *foretick.Frame) {
	for i := range rogueCrates {
		g.place.Get(f.World, f.Spawn(&g.crate, ecs.Nobody)).X = float32(i)
	}
}

func (g *rogueGame) spawn(f *foretick.Frame, who ecs.Owner) {
	e := f.Spawn(&g.body, who)
	g.mark.Get(f.World, e).Mine = uint64(who)
	g.place.Get(f.World, e).Y = float32(who % 60)
}

func (g *rogueGame) join(f *foretick.Frame, who ecs.Owner) {
	if g.one(f, 1, who, 2) {
		g.spawn(f, who)
		g.now(f, who, 2, 12)
		return
	}
	g.now(f, who, 2, 12)
	g.spawn(f, who)
}

func (g *rogueGame) leave(f *foretick.Frame, who ecs.Owner) { g.now(f, who, 5, 24) }

func (g *rogueGame) validate(f *foretick.Frame, who ecs.Owner, in rogueInput) error {
	if in.Fire && g.one(f, 6, who, 200) {
		g.kick(who, transport.Kicked)
		return nil
	}
	if in.X > 0.9 && in.Aim > 3 {
		return errors.New("not so far")
	}
	return nil
}

func (g *rogueGame) move(f *foretick.Frame, rows ecs.Rows) {
	at, in := g.place.Slice(rows), g.input.Slice(rows)
	for i := range at {
		at[i].X = min(max(at[i].X+in[i].X*5*f.DT, -60), 60)
		if in[i].Fire {
			g.shot.Raise(f, rows.Entity(i), lagcomp.Ray2D(at[i].X, at[i].Y, in[i].Aim, 60))
		}
	}
}

func (g *rogueGame) judge(f *foretick.Frame, by ecs.Owner, ray lagcomp.Ray) {
	f.Seen(by).Raycast(ray)
	g.now(f, by, 7, 400)
}

func (g *rogueGame) tell(f *foretick.Frame, _ ecs.Rows) {
	if f.Tick%16 != 0 {
		return
	}
	g.told++
	_ = g.news.Broadcast(f, rogueNews{g.told}) // who does not take it is dropped
	_ = g.spark.Broadcast(f, rogueNews{g.told})
}

// one draws from the tick, a place and a player: true once in n times.
func (g *rogueGame) one(f *foretick.Frame, place uint64, who ecs.Owner, n uint64) bool {
	return !g.rest && f.Rand(place<<32|uint64(who))%n == 0
}

// now does something once in n times.
func (g *rogueGame) now(f *foretick.Frame, who ecs.Owner, place, n uint64) {
	if g.one(f, place, who, n) {
		x := f.Rand(place<<40 | uint64(who))
		_ = g.do(f, who, uint8(x), uint8(x>>8))
	}
}

func (g *rogueGame) grant(f *foretick.Frame, who ecs.Owner, w rogueWish) {
	_ = g.do(f, who, w.What, w.Whom)
}

// What a wish does, modulo wishes.
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

func (g *rogueGame) do(f *foretick.Frame, who ecs.Owner, what, whom uint8) error {
	if g.honest(who) {
		return nil
	}
	other := ecs.Owner(whom % 64)
	switch what % wishes {
	case wishKickSelf:
		g.kick(who, transport.Kicked)
	case wishKick:
		g.kick(other, transport.FirstUserCode+transport.Code(whom))
	case wishBan:
		g.ban(f, who)
	case wishLevel:
		if whom%8 == 0 {
			return g.server.NextLevel([]byte{whom}, g.build)
		}
	case wishSpawn:
		g.spawns(f, who, int(whom%8))
	case wishDestroy:
		g.destroy(f, who)
	case wishMail:
		if g.honest(other) {
			other = who // an honest one is not to drown in mail
		}
		return g.mail.Send(f, other, rogueMail{fmt.Sprintf("%0*d", whom, whom)})
	case wishFlood:
		for range int(whom) * 8 {
			if err := g.mail.Send(f, who, rogueMail{"much"}); err != nil {
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
		g.teleport(f, who)
	case wishKickAll, wishKickTwice:
		g.kickMany(who, what%wishes == wishKickAll)
	}
	return nil
}

// kick drops a player, unless it is an honest one.
func (g *rogueGame) kick(who ecs.Owner, code transport.Code) {
	if !g.honest(who) {
		g.server.Kick(who, code, "the game says so")
	}
}

func (g *rogueGame) kickMany(who ecs.Owner, all bool) {
	g.kick(who, transport.Kicked)
	g.kick(who, transport.FirstUserCode)
	if all {
		g.server.KickIdentity(g.server.Identity(who), "all of them")
		g.kick(who+1, transport.Kicked)
	}
}

// ban keeps an identity out for a while.
func (g *rogueGame) ban(f *foretick.Frame, who ecs.Owner) {
	if id := g.server.Identity(who); g.server.Ban(id, Epoch.Add(f.Time()+2*time.Second), "for a while") {
		g.banned = append(g.banned, id)
	}
}

// pardon ends all bans, which else last until their identity comes back.
func (g *rogueGame) pardon() {
	for _, id := range g.banned {
		g.server.Pardon(id)
	}
	g.banned = g.banned[:0]
}

// honest reports whether a player is one that must not be harmed.
func (g *rogueGame) honest(who ecs.Owner) bool {
	return strings.HasPrefix(string(g.server.Identity(who)), honestIdentity)
}

// build makes what a level begins with.
func (g *rogueGame) build(f *foretick.Frame) {
	g.furnish(f)
	for _, who := range g.server.Players(nil) {
		g.spawn(f, who)
	}
}

// spawns makes more bodies for a player.
func (g *rogueGame) spawns(f *foretick.Frame, who ecs.Owner, n int) {
	has := 0
	for _, rows := range g.bodies.Owned(f.World, who) {
		has += rows.Len()
	}
	for range min(n, rogueBodies-has) {
		g.spawn(f, who)
	}
}

func (g *rogueGame) destroy(f *foretick.Frame, who ecs.Owner) {
	f.World.Lock()
	defer f.World.Unlock()
	for _, rows := range g.bodies.Owned(f.World, who) {
		for i := range rows.Len() {
			f.Destroy(rows.Entity(i))
		}
	}
}

func (g *rogueGame) hide(f *foretick.Frame, from ecs.Owner, visible bool) {
	for _, rows := range g.crates.All(f.World) {
		for i := range rows.Len() {
			f.SetVisible(from, rows.Entity(i), visible)
		}
	}
}

func (g *rogueGame) teleport(f *foretick.Frame, who ecs.Owner) {
	for _, rows := range g.bodies.Owned(f.World, who) {
		for i, at := range g.place.Slice(rows) {
			g.place.Slice(rows)[i].X = -at.X
			f.Cut(rows.Entity(i))
		}
	}
}
