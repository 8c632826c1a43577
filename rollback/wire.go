package rollback

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/netcode"
)

// Messages of a packet. A peer's commands are a netcode.MessageCommands, and its first message is a
// netcode.MessageHello whose Data is a declaration.
const (
	// messageSettled goes from the relay to a peer. It has a settledHead, then as many ticks of a standing as that says.
	messageSettled netcode.MessageType = 96
	// messagePresence goes from a peer to the relay. It has a presence.
	messagePresence netcode.MessageType = 97
)

// Kinds of reliable messages.
const (
	kindWelcome uint8 = iota + 1 // kindWelcome goes from the relay to a peer: welcome.
	kindSum                      // kindSum goes from a player to the relay: sum.
	kindDiffer                   // kindDiffer goes from the relay to a player: differ.
	kindAsk                      // kindAsk goes from the relay to a player: ask.
	kindPiece                    // kindPiece goes from a player to the relay, and on to a peer, on channelWorld: piece.
	kindWorld                    // kindWorld goes from the relay to a peer, on channelWorld after the pieces: worldVerdict.
	kindClue                     // kindClue goes from a player to the relay, and on to another player: clue.

)

// The channels of a connection, and what each message may hold.
const (
	channelMain, channelWorld = 0, 1

	maxPlaces  = 64
	maxCommand = 1024 // maxCommand is the length of a packed command in bytes.
	maxFields  = 200
	maxWindow  = 32   // maxWindow is in ticks.
	maxPiece   = 1024 // maxPiece is the length of a piece's data in bytes.
	maxPieces  = 64   // maxPieces is how many pieces a player may send before the relay asks for more.
	maxTicks   = 64   // maxTicks is how many ticks a messageSettled may have.
)

// channels are those of every connection. A world waits behind everything else.
func channels() []netcode.Channel {
	return []netcode.Channel{channelMain: {Reliable: true, Priority: 4}, channelWorld: {Reliable: true, Queue: 128 << 10}}
}

var le = binary.LittleEndian

// isSumTick reports whether players send the sum of their world after a tick: once a second.
func isSumTick(t netcode.Tick, rate uint8) bool { return t%netcode.Tick(rate) == 0 }

// sumOf returns the sum of the bytes of a world.
func sumOf(world []byte) uint64 {
	h := sha256.Sum256(world)
	return le.Uint64(h[:])
}

// personOf returns what tells a player apart from others, without telling its token.
func personOf(token [16]byte) uint64 { return sumOf(token[:]) }

// cursor reads bytes in order. Beyond the end it reads zeros and is bad.
type cursor struct {
	b   []byte
	bad bool
}

// zeros are what a cursor reads beyond the end: at most 16 bytes.
var zeros [16]byte

func (c *cursor) take(n int) []byte {
	if n > len(c.b) {
		c.b, c.bad = nil, true
		return zeros[:min(n, len(zeros))]
	}
	out := c.b[:n:n]
	c.b = c.b[n:]
	return out
}

func (c *cursor) u8() uint8   { return c.take(1)[0] }
func (c *cursor) u16() uint16 { return le.Uint16(c.take(2)) }
func (c *cursor) u32() uint32 { return le.Uint32(c.take(4)) }
func (c *cursor) u64() uint64 { return le.Uint64(c.take(8)) }

// err returns netcode.ErrMalformed if something was missing, wrong or left over.
func (c *cursor) err(right bool) error {
	if c.bad || len(c.b) > 0 || !right {
		return netcode.ErrMalformed
	}
	return nil
}

// field is the width of a command's field in bits, with fieldOnce if a stand-in does not repeat it: a
// press, or a sum of movements.
type field uint8

const fieldOnce field = 0x80

func (f field) bits() int  { return int(f &^ fieldOnce) }
func (f field) once() bool { return f&fieldOnce != 0 }

// widths returns the fields as [netcode.CommandConfig] takes them.
func widths(fields []field) []uint8 {
	out := make([]uint8, len(fields))
	for i, f := range fields {
		out[i] = uint8(f.bits())
	}
	return out
}

// rules are what all peers of a match must agree on, beside the hash of the protocol.
type rules struct {
	rate   uint8   // rate is in ticks a second.
	window uint8   // window is how many ticks peers run ahead. 0 is lockstep.
	size   uint16  // size is the length of a command in bytes.
	tags   uint64  // tags is a hash of the world's tags.
	fields []field // fields are in the order of a command's bits. The last bits of a command may have none.
}

// declaration is the Data of a peer's hello.
type declaration struct {
	rules
	match uint64       // match is the match that the peer has a world of. 0 means none.
	holds netcode.Tick // holds is the newest settled tick of that world. It is 0 for a world that has run no tick.
}

func (d *declaration) append(dst []byte) []byte {
	dst = append(dst, d.rate, d.window)
	dst = le.AppendUint16(dst, d.size)
	dst = le.AppendUint64(dst, d.tags)
	dst = le.AppendUint64(dst, d.match)
	dst = le.AppendUint32(dst, d.holds)
	for _, f := range d.fields {
		dst = append(dst, byte(f))
	}
	return dst
}

func readDeclaration(b []byte) (d declaration, err error) {
	c := cursor{b: b}
	d.rate, d.window, d.size, d.tags, d.match, d.holds = c.u8(), c.u8(), c.u16(), c.u64(), c.u64(), c.u32()
	right, bits := d.rate > 0 && d.window <= maxWindow && d.size > 0 && d.size <= maxCommand && len(c.b) <= maxFields, 0
	for right && len(c.b) > 0 {
		f := field(c.u8())
		d.fields = append(d.fields, f)
		bits += f.bits()
		right = f.bits() >= 1 && f.bits() <= 64
	}
	return d, c.err(right && bits <= 8*int(d.size))
}

// welcome tells a peer that it is let in.
type welcome struct {
	player  foretick.PlayerID // player is 0 for an observer.
	places  uint8             // places is the most players of the match.
	resumed bool              // resumed is true if the peer has its earlier place again.
	world   bool              // world is true if a world comes before the first settled tick.
	// next is the tick that the settled ticks begin with. Without a world it is the tick after declaration.holds,
	// or 1 for a peer whose world has run no tick of this match.
	next  netcode.Tick
	match uint64   // match tells matches apart.
	token [16]byte // token is what the player comes back with. It is zero for an observer.
}

const (
	welcomeResumed = 1 << iota
	welcomeWorld
	welcomeFlags
)

func (w *welcome) append(dst []byte) []byte {
	flags := byte(0)
	if w.resumed {
		flags |= welcomeResumed
	}
	if w.world {
		flags |= welcomeWorld
	}
	dst = append(dst, byte(w.player), w.places, flags)
	dst = le.AppendUint32(dst, w.next)
	dst = le.AppendUint64(dst, w.match)
	return append(dst, w.token[:]...)
}

func readWelcome(b []byte) (w welcome, err error) {
	c := cursor{b: b}
	w.player, w.places = foretick.PlayerID(c.u8()), c.u8()
	flags := c.u8()
	w.resumed, w.world = flags&welcomeResumed != 0, flags&welcomeWorld != 0
	w.next, w.match = c.u32(), c.u64()
	copy(w.token[:], c.take(16))
	return w, c.err(flags < welcomeFlags && w.next > 0 && w.places >= 1 && w.places <= maxPlaces && w.player <= foretick.PlayerID(w.places))
}

// presence tells the relay up to which tick the peer has all settled ticks.
type presence struct {
	settled netcode.Tick
	none    bool // none is true if the peer waits for a world. Then settled is 0.
}

func (p presence) append(dst []byte) []byte {
	dst = le.AppendUint32(dst, p.settled)
	if p.none {
		return append(dst, 1)
	}
	return append(dst, 0)
}

func readPresence(b []byte) (p presence, err error) {
	c := cursor{b: b}
	p.settled = c.u32()
	none := c.u8()
	p.none = none == 1
	return p, c.err(none <= 1 && !(p.none && p.settled > 0))
}

// sum is the sum of a player's world after a settled tick.
type sum struct {
	tick netcode.Tick
	sum  uint64
}

func (s sum) append(dst []byte) []byte { return le.AppendUint64(le.AppendUint32(dst, s.tick), s.sum) }

func readSum(b []byte) (s sum, err error) {
	c := cursor{b: b}
	s.tick, s.sum = c.u32(), c.u64()
	return s, c.err(true)
}

// differ tells a player that its world and another one's differ.
type differ struct {
	tick   netcode.Tick
	agreed netcode.Tick      // agreed is the newest tick before it at which all sums were equal. 0 means none.
	other  foretick.PlayerID // other is the player whose world is another one.
	theirs uint64            // theirs is the sum of that world.
	most   bool              // most is true if most players have the sum of the player that is told.
}

func (d differ) append(dst []byte) []byte {
	most := byte(0)
	if d.most {
		most = 1
	}
	dst = le.AppendUint32(le.AppendUint32(dst, d.tick), d.agreed)
	return append(le.AppendUint64(dst, d.theirs), byte(d.other), most)
}

func readDiffer(b []byte) (d differ, err error) {
	c := cursor{b: b}
	d.tick, d.agreed, d.theirs, d.other = c.u32(), c.u32(), c.u64(), foretick.PlayerID(c.u8())
	most := c.u8()
	d.most = most == 1
	return d, c.err(most <= 1 && d.other >= 1 && d.other <= maxPlaces)
}

// ask asks a player for the bytes of its world after a tick, which may not have settled yet, up to an
// offset. Later asks for the same tick have higher offsets.
type ask struct {
	tick  netcode.Tick
	until uint32
}

func (a ask) append(dst []byte) []byte { return le.AppendUint32(le.AppendUint32(dst, a.tick), a.until) }

func readAsk(b []byte) (a ask, err error) {
	c := cursor{b: b}
	a.tick, a.until = c.u32(), c.u32()
	return a, c.err(true)
}

// piece is a part of a world's bytes. A world's pieces come in order, and one with the offset 0 begins a
// world anew.
type piece struct {
	tick   netcode.Tick
	offset uint32
	total  uint32 // total is the length of the whole world in bytes.
	data   []byte // data aliases the message.
}

func (p *piece) append(dst []byte) []byte {
	dst = le.AppendUint32(dst, p.tick)
	dst = le.AppendUint32(dst, p.offset)
	return append(le.AppendUint32(dst, p.total), p.data...)
}

func readPiece(b []byte) (p piece, err error) {
	c := cursor{b: b}
	p.tick, p.offset, p.total = c.u32(), c.u32(), c.u32()
	p.data = c.take(min(len(c.b), maxPiece))
	return p, c.err(len(p.data) > 0 && uint64(p.offset)+uint64(len(p.data)) <= uint64(p.total))
}

// worldVerdict ends the pieces of a world that is right. The standing of the same tick follows it.
type worldVerdict struct {
	tick  netcode.Tick
	total uint32
	sum   uint64
}

func (v worldVerdict) append(dst []byte) []byte {
	return le.AppendUint64(le.AppendUint32(le.AppendUint32(dst, v.tick), v.total), v.sum)
}

// readVerdict also returns what follows: see [standing.readWhole].
func readVerdict(b []byte) (v worldVerdict, whole []byte, err error) {
	c := cursor{b: b}
	v.tick, v.total, v.sum = c.u32(), c.u32(), c.u64()
	whole, c.b = c.b, nil
	return v, whole, c.err(true)
}

// settledHead is the beginning of a messageSettled.
type settledHead struct {
	clock    netcode.Tick // clock is the relay's time in whole ticks.
	fraction uint8        // fraction is the rest of the relay's time in 1/256 tick.
	// early is [netcode.CommandBuffer.Early] of the peer's commands against the relay's clock. It is
	// negative for a command that came after the clock reached its tick, which is early enough if the
	// tick was not settled yet.
	early    int16
	hasEarly bool
	taken    netcode.Tick // taken is [netcode.CommandBuffer.Ack] of the peer's commands. It is 0 for an observer.
	first    netcode.Tick // first is the tick that the body begins with.
	count    int          // count is how many ticks the body has.
}

const settledHeadSize = 4 + 1 + 1 + 2 + 4 + 2 + 1

func (h *settledHead) append(dst []byte) []byte {
	has := byte(0)
	if h.hasEarly {
		has = 1
	}
	dst = append(le.AppendUint32(dst, h.clock), h.fraction, has)
	dst = le.AppendUint32(le.AppendUint16(dst, uint16(h.early)), h.taken)
	return append(le.AppendUint16(dst, uint16(h.first)), byte(h.count))
}

// readSettled also returns the ticks: see [standing.read].
func readSettled(b []byte) (h settledHead, ticks []byte, err error) {
	c := cursor{b: b}
	h.clock, h.fraction = c.u32(), c.u8()
	has := c.u8()
	h.hasEarly, h.early, h.taken = has == 1, int16(c.u16()), c.u32()
	h.first = h.clock + netcode.Tick(int16(c.u16()-uint16(h.clock)))
	h.count = int(c.u8())
	ticks, c.b = c.b, nil
	return h, ticks, c.err(has <= 1 && h.count <= maxTicks && len(ticks) >= h.count && (h.count > 0 || len(ticks) == 0) && (h.hasEarly || h.early == 0))
}
