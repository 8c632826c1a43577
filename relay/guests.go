package relay

import (
	"slices"
	"time"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
)

// guest is a peer that is connected to the relay.
type guest struct {
	peer     transport.PeerID
	conn     *netcode.Conn
	state    guestState
	heard    time.Duration // heard is when the newest packet came.
	player   ecs.Owner     // player is 0 for an observer, and before the guest has a place.
	observes bool
	holds    netcode.Tick // holds is the newest settled tick that the peer has, as far as the relay knows.
	sent     netcode.Tick // sent is the newest tick of the newest packet, or holds if that has all.
	showed   bool         // showed is true if the peer has named holds itself since it follows.
	faults   int          // faults counts messages that could not be read.
	world    uint32       // world is the length of the newest world that the peer took. 0 means none.
	outrun   int          // outrun counts the worlds after which the peer did not catch up before its next ticks were gone.
	deferred int          // deferred counts how often the guest went to the end of worlds.queue since it waits.
}

// guestState is how far a guest has come.
type guestState uint8

const (
	greeting  guestState = iota // A guest that greets has sent no hello that was taken.
	waiting                     // A guest that waits needs a world.
	taking                      // A guest that takes was sent a world whole, and has yet to take the end of it.
	following                   // A guest that follows has a world, and gets settled ticks.
)

// mostFaults is how many malformed messages a peer may send.
const mostFaults = 64

// nextToSend returns the first tick of the next packet to a guest that follows. If it lacks more than fit into a packet,
// each packet goes on where the one before ended, because what it has is known only after a round trip. After the newest
// tick, or sendAhead of them, the next packet begins again with the first one that it lacks.
func (g *guest) nextToSend() netcode.Tick {
	if ahead := netcode.Distance(g.sent, g.holds); ahead <= 0 || ahead >= sendAhead {
		g.sent = g.holds
	}
	return g.sent + 1
}

// noteSent notes that a packet has n ticks, from nextToSend on.
func (g *guest) noteSent(n int, newest netcode.Tick) {
	if g.sent += netcode.Tick(n); g.sent == newest {
		g.sent = g.holds
	}
}

// sendAhead is how many ticks a guest may be sent that it is not known to have. A peer keeps that many.
const sendAhead = 256

// guests are the peers that are connected, in the order of arrival.
type guests struct {
	all    []*guest
	byPeer map[transport.PeerID]*guest
}

func (gs *guests) add(g *guest) {
	gs.all = append(gs.all, g)
	gs.byPeer[g.peer] = g
}

func (gs *guests) remove(g *guest) {
	gs.all = slices.DeleteFunc(gs.all, func(x *guest) bool { return x == g })
	delete(gs.byPeer, g.peer)
}

// observers returns how many guests observe.
func (gs *guests) observers() (n int) {
	for _, g := range gs.all {
		if g.observes {
			n++
		}
	}
	return n
}
