package main

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/hajimehoshi/ebiten/v2"
	"github.com/hajimehoshi/ebiten/v2/ebitenutil"
	"github.com/hajimehoshi/ebiten/v2/vector"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/examples/ebiten/duel"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/impair"
	"github.com/foretick/foretick/transport/sim"
)

// figures makes the text that F3 shows. It does so again every half second.
type figures struct {
	text string
	at   time.Time    // when text was made
	last stats.Client // the client's stats at that time
}

func (f *figures) frame(now time.Time, c *client.Client, v client.View) {
	past := now.Sub(f.at)
	if past < time.Second/2 {
		return
	}
	st := c.Stats()
	net := st.Connection
	var b strings.Builder
	fmt.Fprintf(&b, "%.0f frames a second, tick %d\n", ebiten.ActualFPS(), v.Tick)
	fmt.Fprintf(&b, "round trip %d ms, jitter %d ms, loss %.1f %%\n", net.RTT.Milliseconds(), net.Jitter.Milliseconds(), 100*net.Loss)
	fmt.Fprintf(&b, "down %.1f kB/s, up %.1f kB/s\n", float64(st.BytesIn-f.last.BytesIn)/past.Seconds()/1000, float64(st.BytesOut-f.last.BytesOut)/past.Seconds()/1000)
	if frames := st.Frames - f.last.Frames; frames > 0 {
		fmt.Fprintf(&b, "others %d ms in the past\n", ((st.InterpolationSum - f.last.InterpolationSum) / time.Duration(frames)).Milliseconds())
	}
	fmt.Fprintf(&b, "corrections %d, of %d ticks\n", st.Mispredictions, st.PredictedTicks)
	if v.Stalled {
		b.WriteString("stalled: nothing comes from the server\n")
	}
	f.text, f.at, f.last = b.String(), now, st
}

// network adds delay and loss to the real network. F4 chooses how much.
type network struct {
	preset   int // an index into presets
	endpoint *impair.Endpoint
}

var presets = [...]struct {
	name string
	link sim.Link
}{{"as it is", sim.Link{}}, {"WiFi", sim.WiFi}, {"LTE", sim.LTE}, {"train", sim.Train}, {"hell", sim.Hell}}

func (n *network) wrap(e transport.Endpoint) transport.Endpoint {
	link := presets[n.preset].link
	n.endpoint = impair.Wrap(e, link, link, uint64(time.Now().UnixNano()))
	return n.endpoint
}

func (n *network) next() {
	n.preset = (n.preset + 1) % len(presets)
	link := presets[n.preset].link
	n.endpoint.SetLinks(link, link)
}

func (n *network) name() string { return presets[n.preset].name }

// serverView has the server's positions of the players, for F5. It is for debugging, and only
// a game that hosts in its own process has one: a client receives no more than it shows.
type serverView struct {
	mu     sync.Mutex
	bodies []duel.Position
}

// keep copies the players' positions. It runs in the server's goroutine, after each tick.
func (s *serverView) keep(g *duel.Game, f *foretick.Frame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bodies = s.bodies[:0]
	for _, rows := range g.Players().All(f.World) {
		s.bodies = append(s.bodies, g.Pos.Slice(rows)...)
	}
}

func (w *window) drawServer(screen *ebiten.Image) {
	if w.here == nil {
		ebitenutil.DebugPrintAt(screen, "F5 needs a host in this process: start without -join", 8, duel.Height*scale-40)
		return
	}
	w.here.seen.mu.Lock()
	defer w.here.seen.mu.Unlock()
	for _, at := range w.here.seen.bodies {
		vector.StrokeCircle(screen, at.X*scale, at.Y*scale, duel.Radius*scale, 2, onHost, true)
	}
}
