// Package crowd measures a server whose players all see each other.
//
//	cd benchmarks
//	go test ./crowd -bench Crowd/256 -cpuprofile crowd.prof
//	go tool pprof -top -cum -focus 'Server..Step' crowd.prof
//
// docs/COST.md has the results.
package crowd

import (
	"fmt"
	"math"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/bots"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport/sim"
)

const (
	rate        = 30
	shownBehind = 5.5 // ticks from what a screen shows to the server's
)

// The components of a crowd's bodies: those of a shooter such as examples/arena, with room for
// more of them.
type (
	position struct {
		X, Y float32 `net:"min=-512,max=512,step=0.01,lerp"`
	}
	velocity struct {
		X, Y float32 `net:"min=-32,max=32,step=0.01,owner"`
	}
	facing struct {
		Angle float32 `net:"angle,bits=12,lerp"`
	}
	status struct {
		Stun uint8 `net:"max=60"`
		Dead bool
	}
	health struct {
		Points int16 `net:"min=0,max=100"`
	}
	command struct {
		X, Y float32 `net:"min=-1,max=1,step=0.0078125"`
		Aim  float32 `net:"angle,bits=12,press"`
		Fire bool    `net:"oneshot"`
	}
)

// game is one end of the crowd's game.
type game struct {
	pos    ecs.Component[position]
	vel    ecs.Component[velocity]
	face   ecs.Component[facing]
	status ecs.Component[status]
	health ecs.Component[health]
	cmd    ecs.Component[command]
	body   ecs.Prefab
	shot   foretick.Event[lagcomp.Ray]
	hits   int
}

func (g *game) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("crowd", 1)
	p.SetTickRate(rate)
	p.Component(&g.pos, foretick.Predicted())
	p.Component(&g.vel, foretick.Predicted())
	p.Component(&g.face, foretick.Predicted())
	p.Component(&g.status)
	p.Component(&g.health)
	p.Command(&g.cmd)
	p.Prefab(&g.body, "body", &g.pos, &g.vel, &g.face, &g.status, &g.health, &g.cmd)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		e := f.Spawn(&g.body, player)
		row := float32(math.Floor(float64(player) / 32)) // 32 of them stand in a row, 15 m apart
		*g.pos.Get(f.World, e) = position{X: (float32(player)-row*32)*15 - 240, Y: row*15 - 240}
		g.health.Get(f.World, e).Points = 100
	})
	foretick.Hitboxes(p, func(b *foretick.HitboxBuilder) {
		if at := foretick.HitboxField(b, &g.pos); !foretick.HitboxField(b, &g.status).Dead {
			b.Add(lagcomp.SphereHitbox(lagcomp.Sphere{X: at.X, Y: at.Y, R: 0.5}))
		}
	}, &g.pos, &g.status)
	p.Shared("move", func(f *foretick.Frame, rows ecs.Rows) {
		pos, vel, face, cmd := g.pos.Slice(rows), g.vel.Slice(rows), g.face.Slice(rows), g.cmd.Slice(rows)
		for i := range pos {
			vel[i].X += float32((cmd[i].X*5 - vel[i].X) * 0.25)
			vel[i].Y += float32((cmd[i].Y*5 - vel[i].Y) * 0.25)
			pos[i].X += float32(vel[i].X * f.DT)
			pos[i].Y += float32(vel[i].Y * f.DT)
			face[i].Angle = cmd[i].Aim
			if cmd[i].Fire {
				g.shot.Raise(f, rows.Entity(i), lagcomp.Ray2D(pos[i].X, pos[i].Y, cmd[i].Aim, 60))
			}
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.pos, &g.vel, &g.face))
	g.shot.OnServer(p, func(f *foretick.ServerFrame, by foretick.By, ray lagcomp.Ray) {
		// Light bots claim whole ticks, and a screen shows a moment between two.
		if hit, ok := f.RewindBehind(by.Player, shownBehind).Raycast(ray); ok {
			g.hits++
			hp := &g.health.Get(f.World, hit.Entity).Points
			if *hp -= 10; *hp <= 0 {
				*hp = 100
			}
		}
	}, ecs.WriteOther(&g.health))
	return p
}

// play is a bot's command: a path of its own with a turn about every second, and a shot in
// each second.
func play(dst *command, bot int, tick uint32) {
	leg := uint64(tick+uint32(bot)*7)/rate*0x9E3779B97F4A7C15 ^ uint64(bot)*0xBF58476D1CE4E5B9
	angle := float64(leg>>40) / (1 << 24) * 2 * math.Pi
	s, c := math.Sincos(angle)
	dst.X, dst.Y = float32(c), float32(s)
	dst.Aim = float32(math.Mod(angle+float64(tick)*0.02, 2*math.Pi))
	dst.Fire = (int(tick)+bot)%rate == 0
}

// Match is a match of players who all see each other: a server and light bots over a simulated
// network, with 20 to 90 ms round trip, 2 % of the packets lost, and a shot a second from each
// player. Only the server's Step is timed. It is for one goroutine.
type Match struct {
	Server *server.Server
	// Spent is the time in the server's Step so far.
	Spent time.Duration

	net  *sim.Network
	game game
}

// New returns a match of n players, who play when it returns. sendRate is the bytes a second
// that the server sends to one of them at most.
func New(n, sendRate int) (*Match, error) {
	m := &Match{net: sim.NewNetwork(1)}
	end := m.net.Listen()
	var err error
	m.Server, err = server.New(server.Config{Protocol: m.game.protocol(), Transport: end, MaxClients: 4 * n, MaxWaitingPerAddress: -1, SendRate: sendRate})
	if err != nil {
		return nil, err
	}
	light, err := bots.New((&game{}).protocol(), play)
	if err != nil {
		return nil, err
	}
	all := make([]*bots.Light, n)
	for i := range all {
		link := sim.Link{Latency: time.Duration(10+i%36) * time.Millisecond, Loss: 0.02}
		if all[i], err = light.Join(i, m.net.Dial(end, link, link)); err != nil {
			return nil, err
		}
		m.every(time.Duration(i)*5*time.Millisecond, time.Second/60, func() { _ = all[i].Step(m.now()) })
	}
	m.every(0, time.Second/rate, func() {
		begun := time.Now()
		m.Server.Step(m.now())
		m.Spent += time.Since(begun)
	})
	m.Run(rate*5 + n*rate/200)
	if playing := len(m.Server.Players(nil)); playing != n {
		return nil, fmt.Errorf("crowd: %d of %d players play", playing, n)
	}
	return m, nil
}

// now is the virtual time.
func (m *Match) now() time.Time {
	return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(m.net.Now())
}

// every calls fn from a time on, again and again.
func (m *Match) every(from, interval time.Duration, fn func()) {
	var next func()
	next = func() {
		fn()
		m.net.At(m.net.Now()+interval, next)
	}
	m.net.At(from, next)
}

// Run plays some ticks.
func (m *Match) Run(ticks int) { m.net.Run(m.net.Now() + time.Duration(ticks)*time.Second/rate) }

// Hits returns how many shots hit so far.
func (m *Match) Hits() int { return m.game.hits }
