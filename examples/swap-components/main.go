// Swap-components keeps its own component types in its own storage and sends them with its own codec. From the
// library it uses package netcode, which reports the fate of each packet, and a transport. It uses neither package
// ecs nor package snapshot.
//
//	components.go  the types, and Column, which stores one of them
//	codec.go       how they are sent: as differences from a state that the client is known to have
//	main.go        a server and a client, and the bad network between them
//
// To use your engine's components, replace these types. Keep two things. end.settle finds the newest state that
// the other end has. No data from the wire is trusted.
package main

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

const (
	tickTime = time.Second / 20
	history  = 64 // ticks that both ends remember
	// messageFleet is this example's message; types from 23 on are the caller's.
	messageFleet netcode.MessageType = 23
)

// end is one end of the connection: its state of each tick, and the fates of the packets that it sent.
type end struct {
	net    transport.Endpoint
	peer   transport.PeerID
	conn   *netcode.Conn
	worlds [history]World // by tick
	ticks  [history]uint32
	sent   [1 << 10]uint32 // the tick in each packet, by packet number
	acked  uint32          // the newest tick that the other end has; 0: none
	bytes  int
	taken  func(tick uint32) // called for each accepted snapshot
	bad    int               // messages that could not be decoded
}

// at returns the state of a tick, or nil.
func (e *end) at(tick uint32) *World {
	if i := tick % history; tick > 0 && e.ticks[i] == tick {
		return &e.worlds[i]
	}
	return nil
}

// begin makes room for a tick.
func (e *end) begin(tick uint32) *World {
	e.ticks[tick%history] = tick
	return &e.worlds[tick%history]
}

// receive handles the events of the network.
func (e *end) receive(now time.Duration) {
	var events [16]transport.Event
	for {
		n := e.net.Recv(events[:])
		for _, ev := range events[:n] {
			switch ev.Kind {
			case transport.Connected:
				e.peer = ev.Peer
			case transport.Data:
				if e.conn.Receive(now, ev.Data) == nil {
					e.messages()
				}
			}
		}
		if n < len(events) {
			break
		}
	}
	e.settle()
}

func (e *end) messages() {
	for m, ok := e.conn.NextMessage(); ok; m, ok = e.conn.NextMessage() {
		if m.Type != messageFleet {
			continue
		}
		if tick, err := decode(m.Body, e); err != nil {
			e.bad++
		} else if e.taken != nil {
			e.taken(tick)
		}
	}
}

// settle finds out which ticks the other end has.
func (e *end) settle() {
	for f, ok := e.conn.NextFate(); ok; f, ok = e.conn.NextFate() {
		if f.Delivered {
			e.acked = max(e.acked, e.sent[int(f.Seq)%len(e.sent)])
		}
	}
}

// send sends a tick's state; with tick 0 it sends only acknowledgements.
func (e *end) send(now time.Duration, tick uint32) {
	if e.peer == 0 {
		return
	}
	p := e.conn.Begin(now)
	e.settle() // Begin decides fates too
	carried := uint32(0)
	if tick > 0 && p.Message(messageFleet, encode(nil, tick, e.at(tick), e.acked, e.at(e.acked))) {
		carried = tick
	}
	seq, b := p.Finish()
	e.sent[int(seq)%len(e.sent)] = carried
	e.bytes += len(b)
	_ = e.net.Send(e.peer, b) // a failed send counts as lost, which the protocol handles
}

// fleet is the server's game: ships that sail, turn, are launched, sink, and sometimes change their name.
type fleet struct {
	now  World
	next uint32
	rand *rand.Rand
}

func (f *fleet) launch() {
	f.next++
	f.now.Places.Set(f.next, Place{X: f.rand.Int64N(1e6), Y: f.rand.Int64N(1e6)})
	f.now.Courses.Set(f.next, Course{Heading: uint16(f.rand.Uint32()), Speed: int16(f.rand.IntN(500))})
	f.now.Names.Set(f.next, fmt.Sprintf("ship no. %d", f.next))
}

func (f *fleet) step() {
	for f.now.Places.Len() < 12 {
		f.launch()
	}
	for _, id := range f.now.Courses.IDs() {
		place, course := f.now.Places.Get(id), f.now.Courses.Get(id)
		place.sail(*course)
		switch f.rand.IntN(100) {
		case 0:
			course.Heading += uint16(f.rand.IntN(8000))
		case 1:
			f.now.Names.Set(id, fmt.Sprintf("the late no. %d", id))
		case 2:
			f.now.Names.Remove(id)
		case 3:
			f.now.Remove(id)
		}
	}
}

// Outcome is the result of a match.
type Outcome struct {
	Sent, Taken  int     // snapshots
	Wrong        int     // accepted snapshots that differ from the server's state of that tick
	Bad          int     // messages that could not be decoded
	Bytes        float64 // average size of a snapshot, with headers
	Full         float64 // average size of a snapshot without a baseline
	Ships, Names int     // at the end, on the client
}

// play plays a match of some ticks over a link.
func play(ticks uint32, link sim.Link, seed uint64) Outcome {
	net := sim.NewNetwork(seed)
	listen := net.Listen()
	server := &end{net: listen, conn: netcode.NewConn(netcode.Config{})}
	client := &end{net: net.Dial(listen, link, link), conn: netcode.NewConn(netcode.Config{})}
	game := &fleet{rand: rand.New(rand.NewPCG(seed, 1))}
	var out Outcome
	newest := uint32(0)
	client.taken = func(tick uint32) {
		out.Taken++
		if !client.at(tick).Equal(server.at(tick)) {
			out.Wrong++
		}
		newest = max(newest, tick)
	}
	full := 0
	for tick := uint32(1); tick <= ticks; tick++ {
		net.Run(time.Duration(tick) * tickTime)
		client.receive(net.Now())
		server.receive(net.Now())
		game.step()
		server.begin(tick).Copy(&game.now)
		server.send(net.Now(), tick)
		client.send(net.Now(), 0)
		full += len(encode(nil, tick, &game.now, 0, nil))
	}
	out.Sent, out.Bad = int(ticks), client.bad
	out.Bytes, out.Full = float64(server.bytes)/float64(ticks), float64(full)/float64(ticks)
	if w := client.at(newest); w != nil {
		out.Ships, out.Names = w.Places.Len(), w.Names.Len()
	}
	return out
}

func main() {
	for _, link := range []struct {
		name string
		sim.Link
	}{{"no delay, no loss", sim.Link{}}, {"100 ms, a fifth lost", sim.Link{Latency: 50 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.2}}} {
		o := play(2000, link.Link, 1)
		fmt.Printf("%s: %d of %d snapshots arrived, %d of them wrong; %.0f B each, %.0f B without baselines\n",
			link.name, o.Taken, o.Sent, o.Wrong, o.Bytes, o.Full)
	}
}
