package optiontest

import (
	"errors"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/simtest/campaign"
	"github.com/foretick/foretick/snapshot"
)

type (
	place struct {
		X, Y float32 `net:"min=-50,max=50,step=0.01"`
		Life uint8
	}
	command struct {
		X, Y float32 `net:"min=-1,max=1,step=0.01,sum"`
		Aim  int8    `net:"press"`
		Fire bool    `net:"oneshot,press"`
	}
	purse struct {
		Secret uint64 `net:"owner"`
	}
	word  struct{ N uint16 }
	rank  uint8
	lore  struct{ R rank }
	local struct{ N int }
	fuse  struct{ Left uint8 }
	whole struct{ N uint8 } // written by a system without ecs.Partial
	score struct{ N uint16 }
	sign  struct{ N uint8 } // the only component of some entities
)

// game is one end of a game with the options for which on returns true.
type game struct {
	on    func(name string) bool
	asked map[string]bool // options that the declarations asked for
	until foretick.Tick   // the game rests from this tick on

	place                 ecs.Component[place]
	cmd                   ecs.Component[command]
	purse                 ecs.Component[purse]
	sign                  ecs.Component[sign]
	club                  ecs.Component[word]
	lore                  ecs.Singleton[lore]
	tells                 bool // the server writes lore
	local                 ecs.Component[local]
	fuse                  ecs.Component[fuse]
	whole                 ecs.Component[whole]
	score                 ecs.Singleton[score]
	body, prop, spark     ecs.Prefab
	bodies                *ecs.Query
	said                  foretick.Message[word]
	ask                   foretick.Request[word]
	shot                  foretick.Event[word]
	pieces                []piece
	uses                  uses
	carried               []ecs.Handle // components of bodies that uses declares
	client                *client.Client
	sampled               int
	levels                int
	everywhere            []ecs.Handle // components that bodies and props have
	final, told, requests int
}

// has reports whether an option is on, and records that it was asked for.
func (g *game) has(name string) bool {
	g.asked[name] = true
	return g.on(name)
}

// rate returns the tick rate.
func (g *game) rate() int {
	if g.on("Protocol.SetTickRate") {
		return 60
	}
	return 30
}

func (g *game) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("options", 1)
	if g.has("Protocol.SetTickRate") {
		p.SetTickRate(60)
	}
	g.until = foretick.Tick(play * time.Duration(g.rate()) / time.Second)
	if g.has("Protocol.Stages") {
		p.Stages("early", "late")
	}
	if g.has("Protocol.Hierarchy") {
		p.Hierarchy()
	}
	if g.has("Protocol.CompressionTables") {
		var none snapshot.Statistics
		p.CompressionTables(none.Tables())
	}
	g.components(p)
	g.prefabs(p)
	g.hits(p)
	g.hooks(p)
	g.words(p)
	g.systems(p)
	if g.has("foretick.PredictRemote") {
		var c foretick.RemoteConfig
		if g.has("RemoteConfig.Also") {
			c.Also = append(c.Also, &g.spark)
		}
		if g.has("RemoteConfig.Skip") {
			c.Skip = []string{"count"}
		}
		foretick.PredictRemote(p, &g.cmd, func(*foretick.Frame, ecs.Entity, int, *command) {}, c)
	}
	if g.has("Protocol.InOrder") {
		p.InOrder()
	}
	return p
}

func (g *game) components(p *foretick.Protocol) {
	full := []foretick.ComponentOption{foretick.Predicted()}
	if g.has("foretick.FullPrecision") {
		full = append(full, foretick.FullPrecision())
	}
	p.Component(&g.place, full...)
	p.Component(&g.purse)
	p.Component(&g.sign)
	p.Component(&g.whole, foretick.Predicted())
	if g.on("Protocol.Spawns") || g.on("RemoteConfig.Also") {
		p.Component(&g.fuse, full...)
	}
	p.Command(&g.cmd)
	g.everywhere = []ecs.Handle{&g.place}
	if g.has("Protocol.Audience") {
		club := p.Audience("club")
		if g.has("foretick.For") {
			p.Component(&g.club, foretick.For(club))
			g.everywhere = append(g.everywhere, &g.club)
		}
	}
	g.carried = g.uses.declare(g, p, full)
	for name, make := range pieces {
		if g.has(name) {
			g.pieces = append(g.pieces, make())
			sortLast(g.pieces)
		}
	}
	foreseen := g.has("use predicted tags")
	for _, k := range g.pieces {
		if foreseen && k.foreseeable() {
			p.Component(k.handle(), full...)
		} else {
			p.Component(k.handle())
		}
		g.everywhere = append(g.everywhere, k.handle())
	}
	if g.has("Protocol.LocalComponent") {
		p.LocalComponent(&g.local)
		g.everywhere = append(g.everywhere, &g.local)
	}
	if g.has("Protocol.Singleton") {
		p.Singleton(&g.score)
	}
	var about []ecs.TypeOption
	for name, o := range map[string]ecs.TypeOption{
		"ecs.Copier": ecs.Copier(func(dst, src *lore) { *dst = *src }), "ecs.Enum": ecs.Enum[rank]("squire", "knight"),
		"ecs.Meta": ecs.Meta("group", "story"), "ecs.Named": ecs.Named("Lore"), "ecs.Open": ecs.Open(),
	} {
		if g.has(name) {
			about = append(about, o)
		}
	}
	if g.tells = len(about) > 0; g.tells {
		p.Fail(p.Types().RegisterSingleton(&g.lore, about...))
	}
}

func (g *game) prefabs(p *foretick.Protocol) {
	p.Prefab(&g.body, "body", append(append([]ecs.Handle{&g.cmd, &g.purse, &g.whole}, g.carried...), g.everywhere...)...)
	p.Prefab(&g.prop, "prop", append([]ecs.Handle{&g.sign}, g.everywhere[1:]...)...)
	if g.on("Protocol.Spawns") || g.on("RemoteConfig.Also") {
		p.Prefab(&g.spark, "spark", &g.place, &g.fuse)
	}
	if g.has("Protocol.Asset") {
		p.Asset(&g.prop, "prop.png")
	}
	if g.has("Protocol.ServerAsset") {
		p.ServerAsset(&g.prop, "prop.box")
	}
	if g.has("foretick.Default") {
		foretick.Default(p, &g.body, &g.place, place{X: 3})
	}
	if g.has("Protocol.Interpolated") {
		p.Interpolated(&g.prop)
	}
	if g.has("Protocol.Spawns") {
		var c foretick.SpawnConfig
		c.ClientOnly = g.has("SpawnConfig.ClientOnly")
		for name, fn := range map[string]*func(*foretick.Frame, ecs.Entity){
			"SpawnConfig.OnPredicted": &c.OnPredicted, "SpawnConfig.OnConfirmed": &c.OnConfirmed,
			"SpawnConfig.OnCancelled": &c.OnCancelled, "SpawnConfig.OnRestored": &c.OnRestored,
		} {
			if g.has(name) {
				*fn = func(*foretick.Frame, ecs.Entity) {}
			}
		}
		p.Spawns(&g.spark, c)
	}
}

func (g *game) hits(p *foretick.Protocol) {
	ball := func(v *place) lagcomp.Sphere { return lagcomp.Sphere{X: v.X, Y: v.Y, R: 2} }
	if g.has("Protocol.Shapes") {
		p.Shapes(nil...)
	}
	if g.has("foretick.Hitbox") {
		foretick.Hitbox(p, &g.place, ball)
	}
	if g.has("foretick.Hitboxes") {
		foretick.Hitboxes(p, func(b *foretick.HitboxBuilder) { _ = foretick.HitboxField(b, &g.place) }, &g.place)
	}
	if g.has("foretick.TrackHistory") {
		foretick.TrackHistory(p, &g.whole)
	}
	if g.has("foretick.LifeID") {
		foretick.LifeID(p, &g.place, func(v *place) uint32 { return uint32(v.Life) })
	}
	if g.has("foretick.Interpolate") {
		foretick.Interpolate(p, &g.place, func(_, to place, _ float32) place { return to })
	}
	if g.has("foretick.Interest") {
		c := snapshot.AreaConfig{Enter: 20}
		if g.has("AreaConfig.Enter") {
			c.Enter = 30
		}
		if g.has("AreaConfig.Leave") {
			c.Leave = 40
		}
		if g.has("AreaConfig.Cell") {
			c.Cell = 10
		}
		foretick.Interest(p, &g.place, c, func(v *place) (x, y, z float32) { return v.X, v.Y, 0 })
		if g.has("Protocol.Relevant") {
			p.Relevant(func(*foretick.Frame, foretick.PlayerID, ecs.Entity) snapshot.Relevance { return snapshot.ByDistance }, &g.body)
		}
	}
	if g.has("foretick.Decay") {
		foretick.Decay(p, &g.cmd, func(c *command, _ int) { c.X /= 2 })
	}
	if g.has("foretick.CheckCommand") {
		foretick.CheckCommand(p, &g.cmd, func(f *foretick.Frame, _ foretick.PlayerID, c command) error {
			if f.Tick%61 == 3 {
				return errors.New("not now")
			}
			return nil
		})
	}
}

func (g *game) hooks(p *foretick.Protocol) {
	p.OnJoin(g.enter)
	none := func(*foretick.ServerFrame, foretick.PlayerID) {}
	for name, hook := range map[string]func(func(*foretick.ServerFrame, foretick.PlayerID)){
		"Protocol.OnDisconnect": p.OnDisconnect, "Protocol.OnReconnect": p.OnReconnect, "Protocol.OnLeave": p.OnLeave,
	} {
		if g.has(name) {
			hook(none)
		}
	}
	if g.has("Protocol.OnLevel") {
		p.OnLevel(func(*foretick.Frame, []byte) { g.levels++ })
	}
	seen := func(*foretick.Frame, ecs.Entity) {}
	if g.has("Protocol.OnAppear") {
		terms := []ecs.Term{ecs.With(&g.place)}
		if g.has("foretick.OfPrefab") {
			terms = append(terms, foretick.OfPrefab(&g.body))
		}
		p.OnAppear(seen, terms...)
	}
	if g.has("Protocol.OnVanish") {
		p.OnVanish(seen, ecs.With(&g.place))
	}
}

// enter spawns a player's body, and a thing that the body carries.
func (g *game) enter(f *foretick.ServerFrame, player foretick.PlayerID) {
	f.SetTeam(player, uint8(1+player%2))
	e := f.Spawn(&g.body, player)
	g.purse.Get(f.World, e).Secret = campaign.Secret(player)
	f.SetEntityTeam(e, uint8(1+player%2))
	if g.on("Protocol.Hierarchy") {
		_ = f.World.SetParent(f.Spawn(&g.prop, player), e)
	}
}

// fill spawns the first entities of a match or of a level.
func (g *game) fill(f *foretick.ServerFrame) {
	for range 3 {
		f.Spawn(&g.prop, ecs.Nobody)
	}
	g.uses.fill(g, f)
}

func (g *game) words(p *foretick.Protocol) {
	channel := ""
	if g.has("Protocol.Channel") {
		c := netcode.Channel{Reliable: g.has("Channel.Reliable")}
		if g.has("Channel.Priority") {
			c.Priority = 3
		}
		if g.has("Channel.Queue") {
			c.Queue = 96 << 10
		}
		if g.has("Channel.Repeat") {
			c.Repeat = 2
		}
		if g.has("Channel.MaxAge") {
			c.MaxAge = 300 * time.Millisecond
		}
		p.Channel("talk", c)
		channel = "talk"
	}
	if g.has("Message.OnClient") {
		if g.has("Message.Channel") {
			g.said.Channel = channel
		}
		g.said.OnClient(p, func(*foretick.Frame, foretick.Tick, word) {})
		p.Server("say", func(f *foretick.ServerFrame, _ ecs.Rows) {
			if f.Tick%40 == 1 && f.Tick < g.until {
				g.said.Broadcast(f, word{uint16(f.Tick)})
			}
		}, ecs.Once())
	}
	if g.has("Request.Handle") {
		g.ask.Handle(p, func(*foretick.ServerFrame, foretick.PlayerID, word) { g.requests++ })
	}
	if g.has("Event.OnServer") {
		g.shot.OnServer(p, func(*foretick.ServerFrame, foretick.By, word) { g.told++ })
	}
	if g.has("Event.OnFinal") {
		g.shot.OnFinal(p, func(*foretick.ServerFrame, foretick.By, word) { g.final++ })
	}
	for name, on := range map[string]func(*foretick.Protocol, func(*foretick.Frame, foretick.By, word)){
		"Event.OnPredicted": g.shot.OnPredicted, "Event.OnConfirmed": g.shot.OnConfirmed, "Event.OnCancelled": g.shot.OnCancelled,
	} {
		if g.has(name) {
			on(p, func(*foretick.Frame, foretick.By, word) {})
		}
	}
}

// sampler returns the script of a player's input, which changes every half second.
func (g *game) sampler(player int) client.Sampler {
	return client.Sample(&g.cmd, func(v client.View) command {
		if g.sampled++; v.Tick+20 > g.until {
			return command{}
		}
		if g.sampled%50 == 7 && g.on("Request.Handle") && g.client != nil && v.State == client.Playing {
			_ = g.ask.Send(g.client, word{uint16(g.sampled)})
		}
		way := float32(int(v.Tick)/15%3-1) / 8
		return command{X: way, Y: -way / 2, Aim: int8(v.Tick), Fire: g.sampled%(23+player) == 0}
	})
}
