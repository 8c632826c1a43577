package game

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

// lives is the feature for spawning, stuns, damage, deaths and respawns.
type lives struct{ g *Game }

// Declare adds its systems.
func (m lives) Declare(p *foretick.Protocol) {
	g := m.g
	p.OnJoin(g.join)
	p.Server("begin", g.begin, ecs.Stage(stageRules), ecs.Once(), ecs.Before("wake"))
	p.Shared("wake", g.wake, ecs.Stage(stageRules), ecs.Write(&g.Status))
	p.Server("stun", g.stun, ecs.Stage(stageRules), ecs.Write(&g.Status), ecs.With(&g.Team), ecs.After("wake"))
	p.Server("respawn", g.respawn, ecs.Stage(stageWorld), ecs.Write(&g.Status, &g.Life, &g.Pos, &g.Vel, &g.HP, &g.Gun))
	p.Server("beat", g.beat, ecs.Stage(stageWorld), ecs.Once())
	p.Shared("stepped", g.stepped, ecs.Stage(stageWatch), ecs.Read(&g.Pos, &g.Vel, &g.Face, &g.Status, &g.Gun))
	p.Render("screen", g.screen, ecs.Read(&g.Pos, &g.Status, &g.Team))
}

func (g *Game) join(f *foretick.ServerFrame, player foretick.PlayerID) {
	e := f.Spawn(&g.Avatar, player)
	g.Team.Get(f.World, e).ID = uint8(player % 2)
	*g.Pos.Get(f.World, e) = g.birthplace(f.Frame, uint64(player))
	g.anew(f.Frame, player, "join")
}

// begin reports that a tick begins, or runs again.
func (g *Game) begin(f *foretick.ServerFrame, _ ecs.Rows) {
	if g.Watch.Began != nil {
		defer f.World.Guard(f.World.Guard(false)) // the report may read anything
		g.Watch.Began(f.Frame)
	}
}

// quiet reports whether the match comes to rest.
func (g *Game) quiet(f *foretick.Frame) bool { return g.QuietFrom != 0 && f.Tick >= g.QuietFrom }

// anew reports that a body was created or reset.
func (g *Game) anew(f *foretick.Frame, player foretick.PlayerID, by string) {
	if g.Watch.Born != nil {
		g.Watch.Born(f, player, by)
	}
}

// birthplace draws a free place on the field.
func (g *Game) birthplace(f *foretick.Frame, salt uint64) Position {
	r := f.Rand(salt + 1000)
	at := Position{X: float32(r%3200)/100 - 16, Y: float32(r>>32%3200)/100 - 16}
	collide(&at.X, &at.Y, BodyRadius)
	return at
}

// wake lets stuns expire.
func (g *Game) wake(_ *foretick.Frame, rows ecs.Rows) {
	status := g.Status.Slice(rows)
	for i := range status {
		if status[i].Stun > 0 {
			status[i].Stun--
		}
	}
}

// stun hits about every other second at random on the server: no client can
// predict it.
func (g *Game) stun(f *foretick.ServerFrame, rows ecs.Rows) {
	if g.opt.Peaceful || g.quiet(f.Frame) {
		return
	}
	status := g.Status.Slice(rows)
	for i := range status {
		odds := uint64(g.ticks(42))
		if status[i].Dead || status[i].Stun > 0 || f.Rand(uint64(rows.Owner()))%odds != 0 {
			continue
		}
		status[i].Stun = uint8(g.ticks(stunTicks))
		if g.Watch.Stunned != nil {
			g.Watch.Stunned(f.Frame, rows.Owner())
		}
	}
}

// hurt removes health, kills at zero, and sends the victim a report.
func (g *Game) hurt(f *foretick.ServerFrame, target ecs.Entity, points int16, told Hurt) {
	hp, status := g.HP.Find(f.World, target), g.Status.Find(f.World, target)
	if hp == nil || status == nil || status.Dead || g.opt.Peaceful || g.quiet(f.Frame) {
		return
	}
	life := g.Life.Get(f.World, target)
	told.ID = life.Told + 1
	if g.Hurt.Send(f, f.World.Owner(target), told) == nil {
		life.Told++
	}
	if hp.Points -= points; hp.Points > 0 {
		return
	}
	hp.Points, status.Dead = 0, true
	life.Respawn = uint16(g.ticks(respawnTicks))
	life.Deaths++
	if g.Watch.Died != nil {
		g.Watch.Died(f.Frame, target)
	}
	id := g.Kills(f.World) + 1
	for _, rows := range g.Avatars.All(f.World) {
		lives := g.Life.Slice(rows)
		for i := range lives {
			lives[i].Kills = id
		}
	}
	g.Kill.Broadcast(f, Kill{By: told.By, Target: uint16(f.World.Owner(target)), ID: id})
}

// Kills returns the number of kills in the match. Every body gets the number at each kill, so that it
// stays when players leave.
func (g *Game) Kills(w *ecs.World) (n uint32) {
	for _, rows := range g.Avatars.All(w) {
		for _, life := range g.Life.Slice(rows) {
			n = max(n, life.Kills)
		}
	}
	return n
}

// respawn respawns dead players at another place.
func (g *Game) respawn(f *foretick.ServerFrame, rows ecs.Rows) {
	status, life := g.Status.Slice(rows), g.Life.Slice(rows)
	for i := range life {
		if !status[i].Dead {
			continue
		}
		if life[i].Respawn > 0 {
			life[i].Respawn--
			continue
		}
		status[i] = Status{}
		g.Pos.Slice(rows)[i] = g.birthplace(f.Frame, uint64(rows.Owner()))
		g.Vel.Slice(rows)[i] = Velocity{}
		g.HP.Slice(rows)[i] = Health{Points: 100}
		g.Gun.Slice(rows)[i] = Weapon{Ammo: Magazine}
		g.anew(f.Frame, rows.Owner(), "respawn")
	}
}

// beat broadcasts a message once a second.
func (g *Game) beat(f *foretick.ServerFrame, _ ecs.Rows) {
	if rate := foretick.Tick(g.opt.TickRate); f.Tick%rate == 0 && !g.quiet(f.Frame) {
		g.Beat.Broadcast(f, Beat{ID: f.Tick / rate})
	}
}

// stepped passes the ticks that a client predicted, or that the server ran again, to the log.
func (g *Game) stepped(f *foretick.Frame, rows ecs.Rows) {
	if g.Watch.Stepped != nil && (f.Replay || !f.IsServer()) {
		defer f.World.Guard(f.World.Guard(false)) // the log may read anything
		g.Watch.Stepped(f, rows)
	}
}

func (g *Game) screen(f *foretick.Frame, rows ecs.Rows) {
	if g.Watch.Render != nil {
		g.Watch.Render(f, rows)
	}
}
