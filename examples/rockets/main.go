// Command rockets shows predicted spawns: a player fires rockets, each of which
// bursts into fragments, and bullets, over a network with delay and loss. Rockets
// and fragments are matched: they fly at once and become the server's when its own
// arrive, under the same handles. Bullets are the client's own for their few ticks.
// Now and then the server jams the gun, which the client cannot know, and what it
// fired meanwhile is taken back.
//
//	go run ./examples/rockets -rtt 150ms -loss 0.05
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

type (
	// Gun is what fires.
	Gun struct {
		Jam uint8 `net:"max=60"` // ticks
	}
	// Flight is of everything that flies.
	Flight struct {
		X, Y   float32 `net:"min=-200,max=200,step=0.01,lerp"`
		VX, VY float32 `net:"min=-100,max=100,step=0.01"`
		Fuse   uint8   `net:"max=120"` // ticks until it is gone
	}
	// Payload is how many fragments something bursts into.
	Payload struct {
		Fragments uint8 `net:"max=9"`
	}
	// Command is a player's input.
	Command struct {
		Rocket bool `net:"oneshot"`
		Bullet bool // held
	}
)

// Game holds the handles of one end.
type Game struct {
	Gun     ecs.Component[Gun]
	Flight  ecs.Component[Flight]
	Payload ecs.Component[Payload]
	Cmd     ecs.Component[Command]

	Turret, Rocket, Fragment, Bullet ecs.Kind

	fired map[ecs.Entity]time.Duration // on the client: when it was first there
	now   func() time.Duration
	tally
}

// tally is what the report is made of.
type tally struct {
	predicted, confirmed, cancelled int
	waited                          time.Duration // from firing to the server's word, in sum
	bullets                         int
}

// Protocol declares the game.
func (g *Game) Protocol() *foretick.Protocol {
	p := foretick.NewProtocol("rockets", 1)
	p.Component(&g.Gun, foretick.Predicted)
	p.Component(&g.Flight, foretick.Predicted)
	p.Component(&g.Payload, foretick.Predicted)
	p.Command(&g.Cmd)
	p.Kind(&g.Turret, "turret", &g.Gun, &g.Cmd)
	p.Kind(&g.Rocket, "rocket", &g.Flight, &g.Payload)
	p.Kind(&g.Fragment, "fragment", &g.Flight)
	p.Kind(&g.Bullet, "bullet", &g.Flight)
	told := foretick.SpawnConfig{OnPredicted: g.launched, OnConfirmed: g.confirm, OnCancelled: g.cancel}
	p.Spawns(&g.Rocket, told)
	p.Spawns(&g.Fragment, told)
	p.Spawns(&g.Bullet, foretick.SpawnConfig{Policy: foretick.Local})
	p.Join(func(f *foretick.Frame, who ecs.Owner) { f.Spawn(&g.Turret, who) })
	p.Server("jam", g.jam, ecs.Write(&g.Gun), ecs.Before("fire"))
	p.Shared("fire", g.fire, ecs.Read(&g.Cmd), ecs.Write(&g.Gun), ecs.Create(&g.Flight, &g.Payload), ecs.Before("fly"))
	p.Shared("fly", g.fly, ecs.Write(&g.Flight), ecs.Optional(&g.Payload), ecs.Create(&g.Flight))
	return p
}

// fire is one body for both ends and both policies.
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
			*g.Flight.Get(f.World, f.SpawnBy(rows.Entity(i), &g.Bullet)) = Flight{VX: 90, Fuse: 6}
			if !f.Replay {
				g.bullets++
			}
		}
	}
}

// fly moves everything; a rocket bursts, and spawns its fragments in the tick in
// which it is gone itself.
func (g *Game) fly(f *foretick.Frame, rows ecs.Rows) {
	at := g.Flight.Slice(rows)
	for i := range at {
		at[i].X += at[i].VX * f.DT
		at[i].Y += at[i].VY * f.DT
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

// jam is the server's alone.
func (g *Game) jam(f *foretick.Frame, rows ecs.Rows) {
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

// play lets one player fire for some seconds of virtual time.
func play(rtt time.Duration, loss float64, seconds int) (tally, foretick.ClientStats, error) {
	m := simtest.New(1)
	server := &Game{}
	if _, err := m.Serve(foretick.ServerConfig{Protocol: server.Protocol()}); err != nil {
		return tally{}, foretick.ClientStats{}, err
	}
	g := &Game{fired: map[ecs.Entity]time.Duration{}, now: m.Net.Now}
	end := time.Duration(seconds) * time.Second
	last := foretick.Tick(0)
	sample := func(v foretick.View) Command {
		if m.Net.Now() > end {
			return Command{}
		}
		rocket := v.Tick/10 != last
		last = v.Tick / 10
		return Command{Rocket: rocket, Bullet: v.Tick%60 < 20}
	}
	link := sim.Link{Latency: rtt / 2, Jitter: rtt / 10, Loss: loss}
	c, err := m.Join(foretick.ClientConfig{Protocol: g.Protocol(), Sample: foretick.Sample(&g.Cmd, sample)}, simtest.Seat{Up: link, Down: link})
	if err != nil {
		return tally{}, foretick.ClientStats{}, err
	}
	m.Run(end + 5*time.Second)
	return g.tally, c.Stats(), nil
}

func run(args []string, out, errs io.Writer) int {
	flags := flag.NewFlagSet("rockets", flag.ContinueOnError)
	flags.SetOutput(errs)
	rtt := flags.Duration("rtt", 150*time.Millisecond, "round trip, 0 to 400 ms")
	loss := flags.Float64("loss", 0.05, "share of packets lost, 0 to 0.3")
	seconds := flags.Int("seconds", 20, "virtual seconds to play, 1 to 600")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case *rtt < 0 || *rtt > 400*time.Millisecond || *loss < 0 || *loss > 0.3 || *seconds < 1 || *seconds > 600:
		_, _ = fmt.Fprintln(errs, "rockets: a value is out of its range: see -help")
		return 2
	}
	t, st, err := play(*rtt, *loss, *seconds)
	if err != nil {
		_, _ = fmt.Fprintln(errs, err)
		return 1
	}
	_, _ = fmt.Fprintf(out, "%d rockets and fragments flew in the tick that fired them\n", t.predicted)
	_, _ = fmt.Fprintf(out, "%d became the server's, %v later on average; %d were taken back\n", t.confirmed, (t.waited / time.Duration(max(t.confirmed, 1))).Round(time.Millisecond), t.cancelled)
	_, _ = fmt.Fprintf(out, "%d bullets, which the server's never met\n", t.bullets)
	_, _ = fmt.Fprintf(out, "%d corrections, by cause %v\n", st.Mispredictions, st.ByCause)
	return 0
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }
