package dtls

import "encoding/binary"

// verdict is what becomes of a record that the network brought.
type verdict uint8

const (
	drop    verdict = iota
	library         // it is of a handshake
	ours            // it is protected, and of this package's
)

const (
	maxHandshake    = 16 << 10 // bytes of a handshake message
	handshakeHeader = 12
	libraryBudget   = 64 << 10 // bytes that one connection's handshake may bring
)

// guard stands between the network and the library, which believes more than it should: to end a session, one plain
// alert is enough, or plain data, a record of an unknown type, or a broken change-cipher-spec.
//
// During the handshake it lets through what a handshake is made of, well-formed and within bounds. After it, what is not
// of epoch 1, or not an alert, a handshake message or data, is dropped; alerts and data are opened by this package, and
// the library sees handshake messages only, which it may have to answer with its last flight.
type guard struct {
	done  bool // the handshake is over
	spent int  // of libraryBudget
}

// judge decides on a record as next returns it.
func (g *guard) judge(record []byte) verdict {
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

// plainHandshake reports whether a record's payload is something that a handshake has before it has keys. Alerts are
// none: anybody can send them.
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
			return false // a fragment fills its record: the library takes it so
		}
	}
	return true
}

func uint24(b []byte) int { return int(b[0])<<16 | int(b[1])<<8 | int(b[2]) }

// outward reports whether a datagram of the library's may leave: handshake messages may, alerts may not, as the other
// end's guard drops them anyway and farewells are said elsewhere.
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
