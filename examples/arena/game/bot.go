package game

import (
	"math"
	"math/rand/v2"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
)

// Bot plays one client with scripted input: it wanders, and shoots at enemies
// on its own screen. It knows nothing that a player would not know.
type Bot struct {
	Quiet                   bool // the bot stands still and does not fire
	Living, Moving, Changed int  // counts of ticks, for the report

	game *Game
	rand *rand.Rand

	dir    float64 // walking direction
	turn   int     // ticks until the next turn
	burst  int     // remaining ticks of holding the trigger
	weapon uint8
	last   Command
	tick   foretick.Tick
}

// NewBot returns a bot; number makes it behave differently from others.
func NewBot(g *Game, seed, number uint64) *Bot {
	return &Bot{game: g, rand: rand.New(rand.NewPCG(seed, number))}
}

// Sample returns the bot's input, once per rendered frame.
func (b *Bot) Sample(v client.View) Command {
	if b.Quiet {
		return Command{Aim: b.last.Aim}
	}
	if v.Tick == b.tick {
		held := b.last // another frame of the same tick: the input has not changed
		held.Shoot = false
		return held
	}
	b.tick = v.Tick
	g := b.game
	me, ok := b.me(v)
	if !ok {
		return Command{}
	}
	if b.turn--; b.turn <= 0 {
		b.turn = g.ticks(8 + b.rand.IntN(25))
		b.dir = b.rand.Float64() * 2 * math.Pi
	}
	if b.burst--; b.burst <= 0 {
		b.burst = g.ticks(60 + b.rand.IntN(60))
		b.weapon = [...]uint8{Automatic, Automatic, Semi, Semi, Launcher}[b.rand.IntN(5)]
	}
	cmd := Command{MoveX: float32(math.Cos(b.dir)), MoveY: float32(math.Sin(b.dir)), Weapon: b.weapon, Aim: b.last.Aim}
	if angle, ok := b.target(v, me); ok {
		cmd.Aim = angle
		cmd.Fire = b.weapon != Semi
		cmd.Shoot = b.weapon == Semi
	} else {
		cmd.Aim = float32(math.Remainder(float64(b.last.Aim)+0.05, 2*math.Pi))
	}
	b.count(v, me, cmd)
	b.last = cmd
	return cmd
}

func (b *Bot) count(v client.View, me ecs.Entity, cmd Command) {
	if b.game.Status.Get(v.World, me).Dead {
		return
	}
	b.Living++
	if cmd != b.last {
		b.Changed++
	}
	if vel := b.game.Vel.Get(v.World, me); vel.X != 0 || vel.Y != 0 {
		b.Moving++
	}
}

// me returns the bot's own body.
func (b *Bot) me(v client.View) (ecs.Entity, bool) {
	for _, rows := range b.game.Avatars.Owned(v.World, v.Player) {
		return rows.Entity(0), true
	}
	return ecs.None, false
}

// target finds the nearest living enemy in sight, and aims at it with some
// error.
func (b *Bot) target(v client.View, me ecs.Entity) (float32, bool) {
	g := b.game
	at, team := *g.Pos.Get(v.World, me), g.Team.Get(v.World, me).ID
	best, angle := math.MaxFloat64, 0.0
	for _, rows := range g.Avatars.All(v.World) {
		if rows.Owner() == v.Player {
			continue
		}
		pos, status, teams := g.Pos.Slice(rows), g.Status.Slice(rows), g.Team.Slice(rows)
		for i := range pos {
			if status[i].Dead || teams[i].ID == team {
				continue
			}
			dx, dy := float64(pos[i].X-at.X), float64(pos[i].Y-at.Y)
			d, a := math.Hypot(dx, dy), math.Atan2(dy, dx)
			if d < best && float64(sight(at.X, at.Y, float32(a), float32(d))) >= d {
				best, angle = d, a
			}
		}
	}
	if best > GunRange {
		return 0, false
	}
	// The aim error is about a body's radius at any distance.
	return float32(math.Remainder(angle+b.rand.NormFloat64()*BodyRadius*0.7/max(best, 1), 2*math.Pi)), true
}
