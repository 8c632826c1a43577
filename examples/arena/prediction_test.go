package main

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/examples/arena/game"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

var fullPrediction = flag.Bool("prediction", false, "play the prediction test's whole table, which takes minutes")

// predictionCell is the result of one match: how well prediction hid one link at one tick rate.
type predictionCell struct {
	rate, snapshots int
	rtt             time.Duration
	loss            float64
	peaceful        bool

	ticks, late int // local ticks, and how many of them did not show the newest input
	predicted   uint64
	byCause     [prediction.Causes]uint64
	wrong       uint64
	shownWrong  uint64
	stuns       int
	missed      int // not corrected in the Step that received their snapshot
	within      int // corrected within RTT + 3 ticks of the server's execution
	delays      []time.Duration
}

func (c *predictionCell) link() sim.Link { return sim.Link{Latency: c.rtt / 2, Loss: c.loss} }

// probe watches one client from outside: its input, the packets it received, and
// its corrections.
type probe struct {
	transport.Endpoint
	cell   *predictionCell
	match  *match
	net    *sim.Network
	seat   *seat
	shadow *netcode.Conn // reads the same packets as the client

	sampled   game.Command
	at        time.Duration // when that was
	arrived   foretick.Tick // the newest snapshot that was received
	corrected foretick.Tick // the newest tick that this Step corrected
	stuns     []stunned
}

type stunned struct {
	tick foretick.Tick
	at   time.Duration
}

// Recv also reads the ticks of the snapshots that are received.
func (p *probe) Recv(ev []transport.Event) int {
	n := p.Endpoint.Recv(ev)
	for i := range ev[:n] {
		if ev[i].Kind != transport.Data || p.shadow.Receive(p.net.Now(), slices.Clone(ev[i].Data)) != nil {
			continue
		}
		for m, ok := p.shadow.NextMessage(); ok; m, ok = p.shadow.NextMessage() {
			if m.Type != netcode.MessageSnapshot {
				continue
			}
			if _, rest, err := netcode.ParseSnapshotHeader(m.Body); err == nil && len(rest) >= 2 {
				now := p.match.server.Tick() // the tick's lowest 15 bits come first
				p.arrived = max(p.arrived, now-(now-foretick.Tick(binary.LittleEndian.Uint16(rest)))&0x7fff)
			}
		}
		for _, ok := p.shadow.NextReliable(); ok; _, ok = p.shadow.NextReliable() {
		}
	}
	return n
}

// Send passes sent packets to the shadow, which would otherwise reject their acknowledgements.
func (p *probe) Send(to transport.PeerID, b []byte) error {
	pk := p.shadow.Begin(p.net.Now())
	pk.Finish()
	return p.Endpoint.Send(to, b)
}

func (p *probe) sample(v client.View) game.Command {
	p.sampled, p.at = p.seat.bot.Sample(v), p.net.Now()
	return p.sampled
}

// turned checks a tick that runs for the first time: its input must be the one that was read in the
// same Step.
func (p *probe) turned(f *foretick.Frame, rows ecs.Rows) {
	if f.Replay || p.match.ended || p.net.Now() < 2*time.Second {
		return
	}
	g := p.seat.game
	for i, cmd := range g.Cmd.Slice(rows) {
		if g.Status.Slice(rows)[i].Dead {
			continue
		}
		p.cell.ticks++
		off := math.Remainder(float64(g.Face.Slice(rows)[i].Angle-p.sampled.Aim), 2*math.Pi)
		if p.at != p.net.Now() || math.Abs(off) > 2*math.Pi/4096 || math.Abs(float64(cmd.MoveX-p.sampled.MoveX)) > 1./128 {
			p.cell.late++
		}
	}
}

// after checks, after a Step, the stuns whose snapshot the Step received.
func (p *probe) after(client.View) {
	p.stuns = slices.DeleteFunc(p.stuns, func(s stunned) bool {
		if s.tick > p.arrived {
			return false
		}
		p.cell.stuns++
		delay := p.net.Now() - s.at
		if p.corrected < s.tick {
			p.cell.missed++
			return true
		}
		p.cell.delays = append(p.cell.delays, delay)
		if delay <= p.cell.rtt+3*time.Second/time.Duration(p.cell.rate) {
			p.cell.within++
		}
		return true
	})
	p.corrected = 0
}

// play plays the cell's match.
func (c *predictionCell) play(t *testing.T, clients int, seconds float64) {
	t.Helper()
	virtual(t)
	m := newMatch(options{seconds: seconds, clients: clients, tickRate: c.rate, snapshotRate: c.snapshots, peaceful: c.peaceful, seed: 5})
	s := simtest.New(5)
	cfg, err := m.serverConfig()
	require.NoError(t, err)
	m.server, err = s.Serve(cfg)
	require.NoError(t, err)
	var probes []*probe
	m.game.Watch.Stunned = func(f *foretick.Frame, player foretick.PlayerID) {
		for _, p := range probes {
			if p.seat.client.View().Player == player && s.Net.Now() > 2*time.Second {
				p.stuns = append(p.stuns, stunned{f.Tick, s.Net.Now()})
			}
		}
	}
	for n := range clients {
		st, cfg, err := m.clientConfig(n)
		require.NoError(t, err)
		p := &probe{cell: c, match: m, net: s.Net, seat: st, shadow: netcode.NewConn(netcode.Config{MTU: 1200})}
		st.game.Watch.Turned = p.turned
		cfg.Sample = client.Sample(&st.game.Cmd, p.sample)
		cfg.OnMisprediction = func(w prediction.Misprediction) { p.corrected = max(p.corrected, w.Tick) }
		wrap := func(e transport.Endpoint) transport.Endpoint { p.Endpoint = e; return p }
		st.client, err = s.Join(cfg, simtest.Seat{Up: c.link(), Down: c.link(), After: p.after, Wrap: wrap})
		require.NoError(t, err)
		probes = append(probes, p)
	}
	s.Run(time.Duration(seconds * float64(time.Second)))
	for _, p := range probes {
		st := p.seat.client.Stats()
		require.Equal(t, client.Playing, p.seat.client.View().State)
		c.predicted += st.PredictedTicks
		c.wrong += st.Mispredictions
		c.shownWrong += st.MispredictedTicks
		for i, n := range st.ByCause.All() {
			c.byCause[i] += n
		}
	}
	slices.Sort(c.delays)
}

func (c *predictionCell) name() string {
	return fmt.Sprintf("%d Hz, %d snapshots/s, RTT %v, loss %v, peaceful %t", c.rate, c.snapshots, c.rtt, c.loss, c.peaceful)
}

func (c *predictionCell) quantile(q float64) float64 {
	if len(c.delays) == 0 {
		return 0
	}
	return float64(c.delays[int(q*float64(len(c.delays)-1))]) / float64(time.Millisecond)
}

// check compares a cell with the required values.
func (c *predictionCell) check(t *testing.T) {
	t.Helper()
	require.Greater(t, c.ticks, 500, c.name())
	require.Zero(t, c.late, "local input shows on the next tick: %s", c.name())
	require.Zero(t, c.byCause[prediction.Code], c.name())
	require.Zero(t, c.byCause[prediction.Untracked], c.name())
	if c.peaceful {
		require.Zero(t, c.wrong, c.name())
		require.Zero(t, c.shownWrong, c.name())
		return
	}
	require.Greater(t, c.stuns, 8, c.name())
	require.Zero(t, c.missed, "every stun is corrected in the Step in which its snapshot comes: %s", c.name())
	if c.loss <= 0.05 {
		require.Less(t, float64(c.byCause[prediction.Input]), 0.005*float64(c.predicted), c.name())
		least := 0.99
		if c.loss > 0 && c.snapshots < c.rate { // the snapshot after a lost one comes too late
			least -= 2 * c.loss
		}
		require.GreaterOrEqual(t, float64(c.within), least*float64(c.stuns), c.name())
	}
}

func predictionTable(cells []*predictionCell) string {
	var b strings.Builder
	b.WriteString("\n| ticks/s | snapshots/s | RTT | loss | predicted ticks | not the newest input | corrected | input | server_effect | untracked | code | stuns | not at once | ≤ RTT + 3 ticks | after p50, p99 (ms) |\n")
	b.WriteString("|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, c := range cells {
		of := func(n int) string {
			if c.stuns == 0 {
				return "–"
			}
			return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(c.stuns))
		}
		fmt.Fprintf(&b, "| %d | %d | %d ms | %.0f %% | %d | %d | %d | %.3f %% | %d | %d | %d | %d | %d | %s | %.0f, %.0f |\n",
			c.rate, c.snapshots, c.rtt.Milliseconds(), 100*c.loss, c.predicted, c.late, c.wrong,
			100*float64(c.byCause[prediction.Input])/float64(max(c.predicted, 1)), c.byCause[prediction.ServerEffect],
			c.byCause[prediction.Untracked], c.byCause[prediction.Code], c.stuns, c.missed, of(c.within), c.quantile(0.5), c.quantile(0.99))
	}
	return b.String()
}

// The local player never waits. Its prediction is wrong only if the server did something unpredictable,
// and is then corrected at once: for several rates, round trips and losses, with the history that
// start-up chooses.
func TestPredictionTable(t *testing.T) {
	trips, losses := []int{0, 100, 400}, []float64{0, 0.2}
	rates := [][2]int{{30, 30}, {60, 20}}
	if longer() || *fullPrediction {
		losses = []float64{0, 0.05, 0.2}
		rates = [][2]int{{30, 30}, {31, 31}, {60, 60}, {60, 20}}
	}
	clients, seconds := 4, 9.0
	if *fullPrediction {
		trips, losses = []int{0, 50, 100, 200, 300, 400}, []float64{0, 0.01, 0.02, 0.05, 0.1, 0.2}
		clients, seconds = 8, 60
	}
	var war, peace []*predictionCell
	for _, r := range rates {
		for _, ms := range trips {
			for _, loss := range losses {
				c := &predictionCell{rate: r[0], snapshots: r[1], rtt: time.Duration(ms) * time.Millisecond, loss: loss}
				c.play(t, clients, seconds)
				war = append(war, c)
			}
			c := &predictionCell{rate: r[0], snapshots: r[1], rtt: time.Duration(ms) * time.Millisecond, peaceful: true}
			c.play(t, clients, seconds)
			peace = append(peace, c)
		}
	}
	t.Log("with stuns and deaths", predictionTable(war), "\npeaceful", predictionTable(peace))
	for _, c := range append(war, peace...) {
		c.check(t)
	}
}
