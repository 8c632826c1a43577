package shottest

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// The shooting range has runners that turn back every 0.3 to 0.8 s, and players
// that shoot at their heads. A head is a bone, moved by an animation clip and a phase
// that are replicated along with the position. Runners do not die, and ammunition is
// unlimited.
type (
	place struct {
		X, Y float32 `net:"min=-128,max=128,step=0.01,lerp"`
	}
	pose struct {
		Phase  float32 `net:"angle,bits=12,lerp"`
		Clip   uint8   `net:"max=1"`
		Number uint8   `net:"max=15"`
		Life   uint8
		Down   bool
	}
	pull struct {
		X, Y, Z float32 `net:"min=-128,max=128,step=0.005"` // the point aimed at
		Move    float32 `net:"min=-1,max=1,step=0.0078125"`
		Kind    uint8   `net:"max=3"`
		Target  uint8   `net:"max=15"`
		Shoot   bool    `net:"oneshot"`
	}
	// tapped is a trigger pull with its own aim.
	tapped struct {
		X, Y, Z float32 `net:"min=-128,max=128,step=0.005,press"`
		Move    float32 `net:"min=-1,max=1,step=0.0078125"`
		Kind    uint8   `net:"max=3"`
		Target  uint8   `net:"max=15"`
		Shoot   bool    `net:"oneshot"`
	}
	course struct {
		Dir  float32
		Left int32
	}
	shot struct {
		Ray          lagcomp.Ray
		Kind, Target uint8
	}
)

// How a shot is aimed.
const (
	aimCentre uint8 = iota
	aimNear         // up to two radii beside the head
	aimWide         // three radii beside the head
	aimKinds
)

// The parts of a body.
const (
	partHead uint8 = iota
	partTrunk
)

const (
	headRadius  = 0.12
	runSpeed    = 6
	strafeSpeed = 2
	runners     = 3
	tapFrames   = 240 // frames a second of shooters that tap
	placeStep   = 0.01
)

type shootingRange struct {
	pos    ecs.Component[place]
	pose   ecs.Component[pose]
	cmd    ecs.Component[pull]
	tap    ecs.Component[tapped]
	taps   bool // shooters press in one frame of a tick: tap is the command
	course ecs.Component[course]
	player ecs.Prefab
	runner ecs.Prefab
	shot   foretick.Event[shot]
	still  bool                          // runners do not run
	script func(f *foretick.ServerFrame) // changes the runners in each tick

	runners *ecs.Query
	judged  func(f *foretick.Frame, by foretick.PlayerID, s shot)
	fired   func(f *foretick.Frame, s shot)
}

func (g *shootingRange) protocol(rate int) *foretick.Protocol {
	p := foretick.NewProtocol("range", 1)
	p.SetTickRate(rate)
	p.Component(&g.pos, foretick.Predicted())
	p.Component(&g.pose)
	p.LocalComponent(&g.course)
	command := g.command()
	p.Command(command)
	p.Prefab(&g.player, "player", &g.pos, command)
	p.Prefab(&g.runner, "runner", &g.pos, &g.pose, &g.course)
	foretick.Hitboxes(p, g.body, &g.pos, &g.pose)
	foretick.LifeID(p, &g.pose, func(at *pose) uint32 { return uint32(at.Life) })
	foretick.TrackHistory(p, &g.pose)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		*g.pos.Get(f.World, f.Spawn(&g.player, player)) = place{X: float32(player%16) - 8, Y: -20}
	})
	p.Shared("strafe", func(f *foretick.Frame, rows ecs.Rows) {
		pos := g.pos.Slice(rows)
		for i := range pos {
			pos[i].X += g.pull(rows, i).Move * strafeSpeed * f.DT
		}
	}, ecs.Read(command), ecs.Write(&g.pos))
	p.Shared("fire", g.fire, ecs.Read(command, &g.pos), ecs.After("strafe"))
	p.Server("run", g.run, ecs.Write(&g.pos, &g.pose, &g.course))
	p.Server("script", func(f *foretick.ServerFrame, _ ecs.Rows) {
		if g.script != nil {
			defer f.World.Guard(f.World.Guard(false)) // a test may do anything
			g.script(f)
		}
	}, ecs.Once(), ecs.WriteOther(&g.pos, &g.pose), ecs.After("run"))
	g.shot.OnServer(p, func(f *foretick.ServerFrame, by foretick.By, s shot) {
		if g.judged != nil {
			g.judged(f.Frame, by.Player, s)
		}
	}, ecs.ReadOther(&g.pos, &g.pose))
	g.shot.OnPredicted(p, func(f *foretick.Frame, _ foretick.By, s shot) {
		if g.fired != nil {
			g.fired(f, s)
		}
	})
	g.runners = p.Query(ecs.With(&g.pose, &g.pos))
	return p
}

// bone is where a head is: upright, or ducked in the second clip, and swaying
// with the phase.
func bone(at *place, how *pose) lagcomp.Vec {
	sin, cos := math.Sincos(float64(how.Phase))
	v := lagcomp.Vec{X: at.X + 0.1*float32(cos), Y: at.Y, Z: 1.6 + 0.05*float32(sin)}
	if how.Clip == 1 {
		v.X += 0.2
		v.Z -= 0.25
	}
	return v
}

func (g *shootingRange) body(b *foretick.HitboxBuilder) {
	at, how := foretick.HitboxField(b, &g.pos), foretick.HitboxField(b, &g.pose)
	if how.Down {
		return
	}
	head := bone(at, how)
	b.Add(lagcomp.SphereHitbox(lagcomp.Sphere{X: head.X, Y: head.Y, Z: head.Z, R: headRadius}).On(partHead, 0))
	b.Add(lagcomp.CapsuleHitbox(lagcomp.Capsule{
		A: lagcomp.Vec{X: at.X, Y: at.Y, Z: 0.3}, B: lagcomp.Vec{X: at.X, Y: at.Y, Z: 0.7}, R: 0.25,
	}).On(partTrunk, 0))
}

func (g *shootingRange) fire(f *foretick.Frame, rows ecs.Rows) {
	pos := g.pos.Slice(rows)
	for i := range pos {
		if cmd := g.pull(rows, i); cmd.Shoot {
			eye, to := lagcomp.Vec{X: pos[i].X, Y: pos[i].Y, Z: 1.6}, lagcomp.Vec{X: cmd.X, Y: cmd.Y, Z: cmd.Z}
			ray := lagcomp.RayTo(eye, to)
			ray.Range = 60
			g.shot.Raise(f, rows.Entity(i), shot{ray, cmd.Kind, cmd.Target})
		}
	}
}

// command returns the handle of the command that this range uses.
func (g *shootingRange) command() ecs.Handle {
	if g.taps {
		return &g.tap
	}
	return &g.cmd
}

// pull returns the command of a row.
func (g *shootingRange) pull(rows ecs.Rows, i int) pull {
	if g.taps {
		return pull(g.tap.Slice(rows)[i])
	}
	return g.cmd.Slice(rows)[i]
}

func (g *shootingRange) run(f *foretick.ServerFrame, rows ecs.Rows) {
	pos, how, course := g.pos.Slice(rows), g.pose.Slice(rows), g.course.Slice(rows)
	for i := range pos {
		c := &course[i]
		if c.Left--; c.Left <= 0 {
			r := f.Rand(uint64(how[i].Number) + 77)
			c.Left = int32((0.3 + float64(r%1000)/2000) / float64(f.DT))
			c.Dir = -c.Dir
			if math.Abs(float64(pos[i].X)) > 6 { // turns back to the middle
				c.Dir = float32(-math.Copysign(1, float64(pos[i].X)))
			}
			how[i].Clip = uint8(r >> 32 % 2)
		}
		if !g.still {
			pos[i].X += c.Dir * runSpeed * f.DT
			how[i].Phase = float32(math.Remainder(float64(how[i].Phase+3.5*math.Pi*f.DT), 2*math.Pi))
		}
	}
}

// people spawns the runners on their lanes.
func (g *shootingRange) people(s *server.Server) {
	for n := range runners {
		e := s.Frame().Spawn(&g.runner, ecs.Nobody)
		*g.pos.Get(s.World(), e) = place{Y: float32(n)}
		*g.pose.Get(s.World(), e) = pose{Number: uint8(n)}
		*g.course.Get(s.World(), e) = course{Dir: 1, Left: 1}
	}
}

// number returns the runner with a number in a world, None if it is not there.
func (g *shootingRange) number(w *ecs.World, n uint8) ecs.Entity {
	for _, rows := range g.runners.All(w) {
		how := g.pose.Slice(rows)
		for i := range how {
			if how[i].Number == n {
				return rows.Entity(i)
			}
		}
	}
	return ecs.None
}

// shooter aims perfectly at the head that its screen shows.
type shooter struct {
	game   *shootingRange
	client *client.Client
	rand   *rand.Rand
	every  foretick.Tick // ticks between shots
	from   time.Duration // time of the first shot
	until  time.Duration // time after which it does not shoot
	net    *sim.Network
	target uint8

	last   foretick.Tick
	kind   uint8
	angle  float64 // direction of the offset from the head's centre
	off    float64 // size of the offset, in radii
	held   pull    // the last aim
	wait   int     // frames until it taps
	frames int     // frames in a tick

	seen map[foretick.Tick]seenShot
}

// seenShot is a shot on its shooter's screen.
type seenShot struct {
	kind   uint8
	hit    bool // the shot hit a head
	number uint8
	held   bool
	shown  bool // the target was on the screen
	head   lagcomp.Vec
}

func (s *shooter) sample(v client.View) pull {
	cmd := s.held
	cmd.Kind, cmd.Target, cmd.Move, cmd.Shoot = s.kind, s.target, float32(math.Sin(float64(v.Tick)/20)), false
	g := s.game
	e := g.number(v.World, s.target)
	if e != ecs.None {
		at := bone(g.pos.Get(v.World, e), g.pose.Get(v.World, e))
		sin, cos := math.Sincos(s.angle)
		cmd.X = at.X + float32(cos*s.off*headRadius)
		cmd.Y = at.Y
		cmd.Z = at.Z + float32(sin*s.off*headRadius)
		s.held = cmd
	}
	// It shoots at the last shown position of a runner that has vanished.
	now := s.net.Now()
	cmd.Shoot = s.held != pull{} && now >= s.from && now < s.until && v.Tick-s.last >= s.every
	return cmd
}

// tap presses in a single, random frame of a tick, and aims elsewhere in all other
// frames.
func (s *shooter) tap(v client.View) tapped {
	cmd := s.sample(v)
	switch {
	case !cmd.Shoot: // not due, or it was pressed in this tick already
		s.wait = s.rand.IntN(s.frames)
	case s.wait == 0:
		s.last = v.Tick
		return tapped(cmd)
	default:
		s.wait--
	}
	cmd.X, cmd.Shoot = cmd.X+7, false
	return tapped(cmd)
}

// fired records what the shot hits on the screen, and chooses the next aim.
func (s *shooter) fired(f *foretick.Frame, sh shot) {
	seen := f.Rewind(s.client.View().Player)
	out := seenShot{kind: sh.Kind}
	if hit, ok := seen.Raycast(sh.Ray); ok {
		out.hit, out.held = hit.Part == partHead, hit.Held
		out.number = s.game.pose.Get(f.World, hit.Entity).Number
	}
	if v, ok := seen.Hitbox(s.game.number(f.World, s.target), 0); ok {
		ball, _ := v.Sphere()
		out.shown, out.head = true, lagcomp.Vec{X: ball.X, Y: ball.Y, Z: ball.Z}
	}
	s.seen[f.Tick] = out
	s.last = f.Tick
	s.kind = (s.kind + 1) % aimKinds
	s.angle = s.rand.Float64() * 2 * math.Pi
	switch s.kind {
	case aimCentre:
		s.off = 0
	case aimNear:
		s.off = 2 * s.rand.Float64()
	case aimWide:
		s.off, s.angle = 3, float64(s.rand.IntN(2))*math.Pi
	}
}

// judgedShot is a shot as the server judged it.
type judgedShot struct {
	hit    bool // the shot hit the head of a runner
	number uint8
	head   lagcomp.Vec
	exists bool
	reason lagcomp.Reason
	rewind float64 // rewind in ticks
	used   lagcomp.Claim
}

// rangeMatch is a server with runners, and its shooters.
type rangeMatch struct {
	*simtest.Match
	game     *shootingRange
	server   *server.Server
	rate     int
	shooters []*shooter
	judged   []map[foretick.Tick]judgedShot // by owner
}

func newRange(seed uint64, rate int, cfg server.Config) (*rangeMatch, error) {
	return newRangeOf(&shootingRange{}, seed, rate, cfg)
}

func newRangeOf(game *shootingRange, seed uint64, rate int, cfg server.Config) (*rangeMatch, error) {
	m := &rangeMatch{Match: simtest.New(seed), game: game, rate: rate, judged: make([]map[foretick.Tick]judgedShot, 65)}
	for i := range m.judged {
		m.judged[i] = map[foretick.Tick]judgedShot{}
	}
	cfg.Protocol = m.game.protocol(rate)
	var err error
	if m.server, err = m.Serve(cfg); err != nil {
		return nil, err
	}
	m.game.people(m.server)
	m.game.judged = m.judge
	return m, nil
}

func (m *rangeMatch) judge(f *foretick.Frame, by foretick.PlayerID, s shot) {
	seen := f.Rewind(by)
	out := judgedShot{reason: seen.Reason, rewind: float64(seen.Behind()), used: seen.Used}
	if hit, ok := seen.Raycast(s.Ray); ok {
		out.hit = hit.Part == partHead
		out.number = m.game.pose.Get(f.World, hit.Entity).Number
	}
	if v, ok := seen.Hitbox(m.game.number(f.World, s.Target), 0); ok {
		ball, _ := v.Sphere()
		out.exists, out.head = true, lagcomp.Vec{X: ball.X, Y: ball.Y, Z: ball.Z}
	}
	m.judged[by][f.Tick] = out
}

// seat adds a shooter.
func (m *rangeMatch) seat(up, down sim.Link, from, until time.Duration) (*shooter, error) {
	return m.seatAs(simtest.Seat{Up: up, Down: down}, from, until)
}

func (m *rangeMatch) seatAs(seat simtest.Seat, from, until time.Duration) (*shooter, error) {
	g := &shootingRange{taps: m.game.taps}
	n := len(m.shooters)
	s := &shooter{
		game: g, rand: rand.New(rand.NewPCG(99, uint64(n))), every: foretick.Tick(m.rate / 10), net: m.Net,
		from: from, until: until, seen: map[foretick.Tick]seenShot{}, target: uint8(n+1) % runners,
	}
	g.fired = s.fired
	p := g.protocol(m.rate)
	var err error
	cfg := client.Config{Protocol: p, Sample: client.Sample(&g.cmd, s.sample)}
	if g.taps {
		seat.FrameRate, cfg.Sample = tapFrames, client.Sample(&g.tap, s.tap)
		s.frames = tapFrames / m.rate
	}
	s.client, err = m.Join(cfg, seat)
	m.shooters = append(m.shooters, s)
	return s, err
}
