package server

import (
	"bytes"
	"crypto/subtle"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/late"
	"github.com/foretick/foretick/internal/reason"
	"github.com/foretick/foretick/internal/rewind"
	"github.com/foretick/foretick/internal/seat"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport"
)

// player is one peer on the server: a client that plays or is about to, or an observer.
type player struct {
	owner    foretick.PlayerID
	session  session
	schemas  playerSchemas
	inputs   inputs
	requests playerRequests
	outbox   outbox
	interest playerInterest
	reasons  reason.Player

	late    late.Player
	shooter rewind.Shooter
	faults  peerFaults

	trail   reason.Trail // debug builds alone
	tracing playerTracing
	reports playerReports
	unread  playerUnread
	counts  playerCounts
	path    playerPath

	observing *observing   // nil: it is no observer
	local     *seat.Player // nil: it has a connection, or had one

	stats   stats.Player
	counted countedClaims
}

// who returns the attributes that identify a player in a log line.
func (p *player) who() []any {
	return []any{"player", p.owner, "session", p.session.number, "peer", p.session.peer, "address", p.session.address, "identity", string(p.session.identity)}
}

// told returns the newest tick of which the client is known to have its own entities.
func (p *player) told() foretick.Tick { return p.late.Told(p.shooter.Acked()) }

// views returns the player whose own state the peer receives: itself, or the one that an
// observer is granted.
func (p *player) views() foretick.PlayerID {
	if p.observing != nil {
		return p.observing.grant.Player
	}
	return p.owner
}

// fates handles the fates of the packets to the player.
func (p *player) fates(now time.Duration) {
	for f, ok := p.session.conn.NextFate(); ok; f, ok = p.session.conn.NextFate() {
		p.fate(f, now)
	}
}

// fate tells the snapshot sender whether a packet arrived.
func (p *player) fate(f netcode.Fate, now time.Duration) {
	sent := p.outbox.sent.Find(f.Seq)
	if sent == nil {
		return
	}
	p.faults.blank.note(now, sent.has, f.Delivered)
	if p.observing == nil {
		p.shooter.Fate(f.Delivered)
	}
	if f.Delivered {
		p.faults.news = now
		p.outbox.welcomed = p.outbox.welcomed || sent.welcome
		if sent.level && sent.epoch == p.outbox.epoch {
			p.outbox.entered, p.outbox.levels = true, 0
		}
	}
	// What a snapshot of another level carried is no baseline of this one.
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

// far returns the number of the player's commands that were for too far in the future.
func (p *player) far() uint64 {
	if p.inputs.buffer == nil {
		return 0
	}
	_, _, far, _ := p.inputs.buffer.Stats()
	return far
}

const (
	// unreadSpacing is the least time between two reports that count, in 1/2 s. Clients send
	// one a second, which a network may bring closer together.
	unreadSpacing = 2
	// longestAside is the longest time that an entity is left out at once, in seconds.
	longestAside = 64
	// calmTime is how long after the last report a player's snapshots are bounded, in seconds.
	calmTime = 10
	// The usual size of snapshots is the average of usualOver of them. The first
	// skippedSnapshots are left out, and it is known after measuredSnapshots more.
	usualOver         = 64
	skippedSnapshots  = 16
	measuredSnapshots = 16
	// spared is the part of the usual size that a player gets while it is bounded, so that it
	// gains nothing where the measure is too high.
	spared = 7. / 8
)

// playerUnread is what follows from a player's reports of snapshots that it could not read:
// entities that are left out for a time, and a bound on what the player is sent, so that
// nobody receives more by reporting what is not true.
type playerUnread struct {
	last   foretick.Tick // last is the tick of the newest report that counted. 0 means none.
	asides []aside

	usual    float64 // bytes of a snapshot without newcomers while nothing was reported, on average
	measured int     // measured counts snapshots, those skipped included.
	bounded  bool
	purse    float64 // purse is the bytes that may be sent while bounded.
}

// aside is an entity that a player could not read.
type aside struct {
	id    snapshot.NetID
	until foretick.Tick // until is the tick when the entity is tried again.
	wait  uint32        // wait is how long the entity was left out, in seconds.
	out   bool          // out is true while the entity is left out.
}

// early reports whether a report comes too soon after the last one.
func (u *playerUnread) early(t foretick.Tick, rate int) bool {
	return u.last != 0 && t-u.last < foretick.Tick(rate/unreadSpacing)
}

// leaveOut leaves an entity out for 1 s, and for twice as long as before each time that it
// could not be read again. It reports whether it is the first time.
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

// tryAgain ends the time of entities that were left out, and forgets those that were read
// since: for as long again, and 2 s more for a report to arrive.
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

// restart has all entities sent in full, within the bytes that the player's snapshots
// usually take. A player of whom that is not known has nothing yet that could be at fault.
func (u *playerUnread) restart(sender *snapshot.Sender) {
	if u.measured < skippedSnapshots+measuredSnapshots {
		return
	}
	sender.Restart()
	if !u.bounded {
		u.bounded, u.purse = true, 0
	}
}

// budget bounds the bytes of the snapshot of a tick. The player's own entities may exceed
// it: then there is no snapshot until the others make up for that.
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

// spent counts the bytes of a snapshot, which may have shown entities for the first time.
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
	kept *netcode.Conn // kept is the lost connection while away: its reliable messages wait.

	token    [16]byte // token is what the player comes back with.
	identity []byte   // identity comes from the transport. Empty means unknown.
	address  string   // address is where the player comes from, for logs.
	origin   string   // origin is what limits by address go by. Empty means none.
	// pending is true if it counts among its origin's connections that do not play yet.
	pending bool

	state      playerState
	since      time.Duration // since is when the player entered this state.
	came       time.Duration // came is when the connection began.
	connection uint64        // connection is the connection's number among all of the server's.
	number     uint64        // number is the stay's number among all of the server's.
	// ticksPlayed is how many ticks ran a command of its own, over all of its connections.
	ticksPlayed uint64
	hold        time.Duration // hold is how long the place is held while the player is away.

	begun   bool // begun is true once its OnJoin ran, or began to.
	resumed bool // resumed is true if the player has the place that it had before.
	// lostCode and lostText say why the place of its token is gone, unless it resumed.
	lostCode transport.Code
	lostText string

	over     bool // over is true once it is no longer among the players.
	poisoned bool // poisoned is true if decoding what it sent panicked.
	kicked   bool // kicked is true if it leaves at the end of the tick.
	kickCode transport.Code
	kickText string
}

// greetingTime is how long a peer may take to say Hello.
const greetingTime = 5 * time.Second

// playerState is how far a peer has come.
type playerState uint8

const (
	greeting playerState = iota // the transport is up, no Hello yet
	refusing                    // it cannot come in: telling the peer why
	watching                    // it observes, and is no player
	playing
	away  // lost its connection; the place is held
	local // of this process: it has no connection, see Player
)

// resumes reports whether a new connection may take this session's place. It may if it
// shows the place's token, or has the same identity and the player is away, or plays and same
// says that the old connection goes. A connection of another identity never may, whatever
// it shows.
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

// yields reports whether this place is given up before another: its player played less, or
// played equally long and has been absent longer.
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

// cutText cuts a text to at most a number of bytes, between two runes.
func cutText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// outbox holds everything to be sent to a player.
type outbox struct {
	sender *snapshot.Sender
	long   longCounts // long is what countLong knows of the sender.
	every  uint32     // every is the ticks a snapshot.
	sent   *netcode.SequenceBuffer[sentPacket]
	// resent is how many of the messages that this connection sent again are in the server's
	// counts.
	resent uint64

	draft draft

	// owed is true if a snapshot was due in an earlier tick of this Step: the packet of the last
	// tick carries one.
	owed     bool
	insisted time.Duration // insisted is when a message last went beyond the rate. 0 means never.
	welcomed bool          // welcomed is true once the Welcome was delivered.
	entered  bool          // entered is true once the level's information was delivered.
	epoch    uint8         // epoch is that of the level that the player is sent.
	levels   int           // levels is how many have begun since the player was known to be in one.
	// overflowed is true if too many messages wait: the player is to be dropped.
	overflowed bool
}

// beginConnection says that a connection begins, whose snapshots come every so many ticks. Its sender
// is opened by senders.openSender.
func (o *outbox) beginConnection(every uint32) {
	o.welcomed, o.overflowed, o.levels, o.every = false, false, 0, every
}

// draft is the packet that is being built.
type draft struct {
	packet   *netcode.Packet // packet is nil while none is built.
	carries  sentPacket
	due      bool // due is true if the packet carries a snapshot.
	presses  bool // presses is true if the snapshot goes beyond the rate.
	snapshot []byte
	note     []byte // note goes with the snapshot. Empty means none.
}

// noteSize returns the most bytes that the note takes of the packet.
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

// insistEvery is the interval at which an urgent message may exceed the rate.
const insistEvery = 100 * time.Millisecond

// insist writes a message that the player needs in order to read snapshots. If the rate
// leaves no room, the message exceeds it, but not in every packet.
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

// reads reports whether the player can read a snapshot in the packet that is being built:
// it has the welcome and the level, or the packet carries them. Otherwise it would
// acknowledge a snapshot without reading it, and the server would use that as a baseline.
func (o *outbox) reads(level bool) bool {
	return (o.welcomed || o.draft.carries.welcome) && (!level || o.entered || o.draft.carries.level)
}

// sentPacket is the content of a packet to a client.
type sentPacket struct {
	snapshot snapshot.Sent
	has      bool
	welcome  bool
	level    bool
	epoch    uint8 // epoch is that of the snapshot's level.
}

const sentWindow = 1024 // most packets whose content is kept until their fate is known
