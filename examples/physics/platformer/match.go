package platformer

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport/sim"
)

// options are the values of the command line's flags. Run describes each.
type options struct {
	players int
	rtt     time.Duration
	loss    float64
	seconds int
	seed    uint64
	watch   func(*Game, client.View) // called after each frame of the first player; or nil
}

const rest = 6 * time.Second // how long the match goes on without input, until all jumpers stand or ride the lift

// report is the result of a match.
type report struct {
	stats   stats.Client // the sums of all clients
	highest float32      // the greatest height that a jumper reached, in tiles
	rode    int          // for how many ticks jumpers stood on the lift, added up
}

// Bot returns a function that presses keys at random, as a player might.
func Bot(seed, n uint64) func(client.View) Command {
	luck, until, held := rand.New(rand.NewPCG(seed, n)), foretick.Tick(0), Command{}
	return func(v client.View) Command {
		held.Jump = luck.IntN(12) == 0
		if v.Tick >= until {
			until = v.Tick + 10 + luck.Uint32N(40)
			held.X = float32(luck.IntN(3) - 1)
		}
		return held
	}
}

// play runs a match of bots for some seconds of virtual time.
func play(o options) (r report, err error) {
	m, srv := simtest.New(o.seed), &Game{}
	_, err = m.Serve(server.Config{Protocol: srv.Protocol(), OnTick: func(f *foretick.ServerFrame) {
		for _, rows := range srv.bodies.All(f.World) {
			for _, b := range srv.Body.Slice(rows) {
				r.highest = max(r.highest, b.Y)
				if above := b.Y - Height/2 - liftAt(f.Tick) - 0.3; b.X > liftX-2 && b.X < liftX+2 && max(above, -above) < 0.05 {
					r.rode++
				}
			}
		}
	}})
	if err != nil {
		return r, err
	}
	end := time.Duration(o.seconds) * time.Second
	link := sim.Link{Latency: o.rtt / 2, Loss: o.loss}
	var clients []*client.Client
	for i := range o.players {
		g, press := &Game{}, Bot(o.seed, uint64(i))
		cfg := client.Config{Protocol: g.Protocol()}
		cfg.Sample = client.Sample(&g.Cmd, func(v client.View) (c Command) {
			if m.Net.Now() < end {
				c = press(v)
			}
			return c
		})
		seat := simtest.Seat{Up: link, Down: link}
		if i == 0 && o.watch != nil {
			seat.After = func(v client.View) { o.watch(g, v) }
		}
		c, err := m.Join(cfg, seat)
		if err != nil {
			return r, err
		}
		clients = append(clients, c)
	}
	m.Run(end + rest)
	for _, c := range clients {
		st := c.Stats()
		r.stats.Add(&st)
	}
	return r, m.Err()
}

func (r *report) print(w io.Writer) {
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	var causes []string
	for c, n := range r.stats.ByCause.All() {
		causes = append(causes, fmt.Sprintf("%v %d", c, n))
	}
	say("%d mispredictions in %d ticks compared: %s", r.stats.Mispredictions, r.stats.Compared, strings.Join(causes, ", "))
	say("%d ticks were run again", r.stats.Resimulated)
	say("the highest jumper came %.1f tiles up, and jumpers rode the lift for %d ticks", r.highest, r.rode)
}

// picture draws a view as text.
func (g *Game) picture(v client.View) string {
	var field [High + 1][Wide + 1]byte
	for y := range field {
		for x := range field[y] {
			field[y][x] = ' '
		}
	}
	g.lift.SetPosition(liftX, float64(liftAt(v.Tick)))
	for _, s := range g.solids {
		b := s.Bounds()
		for y := max(int(b.Min.Y), 0); y <= min(int(b.Max.Y-0.1), High); y++ {
			for x := max(int(b.Min.X), 0); x < min(int(b.Max.X), Wide+1); x++ {
				field[High-y][x] = '='
			}
		}
	}
	for _, rows := range g.bodies.All(v.World) {
		for _, b := range g.Body.Slice(rows) {
			sign := byte('o')
			if rows.Owner() == v.Player {
				sign = '@'
			}
			field[High-min(max(int(b.Y), 0), High)][min(max(int(b.X), 0), Wide)] = sign
		}
	}
	var out strings.Builder
	for _, line := range field {
		out.WriteString("|" + string(line[:]) + "|\n")
	}
	return out.String()
}
