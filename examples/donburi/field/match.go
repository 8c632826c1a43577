package field

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport/sim"
)

// options are the command line.
type options struct {
	rtt     time.Duration
	loss    float64
	seconds int
	seed    uint64
	watch   func(*Game, client.View) // of the first player's frames; nil: nobody watches
}

const (
	players = 4
	rest    = 3 * time.Second // until nothing moves
)

// report is what came of a match.
type report struct {
	stats  stats.Client // of all clients
	audits []simtest.AuditReport
	coins  int // that were collected
}

// wander presses what a player might.
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

// play lets bots play for some seconds of virtual time.
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
		simtest.AddStats(&r.stats, &st)
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
	for c, n := range r.stats.ByCause {
		causes = append(causes, fmt.Sprintf("%v %d", prediction.Cause(c), n))
	}
	say("%d mispredictions in %d ticks compared: %s", r.stats.Mispredictions, r.stats.Compared, strings.Join(causes, ", "))
	say("%d ticks were run again, %d coins were collected", r.stats.Resimulated, r.coins)
	for i, a := range r.audits {
		say("at rest player %d has %d entities like the server, with %d differences", i+1, a.Entities, a.Differences)
	}
}
