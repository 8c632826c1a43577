package field

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
	rtt     time.Duration
	loss    float64
	seconds int
	seed    uint64
	watch   func(*Game, client.View) // called after each frame of the first player; or nil
}

const (
	players = 4
	rest    = 3 * time.Second // how long the match goes on without input, until nothing moves
)

// report is the result of a match.
type report struct {
	stats  stats.Client          // the sums of all clients
	audits []simtest.AuditReport // of each client, at the end
	coins  int                   // how many were collected
}

// wander returns a function that presses keys at random, as a player might.
func wander(seed, n uint64) func(client.View) Pad {
	luck, until, held := rand.New(rand.NewPCG(seed, n)), foretick.Tick(0), Pad{}
	return func(v client.View) Pad {
		if v.Tick >= until {
			until = v.Tick + 8 + luck.Uint32N(25)
			held = Pad{X: luck.Float32()*2 - 1, Y: luck.Float32()*2 - 1, Throw: luck.IntN(3) > 0}
		}
		return held
	}
}

// play runs a match of bots for some seconds of virtual time.
func play(o options) (r report, err error) {
	m, truth := simtest.New(o.seed), &Game{}
	srv, err := m.Serve(server.Config{Protocol: truth.Protocol()})
	if err != nil {
		return r, err
	}
	truth.Fill(srv)
	end := time.Duration(o.seconds) * time.Second
	link := sim.Link{Latency: o.rtt / 2, Loss: o.loss}
	var clients []*client.Client
	for i := range uint64(players) {
		g, press := &Game{}, wander(o.seed, i)
		cfg := client.Config{Protocol: g.Protocol()}
		cfg.Sample = client.Sample(&g.Pad, func(v client.View) (c Pad) {
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
		r.audits = append(r.audits, m.Audit(c))
	}
	for e := range purse.Iter(truth.own) {
		r.coins += int(purse.Get(e).Coins)
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
	say("%d ticks were run again, %d coins were collected", r.stats.Resimulated, r.coins)
	for i, a := range r.audits {
		say("at rest player %d has %d entities like the server, with %d differences", i+1, a.Entities, a.Differences)
	}
}
