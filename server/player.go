package server

import (
	"bytes"
	"crypto/subtle"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/cause"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/late"
	"github.com/foretick/foretick/internal/rewind"
	"github.com/foretick/foretick/internal/seat"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport"
)

// player is a peer of the server: a client that plays or will play, or an observer.
type player struct {
	owner    foretick.PlayerID
	session  session
	schemas  playerSchemas
	inputs   inputs
	requests playerRequests
	outbox   outbox
	interest playerInterest
	reasons  cause.Player

	late    late.Player
	shooter rewind.Shooter
	faults  peerFaults

	trail   cause.Trail // for debug builds
	tracing playerTracing
	reports playerReports
	unread  playerUnread
	counts  playerCounts
	path    playerPath

	observing *observing   // nil: the peer is no observer
	local     *seat.Player // nil: the player has, or had, a connection

	stats   stats.Player
	counted countedClaims
}

// who returns the attributes that identify a player in a log line.
func (p *player) who() []any {
	return []any{"player", p.owner, "session", p.session.number, "peer", p.session.peer, "address", p.session.address, "identity", string(p.session.identity)}
}

// told returns the newest tick for which the client is known to have its own entities.
func (p *player) told() foretick.Tick { return p.late.Told(p.shooter.Acked()) }

// views returns the player whose own state the peer receives: itself, or the one that an
// observer is granted.
func (p *player) views() foretick.PlayerID {
	if p.observing != nil {
		return p.observing.grant.player
	}
	return p.owner
}

// fates handles what became of the packets to the player.
func (p *player) fates(now time.Duration) {
	for f, ok := p.session.conn.NextFate(); ok; f, ok = p.session.conn.NextFate() {
		p.fate(f, now)
	}
}

// fate handles whether a packet arrived: for the snapshot sender and all else that depends on it.
func (p *player) fate(f netcode.Fate, now time.Duration) {
	if f.Delivered && p.observing == nil {
		p.shooter.Arrived(f.Seq)
	}
	sent := p.outbox.sent.Find(f.Seq)
	if sent == nil {
		return
	}
	p.faults.blank.note(now, sent.has, f.Delivered)
	if f.Delivered {
		p.faults.news = now
		p.outbox.welcomed = p.outbox.welcomed || sent.welcome
		if sent.level && sent.epoch == p.outbox.epoch {
			p.outbox.entered, p.outbox.levels = true, 0
		}
	}
	// A snapshot of another level is no baseline in this one.
	if sent.has && p.outbox.sender != nil && sent.epoch == p.outbox.epoch {
		if f.Delivered {
			p.outbox.sender.Delivered(&sent.snapshot)
			if p.observing == nil {
				p.shooter.Delivered(&sent.snapshot)
			}
		} else {
			p.outbox.sender.Lost(&sent.snapshot)
		}
	}
	p.outbox.sent.Remove(f.Seq)
}

// far returns how many of the player's commands were too far in the future.
func (p *player) far() uint64 {
	if p.inputs.buffer == nil {
		return 0
	}
	_, _, far, _ := p.inputs.buffer.Stats()
	return far
}

const (
	// unreadSpacing is the least time between two reports that count, as a part of a second. Clients
	// send one a second, and a network may bring two closer together.
	unreadSpacing = 2
	// longestAside is the longest time for which an entity is left out at once, in seconds.
	longestAside = 64
	// calmTime is for how long after the last report a player's snapshots are bounded, in seconds.
	calmTime = 10
	// The usual size of snapshots is the average of usualOver snapshots. The first skippedSnapshots are
	// left out, and the size is known after measuredSnapshots more.
	usualOver         = 64
	skippedSnapshots  = 16
	measuredSnapshots = 16
	// spared is the part of the usual size that a bounded player gets, so that it gains nothing if the
	// measured size is too large.
	spared = 7. / 8
)

// playerUnread is the effect of a player's reports of snapshots that it could not read. Entities are
// left out for a while, and what the player is sent is bounded, so that no player receives more by
// false reports.
type playerUnread struct {
	last   foretick.Tick // the tick of the newest report that counted; 0: none
	asides []aside

	usual    float64 // average bytes of a snapshot without new entities, measured while nothing was reported
	measured int     // how many snapshots were measured, with those that were skipped
	bounded  bool
	purse    float64 // how many bytes may be sent while bounded
}

// aside is an entity that a player could not read.
type aside struct {
	id    snapshot.NetID
	until foretick.Tick // the tick in which the entity is sent again
	wait  uint32        // for how many seconds it was left out
	out   bool          // the entity is left out now
}

// early reports whether a report comes too soon after the last one.
func (u *playerUnread) early(t foretick.Tick, rate int) bool {
	return u.last != 0 && t-u.last < foretick.Tick(rate/unreadSpacing)
}

// leaveOut leaves an entity out for 1 s, and each time that it could not be read again for twice as
// long as before. first is true for the first time.
func (u *playerUnread) leaveOut(id snapshot.NetID, sender *snapshot.Sender, t foretick.Tick, rate int) (seconds uint32, first bool) {
	i := slices.IndexFunc(u.asides, func(a aside) bool { return a.id == id })
	if first = i < 0; first {
		i = len(u.asides)
		u.asides = append(u.asides, aside{id: id})
	}
	a := &u.asides[i]
	a.wait = max(1, min(2*a.wait, longestAside))
	a.until, a.out = t+foretick.Tick(int(a.wait)*rate), true
	sender.SetAside(id, true)
	return a.wait, first
}

// tryAgain sends entities again whose time is over. It forgets an entity that was then read for as long
// as it was left out, and for 2 s more, in which a report might arrive.
func (u *playerUnread) tryAgain(sender *snapshot.Sender, t foretick.Tick, rate int) {
	u.asides = slices.DeleteFunc(u.asides, func(a aside) bool {
		return !a.out && int32(t-a.until) >= int32((a.wait+2)*uint32(rate))
	})
	for i := range u.asides {
		if a := &u.asides[i]; a.out && int32(t-a.until) >= 0 {
			a.out = false
			sender.SetAside(a.id, false)
		}
	}
}

// restart sends all entities in full again, within the bytes that the player's snapshots usually take.
// It does nothing if that size is not known: then the player has received little that could be at
// fault.
func (u *playerUnread) restart(sender *snapshot.Sender) {
	if u.measured < skippedSnapshots+measuredSnapshots {
		return
	}
	sender.Restart()
	if !u.bounded {
		u.bounded, u.purse = true, 0
	}
}

// budget returns the most bytes of the snapshot in a tick. The player's own entities may exceed it:
// then ok is false in the ticks after, until the excess is made up for.
func (u *playerUnread) budget(t foretick.Tick, rate int, most int) (bytes int, ok bool) {
	if u.bounded && t-u.last >= foretick.Tick(calmTime*rate) && u.purse >= 0 {
		u.bounded = false
	}
	if !u.bounded {
		return most, true
	}
	u.purse = min(u.purse+spared*u.usual, 4*u.usual)
	return min(most, int(u.purse)), u.purse >= 1
}

// spent counts the bytes of a snapshot. newcomers is true if the snapshot had entities for the first
// time.
func (u *playerUnread) spent(n int, newcomers bool) {
	switch {
	case u.bounded:
		u.purse -= float64(n)
	case !newcomers:
		if u.measured = min(u.measured+1, skippedSnapshots+usualOver); u.measured > skippedSnapshots {
			u.usual += (float64(n) - u.usual) / float64(u.measured-skippedSnapshots)
		}
	}
}

// forgetLevel forgets the entities of the level before.
func (u *playerUnread) forgetLevel() { u.asides = u.asides[:0] }

// session is a player's connection and its stay in the match.
type session struct {
	peer transport.PeerID
	conn *netcode.Conn
	kept *netcode.Conn // the lost connection while the player is away: its reliable messages wait

	token    [16]byte // identifies the place when the player comes back
	identity []byte   // from the transport; empty: not known
	address  string   // the peer's address, for logs
	origin   string   // the address for limits: see originOf; empty: there are none
	// pending is true while the connection counts among those of its origin that do not play yet.
	pending bool

	state      playerState
	since      time.Duration // when the peer entered this state
	came       time.Duration // when the connection began
	connection uint64        // the connection's number among all that the server had
	number     uint64        // the stay's number among all that the server had
	// ticksPlayed is how many ticks ran a command of the player's own, over all of its connections.
	ticksPlayed uint64
	hold        time.Duration // for how long the place is held while the player is away

	begun   bool // OnJoin ran, or began to
	resumed bool // the player has the place that it had before
	// lostCode and lostText say why the place of the peer's token is gone, unless the player resumed
	// it.
	lostCode transport.Code
	lostText string

	over     bool // the player has been removed
	poisoned bool // a decoder panicked on what the peer sent
	kicked   bool // the player leaves at the end of the tick
	kickCode transport.Code
	kickText string
}

// greetingTime is how long a peer may take to send its Hello.
const greetingTime = 5 * time.Second

// playerState is how far a peer has come.
type playerState uint8

const (
	greeting playerState = iota // it is connected, and has sent no Hello yet
	refusing                    // it is not admitted, and the reason is sent
	watching                    // it is an observer
	playing
	away  // it lost its connection, and its place is held
	local // it is a preview's player and has no connection
)

// resumes reports whether the connection by may take this session's place. It may if it has the place's
// token, or if it has the same identity and the player is either away, or plays and same is ReplaceOld.
// A connection with another identity never may, whatever it has.
func (s *session) resumes(by *session, token [16]byte, same transport.Same) bool {
	if !bytes.Equal(s.identity, by.identity) {
		return false
	}
	return s.holds(token) || len(s.identity) > 0 && (s.state == away || same == transport.ReplaceOld && s.state == playing)
}

// holds reports whether a token is that of the session's place.
func (s *session) holds(token [16]byte) bool {
	return token != [16]byte{} && subtle.ConstantTimeCompare(s.token[:], token[:]) == 1
}

// holdTime returns the time for which a place is held after a connection ended with a code.
// A place is held after a fault of the connection, but not if either end closed it on
// purpose. It is held for at most the time that the player has played, so a player that
// never played holds none. Replaced means that the transport sees the same identity again:
// the place is held until that connection can ask for it.
func (s *session) holdTime(code transport.Code, window, interval time.Duration) time.Duration {
	if s.kicked || window < 0 || s.token == [16]byte{} {
		return 0
	}
	switch code {
	case transport.None, transport.Timeout, transport.Unreachable, transport.Gone:
		return min(window, s.played(interval))
	case transport.Replaced:
		return min(window, max(s.played(interval), greetingTime))
	}
	return 0
}

// played returns the time that a player has played: the ticks that ran its own commands. In
// a game without a command, these are the ticks in which the client is known to have the
// match.
func (s *session) played(interval time.Duration) time.Duration {
	return time.Duration(s.ticksPlayed) * interval
}

// yields reports whether this place is given up before another one: its player has played less, or has
// played as long and has been absent longer.
func (s *session) yields(other *session) bool {
	if s.ticksPlayed != other.ticksPlayed {
		return s.ticksPlayed < other.ticksPlayed
	}
	return s.since < other.since
}

// queue returns the connection that a player's messages wait in: the current one, or the
// lost one.
func (s *session) queue() *netcode.Conn {
	if s.state == away {
		return s.kept
	}
	return s.conn
}

// cutText cuts a text to at most most bytes, between two runes.
func cutText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// outbox has everything that is sent to a player.
type outbox struct {
	sender *snapshot.Sender
	long   longCounts // what countLong counted last
	every  uint32     // ticks from one snapshot to the next
	sent   *netcode.SequenceBuffer[sentPacket]
	// resent is how many of the messages that this connection sent again are included in the server's
	// counts.
	resent uint64

	draft draft

	// owed is true if a snapshot was due in an earlier tick of this Step. Then the packet of the last
	// tick has one.
	owed     bool
	insisted time.Duration // when a message last exceeded the rate; 0: never
	welcomed bool          // the Welcome has arrived
	entered  bool          // the level's information has arrived
	epoch    uint8         // the epoch of the level whose snapshots are sent
	levels   int           // how many levels have begun since the player was known to be in one
	// overflowed is true if too many messages wait. Then the player is dropped.
	overflowed bool
}

// beginConnection resets the outbox for a new connection, which gets a snapshot in every every-th tick.
// senders.openSender opens its sender.
func (o *outbox) beginConnection(every uint32) {
	o.welcomed, o.overflowed, o.levels, o.every = false, false, 0, every
}

// draft is the packet that is being built.
type draft struct {
	packet   *netcode.Packet // nil: none is being built
	carries  sentPacket
	due      bool // the packet has a snapshot
	presses  bool // the snapshot exceeds the rate
	snapshot []byte
	note     []byte // sent with the snapshot; empty: none
}

// noteSize returns how many bytes of the packet the note takes at most.
func (d *draft) noteSize() int {
	if len(d.note) == 0 {
		return 0
	}
	return 3 + len(d.note)
}

// begin starts a packet.
func (d *draft) begin(pk *netcode.Packet, epoch uint8) {
	d.packet, d.due = pk, false
	d.carries.has, d.carries.welcome, d.carries.level, d.carries.epoch = false, false, false, epoch
}

// write puts the due snapshot into the packet, with its note.
func (d *draft) write() {
	if !d.due {
		return
	}
	if d.presses {
		d.packet.Press() // the player's own state does not wait for the rate
	}
	if len(d.note) > 0 {
		d.packet.Message(game.MessageNote, d.note)
	}
	d.carries.has = d.packet.Message(netcode.MessageSnapshot, d.snapshot)
}

// insistEvery is how often an urgent message may exceed the rate.
const insistEvery = 100 * time.Millisecond

// insist writes a message that the player needs in order to read snapshots. If the rate leaves no room
// for it, the message exceeds the rate, but not in every packet.
func (o *outbox) insist(now time.Duration, t netcode.MessageType, body []byte) bool {
	pk := o.draft.packet
	if pk.Message(t, body) {
		return true
	}
	if o.insisted != 0 && now-o.insisted < insistEvery {
		return false
	}
	o.insisted = now
	pk.Press()
	return pk.Message(t, body)
}

// reads reports whether the player can read a snapshot in the packet that is being built: the player
// has the welcome and the level, or the packet has them. Otherwise it would acknowledge a snapshot
// without reading it, and the server would use that snapshot as a baseline.
func (o *outbox) reads(level bool) bool {
	return (o.welcomed || o.draft.carries.welcome) && (!level || o.entered || o.draft.carries.level)
}

// sentPacket is the content of a packet to a client.
type sentPacket struct {
	snapshot snapshot.Sent
	has      bool
	welcome  bool
	level    bool
	epoch    uint8 // the epoch of the snapshot's level
}

const sentWindow = 1024 // how many packets are remembered until their fate is known
