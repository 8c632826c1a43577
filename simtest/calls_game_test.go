package simtest_test

import (
	"context"
	"errors"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

type (
	callerPlace struct {
		X, Y float32 `net:"min=-100,max=100,step=0.01,lerp"`
		Life uint8
	}
	callerMove struct {
		X    float32 `net:"min=-1,max=1,step=0.0078125"`
		Fire bool    `net:"oneshot"`
	}
	callerWord struct{ N uint8 }
)

// caller is a game with every function that a game can pass to the library. Each reports by
// name that it runs.
type caller struct {
	place  ecs.Component[callerPlace]
	cmd    ecs.Component[callerMove]
	spare  ecs.Component[callerWord]
	bodies *ecs.Query
	body   ecs.Prefab
	ball   ecs.Prefab
	shot   foretick.Event[callerWord]
	word   foretick.Message[callerWord]
	ask    foretick.Request[callerWord]
	runs   func(hook string, f *foretick.Frame)
	deny   bool // the server spawns no balls
}

func (g *caller) protocol() *foretick.Protocol {
	runs := func(hook string, f *foretick.Frame) { g.runs(hook, f) }
	player := func(hook string) func(*foretick.ServerFrame, foretick.PlayerID) {
		return func(f *foretick.ServerFrame, _ foretick.PlayerID) { runs(hook, f.Frame) }
	}
	raised := func(hook string) func(*foretick.ServerFrame, foretick.By, callerWord) {
		return func(f *foretick.ServerFrame, _ foretick.By, _ callerWord) { runs(hook, f.Frame) }
	}
	shown := func(hook string) func(*foretick.Frame, foretick.By, callerWord) {
		return func(f *foretick.Frame, _ foretick.By, _ callerWord) { runs(hook, f) }
	}
	entity := func(hook string) func(*foretick.Frame, ecs.Entity) {
		return func(f *foretick.Frame, _ ecs.Entity) { runs(hook, f) }
	}
	p := foretick.NewProtocol("caller", 1)
	p.Component(&g.place, foretick.Predicted(), foretick.FullPrecision())
	p.Command(&g.cmd)
	p.Component(&g.spare)
	p.Prefab(&g.body, "body", &g.place, &g.cmd, &g.spare)
	g.bodies = p.Query(ecs.With(&g.cmd, &g.place))
	p.Prefab(&g.ball, "ball", &g.place)
	p.Spawns(&g.ball, foretick.SpawnConfig{OnPredicted: entity("SpawnConfig.OnPredicted"), OnConfirmed: entity("SpawnConfig.OnConfirmed"),
		OnCancelled: entity("SpawnConfig.OnCancelled"), OnRestored: entity("SpawnConfig.OnRestored")})
	p.OnJoin(func(f *foretick.ServerFrame, who foretick.PlayerID) {
		f.Spawn(&g.body, who)
		runs("Protocol.OnJoin", f.Frame)
	})
	p.OnLeave(player("Protocol.OnLeave"))
	p.OnDisconnect(player("Protocol.OnDisconnect"))
	p.OnReconnect(player("Protocol.OnReconnect"))
	p.OnLevel(func(f *foretick.Frame, _ []byte) { runs("Protocol.OnLevel", f) })
	p.OnAppear(entity("Protocol.OnAppear"))
	p.OnVanish(entity("Protocol.OnVanish"))
	foretick.CheckCommand(p, &g.cmd, func(f *foretick.Frame, _ foretick.PlayerID, cmd callerMove) error {
		runs("CheckCommand", f)
		if cmd.X < -0.9 {
			return errors.New("too fast")
		}
		return nil
	})
	foretick.Decay(p, &g.cmd, func(*callerMove, int) { runs("Decay", nil) })
	foretick.Hitboxes(p, func(*foretick.HitboxBuilder) { runs("Hitboxes", nil) }, &g.spare)
	foretick.Hitbox(p, &g.place, func(at *callerPlace) lagcomp.Sphere {
		runs("Hitbox", nil)
		return lagcomp.Sphere{X: at.X, R: 0.5}
	})
	foretick.LifeID(p, &g.place, func(at *callerPlace) uint32 {
		runs("LifeID", nil)
		return uint32(at.Life)
	})
	foretick.Interest(p, &g.place, snapshot.AreaConfig{Enter: 300}, func(at *callerPlace) (x, y, z float32) {
		runs("Interest", nil)
		return at.X, at.Y, 0
	})
	p.Relevant(func(f *foretick.Frame, _ foretick.PlayerID, _ ecs.Entity) snapshot.Relevance {
		runs("Protocol.Relevant", f)
		return snapshot.ByDistance
	}, &g.ball)
	foretick.Interpolate(p, &g.place, func(from, to callerPlace, t float32) callerPlace {
		runs("Interpolate", nil)
		to.X = from.X + t*(to.X-from.X)
		return to
	})
	foretick.PredictRemote(p, &g.cmd, func(f *foretick.Frame, _ ecs.Entity, _ int, _ *callerMove) { runs("PredictRemote", f) }, foretick.RemoteConfig{})
	g.shot.OnServer(p, raised("Event.OnServer"))
	g.shot.OnFinal(p, raised("Event.OnFinal"))
	g.shot.OnPredicted(p, shown("Event.OnPredicted"))
	g.shot.OnConfirmed(p, shown("Event.OnConfirmed"))
	g.shot.OnCancelled(p, shown("Event.OnCancelled"))
	g.word.OnClient(p, func(f *foretick.Frame, _ foretick.Tick, _ callerWord) { runs("Message.OnClient", f) })
	g.ask.Handle(p, func(f *foretick.ServerFrame, who foretick.PlayerID, v callerWord) {
		_ = g.word.Send(f, who, v)
		for _, rows := range g.bodies.Owned(f.World, who) { // a client cannot predict this
			g.place.Slice(rows)[0].Y += 5
		}
		runs("Request.Handle", f.Frame)
	})
	p.Shared("move", func(f *foretick.Frame, rows ecs.Rows) {
		at, cmd := g.place.Slice(rows), g.cmd.Slice(rows)
		for i := range at {
			at[i].X = min(max(at[i].X+cmd[i].X*f.DT, -90), 90)
			if cmd[i].Fire && !(g.deny && f.IsServer()) {
				g.shot.Raise(f, rows.Entity(i), callerWord{1})
				f.SpawnBy(rows.Entity(i), &g.ball)
			}
		}
		runs("Protocol.Shared", f)
	}, ecs.Read(&g.cmd), ecs.Write(&g.place), ecs.Create(&g.place))
	p.Server("rule", func(f *foretick.ServerFrame, _ ecs.Rows) { runs("Protocol.Server", f.Frame) }, ecs.Once())
	p.Render("look", func(f *foretick.Frame, _ ecs.Rows) { runs("Protocol.Render", f) }, ecs.Once(), ecs.Read(&g.place))
	return p
}

// callSite is a moment of a match in which a function of the game makes a call.
type callSite struct {
	m      *simtest.Match
	g      *caller
	srv    *server.Server
	client *client.Client
	frame  *foretick.Frame // frame that the function gets, or else the frame of its end
	player foretick.PlayerID
}

// forServer returns the frame as a handler of the server has it, also where a shared system runs: a game may
// keep one.
func (k *callSite) forServer() *foretick.ServerFrame {
	return &foretick.ServerFrame{Frame: k.frame}
}

func (k *callSite) own() ecs.Entity {
	for _, rows := range ecs.NewQuery(k.frame.World.Types(), ecs.With(&k.g.place)).All(k.frame.World) {
		return rows.Entity(0)
	}
	return ecs.None
}

// stopped returns a context that has ended.
func stopped() context.Context {
	ctx, end := context.WithCancel(context.Background())
	end()
	return ctx
}

// callable has calls of all methods of a server, a client and a frame, by the methods' names.
var callable = map[string]func(k *callSite) error{
	"Server.Ban":             func(k *callSite) error { k.srv.Ban([]byte("somebody"), time.Time{}, "banned"); return nil },
	"Server.Close":           func(k *callSite) error { return k.srv.Close("over") },
	"Server.CloseForRestart": func(k *callSite) error { return k.srv.CloseForRestart("again") },
	"Server.Do":              func(k *callSite) error { return k.srv.Do("call", func(*foretick.ServerFrame) {}) },
	"Server.Drain":           func(k *callSite) error { k.srv.Drain("full"); return nil },
	"Server.Draw":            func(k *callSite) error { k.srv.Draw(time.Second / 60); return nil },
	"Server.Figures":         func(k *callSite) error { k.srv.Figures(&stats.Server{}); return nil },
	"Server.Frame":           func(k *callSite) error { k.srv.Frame(); return nil },
	"Server.Identity":        func(k *callSite) error { k.srv.Identity(k.srv.Player(k.player)); return nil },
	"Server.KickIdentity":    func(k *callSite) error { k.srv.KickIdentity([]byte("somebody"), "out"); return nil },
	"Server.Observers": func(k *callSite) error {
		var errs []error
		for _, o := range k.srv.Observers(nil) {
			errs = append(errs, k.srv.KickObserver(o.ID, "out"))
		}
		return errors.Join(errs...)
	},
	"Server.Losses": func(k *callSite) error { k.srv.Losses(nil); return nil },
	"Server.Next":   func(k *callSite) error { k.srv.Next(); return nil },
	"Server.NextLevel": func(k *callSite) error {
		return k.srv.NextLevel([]byte("next"), func(f *foretick.ServerFrame) {
			for _, player := range k.srv.Players(nil) {
				f.Spawn(&k.g.body, player.ID)
			}
		})
	},
	"Server.Player":       func(k *callSite) error { k.srv.Player(k.player); return nil },
	"Server.PlayerStats":  func(k *callSite) error { k.srv.PlayerStats(k.srv.Player(k.player)); return nil },
	"Server.KickObserver": func(k *callSite) error { return k.srv.KickObserver(1, "out") },
	"Server.DoFor": func(k *callSite) error {
		return k.srv.DoFor(k.srv.Player(k.player), "for a player", func(*foretick.ServerFrame) {})
	},
	"Server.Players":          func(k *callSite) error { k.srv.Players(nil); return nil },
	"Server.Record":           func(k *callSite) error { k.srv.Record(new(int)); return nil },
	"Server.RemeasureLatency": func(k *callSite) error { k.srv.RemeasureLatency(k.srv.Player(k.player)); return nil },
	"Server.Run":              func(k *callSite) error { return k.srv.Run(stopped()) },
	"Server.SetLateInputs":    func(k *callSite) error { k.srv.SetLateInputs(k.srv.Player(k.player), false); return nil },
	"Server.Shutdown":         func(k *callSite) error { return k.srv.Shutdown("over", 100*time.Millisecond) },
	"Server.Stats":            func(k *callSite) error { k.srv.Stats(); return nil },
	"Server.Step":             func(k *callSite) error { k.srv.Step(k.m.Now().Add(time.Second)); return nil },
	"Server.Tick":             func(k *callSite) error { k.srv.Tick(); return nil },
	"Server.Traffic":          func(k *callSite) error { k.srv.Traffic(); return nil },
	"Server.Unban":            func(k *callSite) error { k.srv.Unban([]byte("somebody")); return nil },
	"Server.World":            func(k *callSite) error { k.srv.World(); return nil },

	"Client.BuildDifference": func(k *callSite) error { k.client.BuildDifference(); return nil },
	"Client.Close":           func(k *callSite) error { return k.client.Close() },
	"Client.Configure":       func(k *callSite) error { return k.client.Configure(20, 100000) },
	"Client.Follow":          func(k *callSite) error { k.client.Follow(k.player); return nil },
	"Client.Losses":          func(k *callSite) error { k.client.Losses(nil); return nil },
	"Client.ResumeToken":     func(k *callSite) error { k.client.ResumeToken(); return nil },
	"Client.Run":             func(k *callSite) error { return k.client.Run(stopped(), time.Millisecond, nil) },
	"Client.SetEye":          func(k *callSite) error { k.client.SetEye(1, 2, 3); return nil },
	"Client.SetTechniques":   func(k *callSite) error { return k.client.SetTechniques(client.Techniques{NoSmoothing: true}) },
	"Client.Stats":           func(k *callSite) error { k.client.Stats(); return nil },
	"Client.Step":            func(k *callSite) error { k.client.Step(k.m.Now()); return nil },
	"Client.View":            func(k *callSite) error { k.client.View(); return nil },

	"ServerFrame.Ban":           func(k *callSite) error { k.forServer().Ban(k.player, time.Time{}, "banned"); return nil },
	"ServerFrame.ClearEye":      func(k *callSite) error { k.forServer().ClearEye(k.player); return nil },
	"Frame.Destroy":             func(k *callSite) error { k.frame.Destroy(k.own()); return nil },
	"Frame.DrawnPart":           func(k *callSite) error { k.frame.DrawnPart(k.player); return nil },
	"Frame.Final":               func(k *callSite) error { k.frame.Final(); return nil },
	"Frame.IsServer":            func(k *callSite) error { k.frame.IsServer(); return nil },
	"ServerFrame.Kick":          func(k *callSite) error { k.forServer().Kick(k.player, transport.Kicked, "out"); return nil },
	"Frame.PrefabOf":            func(k *callSite) error { k.frame.PrefabOf(k.own()); return nil },
	"Frame.Present":             func(k *callSite) error { k.frame.Present(); return nil },
	"Frame.Rand":                func(k *callSite) error { k.frame.Rand(1); return nil },
	"Frame.Rewind":              func(k *callSite) error { k.frame.Rewind(k.player); return nil },
	"Frame.RewindBehind":        func(k *callSite) error { k.frame.RewindBehind(k.player, 2); return nil },
	"Frame.RewindTo":            func(k *callSite) error { k.frame.RewindTo(k.player, k.frame.Tick-2, 0); return nil },
	"ServerFrame.SetAudience":   func(k *callSite) error { k.forServer().SetAudience(k.player, k.own(), 0, true); return nil },
	"ServerFrame.SetEntityTeam": func(k *callSite) error { k.forServer().SetEntityTeam(k.own(), 2); return nil },
	"ServerFrame.SetEye":        func(k *callSite) error { k.forServer().SetEye(k.player, 1, 2, 3); return nil },
	"ServerFrame.SetGroup":      func(k *callSite) error { k.forServer().SetGroup(k.own(), k.own()); return nil },
	"ServerFrame.SetPredicted":  func(k *callSite) error { k.forServer().SetPredicted(k.own(), false); return nil },
	"ServerFrame.SetTeam":       func(k *callSite) error { k.forServer().SetTeam(k.player, 2); return nil },
	"ServerFrame.SetVisible":    func(k *callSite) error { k.forServer().SetVisible(k.player, k.own(), false); return nil },
	"Frame.Simulates":           func(k *callSite) error { k.frame.Simulates(k.own()); return nil },
	"ServerFrame.Spawn":         func(k *callSite) error { k.forServer().Spawn(&k.g.ball, ecs.Nobody); return nil },
	"Frame.SpawnBy":             func(k *callSite) error { k.frame.SpawnBy(k.own(), &k.g.ball); return nil },
	"Frame.Teleport":            func(k *callSite) error { k.frame.Teleport(k.own()); return nil },
	"Frame.Time":                func(k *callSite) error { k.frame.Time(); return nil },
}

var callLink = sim.Link{Latency: 20 * time.Millisecond}
