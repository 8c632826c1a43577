package foretick

import (
	"time"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
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
	came  time.Duration // when the connection began
	owner PlayerID
	token [16]byte // what the player comes back with
	named []byte   // the transport's word on who it is; empty: anybody

	address string // where it comes from, for logs
	origin  string // what limits by address go by; empty: none
	pending bool   // counts among its origin's connections that do not play yet

	state playerState
	every uint32        // ticks a snapshot
	since time.Duration // when it entered this state
	conn  *netcode.Conn

	kept *netcode.Conn // the lost connection, while away: its reliable messages wait

	connection uint64 // its number among all of the server's
	resent     uint64 // of what this connection sent again, counted in the server's
	session    uint64 // and that of its stay

	sent *netcode.SequenceBuffer[sentPacket]
	next sentPacket // what the packet being built carries

	packet      *netcode.Packet // that is being built
	snapshotDue bool            // it carries a snapshot
	presses     bool            // beyond the rate
	packed      []byte          // this one
	noteBody    []byte          // and the note that goes with it; empty: none

	sender   *snapshot.Sender
	insisted time.Duration // when a message last went beyond the rate; 0: never
	welcomed bool          // the Welcome was delivered
	entered  bool          // the level's information was delivered
	epoch    uint8         // of the level that it is sent

	overflowed  bool // it does not take its messages: to be dropped
	otherBuilds bool // it was told to ask for the schema
	answers     netcode.SchemaAnswers
	asked       bool // it did: it has time to read

	askings    []asking // requests for the next tick
	askedBytes []byte
	requests   uint32 // that were taken in, since the place's token was given
	allowance  allowance

	buffer   *netcode.CommandBuffer
	command  unsafe.Pointer // the command of the tick being computed, as a component
	tookTick Tick           // the newest tick that ran a command of its own
	// ticksPlayed counts the ticks that did, over all of its connections.
	ticksPlayed uint64
	hold        time.Duration  // while away: how long its place is held
	last        unsafe.Pointer // the newest command received, one-shots cleared
	repeated    time.Duration
	early       time.Duration // how long commands wait in the buffer, as last measured
	heard       bool          // a command was taken before
	standIn     []byte        // the newest command that the server made up, packed

	judge    *lagcomp.Judge
	claim    lagcomp.Claim
	behind   int64 // how far the same picture lay behind it in what it shows ahead, 1/offsetSteps tick; 0: it shows nothing so
	gave     Tick  // the tick of that command
	basis    Tick  // the newest snapshot that its client then had
	aparts   aparts
	measured lagcomp.Measured
	judged   Tick // the tick for which allowed was computed
	granted  lagcomp.Claim
	reason   lagcomp.Reason
	verdict  Judged // on that tick's claim
	acked    Tick   // newest snapshot tick that the client has
	arrived  int64  // when the command of the newest claim came, 1/256 tick
	known    int64  // when the acknowledgements being taken in came, 1/256 tick
	decided  int    // packets to the client of which it is known whether they came
	lost     int    // and those that did not

	deliveries deliveries
	conduct    conduct
	begun      bool           // its OnJoin ran, or began to
	resumed    bool           // it has the place that it had before
	lostCode   transport.Code // else why the place of its token is gone
	lostText   string
	over       bool // it is among the players no more
	poisoned   bool // decoding what it sent panicked
	kicked     bool // leaves at the end of the tick
	kickCode   transport.Code
	kickText   string
	drawing    drawing
	view       view
	hides      map[ecs.Entity]bool
	sights     []sight
	team       uint8
	near       *snapshot.AreaView      // what matters to it; nil: everything does
	members    map[ecs.Entity]Audience // of the game's own

	substituted Tick // newest tick whose command was not the client's; 0 none
	effect      Tick // newest tick in which a server system wrote its predicted state
	effectBy    int  // that system's index
	standFrom   Tick // first tick of the run without its own commands that substituted ends
	standHow    prediction.StandIn
	pushed      Tick // newest tick in which another's run of a shared system wrote what it predicts
	pushedBy    PlayerID
	blind       bool // it does not see something of its own
	sudden      Tick // newest such tick after some without; 0: none
	raised      []raisedEvent
	told        []noteEvent // scratch

	trails trails // debug builds alone

	stats PlayerStats
}

// allowed judges the player's claim once a tick.
func (p *player) allowed(now Tick) (lagcomp.Claim, lagcomp.Reason) {
	if p.judged != now {
		p.measured.Now = now // for who is away nothing newer was measured
		p.granted, p.reason = p.judge.Allow(p.claim, p.measured)
		p.judged = now
		p.verdict = Judged{At: now, Asked: p.claim, Used: p.granted, Reason: p.reason, Measured: p.measured, RTT: p.judge.RTT()}
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
