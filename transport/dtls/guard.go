package dtls

import "encoding/binary"

// verdict decides what happens to a received record.
type verdict uint8

const (
	drop    verdict = iota
	library         // the record belongs to a handshake
	ours            // the record is protected, and for this package
)

const (
	maxHandshake    = 16 << 10 // most bytes of a handshake message
	handshakeHeader = 12
	libraryBudget   = 64 << 10 // most bytes that the handshake of one connection may receive
)

// guard filters what the network passes to the library, which trusts too much: one plain alert ends a session, and so
// does plain data, a record of unknown type, or a broken change-cipher-spec.
//
// During the handshake, guard passes well-formed handshake records within limits. After it, guard drops everything
// except alerts, handshake messages and data of epoch 1. This package opens alerts and data itself. The library only
// sees handshake messages, because it may have to answer them with its last flight.
type guard struct {
	done  bool // the handshake is over
	spent int  // bytes of libraryBudget that are used up
}

// judgeRecord decides on a record returned by next.
func (g *guard) judgeRecord(record []byte) verdict {
	kind, major, minor := record[0], record[1], record[2]
	if major != 0xFE || minor != 0xFD && minor != 0xFF {
		return drop
	}
	switch binary.BigEndian.Uint16(record[3:]) {
	case 0:
		if g.done || !plainHandshake(kind, record[headerSize:]) {
			return drop
		}
	case epoch:
		switch {
		case minor != 0xFD || len(record) < headerSize+tagSize:
			return drop
		case kind == typeAlert || kind == typeData:
			return ours
		case kind != typeHandshake:
			return drop
		}
	default:
		return drop
	}
	if g.spent += len(record); g.spent > libraryBudget {
		return drop
	}
	return library
}

// plainHandshake reports whether a record's payload may occur in a handshake before there are keys. Alerts may not:
// anybody can send them.
func plainHandshake(kind byte, b []byte) bool {
	if kind == typeCCS {
		return len(b) == 1 && b[0] == 1
	}
	if kind != typeHandshake || len(b) == 0 {
		return false
	}
	for len(b) > 0 {
		if len(b) < handshakeHeader {
			return false
		}
		length, offset, size := uint24(b[1:]), uint24(b[6:]), uint24(b[9:])
		if length > maxHandshake || offset+size > length || size == 0 && length > 0 || size > len(b)-handshakeHeader {
			return false
		}
		if b = b[handshakeHeader+size:]; size < length && len(b) > 0 {
			return false // the library accepts a fragment only if it fills its record
		}
	}
	return true
}

func uint24(b []byte) int { return int(b[0])<<16 | int(b[1])<<8 | int(b[2]) }

// outward reports whether a datagram from the library may be sent. Handshake messages may be sent.
// Alerts may not: the other end's guard drops them, and this package signals the end by a message of
// its own.
func outward(b []byte) bool {
	for len(b) > 0 {
		record, rest, ok := next(b)
		if !ok || record[0] != typeHandshake && record[0] != typeCCS {
			return false
		}
		b = rest
	}
	return true
}
