// Packages is a shooter that uses single packages of the library, without the root package and
// without ecs. Its entities are plain structs in a map. Start from it if your engine has
// its own components, storage or loop, and replace what your engine does better.
//
//	rules.go   the components, their tags, and the rules of both ends
//	server.go  the world; commands in, snapshots out, shots judged in the past (netcode, snapshot, lagcomp)
//	client.go  a connection, a clock, and others as they were (netcode, snapshot)
//	pilot.go   the own drone, predicted and corrected (prediction)
//
// Without flags, bots play in virtual time over bad networks, and a table shows how well these
// were hidden. With -serve and -join the game runs over UDP.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"os/signal"
	"time"

	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
	"github.com/foretick/foretick/transport/udp"
)

const frameTime = time.Second / 60

// bot returns a function that plays for a bot: it flies about the middle, and shoots at the nearest
// drone on its screen.
func bot(c *Client, seed uint32) func(netcode.Tick) Stick {
	return func(t netcode.Tick) Stick {
		me, turn := c.Pilot.Body, float64(t/24*2654435761+seed*40503)
		in := Stick{X: float32(math.Cos(turn)) - me.X/40, Y: float32(math.Sin(turn)) - me.Y/40}
		in.X, in.Y = min(max(in.X, -1), 1), min(max(in.Y, -1), 1)
		if (t+7*seed)%20 != 0 {
			return in
		}
		near := float64(reach)
		for _, at := range c.Others {
			if far := math.Hypot(float64(at.X-me.X), float64(at.Y-me.Y)); far > 0 && far < near {
				near, in.Fire = far, true
				in.AimX, in.AimY = (at.X-me.X)/float32(far), (at.Y-me.Y)/float32(far)
			}
		}
		return in
	}
}

// Match is a match of bots in virtual time.
type Match struct {
	Net      *sim.Network
	Server   *Server
	Clients  []*Client
	Screen   map[shot]uint16 // for each shot: the player that it hit on its shooter's screen, or 0
	Verdicts map[shot]uint16 // for each shot: the player that it hit on the server, or 0
}

// shot names a shot by the player that fired it and the tick.
type shot struct {
	player uint16
	tick   netcode.Tick
}

// NewMatch returns a match of the given number of bots, each behind a link.
func NewMatch(link sim.Link, bots int, seed uint64) *Match {
	m := &Match{Net: sim.NewNetwork(seed), Screen: map[shot]uint16{}, Verdicts: map[shot]uint16{}}
	listen := m.Net.Listen()
	m.Server = NewServer(listen)
	m.Server.OnShot = func(player uint16, t netcode.Tick, hit uint16) { m.Verdicts[shot{player, t}] = hit }
	for i := range bots {
		c := NewClient(m.Net.Dial(listen, link, link))
		c.Read = bot(c, uint32(i))
		c.OnShot = func(t netcode.Tick, hit uint16) { m.Screen[shot{c.Pilot.Server.Owner, t}] = hit }
		m.Clients = append(m.Clients, c)
	}
	return m
}

// Play continues the match for the time d.
func (m *Match) Play(d time.Duration) {
	for end := m.Net.Now() + d; m.Net.Now() < end; {
		m.Net.Run(m.Net.Now() + frameTime)
		if m.Net.Now()/tickTime > (m.Net.Now()-frameTime)/tickTime {
			m.Server.Step(m.Net.Now())
		}
		for _, c := range m.Clients {
			c.Step(m.Net.Now())
		}
	}
}

// Report says how well the network was hidden.
type Report struct {
	Hits      int     // shots that hit on their shooter's screen, and were judged by the server
	Confirmed int     // those of them that hit the same drone on the server
	Wrong     float64 // corrections for each player and minute
	Down      float64 // bytes a second to each player
}

// Report returns the report for the match so far.
func (m *Match) Report() (r Report) {
	for shot, hit := range m.Screen {
		if verdict, judged := m.Verdicts[shot]; hit > 0 && judged {
			if r.Hits++; verdict == hit {
				r.Confirmed++
			}
		}
	}
	players := float64(len(m.Clients)) * m.Net.Now().Seconds()
	for _, c := range m.Clients {
		r.Wrong += float64(c.Wrong) * 60 / players
		r.Down += float64(c.conn.Stats().ReceivedBytes) / players
	}
	return r
}

func main() {
	serve, join := flag.String("serve", "", "be a server at this address, such as :7777"), flag.String("join", "", "play on the server at this address")
	seconds := flag.Int("seconds", 60, "length of a match of bots, in virtual time")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	switch {
	case *serve != "":
		net, err := udp.Listen(*serve, udp.Config{})
		check(err)
		s := NewServer(net)
		loop(ctx, net, tickTime, func(now time.Duration) bool { s.Step(now); return true })
	case *join != "":
		net, err := udp.Dial(*join, udp.Config{})
		check(err)
		c := NewClient(net)
		c.Read = bot(c, uint32(os.Getpid())) // read your keys here
		loop(ctx, net, frameTime, func(now time.Duration) bool {
			if c.Step(now); c.Ticks%rate == 1 {
				log.Printf("at %.1f %.1f with %d others, hits %d of %d", c.Pilot.X, c.Pilot.Y, len(c.Others), c.Score.Hits, c.Score.Shots)
			}
			return !c.Closed
		})
	default:
		for _, name := range []string{"lan", "wifi", "lte"} {
			link, err := sim.Preset(name)
			check(err)
			m := NewMatch(link, 4, 1)
			m.Play(time.Duration(*seconds) * time.Second)
			r := m.Report()
			fmt.Printf("%-10s %3d of %3d hits on screen confirmed, %.1f corrections a minute, %.2f kB/s to a player\n", name, r.Confirmed, r.Hits, r.Wrong, r.Down/1000)
		}
	}
}

// loop calls step at an interval, until step returns false or ctx ends. Then it closes net.
func loop(ctx context.Context, net transport.Endpoint, every time.Duration, step func(now time.Duration) bool) {
	tick, began := time.NewTicker(every), time.Now()
	defer tick.Stop()
	for step(time.Since(began)) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			_ = net.Close(transport.Closed, "bye")
			return
		}
	}
	_ = net.Close(transport.Closed, "bye")
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
