package campaign

import (
	"encoding/binary"
	"hash/crc32"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
)

// rogueState is a rogue's progress, as far as it knows.
type rogueState uint8

const (
	rogueOut     rogueState = iota // no connection: not yet, lost, or dropped
	rogueDials                     // cannot send yet
	rogueSilent                    // has sent nothing yet
	rogueGreets                    // has sent something, and has no answer
	rogueOther                     // was told that it is of another build, or another game
	roguePlays                     // was accepted
	rogueEnded                     // was accepted, and the server ended it
	rogueWatches                   // was accepted as an observer
	rogueStates  int        = iota
)

var rogueStateNames = [rogueStates]string{"out", "dials", "silent", "greets", "other build", "plays", "thrown out", "observes"}

// What a rogue acknowledges.
const (
	acksAll   = iota
	acksBare  // only packets without a snapshot
	acksNever // nothing
)

// rogue is a peer that knows the packet format and breaks rules at random. Its
// behaviour is drawn from the grammar in rogue_acts.go and rogue_words.go.
type rogue struct {
	match *rogueMatch
	dice  *dice
	state rogueState
	left  int // number of actions left in this sequence
	next  time.Duration
	wild  int // share of actions that misbehave, in 64ths

	endpoint transport.Endpoint
	peer     transport.PeerID
	events   [16]transport.Event

	number uint16 // number of the next packet
	acks   int    // the rogue's acknowledgements: acksAll, acksBare or acksNever
	heard  bool
	line   uint16 // number of the newest packet received
	bits   uint32 // which of the 32 packets before line were received
	lineAt time.Duration

	welcome netcode.Welcome
	mute    bool          // all commands of the rogue are zero
	since   time.Duration // arrival of the welcome
	token   [16]byte      // resume token of the newest session
	stream  [4]uint16     // next entry of each channel

	build build // the build that the rogue claims
	asked bool  // it requested the schema on this connection

	played bool // the server accepted the rogue in this sequence
	dials  int  // number of connections in this sequence
	buf    []byte
	last   []byte // the previous packet
	body   []byte
	data   []byte
}

// build is the build of the game that a rogue claims.
type build uint8

const (
	buildSame       build = iota
	buildCompatible       // another build, which can match the server's schema
	buildForeign          // another build, which cannot or will not match the schema
	buildObserver         // the same build, as an observer
)

var builds = [...]build{buildSame, buildSame, buildSame, buildSame, buildObserver, buildCompatible, buildCompatible, buildForeign}

// serverTick returns the server's tick. A real client would have to estimate it.
func (r *rogue) serverTick() foretick.Tick { return r.match.server.Tick() }

// beginSequence starts a sequence.
func (r *rogue) beginSequence() {
	r.left = 50 + r.dice.n(151)
	r.wild = [...]int{1, 1, 4, 16, 64}[r.dice.n(5)]
	r.acks = [...]int{acksAll, acksAll, acksAll, acksAll, acksAll, acksBare, acksNever}[r.dice.n(7)]
	r.played, r.dials, r.token = false, 0, [16]byte{}
	r.state, r.build = rogueOut, buildSame
}

// dialAgain dials again; it leaves the old connection without notice.
func (r *rogue) dialAgain() {
	r.vanish()
	r.endpoint = r.match.net.Dial(false)
	r.dials++
	r.match.counts.Connections++
	r.state, r.peer = rogueDials, 0
	r.number, r.heard, r.line, r.bits = 0, false, 0, 0
	r.welcome, r.stream = netcode.Welcome{}, [4]uint16{}
	r.last, r.asked = r.last[:0], false
	if !r.match.door.plain {
		r.build = builds[r.dice.n(len(builds))]
	}
	if r.dice.one(16) {
		r.number = r.dice.number16(0)
	}
}

// vanish ends the connection's process without notice.
func (r *rogue) vanish() {
	if r.endpoint != nil {
		r.match.net.Abandon(r.endpoint)
		r.endpoint = nil
	}
	r.state = rogueOut
}

// hangUp closes the connection normally.
func (r *rogue) hangUp(code transport.Code) {
	if r.endpoint != nil {
		r.match.net.HangUp(r.endpoint, code)
		r.endpoint = nil
	}
	r.state = rogueOut
}

// receive handles incoming events.
func (r *rogue) receive(now time.Duration) {
	if r.endpoint == nil {
		return
	}
	for {
		n := r.endpoint.Recv(r.events[:])
		for i := range r.events[:n] {
			r.handleEvent(now, &r.events[i])
		}
		clear(r.events[:n]) // drops references to the endpoint's buffers
		if n < len(r.events) {
			return
		}
	}
}

func (r *rogue) handleEvent(now time.Duration, e *transport.Event) {
	switch e.Kind {
	case transport.Connected:
		r.peer, r.state = e.Peer, rogueSilent
	case transport.Disconnected:
		r.match.counts.ended(e.Code)
		if r.state == roguePlays || r.state == rogueWatches {
			r.state = rogueEnded
		} else {
			r.state = rogueOut
		}
		r.peer = 0
	case transport.Data:
		r.readPacket(now, e.Data)
	}
}

// readPacket reads a packet as far as necessary.
func (r *rogue) readPacket(now time.Duration, b []byte) {
	if len(b) < headerLeast {
		return
	}
	head := header(b[sumBytes:])
	snapshot := false
	for rest := b[sumBytes+head:]; len(rest) > 1; {
		n, k := binary.Uvarint(rest[1:])
		if k <= 0 || n > uint64(len(rest)-1-k) {
			break
		}
		kind, body := netcode.MessageType(rest[0]), rest[1+k:1+k+int(n)]
		rest = rest[1+k+int(n):]
		switch kind {
		case netcode.MessageSnapshot:
			snapshot = true
		case netcode.MessageWelcome:
			r.welcomed(now, body)
		case netcode.MessageReject:
			r.state = rogueOther
		}
	}
	if r.acks == acksAll || r.acks == acksBare && !snapshot {
		r.hear(now, binary.LittleEndian.Uint16(b[sumBytes+1:]))
	}
}

func (r *rogue) welcomed(now time.Duration, body []byte) {
	w, err := netcode.ParseWelcome(body)
	if err != nil || r.state == roguePlays || r.state == rogueWatches {
		return
	}
	if w.Resume == [16]byte{} { // only observers get no token
		r.welcome, r.since, r.state = w, now, rogueWatches
		r.match.counts.Observers++
		return
	}
	r.welcome, r.since, r.token, r.state = w, now, w.Resume, roguePlays
	r.match.know(w.Resume)
	if !r.played {
		r.played = true
		r.match.counts.Played++
	}
}

// hear records a packet for the acknowledgements.
func (r *rogue) hear(now time.Duration, number uint16) {
	d := int16(number - r.line)
	switch {
	case !r.heard:
		r.heard, r.line, r.bits, r.lineAt = true, number, 0, now
	case d > 0:
		r.bits = r.bits<<d | 1<<(d-1) // shifts by more than 31 leave nothing
		r.line, r.lineAt = number, now
	case d < 0 && d >= -32:
		r.bits |= 1 << (-d - 1)
	}
}

// head is the header of a packet.
type head struct {
	flags  byte // flags to set besides those that follow from the other fields
	number uint16
	has    bool
	ack    uint16
	bits   uint32
	delay  byte
}

// head returns an honest header for the next packet.
func (r *rogue) head() head {
	h := head{number: r.number, has: r.heard, ack: r.line, bits: r.bits, delay: 10}
	r.number++
	return h
}

func (h *head) append(b []byte) []byte {
	at := len(b)
	b = append(b, h.flags)
	b = binary.LittleEndian.AppendUint16(b, h.number)
	if !h.has {
		return b
	}
	b[at] |= flagAck
	b = binary.LittleEndian.AppendUint16(b, h.ack)
	for i := range 4 {
		if v := byte(h.bits >> (8 * i)); v != 0xff {
			b[at] |= 1 << i
			b = append(b, v)
		}
	}
	return append(b, h.delay)
}

// startPacket begins the packet in r.buf.
func (r *rogue) startPacket(h head) {
	r.buf = append(r.buf[:0], 0, 0, 0, 0)
	r.buf = h.append(r.buf)
}

// say appends a message to the packet.
func (r *rogue) say(kind netcode.MessageType, body []byte) {
	r.buf = append(r.buf, byte(kind))
	r.buf = binary.AppendUvarint(r.buf, uint64(len(body)))
	r.buf = append(r.buf, body...)
}

// sendPacket gives the packet its checksum and sends it.
func (r *rogue) sendPacket() {
	if len(r.buf) > rogueMTU {
		r.buf = r.buf[:rogueMTU]
	}
	if len(r.buf) >= sumBytes {
		sum := crc32.Update(emptyMagic, castagnoli, r.buf[sumBytes:])
		binary.LittleEndian.PutUint32(r.buf, sum)
	}
	r.resend(r.buf)
	r.last = append(r.last[:0], r.buf...)
}

func (r *rogue) resend(b []byte) {
	if r.peer == 0 || r.endpoint == nil {
		return
	}
	r.match.counts.Packets++
	_ = r.endpoint.Send(r.peer, b) // a loss does not matter
	if r.state == rogueSilent {
		r.state = rogueGreets
	}
}

// rogueMTU is the longest packet that every transport carries.
const rogueMTU = 1150

var emptyMagic = crc32.Update(0, castagnoli, make([]byte, 8))

// zigzag encodes a signed difference.
func zigzag(v int64) uint64 { return uint64(v<<1) ^ uint64(v>>63) }
