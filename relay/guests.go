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

// caughtUp reports whether a guest has all settled ticks but the last few, which are on their way.
func (g *guest) caughtUp(newest netcode.Tick, few int) bool {
	return g != nil && g.state == following && g.showed && netcode.Distance(newest, g.holds) <= few
}

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
