package settled

import (
	"github.com/foretick/foretick/netcode"
)

// Ask asks a player for the bytes of its world after a tick, which may not have settled yet, up to an
// offset. Later asks for the same tick have higher offsets.
type Ask struct {
	Tick  netcode.Tick
	Until uint32
}

// Append appends the message to dst.
func (a Ask) Append(dst []byte) []byte { return LE.AppendUint32(LE.AppendUint32(dst, a.Tick), a.Until) }

// ReadAsk reads what Append wrote. Anything else is netcode.ErrMalformed.
func ReadAsk(b []byte) (a Ask, err error) {
	c := Cursor{B: b}
	a.Tick, a.Until = c.U32(), c.U32()
	return a, c.Err(true)
}

// Piece is a part of a world's bytes. A world's pieces come in order, and one with the offset 0 begins
// another world.
type Piece struct {
	Tick   netcode.Tick
	Offset uint32
	Total  uint32 // Total is the length of the whole world in bytes.
	Data   []byte // Data aliases the message.
}

// Append appends the message to dst.
func (p *Piece) Append(dst []byte) []byte {
	dst = LE.AppendUint32(dst, p.Tick)
	dst = LE.AppendUint32(dst, p.Offset)
	return append(LE.AppendUint32(dst, p.Total), p.Data...)
}

// ReadPiece reads what Append wrote. Anything else is netcode.ErrMalformed.
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

// Append appends the message to dst.
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
