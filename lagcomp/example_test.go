package lagcomp_test

import (
	"fmt"
	"time"

	"github.com/foretick/foretick/lagcomp"
)

// A server records every tick, and judges a shot by what its shooter saw.
func Example() {
	config := lagcomp.Config{TickRate: 30}
	history, err := lagcomp.NewHistory(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	judge := lagcomp.NewJudge(config) // one a player

	// A runner, entity 7 of player 2, crosses the line of fire at 6 m/s.
	for tick := lagcomp.Tick(1); tick <= 40; tick++ {
		y := 0.2 * (float32(tick) - 30)
		history.Begin(tick)
		history.Put(7, 2, 0, lagcomp.SphereHitbox(lagcomp.Sphere{X: 20, Y: y, R: 0.5}))
		history.End()
		judge.Observe(lagcomp.Measured{Now: tick, Newest: tick - 3, RTT: 200 * time.Millisecond})
	}

	// Player 1 fired when he saw him at tick 30.5; the server is at 40.
	claim := lagcomp.Claim{Tick: 30, Fraction: 0.5}
	used, reason := judge.Allow(claim, lagcomp.Measured{
		Now: 40, Newest: 37, RTT: 200 * time.Millisecond,
		Interpolation: 100 * time.Millisecond, Dwell: 33 * time.Millisecond,
	})
	ray := lagcomp.Ray2D(0, 0, 0, 50)
	shooter := lagcomp.Filter{ExcludeOwner: 1}
	hit, ok := history.At(used.Tick, used.Fraction).Raycast(ray, shooter)
	fmt.Println(reason, ok, hit.ID)

	_, ok = history.At(40, 0).Raycast(ray, shooter)
	fmt.Println("in the present:", ok)
	// Output:
	// ok true 7
	// in the present: false
}

// A claim that the measurements do not explain is moved to the nearest moment
// that they do, and counted.
func ExampleJudge() {
	judge := lagcomp.NewJudge(lagcomp.Config{TickRate: 30})
	measured := lagcomp.Measured{Now: 300, Newest: 298, RTT: 100 * time.Millisecond}
	for _, claim := range []lagcomp.Claim{{Tick: 297}, {Tick: 500}, {Tick: 100}} {
		used, reason := judge.Allow(claim, measured)
		fmt.Println(claim.Tick, "->", used.Tick, reason)
	}
	fmt.Println("clamped:", judge.Stats().Clamped())
	// Output:
	// 297 -> 297 ok
	// 500 -> 298 future
	// 100 -> 298 too far
	// clamped: 2
}

// An explosion reaches everybody within its radius, nearest volume first per
// entity, in the past like any other query.
func ExamplePast_Overlap() {
	history, _ := lagcomp.NewHistory(lagcomp.Config{})
	history.Begin(1)
	for i := lagcomp.ID(1); i <= 4; i++ {
		history.Put(i, 0, 0, lagcomp.SphereHitbox(lagcomp.Sphere{X: float32(i) * 2, R: 0.5}))
	}
	history.End()
	for _, hit := range history.At(1, 0).Overlap(lagcomp.Sphere{X: 3, R: 2}, lagcomp.Filter{}, nil) {
		fmt.Printf("%d at %.1f\n", hit.ID, hit.Distance)
	}
	// Output:
	// 1 at 0.5
	// 2 at 0.5
}

// passing is a history of twenty ticks in which a target passes 9 m away, at 6 m/s.
func passing() *lagcomp.History {
	history, _ := lagcomp.NewHistory(lagcomp.Config{TickRate: 30})
	for tick := lagcomp.Tick(1); tick <= 20; tick++ {
		history.Begin(tick)
		history.Put(1, 0, 0, lagcomp.SphereHitbox(lagcomp.Sphere{X: 9, Y: 0.2 * (float32(tick) - 16), R: 0.5}))
		history.End()
	}
	return history
}

// A rocket fired in the past is brought up to the present at once, and flies on from
// there in the ticks that follow.
func ExampleHistory_CatchUp() {
	history := passing()
	rocket := lagcomp.Projectile{Velocity: lagcomp.Vec{X: 30}, Radius: 0.2}
	fired := lagcomp.Claim{Tick: 14, Fraction: 0.5} // what its shooter saw
	at, _, hit := history.CatchUp(&rocket, fired, 18, lagcomp.Filter{})
	fmt.Printf("%v, at %.0f m in tick %d+%.1f\n", hit, rocket.Position.X, at.Tick, at.Fraction)

	behind := at.Behind(18) // less than a tick
	for now := lagcomp.Tick(19); now <= 20; now++ {
		target, hit := history.Delayed(now, behind).Fly(&rocket, 1./30, lagcomp.Filter{})
		fmt.Printf("%v, at %.0f m %d\n", hit, rocket.Position.X, target.ID)
	}
	// Output:
	// false, at 3 m in tick 17+0.5
	// false, at 4 m 0
	// false, at 5 m 0
}

// A bullet that keeps its shooter's delay is judged by what he saw until it lands:
// here half a second after he fired, at a target that is out of its way by now.
func ExampleHistory_Delayed() {
	history := passing()
	bullet := lagcomp.Projectile{Velocity: lagcomp.Vec{X: 90}, Radius: 0.2}
	const fired = 18 // the tick that executes his command
	behind := lagcomp.Claim{Tick: 14, Fraction: 0.5}.Behind(fired)
	for now := lagcomp.Tick(fired); ; now++ {
		if hit, ok := history.Delayed(now, behind).Fly(&bullet, 1./30, lagcomp.Filter{}); ok {
			_, present := history.At(now, 0).SphereCast(lagcomp.Ray2D(0, 0, 0, 9), 0.2, lagcomp.Filter{})
			fmt.Printf("%d in tick %d; in the present: %v\n", hit.ID, now, present)
			return
		}
	}
	// Output:
	// 1 in tick 20; in the present: false
}
