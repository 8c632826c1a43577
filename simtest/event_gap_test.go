package simtest_test

import (
	"errors"
	"fmt"
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

// blank is a game whose shots leave no trace in any component. A shot is known by its
// tick.
type blank struct {
	cmd  ecs.Component[button]
	at   ecs.Component[lane]
	body ecs.Prefab
	shot foretick.Event[foretick.Tick]

	refuse                          bool // the server refuses every seventh tick's command
	executed                        map[foretick.Tick]int
	predicted, confirmed, cancelled map[foretick.Tick]int
}

func newBlank() *blank {
	return &blank{executed: map[foretick.Tick]int{}, predicted: map[foretick.Tick]int{}, confirmed: map[foretick.Tick]int{}, cancelled: map[foretick.Tick]int{}}
}

func (g *blank) protocol(rate int) *foretick.Protocol {
	p := foretick.NewProtocol("blank", 1)
	p.SetTickRate(rate)
	p.Component(&g.at, foretick.Predicted())
	p.Command(&g.cmd)
	p.Prefab(&g.body, "body", &g.at, &g.cmd)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.body, player) })
	p.Shared("fire", func(f *foretick.Frame, rows ecs.Rows) {
		for i, c := range g.cmd.Slice(rows) {
			if c.Fire || c.Hold && f.Tick%3 == 0 {
				g.shot.Raise(f, rows.Entity(i), f.Tick)
			}
		}
	}, ecs.Read(&g.cmd))
	foretick.CheckCommand(p, &g.cmd, func(f *foretick.Frame, _ foretick.PlayerID, c button) error {
		if g.refuse && c.Fire && f.Tick%7 == 0 {
			return errors.New("jammed")
		}
		return nil
	})
	g.shot.OnServer(p, func(_ *foretick.ServerFrame, _ foretick.By, t foretick.Tick) { g.executed[t]++ })
	g.shot.OnPredicted(p, func(_ *foretick.Frame, _ foretick.By, t foretick.Tick) { g.predicted[t]++ })
	g.shot.OnConfirmed(p, func(_ *foretick.Frame, _ foretick.By, t foretick.Tick) { g.confirmed[t]++ })
	g.shot.OnCancelled(p, func(_ *foretick.Frame, _ foretick.By, t foretick.Tick) { g.cancelled[t]++ })
	return p
}

// An event is confirmed if the server raised it, and cancelled if it did not, even if it changes
// no state. That holds when packets are lost in gaps, up, down or both, and when the server
// refuses the command.
func TestEventsWithoutATraceAreConfirmedIfRaised(t *testing.T) {
	good := sim.Link{Latency: 40 * time.Millisecond}
	bad := sim.Link{Latency: 40 * time.Millisecond, Loss: 1}
	poor := sim.Link{Latency: 40 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.2}
	for _, rate := range []int{30, 60, 128} {
		all := 0
		for _, row := range []struct {
			name     string
			up, down sim.Link // the links during gaps
			gap      time.Duration
			hold     bool
			refuse   bool
		}{
			{"nothing", good, good, 0, true, false},
			{"100 ms up", bad, good, 100 * time.Millisecond, false, false},
			{"100 ms up, held", bad, good, 100 * time.Millisecond, true, false},
			{"100 ms both", bad, bad, 100 * time.Millisecond, false, false},
			{"500 ms both", bad, bad, 500 * time.Millisecond, true, false},
			{"loss", poor, poor, 300 * time.Millisecond, true, false},
			{"refused", good, good, 0, true, true},
		} {
			name := fmt.Sprintf("%d Hz, %s", rate, row.name)
			m := simtest.New(3)
			srv, cl := newBlank(), newBlank()
			srv.refuse = row.refuse
			_, err := m.Serve(server.Config{Protocol: srv.protocol(rate)})
			require.NoError(t, err)
			frames := 0
			c, err := m.Join(client.Config{Protocol: cl.protocol(rate), Sample: client.Sample(&cl.cmd, func(client.View) button {
				frames++
				return button{Fire: frames%2 == 0 && m.Net.Now() < 18*time.Second, Hold: row.hold && frames/30%2 == 0 && m.Net.Now() < 18*time.Second}
			})}, simtest.Seat{Up: good, Down: good})
			require.NoError(t, err)
			for at := 3 * time.Second; row.gap > 0 && at < 18*time.Second; at += time.Second {
				m.Net.At(at, func() { m.Link(c, row.up, row.down) })
				m.Net.At(at+row.gap, func() { m.Link(c, good, good) })
			}
			m.Run(20 * time.Second)
			lost, wrong, denied := 0, 0, 0
			for k, n := range cl.predicted {
				ran := srv.executed[k] > 0
				if !ran {
					lost++
				}
				if !ran && cl.confirmed[k] > 0 {
					wrong++
				}
				if ran && cl.confirmed[k] == 0 {
					denied++
				}
				require.Equal(t, n, cl.confirmed[k]+cl.cancelled[k], "%s: a shot of tick %d is settled", name, k)
			}
			t.Logf("%s: %d shots, %d not raised, %d of them confirmed; %d raised and not confirmed", name, len(cl.predicted), lost, wrong, denied)
			require.Greater(t, len(cl.predicted), 100, name)
			require.Zero(t, wrong, "%s: confirmed, and never raised", name)
			require.Zero(t, denied, "%s: raised, and not confirmed", name)
			if row.up.Loss == 0 && !row.refuse {
				require.Zero(t, lost, name)
			}
			all += lost
		}
		require.Greater(t, all, 50, "%d Hz", rate)
	}
}
