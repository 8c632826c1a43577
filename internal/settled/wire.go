package settled

import (
	"github.com/foretick/foretick/ecs"

	"crypto/sha256"
	"encoding/binary"

	"github.com/foretick/foretick/netcode"
)

// Messages of a packet. A peer's commands are a netcode.MessageCommands, and its first message is a
// netcode.MessageHello whose Data is a declaration.
const (
	// MessageSettled goes from the relay to a peer. It has a Head, then as many ticks of a standing as that says.
	MessageSettled netcode.MessageType = 96
	// MessagePresence goes from a peer to the relay. It has a presence.
	MessagePresence netcode.MessageType = 97
)

// Kinds of reliable messages.
const (
	KindWelcome uint8 = iota + 1 // KindWelcome goes from the relay to a peer: welcome.
	KindSum                      // KindSum goes from a player to the relay: sum.
	KindDiffer                   // KindDiffer goes from the relay to a player: differ.
	KindAsk                      // KindAsk goes from the relay to a player: ask.
	KindPiece                    // KindPiece goes from a player to the relay, and on to a peer, on ChannelWorld: piece.
	KindWorld                    // KindWorld goes from the relay to a peer, on ChannelWorld after the pieces: WorldVerdict.
	KindClue                     // KindClue goes from a player to the relay, and on to another player: clue.

)

// The channels of a connection, and what each message may hold.
const (
	ChannelMain, ChannelWorld = 0, 1

	MaxPlaces  = 64
	MaxCommand = 1024 // MaxCommand is the length of a packed command in bytes.
	MaxFields  = 200
	MaxWindow  = 32   // MaxWindow is in ticks.
	MaxPiece   = 1024 // MaxPiece is the length of a piece's data in bytes.
	MaxPieces  = 64   // MaxPieces is how many pieces a player may send before the relay asks for more.
	MaxTicks   = 64   // MaxTicks is how many ticks a MessageSettled may have.
)

// Channels are those of every connection. A world waits behind everything else.
func Channels() []netcode.Channel {
	return []netcode.Channel{ChannelMain: {Reliable: true, Priority: 4}, ChannelWorld: {Reliable: true, Queue: 128 << 10}}
}

var LE = binary.LittleEndian

// IsSumTick reports whether players send the sum of their world after a tick: once a second.
func IsSumTick(t netcode.Tick, rate uint8) bool { return t%netcode.Tick(rate) == 0 }

// SumOf returns the sum of the bytes of a world.
func SumOf(world []byte) uint64 {
	h := sha256.Sum256(world)
	return LE.Uint64(h[:])
}

// PersonOf returns what tells a player apart from others, without telling its token.
func PersonOf(token [16]byte) uint64 { return SumOf(token[:]) }

// Cursor reads bytes in order. Beyond the end it reads zeros and is bad.
type Cursor struct {
	B   []byte
	Bad bool
}

// zeros are what a cursor reads beyond the end: at most 16 bytes.
var zeros [16]byte

func (c *Cursor) Take(n int) []byte {
	if n > len(c.B) {
		c.B, c.Bad = nil, true
		return zeros[:min(n, len(zeros))]
	}
	out := c.B[:n:n]
	c.B = c.B[n:]
	return out
}

func (c *Cursor) U8() uint8   { return c.Take(1)[0] }
func (c *Cursor) U16() uint16 { return LE.Uint16(c.Take(2)) }
func (c *Cursor) U32() uint32 { return LE.Uint32(c.Take(4)) }
func (c *Cursor) U64() uint64 { return LE.Uint64(c.Take(8)) }

// Err returns netcode.ErrMalformed if something was missing, wrong or left over.
func (c *Cursor) Err(right bool) error {
	if c.Bad || len(c.B) > 0 || !right {
		return netcode.ErrMalformed
	}
	return nil
}

// Field is the width of a command's field in bits, with FieldOnce if a stand-in does not repeat it: a
// press, or a sum of movements.
type Field uint8

const FieldOnce Field = 0x80

func (f Field) Bits() int  { return int(f &^ FieldOnce) }
func (f Field) Once() bool { return f&FieldOnce != 0 }

// Widths returns the fields as [netcode.CommandConfig] takes them.
func Widths(fields []Field) []uint8 {
	out := make([]uint8, len(fields))
	for i, f := range fields {
		out[i] = uint8(f.Bits())
	}
	return out
}

// Rules are what all peers of a match must agree on, beside the hash of the protocol.
type Rules struct {
	Rate   uint8   // Rate is in ticks a second.
	Window uint8   // Window is how many ticks peers run ahead. 0 is lockstep.
	Size   uint16  // Size is the length of a command in bytes.
	Tags   uint64  // Tags is a hash of the world's tags.
	Fields []Field // Fields are in the order of a command's bits. The last bits of a command may have none.
}

// Declaration is the Data of a peer's hello.
type Declaration struct {
	Rules
	Match uint64       // Match is the match that the peer has a world of. 0 means none.
	Holds netcode.Tick // Holds is the newest settled tick of that world. It is 0 for a world that has run no tick.
}

func (d *Declaration) Append(dst []byte) []byte {
	dst = append(dst, d.Rate, d.Window)
	dst = LE.AppendUint16(dst, d.Size)
	dst = LE.AppendUint64(dst, d.Tags)
	dst = LE.AppendUint64(dst, d.Match)
	dst = LE.AppendUint32(dst, d.Holds)
	for _, f := range d.Fields {
		dst = append(dst, byte(f))
	}
	return dst
}

func ReadDeclaration(b []byte) (d Declaration, err error) {
	c := Cursor{B: b}
	d.Rate, d.Window, d.Size, d.Tags, d.Match, d.Holds = c.U8(), c.U8(), c.U16(), c.U64(), c.U64(), c.U32()
	right, bits := d.Rate > 0 && d.Window <= MaxWindow && d.Size > 0 && d.Size <= MaxCommand && len(c.B) <= MaxFields, 0
	for right && len(c.B) > 0 {
		f := Field(c.U8())
		d.Fields = append(d.Fields, f)
		bits += f.Bits()
		right = f.Bits() >= 1 && f.Bits() <= 64
	}
	return d, c.Err(right && bits <= 8*int(d.Size))
}

// Welcome tells a peer that it is let in.
type Welcome struct {
	Player  ecs.Owner // Player is 0 for an observer.
	Places  uint8     // Places is the most players of the match.
	Resumed bool      // Resumed is true if the peer has its earlier place again.
	World   bool      // World is true if a world comes before the first settled tick.
	// Next is the tick that the settled ticks begin with. Without a world it is the tick after Declaration.Holds,
	// or 1 for a peer whose world has run no tick of this match.
	Next  netcode.Tick
	Match uint64   // Match tells matches apart.
	Token [16]byte // Token is what the player comes back with. It is zero for an observer.
}

const (
	welcomeResumed = 1 << iota
	welcomeWorld
	welcomeFlags
)

func (w *Welcome) Append(dst []byte) []byte {
	flags := byte(0)
	if w.Resumed {
		flags |= welcomeResumed
	}
	if w.World {
		flags |= welcomeWorld
	}
	dst = append(dst, byte(w.Player), w.Places, flags)
	dst = LE.AppendUint32(dst, w.Next)
	dst = LE.AppendUint64(dst, w.Match)
	return append(dst, w.Token[:]...)
}

func ReadWelcome(b []byte) (w Welcome, err error) {
	c := Cursor{B: b}
	w.Player, w.Places = ecs.Owner(c.U8()), c.U8()
	flags := c.U8()
	w.Resumed, w.World = flags&welcomeResumed != 0, flags&welcomeWorld != 0
	w.Next, w.Match = c.U32(), c.U64()
	copy(w.Token[:], c.Take(16))
	return w, c.Err(flags < welcomeFlags && w.Next > 0 && w.Places >= 1 && w.Places <= MaxPlaces && w.Player <= ecs.Owner(w.Places))
}

// Presence tells the relay up to which tick the peer has all settled ticks.
type Presence struct {
	Settled netcode.Tick
	None    bool // None is true if the peer waits for a world. Then settled is 0.
}

func (p Presence) Append(dst []byte) []byte {
	dst = LE.AppendUint32(dst, p.Settled)
	if p.None {
		return append(dst, 1)
	}
	return append(dst, 0)
}

func ReadPresence(b []byte) (p Presence, err error) {
	c := Cursor{B: b}
	p.Settled = c.U32()
	none := c.U8()
	p.None = none == 1
	return p, c.Err(none <= 1 && !(p.None && p.Settled > 0))
}

// Sum is the sum of a player's world after a settled tick.
type Sum struct {
	Tick netcode.Tick
	Sum  uint64
}

func (s Sum) Append(dst []byte) []byte { return LE.AppendUint64(LE.AppendUint32(dst, s.Tick), s.Sum) }

func ReadSum(b []byte) (s Sum, err error) {
	c := Cursor{B: b}
	s.Tick, s.Sum = c.U32(), c.U64()
	return s, c.Err(true)
}

// Differ tells a player that its world and another one's differ.
type Differ struct {
	Tick   netcode.Tick
	Agreed netcode.Tick // Agreed is the newest tick before it at which all sums were equal. 0 means none.
	Other  ecs.Owner    // Other is the player whose world is another one.
	Theirs uint64       // Theirs is the sum of that world.
	Most   bool         // Most is true if most players have the sum of the player that is told.
}

func (d Differ) Append(dst []byte) []byte {
	most := byte(0)
	if d.Most {
		most = 1
	}
	dst = LE.AppendUint32(LE.AppendUint32(dst, d.Tick), d.Agreed)
	return append(LE.AppendUint64(dst, d.Theirs), byte(d.Other), most)
}

func ReadDiffer(b []byte) (d Differ, err error) {
	c := Cursor{B: b}
	d.Tick, d.Agreed, d.Theirs, d.Other = c.U32(), c.U32(), c.U64(), ecs.Owner(c.U8())
	most := c.U8()
	d.Most = most == 1
	return d, c.Err(most <= 1 && d.Other >= 1 && d.Other <= MaxPlaces)
}

// Ask asks a player for the bytes of its world after a tick, which may not have settled yet, up to an
// offset. Later asks for the same tick have higher offsets.
type Ask struct {
	Tick  netcode.Tick
	Until uint32
}

func (a Ask) Append(dst []byte) []byte { return LE.AppendUint32(LE.AppendUint32(dst, a.Tick), a.Until) }

func ReadAsk(b []byte) (a Ask, err error) {
	c := Cursor{B: b}
	a.Tick, a.Until = c.U32(), c.U32()
	return a, c.Err(true)
}

// Piece is a part of a world's bytes. A world's pieces come in order, and one with the offset 0 begins a
// world anew.
type Piece struct {
	Tick   netcode.Tick
	Offset uint32
	Total  uint32 // Total is the length of the whole world in bytes.
	Data   []byte // Data aliases the message.
}

func (p *Piece) Append(dst []byte) []byte {
	dst = LE.AppendUint32(dst, p.Tick)
	dst = LE.AppendUint32(dst, p.Offset)
	return append(LE.AppendUint32(dst, p.Total), p.Data...)
}

func ReadPiece(b []byte) (p Piece, err error) {
	c := Cursor{B: b}
	p.Tick, p.Offset, p.Total = c.U32(), c.U32(), c.U32()
	p.Data = c.Take(min(len(c.B), MaxPiece))
	return p, c.Err(len(p.Data) > 0 && uint64(p.Offset)+uint64(len(p.Data)) <= uint64(p.Total))
}

// WorldVerdict ends the pieces of a world that is right. The standing of the same tick follows it.
type WorldVerdict struct {
	Tick  netcode.Tick
	Total uint32
	Sum   uint64
}

func (v WorldVerdict) Append(dst []byte) []byte {
	return LE.AppendUint64(LE.AppendUint32(LE.AppendUint32(dst, v.Tick), v.Total), v.Sum)
}

// ReadVerdict also returns what follows: see [Standing.ReadWhole].
func ReadVerdict(b []byte) (v WorldVerdict, whole []byte, err error) {
	c := Cursor{B: b}
	v.Tick, v.Total, v.Sum = c.U32(), c.U32(), c.U64()
	whole, c.B = c.B, nil
	return v, whole, c.Err(true)
}

// Head is the beginning of a MessageSettled.
type Head struct {
	Clock    netcode.Tick // Clock is the relay's time in whole ticks.
	Fraction uint8        // Fraction is the rest of the relay's time in 1/256 tick.
	// Early is [netcode.CommandBuffer.Early] of the peer's commands against the relay's clock. It is
	// negative for a command that came after the clock reached its tick, which is early enough if the
	// tick was not settled yet.
	Early    int16
	HasEarly bool
	Taken    netcode.Tick // Taken is [netcode.CommandBuffer.Ack] of the peer's commands. It is 0 for an observer.
	First    netcode.Tick // First is the tick that the body begins with.
	Count    int          // Count is how many ticks the body has.
}

const HeadSize = 4 + 1 + 1 + 2 + 4 + 2 + 1

func (h *Head) Append(dst []byte) []byte {
	has := byte(0)
	if h.HasEarly {
		has = 1
	}
	dst = append(LE.AppendUint32(dst, h.Clock), h.Fraction, has)
	dst = LE.AppendUint32(LE.AppendUint16(dst, uint16(h.Early)), h.Taken)
	return append(LE.AppendUint16(dst, uint16(h.First)), byte(h.Count))
}

// ReadSettled also returns the ticks: see [Standing.Read].
func ReadSettled(b []byte) (h Head, ticks []byte, err error) {
	c := Cursor{B: b}
	h.Clock, h.Fraction = c.U32(), c.U8()
	has := c.U8()
	h.HasEarly, h.Early, h.Taken = has == 1, int16(c.U16()), c.U32()
	h.First = h.Clock + netcode.Tick(int16(c.U16()-uint16(h.Clock)))
	h.Count = int(c.U8())
	ticks, c.B = c.B, nil
	return h, ticks, c.Err(has <= 1 && h.Count <= MaxTicks && len(ticks) >= h.Count && (h.Count > 0 || len(ticks) == 0) && (h.HasEarly || h.Early == 0))
}
