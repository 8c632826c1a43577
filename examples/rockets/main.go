// Command rockets shows predicted spawns over a network with delay and loss. A
// player fires rockets, which burst into fragments, and bullets. Rockets and
// fragments are matched: they fly at once, and when the server's arrive, these
// replace them under the same handles. Bullets exist only on the client that fired
// them. At times the server jams the gun, which the client cannot predict; shots
// that the client fired in that time are removed.
//
// Bullets are slow but still lag compensated: a hit on the shooter's screen is a
// hit on the server. The server either moves each bullet forward to the present
// at once, through everything that its shooter had not seen yet, or keeps it in
// its shooter's past for the whole flight. With the first, no bullet hits a player
// that has reached cover, but the bullet appears in mid-flight. With the second,
// the bullet is seen to leave the gun, but it can hit players that have already
// moved away.
//
//	go run ./examples/rockets -rtt 150ms -loss 0.05 -flight delayed
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport/sim"
)

type (
	// Gun is the state of a player's gun.
	Gun struct {
		Jam uint8 `net:"max=60"` // for how many ticks it cannot fire
	}
	// Flight is the motion of rockets, fragments and bullets.
	Flight struct {
		X, Y   float32 `net:"min=-200,max=200,step=0.01,lerp"`
		VX, VY float32 `net:"min=-100,max=100,step=0.01"`
		Fuse   uint8   `net:"max=120"` // ticks until it disappears
	}
	// Payload is the number of fragments into which a rocket bursts.
	Payload struct {
		Fragments uint8 `net:"max=9"`
	}
	// Drone is a target. Only the server moves it.
	Drone struct {
		Lane uint8   `net:"max=9"`
		Y    float32 `net:"min=-200,max=200,step=0.01,lerp"`
	}
	// Aim is a component of bullets that is not sent.
	Aim struct {
		Fired  foretick.Tick
		Behind float32 // how far in the past the world is that it flies through, in ticks
	}
	// Strike is raised when a bullet hits a drone.
	Strike struct {
		Fired  foretick.Tick
		Target ecs.Entity // this end's handle
	}
	// Command is a player's input.
	Command struct {
		Rocket bool `net:"oneshot"`
		Bullet bool // the trigger is held
	}
)

// Game holds the handles of one end, and the figures of the report.
type Game struct {
	Gun     ecs.Component[Gun]
	Flight  ecs.Component[Flight]
	Payload ecs.Component[Payload]
	Cmd     ecs.Component[Command]
	Drone   ecs.Component[Drone]
	Aim     ecs.Component[Aim]

	Turret, Rocket, Fragment, Bullet, Target ecs.Prefab

	Struck foretick.Event[Strike]

	delayed bool                    // keeps bullets in their shooter's past
	struck  map[foretick.Tick]uint8 // for each tick in which a bullet was fired: the lane of the drone that it hit; 0: none so far

	fired map[ecs.Entity]time.Duration // on the client: when each rocket or fragment appeared
	now   func() time.Duration         // the virtual time
	tally
}

// tally collects the figures of the report.
type tally struct {
	predicted, confirmed, cancelled int
	waited                          time.Duration // from firing to the server's answer, added up
	bullets                         int
	onScreen, honoured, unseen      int           // bullets that hit: on the screen, those of them that also hit on the server, only on the server
	flew                            foretick.Tick // how long bullets flew until they hit on the server, added up
}

// Protocol declares the game.
func (g *Game) Protocol() *foretick.Protocol {
	p := foretick.NewProtocol("rockets", 1)
	p.Component(&g.Gun, foretick.Predicted())
	p.Component(&g.Flight, foretick.Predicted())
	p.Component(&g.Payload, foretick.Predicted())
	p.Component(&g.Drone)
	p.LocalComponent(&g.Aim)
	p.Command(&g.Cmd)
	p.Prefab(&g.Turret, "turret", &g.Gun, &g.Cmd)
	p.Prefab(&g.Rocket, "rocket", &g.Flight, &g.Payload)
	p.Prefab(&g.Fragment, "fragment", &g.Flight)
	p.Prefab(&g.Bullet, "bullet", &g.Flight, &g.Aim)
	p.Prefab(&g.Target, "target", &g.Drone)
	told := foretick.SpawnConfig{OnPredicted: g.launched, OnConfirmed: g.confirm, OnCancelled: g.cancel}
	p.Spawns(&g.Rocket, told)
	p.Spawns(&g.Fragment, told)
	p.Spawns(&g.Bullet, foretick.SpawnConfig{ClientOnly: true})
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.Turret, player) })
	p.Server("jam", g.jam, ecs.Write(&g.Gun), ecs.Before("fire"))
	p.Shared("fire", g.fire, ecs.Read(&g.Cmd), ecs.Write(&g.Gun), ecs.Create(&g.Flight, &g.Payload, &g.Aim), ecs.Before("fly", "shoot"))
	p.Shared("fly", g.fly, ecs.Write(&g.Flight), ecs.Without(&g.Aim), ecs.Optional(&g.Payload), ecs.Create(&g.Flight))
	p.Shared("shoot", g.shoot, ecs.Write(&g.Flight, &g.Aim), ecs.Structural())
	p.Server("patrol", g.patrol, ecs.Write(&g.Drone))
	foretick.Hitbox(p, &g.Drone, func(d *Drone) lagcomp.Sphere { return lagcomp.Sphere{X: 10 * float32(d.Lane), Y: d.Y, R: 0.5} })
	// plays sparks
	g.Struck.OnPredicted(p, func(f *foretick.Frame, _ foretick.By, s Strike) { g.strike(f, s) })
	// does damage
	g.Struck.OnServer(p, func(f *foretick.ServerFrame, _ foretick.By, s Strike) { g.strike(f.Frame, s) }, ecs.ReadOther(&g.Drone))
	return p
}

// fire runs on both ends, for both spawn policies.
func (g *Game) fire(f *foretick.Frame, rows ecs.Rows) {
	gun, cmd := g.Gun.Slice(rows), g.Cmd.Slice(rows)
	for i := range gun {
		if gun[i].Jam > 0 {
			gun[i].Jam--
			continue
		}
		if cmd[i].Rocket {
			e := f.SpawnBy(rows.Entity(i), &g.Rocket)
			*g.Flight.Get(f.World, e) = Flight{VX: 20, Fuse: 30}
			g.Payload.Get(f.World, e).Fragments = 5
		}
		if cmd[i].Bullet {
			e := f.SpawnBy(rows.Entity(i), &g.Bullet)
			*g.Flight.Get(f.World, e) = Flight{VX: 60}
			g.Aim.Get(f.World, e).Fired = f.Tick
			if !f.Replay {
				g.bullets++ //foretick:allow a figure of the report
			}
		}
	}
}

// fly moves rockets and fragments. A rocket bursts and spawns its fragments in the
// tick in which it disappears.
func (g *Game) fly(f *foretick.Frame, rows ecs.Rows) {
	at := g.Flight.Slice(rows)
	for i := range at {
		at[i].X += float32(at[i].VX * f.DT)
		at[i].Y += float32(at[i].VY * f.DT)
		if at[i].Fuse--; at[i].Fuse > 0 {
			continue
		}
		if rows.Has(g.Payload.ID()) {
			for n := range g.Payload.Slice(rows)[i].Fragments {
				*g.Flight.Get(f.World, f.SpawnBy(rows.Entity(i), &g.Fragment)) = Flight{
					X: at[i].X, Y: at[i].Y, VX: 10, VY: 4*float32(n) - 8, Fuse: 20,
				}
			}
		}
		f.Destroy(rows.Entity(i))
	}
}

// shoot moves the bullets on both ends: on the client through what its screen
// shows, on the server through what the shooter's screen showed.
func (g *Game) shoot(f *foretick.Frame, rows ecs.Rows) {
	at, aim := g.Flight.Slice(rows), g.Aim.Slice(rows)
	for i := range at {
		b, a := &at[i], &aim[i]
		seen, fresh := f.RewindBehind(rows.Owner(), a.Behind), a.Fired == f.Tick
		if fresh {
			seen = f.Rewind(rows.Owner())
			a.Behind = seen.Behind() // it stays so, unless CatchUp moves the bullet to the present
			g.struck[f.Tick] = 0     //foretick:allow a figure of the report
		}
		shot := lagcomp.Projectile{Position: lagcomp.Vec{X: b.X, Y: b.Y}, Velocity: lagcomp.Vec{X: b.VX, Y: b.VY}, Radius: 0.1}
		hit, ok := seen.Advance(&shot, f.DT)
		if fresh && !ok && !g.delayed {
			a.Behind, hit, ok = seen.CatchUp(&shot)
		}
		b.X, b.Y = shot.Position.X, shot.Position.Y
		if ok {
			g.Struck.Raise(f, rows.Entity(i), Strike{a.Fired, hit.Entity})
		}
		if ok || b.X > 40 {
			f.Destroy(rows.Entity(i))
		}
	}
}

func (g *Game) strike(f *foretick.Frame, s Strike) {
	if d := g.Drone.Find(f.World, s.Target); d != nil {
		g.struck[s.Fired] = d.Lane
		g.flew += f.Tick - s.Fired
	}
}

// patrol moves the drones up and down across the line of fire.
func (g *Game) patrol(f *foretick.ServerFrame, rows ecs.Rows) {
	for i, d := 0, g.Drone.Slice(rows); i < len(d); i++ {
		d[i].Y = 4 * float32(math.Sin(f.Time().Seconds()*3.3+float64(d[i].Lane)))
	}
}

// jam jams guns at random. It runs only on the server.
func (g *Game) jam(f *foretick.ServerFrame, rows ecs.Rows) {
	for i, gun := 0, g.Gun.Slice(rows); i < len(gun); i++ {
		if f.Rand(uint64(rows.Owner()))%90 == 0 {
			gun[i].Jam = 15
		}
	}
}

func (g *Game) launched(_ *foretick.Frame, e ecs.Entity) {
	g.predicted++
	g.fired[e] = g.now()
}

func (g *Game) confirm(_ *foretick.Frame, e ecs.Entity) {
	g.confirmed++
	g.waited += g.now() - g.fired[e]
}

func (g *Game) cancel(*foretick.Frame, ecs.Entity) { g.cancelled++ }

// options are the values of the command line's flags. run describes each.
type options struct {
	rtt     time.Duration
	loss    float64
	seconds int
	flight  string
}

// play lets one player fire for some seconds of virtual time.
func play(o options) (tally, stats.Client, error) {
	m := simtest.New(1)
	truth := &Game{delayed: o.flight == "delayed", struck: map[foretick.Tick]uint8{}}
	srv, err := m.Serve(server.Config{Protocol: truth.Protocol(), NoLagCompensation: o.flight == "present"})
	if err != nil {
		return tally{}, stats.Client{}, err
	}
	for lane := range uint8(3) {
		e := srv.Frame().Spawn(&truth.Target, ecs.Nobody)
		truth.Drone.Get(srv.World(), e).Lane = lane + 1
	}
	g := &Game{struck: map[foretick.Tick]uint8{}, fired: map[ecs.Entity]time.Duration{}, now: m.Net.Now}
	end := time.Duration(o.seconds) * time.Second
	last := foretick.Tick(0)
	sample := func(v client.View) Command {
		if m.Net.Now() > end {
			return Command{}
		}
		rocket := v.Tick/10 != last
		last = v.Tick / 10
		return Command{Rocket: rocket, Bullet: v.Tick%60 < 20}
	}
	link := sim.Link{Latency: o.rtt / 2, Jitter: o.rtt / 10, Loss: o.loss}
	c, err := m.Join(client.Config{Protocol: g.Protocol(), Sample: client.Sample(&g.Cmd, sample)}, simtest.Seat{Up: link, Down: link})
	if err != nil {
		return tally{}, stats.Client{}, err
	}
	m.Run(end + 5*time.Second)
	g.settle(truth)
	return g.tally, c.Stats(), nil
}

// ticks returns the average flight of a bullet until it hit.
func (t tally) ticks() float64 { return float64(t.flew) / float64(max(t.honoured+t.unseen, 1)) }

// settle compares what the client's screen showed with what the server did.
func (g *Game) settle(srv *Game) {
	g.flew = srv.flew
	for tick, lane := range g.struck {
		judged, fired := srv.struck[tick]
		switch {
		case !fired: // the gun was jammed, or the command was too late
		case lane != 0:
			g.onScreen++
			if judged == lane {
				g.honoured++
			}
		case judged != 0:
			g.unseen++
		}
	}
}

func run(args []string, out, errs io.Writer) int {
	var o options
	flags := flag.NewFlagSet("rockets", flag.ContinueOnError)
	flags.SetOutput(errs)
	flags.DurationVar(&o.rtt, "rtt", 150*time.Millisecond, "round trip, 0 to 400 ms")
	flags.Float64Var(&o.loss, "loss", 0.05, "share of packets lost, 0 to 0.3")
	flags.IntVar(&o.seconds, "seconds", 20, "virtual seconds to play, 1 to 600")
	flags.StringVar(&o.flight, "flight", "catchup", "lag compensation of bullets: catchup, delayed, or present (none)")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case o.rtt < 0 || o.rtt > 400*time.Millisecond || o.loss < 0 || o.loss > 0.3 || o.seconds < 1 || o.seconds > 600 ||
		o.flight != "catchup" && o.flight != "delayed" && o.flight != "present":
		_, _ = fmt.Fprintln(errs, "rockets: a value is out of range: see -help")
		return 2
	}
	t, st, err := play(o)
	if err != nil {
		_, _ = fmt.Fprintln(errs, err)
		return 1
	}
	_, _ = fmt.Fprintf(out, "%d rockets and fragments flew in the tick that fired them\n", t.predicted)
	_, _ = fmt.Fprintf(out, "%d were confirmed by the server, %v later on average; %d were removed\n", t.confirmed, (t.waited / time.Duration(max(t.confirmed, 1))).Round(time.Millisecond), t.cancelled)
	_, _ = fmt.Fprintf(out, "%d bullets, not matched with the server's; %d hit on the screen, %d of them on the server (%.1f ticks after they were fired), and %d hit only on the server\n", t.bullets, t.onScreen, t.honoured, t.ticks(), t.unseen)
	_, _ = fmt.Fprintf(out, "%d corrections, by cause %v\n", st.Mispredictions, st.ByCause)
	return 0
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }
