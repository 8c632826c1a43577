package yard

import (
	"fmt"
	"io"
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

const rest = 6 * time.Second // how long the match goes on without input, until nothing moves

// report is the result of a match.
type report struct {
	stats  stats.Client          // the sums of all clients
	audits []simtest.AuditReport // of each client, once nothing moves
	shoved float32               // how far the crates were moved on the server, in metres, added up
	offset offset
}

// play runs a match of bots for some seconds of virtual time, and then lets it come to rest.
func play(o options) (r report, err error) {
	m, truth := simtest.New(o.seed), &Game{}
	r.offset.was = map[moment]place{}
	srv, err := m.Serve(server.Config{Protocol: truth.Protocol(), OnTick: func(f *foretick.ServerFrame) { r.offset.note(truth, f.Frame) }})
	if err != nil {
		return r, err
	}
	truth.Fill(srv)
	end := time.Duration(o.seconds) * time.Second
	link := sim.Link{Latency: o.rtt / 2, Loss: o.loss}
	var clients []*client.Client
	for i := range o.players {
		g := &Game{}
		b := newBot(g, o.seed, uint64(i))
		cfg := client.Config{Protocol: g.Protocol()}
		cfg.Sample = client.Sample(&g.Cmd, func(v client.View) (c Command) {
			if m.Net.Now() < end {
				c = b.steer(v)
			}
			return c
		})
		seat := simtest.Seat{Up: link, Down: link, After: func(v client.View) {
			if m.Net.Now() < end {
				r.offset.look(g, v)
			}
			if i == 0 && o.watch != nil {
				o.watch(g, v)
			}
		}}
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
	for _, rows := range truth.bodies.All(srv.World()) {
		if rows.Has(truth.Drive.ID()) {
			continue
		}
		for i, id := range truth.ID.Slice(rows) {
			b := truth.Body.Slice(rows)[i]
			n := id.N - 1000
			x, y := b.X-(float32(n%5)*3-6), b.Y-(float32(n/5)*3-3)
			r.shoved += max(x, -x) + max(y, -y)
		}
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
	say("%d of %d ticks were shown wrongly at first", r.stats.MispredictedTicks, r.stats.PredictedTicks)
	say("%d of %d predicted states of other cars were wrong, in any field by any step", r.stats.RemoteMispredicted, r.stats.RemotePredicted)
	say("%d ticks were run again", r.stats.Resimulated)
	r.offset.print(w)
	for i, a := range r.audits {
		say("at rest player %d has %d bodies like the server, with %d differences", i+1, a.Entities, a.Differences)
	}
}

// picture draws a view as text.
func (g *Game) picture(v client.View) string {
	const wide, high = 2 * halfLength * 2, 2 * halfWidth
	var field [high + 1][wide + 1]byte
	for y := range field {
		for x := range field[y] {
			field[y][x] = ' '
		}
	}
	for _, rows := range g.bodies.All(v.World) {
		for i, b := range g.Body.Slice(rows) {
			sign := byte('#')
			if rows.Has(g.Drive.ID()) {
				sign = '0' + byte(g.ID.Slice(rows)[i].N%10)
			}
			x, y := int((b.X+halfLength)*2), int(halfWidth-b.Y)
			if x >= 0 && x <= wide && y >= 0 && y <= high {
				field[y][x] = sign
			}
		}
	}
	var out strings.Builder
	for _, line := range field {
		out.WriteString("|" + string(line[:]) + "|\n")
	}
	return out.String()
}
