package trace

import (
	"encoding/binary"
	"errors"
)

// Kinds of messages of a trace. The kind is the first byte.
const (
	Ask     = iota // asks the other end to record, and to send its records
	Stop           // ends what Ask began
	Refused        // the server's reply if it refuses an Ask
	Piece          // a part of a record
)

// Reasons for which a server refuses. The reason is the second byte of Refused.
const (
	NotAllowed = 1 + iota // server.Config.AllowTrace does not allow the trace
	TooMany               // the server has as many traces as it may have
)

// ErrMessage is returned for a malformed message.
var ErrMessage = errors.New("foretick: malformed message of a trace")

const pieceHead = 1 + 4 + 2 + 2

// LeastPiece is the least room for which a piece is written.
const LeastPiece = pieceHead + 32

// AppendAsk appends an Ask for the entities with the names. Without names it asks for the player's own
// entities.
func AppendAsk(dst []byte, names []uint32) []byte {
	names = names[:min(len(names), MaxEntities)]
	dst = append(dst, Ask, byte(len(names)))
	for _, n := range names {
		dst = binary.LittleEndian.AppendUint32(dst, n)
	}
	return dst
}

// Request is what an Ask asks for.
type Request struct {
	Names [MaxEntities]uint32 // Names are in rising order: see Wants.
	N     int                 // N is the number of names. 0 means the player's own entities.
}

// ParseAsk reads an Ask. The error is [ErrMessage].
func ParseAsk(b []byte) (r Request, err error) {
	if len(b) < 2 || b[0] != Ask || b[1] > MaxEntities || len(b) != 2+4*int(b[1]) {
		return r, ErrMessage
	}
	r.N = int(b[1])
	for i := range r.N {
		r.Names[i] = binary.LittleEndian.Uint32(b[2+4*i:])
	}
	return r, nil
}

// Wants reports whether an entity of a name is asked for.
func (r *Request) Wants(name uint32) bool {
	for _, n := range r.Names[:r.N] {
		if n == name {
			return true
		}
	}
	return r.N == 0
}

// sendWithin is the number of newest ticks whose records are sent. Older records are left out, because newer
// ones are more useful.
const sendWithin = 8

// Sender cuts the records of a ring into pieces.
type Sender struct {
	b    []byte // b is a copy of the record that is being sent.
	from int    // from is where the next piece begins in b. len(b) means that all was sent.
}

// Append appends the next piece of up to room bytes to dst, nothing if all records up to tick upto were sent.
func (s *Sender) Append(dst []byte, r *Ring, room int, upto Tick) []byte {
	if room < LeastPiece {
		return dst
	}
	if s.from >= len(s.b) {
		if s.b, s.from = r.nextRecord(s.b[:0], sendWithin, upto), 0; len(s.b) == 0 {
			return dst
		}
	}
	n := min(room-pieceHead, len(s.b)-s.from)
	dst = binary.LittleEndian.AppendUint32(append(dst, Piece), TickOf(s.b))
	dst = binary.LittleEndian.AppendUint16(dst, uint16(s.from))
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(s.b)))
	dst = append(dst, s.b[s.from:s.from+n]...)
	s.from += n
	return dst
}

// Clear forgets a record that was begun.
func (s *Sender) Clear() { s.b, s.from = s.b[:0], 0 }

// Assembler joins pieces. Those of a tick have to come in order: a lost or late one loses
// its tick.
type Assembler struct {
	b     []byte
	tick  Tick
	total int // total is the length of the record. 0 means that none is begun.
}

// Add takes a piece and puts the record that it completes into the ring. It returns
// [ErrMessage] or [ErrRecord] for what is malformed, nil for a piece out of order.
func (a *Assembler) Add(b []byte, l *Layout, to *Ring) error {
	if len(b) <= pieceHead || b[0] != Piece {
		return ErrMessage
	}
	t, from, total := binary.LittleEndian.Uint32(b[1:]), int(binary.LittleEndian.Uint16(b[5:])), int(binary.LittleEndian.Uint16(b[7:]))
	b = b[pieceHead:]
	if total > MaxRecord || from+len(b) > total {
		return ErrMessage
	}
	switch {
	case from == 0:
		a.b, a.tick, a.total = append(a.b[:0], b...), t, total
	case a.total == total && a.tick == t && from == len(a.b):
		a.b = append(a.b, b...)
	default:
		return nil
	}
	if len(a.b) < a.total {
		return nil
	}
	a.total = 0
	if TickOf(a.b) != t {
		return ErrRecord
	}
	if err := l.Check(a.b); err != nil {
		return err
	}
	to.Put(a.b)
	return nil
}
