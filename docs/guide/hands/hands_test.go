package hands

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// steps follows a thing on a screen.
type steps struct {
	x     float64
	at    time.Duration
	seen  bool
	blind bool    // what is shown does not count
	worst float64 // the longest way of a frame, in steps: how far the thing moves in that time by itself
	where string
}

func (s *steps) follow(x, speed float64, now time.Duration) {
	if s.seen && now > s.at {
		if by := math.Abs(x-s.x) / (speed * (now - s.at).Seconds()); by > s.worst {
			s.worst, s.where = by, fmt.Sprintf("%.2f m at %v", x-s.x, now)
		}
	}
	s.x, s.at, s.seen = x, now, !s.blind
}

// screen is a player with its game.
type screen struct {
	g       *Game
	c       *client.Client
	in      Command // what it presses, until the next tick
	follows func(v client.View)
	drawn   map[foretick.Tick]float64 // where a shot of a tick saw the car
}

// yard is a match of three.
type yard struct {
	*simtest.Match
	g       *Game
	srv     *server.Server
	screens []*screen
}

// carSeen returns where a view has the car.
func (g *Game) carSeen(f *foretick.Frame, saw foretick.HitView) (float64, bool) {
	for _, rows := range g.cars.All(f.World) {
		if box, ok := saw.Hitbox(rows.Entity(0), 0); ok {
			s, _ := box.Sphere()
			return float64(s.X), true
		}
	}
	return 0, false
}

func newYard(t *testing.T, seed uint64, link sim.Link) *yard {
	y := &yard{Match: simtest.New(seed), g: &Game{}}
	var err error
	y.srv, err = y.Serve(server.Config{Protocol: y.g.Protocol()})
	require.NoError(t, err)
	for range 3 {
		s := &screen{g: &Game{}, drawn: map[foretick.Tick]float64{}}
		s.g.shot = func(f *foretick.Frame, saw foretick.HitView) {
			if x, ok := s.g.carSeen(f, saw); ok {
				s.drawn[f.Tick] = x
			}
		}
		at := simtest.Seat{Up: link, Down: link, After: func(v client.View) {
			if v.State == client.Playing && s.follows != nil {
				s.follows(v)
			}
		}}
		s.c, err = y.Join(client.Config{Protocol: s.g.Protocol(), Sample: client.Sample(&s.g.Cmd, func(client.View) (c Command) {
			c, s.in = s.in, Command{Gas: s.in.Gas}
			return c
		})}, at)
		require.NoError(t, err)
		y.screens = append(y.screens, s)
		y.Run(y.Net.Now() + 500*time.Millisecond) // so that they are players 1, 2 and 3
	}
	y.Run(3 * time.Second)
	return y
}

// places follows the first thing of a query on all screens.
func (y *yard) places(q func(g *Game) *ecs.Query, speed float64) []*steps {
	var all []*steps
	for _, s := range y.screens {
		at := &steps{}
		all = append(all, at)
		s.follows = func(v client.View) {
			for _, rows := range q(s.g).All(v.World) {
				at.follow(float64(s.g.Pos.Slice(rows)[0].X), speed, y.Net.Now())
			}
		}
	}
	return all
}

// each calls fn for three round trips, without loss and with 2 %.
func each(t *testing.T, fn func(t *testing.T, link sim.Link)) {
	for _, ms := range []int{20, 50, 100} {
		for _, loss := range []float64{0, 0.02} {
			t.Run(fmt.Sprintf("RTT %d ms, %.0f %% loss", 2*ms, 100*loss), func(t *testing.T) {
				fn(t, sim.Link{Latency: time.Duration(ms) * time.Millisecond, Loss: loss})
			})
		}
	}
}

// TestOwnerChangesWithoutAJump: a car at 15 m/s changes its driver. No frame moves it by more than twice
// its own step, for the old driver, the new one and a third player.
func TestOwnerChangesWithoutAJump(t *testing.T) {
	each(t, func(t *testing.T, link sim.Link) {
		y := newYard(t, 3, link)
		for _, s := range y.screens {
			s.in.Gas = 1
		}
		car := y.srv.Frame().Spawn(&y.g.Car, 1)
		*y.g.Pos.Get(y.srv.World(), car) = Position{X: -500, Y: -20}
		y.RunFor(6 * time.Second) // until it is at full speed
		screens := y.places(func(g *Game) *ecs.Query { return g.cars }, TopSpeed)
		for n := range 20 {
			require.NoError(t, y.srv.World().Transfer(car, foretick.PlayerID(2-n%2)))
			y.RunFor(1500*time.Millisecond + time.Duration(n)*7*time.Millisecond)
		}
		for i, s := range screens {
			t.Logf("screen %d: at most %.2f steps in a frame: %s", i, s.worst, s.where)
			require.LessOrEqual(t, s.worst, 2., "screen %d: %s", i, s.where)
			require.Zero(t, y.screens[i].c.Stats().JumpsByOwner)
		}
		require.NoError(t, y.Err())
	})
}

// TestBallFliesWithoutAJump: a ball is thrown at 18 m/s and caught. No frame moves it by more than
// twice its own step, for the thrower, the catcher and a third player.
func TestBallFliesWithoutAJump(t *testing.T) {
	each(t, func(t *testing.T, link sim.Link) {
		y := newYard(t, 5, link)
		ball := y.srv.Frame().Spawn(&y.g.Ball, 1)
		y.g.Held.Get(y.srv.World(), ball).Held = true
		catcher := y.g.bodies.FirstOwned(y.srv.World(), 2)
		*y.g.Pos.Get(y.srv.World(), catcher) = Position{X: 30, Y: 4} // in the ball's way
		y.RunFor(2 * time.Second)
		screens := y.places(func(g *Game) *ecs.Query { return g.balls }, ThrowSpeed)
		for n := range 8 {
			y.screens[0].in.Throw = true
			y.RunFor(3500*time.Millisecond + time.Duration(n)*7*time.Millisecond)
			require.EqualValues(t, 2, y.srv.World().Owner(ball), "throw %d: it was caught", n)
			for _, s := range screens {
				s.blind = true // the test gives the ball back
			}
			y.srv.Frame().Teleport(ball)
			require.NoError(t, y.srv.World().Transfer(ball, 1))
			y.RunFor(time.Second)
			for _, s := range screens {
				s.blind = false
			}
		}
		for i, s := range screens {
			t.Logf("screen %d: at most %.2f steps in a frame: %s", i, s.worst, s.where)
			require.LessOrEqual(t, s.worst, 2., "screen %d: %s", i, s.where)
		}
		require.NoError(t, y.Err())
	})
}

// TestShotsAtWhatSlides: a player shoots at the car that it just drove, while its screen slides into the
// past. Each shot is judged where the screen showed the car.
func TestShotsAtWhatSlides(t *testing.T) {
	each(t, func(t *testing.T, link sim.Link) {
		y := newYard(t, 7, link)
		judged := map[foretick.Tick]float64{}
		y.g.shot = func(f *foretick.Frame, saw foretick.HitView) {
			if x, ok := y.g.carSeen(f, saw); ok {
				judged[f.Tick] = x
			}
		}
		for _, s := range y.screens {
			s.in.Gas = 1
		}
		car := y.srv.Frame().Spawn(&y.g.Car, 1)
		*y.g.Pos.Get(y.srv.World(), car) = Position{X: -500, Y: -20}
		y.RunFor(6 * time.Second)
		shooter := y.screens[0]
		clear(judged)
		clear(shooter.drawn)
		for n := range 12 {
			require.NoError(t, y.srv.World().Transfer(car, foretick.PlayerID(2-n%2)))
			for range 60 {
				shooter.in.Fire = n%2 == 0
				y.RunFor(25 * time.Millisecond)
			}
		}
		var worst, sum float64
		shots := 0
		for k, x := range judged {
			if shown, ok := shooter.drawn[k]; ok {
				shots++
				sum += math.Abs(shown - x)
				worst = max(worst, math.Abs(shown-x))
			}
		}
		t.Logf("%d shots: %.3f m from what was shown in the mean, %.3f at most", shots, sum/float64(shots), worst)
		require.Greater(t, shots, 200)
		require.Less(t, sum/float64(shots), 0.08)
		require.Less(t, worst, 0.4)
		require.NoError(t, y.Err())
	})
}
