// Command rewind shows lag compensation with plain structs alone. A runner
// changes direction, and a shooter aims perfectly at what its screen shows. A
// server judges each shot in the past and, for comparison, in the present. A
// second player claims an older view than it had, and its claims are clamped.
//
//	go run ./examples/rewind -rtt 150ms
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"time"

	"github.com/foretick/foretick/lagcomp"
)

const (
	tickRate      = 30
	tick          = time.Second / tickRate
	interpolation = 100 * time.Millisecond // how far the client's screen is behind its newest snapshot
	dwell         = tick                   // how long an input waits in the server's buffer
	distance      = 30                     // from the shooter to the runner's track, in metres
	me, him       = 1, 2                   // player numbers
)

// runner is a struct of the game: lagcomp does not use it.
type runner struct {
	y, speed float32
	turnsAt  lagcomp.Tick // when it reverses next
}

func (r *runner) step(now lagcomp.Tick, dice *rand.Rand) {
	if now >= r.turnsAt { // it reverses every 0.3 to 0.8 s
		r.speed = -r.speed
		r.turnsAt = now + 9 + lagcomp.Tick(dice.IntN(16))
	}
	r.y += r.speed / tickRate
}

// body returns the runner's hitboxes: trunk and head.
func (r *runner) body() [2]lagcomp.Hitbox {
	trunk := lagcomp.CapsuleHitbox(lagcomp.Capsule{
		A: lagcomp.Vec{X: distance, Y: r.y, Z: 0.4}, B: lagcomp.Vec{X: distance, Y: r.y, Z: 1.2}, R: 0.3,
	})
	head := lagcomp.SphereHitbox(lagcomp.Sphere{X: distance, Y: r.y, Z: 1.7, R: 0.15})
	return [2]lagcomp.Hitbox{trunk, head.On(1, 0)}
}

// result counts the shots of one run, and those that hit in the past and in the present.
type result struct {
	shots, past, present int
	clamped              int // how many of the honest player's claims were clamped
	liar                 lagcomp.JudgeStats
}

// play runs a match of some seconds in virtual time. The network is not
// simulated: it is only a delay.
func play(rtt time.Duration, seconds int, seed uint64) (result, error) {
	config := lagcomp.Config{TickRate: tickRate}
	history, err := lagcomp.NewHistory(config)
	if err != nil {
		return result{}, err
	}
	honest, liar := lagcomp.NewJudge(config), lagcomp.NewJudge(config)
	dice := rand.New(rand.NewPCG(seed, 0))
	target := runner{speed: 6}
	screen := map[lagcomp.Tick]float32{} // the runner's position in each tick, as snapshots reported it

	var r result
	for now := lagcomp.Tick(1); now <= lagcomp.Tick(seconds*tickRate); now++ {
		target.step(now, dice)
		screen[now] = target.y

		history.Begin(now)
		body := target.body()
		history.Put(7, him, 0, body[:]...)
		history.End()

		// The server's measurements of both players, who have the same latency.
		measured := lagcomp.Measured{
			Now: now, RTT: rtt, Interpolation: interpolation, Dwell: dwell,
			Newest: before(now, rtt+dwell).Tick, // the snapshot that this input acknowledged
		}
		honest.Observe(measured)
		liar.Observe(measured)
		if now < 2*tickRate || now%10 != 0 {
			continue
		}

		// The shooter fired when its screen showed this moment.
		seen := before(now, rtt+interpolation+dwell)
		y := screen[seen.Tick] + (screen[seen.Tick+1]-screen[seen.Tick])*seen.Fraction
		shot := lagcomp.RayTo(lagcomp.Vec{Z: 1.7}, lagcomp.Vec{X: distance, Y: y, Z: 1.7})
		r.shots++

		used, _ := honest.Allow(seen, measured)
		if hit, ok := history.At(used.Tick, used.Fraction).Raycast(shot, lagcomp.Filter{ExcludeOwner: me}); ok && hit.Part == 1 {
			r.past++
		}
		if hit, ok := history.At(now, 0).Raycast(shot, lagcomp.Filter{ExcludeOwner: me}); ok && hit.Part == 1 {
			r.present++
		}

		liar.Allow(before(now, rtt+interpolation+dwell+200*time.Millisecond), measured)
	}
	r.clamped, r.liar = int(honest.Stats().Clamped()), liar.Stats()
	return r, nil
}

// before returns the moment that is d before tick now.
func before(now lagcomp.Tick, d time.Duration) lagcomp.Claim {
	back := d.Seconds() * tickRate
	if back > float64(now) {
		return lagcomp.Claim{}
	}
	at := float64(now) - back
	return lagcomp.Claim{Tick: lagcomp.Tick(at), Fraction: float32(at - float64(lagcomp.Tick(at)))}
}

func report(w io.Writer, rtt time.Duration, r result) {
	percent := func(n int) float64 { return 100 * float64(n) / float64(max(r.shots, 1)) }
	fmt.Fprintf(w, "%d shots at the head, all on target on the shooter's screen, round trip %v\n", r.shots, rtt)
	fmt.Fprintf(w, "  judged in the past     %3d hit (%3.0f %%), %d claims clamped\n", r.past, percent(r.past), r.clamped)
	fmt.Fprintf(w, "  judged in the present  %3d hit (%3.0f %%)\n", r.present, percent(r.present))
	fmt.Fprintf(w, "  claims 200 ms too old  %3d of %d clamped\n", r.liar.Clamped(), r.shots)
}

func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("rewind", flag.ContinueOnError)
	flags.SetOutput(stderr)
	rtt := flags.Duration("rtt", 100*time.Millisecond, "round trip to the server")
	seconds := flags.Int("seconds", 60, "length of the match, in virtual time")
	seed := flags.Uint64("seed", 1, "seed of the runner's turns")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2
	}
	if *rtt < 0 || *rtt > 10*time.Second || *seconds < 1 || *seconds > 3600 {
		fmt.Fprintln(stderr, "rewind: -rtt is 0 to 10s, -seconds 1 to 3600")
		return 2
	}
	r, err := play(*rtt, *seconds, *seed)
	if err != nil {
		fmt.Fprintln(stderr, "rewind:", err)
		return 1
	}
	report(stdout, *rtt, r)
	return 0
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }
