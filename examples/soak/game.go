package main

import (
	"math"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/simtest/campaign"
)

// The components of a game with a little of everything: predicted motion,
// private fields, references, entities that come and go, entities hidden from
// some players, shots into the past, and messages.
type (
	// Position of anything, in metres.
	Position struct {
		X, Y float32 `net:"min=-64,max=64,step=0.01,lerp"`
	}
	// Purse is visible only to its owner.
	Purse struct {
		Gold   uint16 `net:"owner"`
		Secret uint64 `net:"owner"` // see campaign.Secrets
	}
	// Health of a walker. Only the server writes it.
	Health struct {
		Points uint8 `net:"max=100"`
	}
	// Cargo of a crate: its worth, and the nearest walker.
	Cargo struct {
		Worth   uint16
		Nearest ecs.Entity
	}
	// Command is a player's input.
	Command struct {
		MoveX, MoveY float32 `net:"min=-1,max=1,step=0.0078125"`
		Aim          float32 `net:"angle,bits=12"`
		Fire         bool    `net:"oneshot"`
	}
)

// The messages, numbered without gaps.
type (
	// News is sent to everyone.
	News struct{ ID uint32 }
	// Whisper is sent to one player.
	Whisper struct {
		ID   uint32
		Gold uint16
	}
)

// Wish is a player's request for some gold.
type Wish struct {
	ID   uint32
	Gold uint16 `net:"max=3"`
}

// Game holds the handles of one end.
type Game struct {
	Pos   ecs.Component[Position]
	Purse ecs.Component[Purse]
	HP    ecs.Component[Health]
	Cargo ecs.Component[Cargo]
	Cmd   ecs.Component[Command]
	Laid  ecs.Component[Laid]
	Told  ecs.Singleton[Told]

	Walker, Crate, Trap ecs.Prefab

	Shot    foretick.Event[lagcomp.Ray]
	News    foretick.Message[News]
	Whisper foretick.Message[Whisper]
	Wish    foretick.Request[Wish]

	walkers, crates *ecs.Query
	traps           *ecs.Query
	wished          uint32
	rest            bool // the match comes to rest
	hits            int
}

// State that only the server has. It is in the world, so that ticks can run again.
type (
	// Laid belongs to a trap, which only the player that laid it sees.
	Laid struct {
		By   foretick.PlayerID
		Tick foretick.Tick
	}
	// Told counts the news.
	Told struct{ N uint32 }
)

const (
	walkSpeed = 5
	field     = 30
	mostLoose = 5 // crates
)

// NewPlayer returns one end, as simtest needs it.
func NewPlayer() simtest.Player {
	g := &Game{}
	return simtest.Player{Protocol: g.Protocol(), Sample: client.Sample(&g.Cmd, g.play), Act: g.wish, Rest: func(on bool) { g.rest = on }}
}

// Protocol declares the game.
func (g *Game) Protocol() *foretick.Protocol {
	p := foretick.NewProtocol("yard", 1)
	p.Component(&g.Pos, foretick.Predicted())
	p.Component(&g.Purse)
	p.Component(&g.HP)
	p.Component(&g.Cargo)
	p.LocalComponent(&g.Laid)
	if err := p.Types().RegisterSingleton(&g.Told); err != nil {
		panic(err) // it is declared once
	}
	p.Command(&g.Cmd)
	p.Prefab(&g.Walker, "walker", &g.Pos, &g.Purse, &g.HP, &g.Cmd)
	p.Prefab(&g.Crate, "crate", &g.Pos, &g.Cargo)
	p.Prefab(&g.Trap, "trap", &g.Pos, &g.Laid)
	foretick.Hitbox(p, &g.Pos, func(at *Position) lagcomp.Sphere { return lagcomp.Sphere{X: at.X, Y: at.Y, R: 0.5} })
	p.OnJoin(g.join)
	p.OnLeave(g.leave)
	p.Shared("move", g.move, ecs.Read(&g.Cmd), ecs.Write(&g.Pos))
	p.Shared("fire", g.fire, ecs.Read(&g.Cmd, &g.Pos))
	g.Shot.OnServer(p, g.judge, ecs.WriteOther(&g.HP, &g.Purse))
	p.Server("heal", g.heal, ecs.Write(&g.HP))
	p.Server("crates", g.moveCrates, ecs.Write(&g.Pos, &g.Cargo))
	p.Server("come and go", g.comeAndGo, ecs.Once(), ecs.Create(&g.Pos, &g.Cargo, &g.Laid), ecs.ReadOther(&g.Laid))
	p.Server("tell", g.tell, ecs.Once(), ecs.ReadOther(&g.Purse), ecs.Write(&g.Told))
	g.News.OnClient(p, func(*foretick.Frame, foretick.Tick, News) {})
	g.Whisper.OnClient(p, func(*foretick.Frame, foretick.Tick, Whisper) {})
	g.Wish.Handle(p, g.grant)
	g.walkers = p.Query(ecs.With(&g.Pos, &g.HP, &g.Purse))
	g.crates = p.Query(ecs.With(&g.Pos, &g.Cargo))
	g.traps = p.Query(ecs.With(&g.Laid))
	return p
}

// play returns the bot's input: it walks about and shoots, in each tick differently.
func (g *Game) play(v client.View) Command {
	x := mix(uint64(v.Tick)<<16 ^ uint64(v.Player))
	dir := float64(mix(uint64(v.Tick/20)<<16^uint64(v.Player))%628) / 100
	return Command{
		MoveX: float32(math.Cos(dir)), MoveY: float32(math.Sin(dir)),
		Aim: float32(x%6283)/1000 - math.Pi, Fire: x>>32%5 == 0,
	}
}

// wish requests gold from time to time, sometimes three times at once.
func (g *Game) wish(c *client.Client) {
	for range mix(uint64(c.View().Tick)) % 32 / 29 * 3 {
		if g.Wish.Send(c, Wish{g.wished, uint16(g.wished % 4)}) == nil {
			g.wished++
		}
	}
}

// grant fulfils a wish.
func (g *Game) grant(f *foretick.ServerFrame, player foretick.PlayerID, w Wish) {
	if g.rest {
		return
	}
	for _, rows := range g.walkers.Owned(f.World, player) {
		for i, purse := 0, g.Purse.Slice(rows); i < len(purse); i++ {
			purse[i].Gold = min(purse[i].Gold+w.Gold, 9999)
		}
	}
}

func mix(x uint64) uint64 {
	x = (x ^ x>>31) * 0x7FB5D329728EA185
	x = (x ^ x>>27) * 0x81DADEF4BC2DD44D
	return x ^ x>>33
}

func (g *Game) join(f *foretick.ServerFrame, player foretick.PlayerID) {
	e := f.Spawn(&g.Walker, player)
	*g.Pos.Get(f.World, e) = g.somewhere(f.Frame, uint64(player))
	*g.Purse.Get(f.World, e) = Purse{Secret: campaign.Secret(player)}
	g.HP.Get(f.World, e).Points = 100
	for _, rows := range g.traps.All(f.World) {
		for _, e := range rows.Entities() {
			f.SetVisible(player, e, false)
		}
	}
}

// leave removes the traps of a player that leaves, because no other player may see them.
func (g *Game) leave(f *foretick.ServerFrame, player foretick.PlayerID) {
	for _, rows := range g.traps.All(f.World) {
		for i, laid := range g.Laid.Slice(rows) {
			if laid.By == player {
				f.Destroy(rows.Entity(i))
			}
		}
	}
}

func (g *Game) somewhere(f *foretick.Frame, salt uint64) Position {
	r := f.Rand(salt)
	return Position{X: float32(r%(2*field*100))/100 - field, Y: float32(r>>32%(2*field*100))/100 - field}
}

func (g *Game) move(f *foretick.Frame, rows ecs.Rows) {
	pos, cmd := g.Pos.Slice(rows), g.Cmd.Slice(rows)
	for i := range pos {
		pos[i].X = min(max(pos[i].X+float32(cmd[i].MoveX*walkSpeed*f.DT), -field), field)
		pos[i].Y = min(max(pos[i].Y+float32(cmd[i].MoveY*walkSpeed*f.DT), -field), field)
	}
}

func (g *Game) fire(f *foretick.Frame, rows ecs.Rows) {
	pos, cmd := g.Pos.Slice(rows), g.Cmd.Slice(rows)
	for i := range pos {
		if cmd[i].Fire {
			g.Shot.Raise(f, rows.Entity(i), lagcomp.Ray2D(pos[i].X, pos[i].Y, cmd[i].Aim, 60))
		}
	}
}

// judge judges a shot in the past that the shooter saw.
func (g *Game) judge(f *foretick.ServerFrame, by foretick.By, ray lagcomp.Ray) {
	hit, ok := f.Rewind(by.Player).Raycast(ray)
	if !ok || g.rest {
		return
	}
	g.hits++
	if hp := g.HP.Find(f.World, hit.Entity); hp != nil {
		hp.Points -= min(hp.Points, 10)
	}
	for _, rows := range g.walkers.Owned(f.World, by.Player) {
		g.Purse.Slice(rows)[0].Gold++
	}
}

func (g *Game) heal(f *foretick.ServerFrame, rows ecs.Rows) {
	hp := g.HP.Slice(rows)
	for i := range hp {
		if f.Tick%8 == 0 && hp[i].Points < 100 && !g.rest {
			hp[i].Points++
		}
	}
}

// moveCrates lets crates drift, and finds the nearest walker.
func (g *Game) moveCrates(f *foretick.ServerFrame, rows ecs.Rows) {
	if g.rest {
		return
	}
	pos, cargo := g.Pos.Slice(rows), g.Cargo.Slice(rows)
	for i := range pos {
		a := float64(mix(uint64(f.Tick/40)^uint64(rows.Entity(i)))%628) / 100
		pos[i].X = min(max(pos[i].X+float32(math.Cos(a))*f.DT, -field), field)
		pos[i].Y = min(max(pos[i].Y+float32(math.Sin(a))*f.DT, -field), field)
		if (int(f.Tick)+i)%15 == 0 {
			cargo[i].Nearest = g.nearest(f.Frame, pos[i])
		}
	}
}

func (g *Game) nearest(f *foretick.Frame, at Position) ecs.Entity {
	best, who := float32(math.MaxFloat32), ecs.None
	for _, rows := range g.walkers.All(f.World) {
		pos := g.Pos.Slice(rows)
		for i := range pos {
			dx, dy := pos[i].X-at.X, pos[i].Y-at.Y
			if d := dx*dx + dy*dy; d < best {
				best, who = d, rows.Entity(i)
			}
		}
	}
	return who
}

// comeAndGo creates and removes crates and traps.
func (g *Game) comeAndGo(f *foretick.ServerFrame, _ ecs.Rows) {
	if g.rest || f.Tick%10 != 0 {
		return
	}
	r := f.Rand(7)
	n := 0
	for _, rows := range g.crates.All(f.World) {
		for i := range rows.Len() {
			if n++; n > mostLoose || f.Rand(uint64(rows.Entity(i)))%30 == 0 {
				f.Destroy(rows.Entity(i))
			}
		}
	}
	if n < mostLoose {
		e := f.Spawn(&g.Crate, ecs.Nobody)
		*g.Pos.Get(f.World, e) = g.somewhere(f.Frame, 8)
		g.Cargo.Get(f.World, e).Worth = uint16(r)
	}
	g.layTrap(f, r)
}

// layTrap lets a player lay a trap that only it sees, or removes the oldest.
func (g *Game) layTrap(f *foretick.ServerFrame, r uint64) {
	n, oldest, since := 0, ecs.None, foretick.Tick(0)
	for _, rows := range g.traps.All(f.World) {
		for i, laid := range g.Laid.Slice(rows) {
			if n++; oldest == ecs.None || laid.Tick < since {
				oldest, since = rows.Entity(i), laid.Tick
			}
		}
	}
	if n > 3 {
		f.Destroy(oldest)
	}
	var all []foretick.PlayerID
	for _, rows := range g.walkers.All(f.World) {
		all = append(all, rows.Owner())
	}
	if len(all) == 0 {
		return
	}
	by := all[(r>>20)%uint64(len(all))]
	e := f.Spawn(&g.Trap, ecs.Nobody)
	*g.Pos.Get(f.World, e) = g.somewhere(f.Frame, 9)
	for _, player := range all {
		if player != by {
			f.SetVisible(player, e, false)
		}
	}
	*g.Laid.Get(f.World, e) = Laid{by, f.Tick}
}

// tell broadcasts the news, and sends a whisper to a quarter of the players.
func (g *Game) tell(f *foretick.ServerFrame, _ ecs.Rows) {
	if g.rest || f.Tick%15 != 0 {
		return
	}
	told := g.Told.Get(f.World)
	told.N++
	g.News.Broadcast(f, News{ID: told.N})
	for _, rows := range g.walkers.All(f.World) {
		if uint32(rows.Owner())%4 == told.N%4 {
			_ = g.Whisper.Send(f, rows.Owner(), Whisper{ID: told.N, Gold: g.Purse.Slice(rows)[0].Gold})
		}
	}
}
