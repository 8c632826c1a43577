// Window opens a window on a platformer with a lift: a and d run, w or space jumps. The server and
// three bots run in the same process, and a simulated network connects them.
//
//	go run ./platformer/window                        a round trip of 100 ms, 2 % loss
//	go run ./platformer/window -rtt 300ms -loss 0.1   a bad one
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"time"

	"github.com/hajimehoshi/ebiten/v2"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/examples/physics/platformer"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport/sim"
)

type options struct {
	link       sim.Link
	auto       bool
	frames     int
	screenshot string
}

func main() {
	var o options
	rtt := flag.Duration("rtt", 100*time.Millisecond, "round trip of every player's line")
	flag.Float64Var(&o.link.Loss, "loss", 0.02, "share of packets lost, 0 to 1")
	flag.BoolVar(&o.auto, "auto", false, "let the player's jumper move by itself")
	flag.IntVar(&o.frames, "frames", 0, "end after so many frames")
	flag.StringVar(&o.screenshot, "screenshot", "", "PNG file to write the last of -frames to")
	flag.Parse()
	o.link.Latency = *rtt / 2
	w, err := newWindow(o)
	if err != nil {
		log.Fatal(err)
	}
	ebiten.SetWindowTitle("platformer")
	ebiten.SetWindowSize(platformer.Wide*scale, platformer.High*scale)
	ebiten.SetTPS(ebiten.SyncWithFPS) // one Update, and so one Step, for each frame that is drawn
	if err := ebiten.RunGame(w); err != nil && !errors.Is(err, ebiten.Termination) {
		log.Fatal(err)
	}
}

// match is a server and its clients in this process. step runs all of them.
type match struct {
	network *sim.Network
	began   time.Time
	server  *server.Server
	clients []*client.Client // the first is the player's
}

const bots = 3

func newMatch(link sim.Link, g *platformer.Game, sample func(client.View) platformer.Command) (*match, error) {
	if err := link.Validate(); err != nil {
		return nil, fmt.Errorf("-rtt or -loss: %w", err)
	}
	m, srv := &match{network: sim.NewNetwork(1), began: time.Now()}, &platformer.Game{}
	listen := m.network.Listen()
	var err error
	m.server, err = server.New(server.Config{Protocol: srv.Protocol(), Transport: listen})
	if err != nil {
		return nil, err
	}
	for n := range uint64(1 + bots) {
		if n > 0 {
			g = &platformer.Game{}
		}
		p := g.Protocol()
		if n > 0 {
			sample = platformer.Bot(1, n)
		}
		c, err := client.New(client.Config{
			Protocol: p, Transport: m.network.Dial(listen, link, link), Sample: client.Sample(&g.Cmd, sample),
		})
		if err != nil {
			return nil, err
		}
		m.clients = append(m.clients, c)
	}
	return m, nil
}

// step runs the match up to now, and returns the player's view.
func (m *match) step() (view client.View) {
	now := time.Now()
	m.network.Run(now.Sub(m.began))
	m.server.Step(now)
	for i, c := range m.clients {
		if v := c.Step(now); i == 0 {
			view = v
		}
	}
	return view
}
