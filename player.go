package foretick

import (
	"time"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/transport"
)

// playerState is how far a peer has come.
type playerState uint8

const (
	greeting playerState = iota // the transport is up, no Hello yet
	refusing                    // the protocols differ: telling the peer how
	playing
	away // lost its connection; the place is held
)

// sentPacket is what a packet to a client carried.
type sentPacket struct {
	snapshot snapshot.Sent
	has      bool
	welcome  bool
	level    bool
	epoch    uint8 // of the level that the snapshot is of
}

// player is one client, on the server.
type player struct {
	peer  transport.PeerID
	owner ecs.Owner
	token [16]byte // what the player comes back with
	state playerState
	every uint32        // ticks a snapshot
	since time.Duration // when it entered this state
	conn  *netcode.Conn
	sent  *netcode.SequenceBuffer[sentPacket]
	next  sentPacket // what the packet being built carries

	sender   *snapshot.Sender
	welcomed bool  // the Welcome was delivered
	entered  bool  // the level's information was delivered
	epoch    uint8 // of the level that it is sent

	buffer   *netcode.CommandBuffer
	command  unsafe.Pointer // the command of the tick being computed, as a component
	last     unsafe.Pointer // the newest command received, one-shots cleared
	repeated time.Duration
	early    time.Duration // how long commands wait in the buffer, as last measured
	heard    bool          // a command was taken before

	judge    *lagcomp.Judge
	claim    lagcomp.Claim
	measured lagcomp.Measured
	judged   Tick // the tick for which allowed was computed
	granted  lagcomp.Claim
	reason   lagcomp.Reason
	acked    Tick  // newest snapshot tick that the client has
	arrived  int64 // when the command of the newest claim came, 1/256 tick
	known    int64 // when the acknowledgements being taken in came, 1/256 tick
	lostAny  bool  // a packet to the client was lost

	deliveries deliveries
	drawing    drawing
	view       view
	hides      map[ecs.Entity]hide
	visible    func(lagcomp.ID) bool

	substituted Tick // newest tick whose command was not the client's; 0 none
	effect      Tick // newest tick in which a server system wrote its predicted state
	effectBy    int  // that system's index
	raised      []raisedEvent
	told        []noteEvent // scratch

	stats PlayerStats
}

// allowed judges the player's claim once a tick.
func (p *player) allowed(now Tick) (lagcomp.Claim, lagcomp.Reason) {
	if p.judged != now {
		p.granted, p.reason = p.judge.Allow(p.claim, p.measured)
		p.judged = now
		if p.reason != lagcomp.OK {
			p.stats.Clamped++
		}
	}
	return p.granted, p.reason
}

// raisedEvent is an event that an entity of the player's raised.
type raisedEvent struct {
	tick  Tick
	event uint32
}
