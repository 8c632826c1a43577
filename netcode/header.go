package netcode

import "hash/crc32"

// A packet: [checksum 4] flags 1, sequence 2, [ack 2, ack bits 0–4, ack delay 1],
// messages. All little-endian.
const (
	flagAckBytes = 0x0f // which of the four ack bytes are written; the rest are 0xff
	flagAck      = 0x10 // something was received: the ack fields are present
	flagUnused   = 0xe0

	maxHeader = 4 + 1 + 2 + 2 + 4 + 1
)

type header struct {
	seq     Seq
	hasAck  bool
	ack     Seq
	ackBits uint32 // ackBits has bit i set if packet ack-1-i was received too.
	delay   uint8
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum covers the magic and all bytes after the checksum.
func checksum(seed uint32, b []byte) uint32 { return crc32.Update(seed, castagnoli, b) }

// checksumSeed returns the running CRC after the eight bytes of the magic.
func checksumSeed(magic uint64) uint32 {
	var m [8]byte
	le.PutUint64(m[:], magic)
	return crc32.Update(0, castagnoli, m[:])
}

func (h *header) append(dst []byte) []byte {
	at := len(dst)
	dst = append(dst, 0)
	dst = le.AppendUint16(dst, h.seq)
	if !h.hasAck {
		return dst
	}
	flags := byte(flagAck)
	dst = le.AppendUint16(dst, h.ack)
	for i := range 4 {
		if v := byte(h.ackBits >> (8 * i)); v != 0xff {
			flags |= 1 << i
			dst = append(dst, v)
		}
	}
	dst[at] = flags
	return append(dst, h.delay)
}

func parseHeader(b []byte) (h header, rest []byte, ok bool) {
	if len(b) < 3 || b[0]&flagUnused != 0 {
		return h, nil, false
	}
	flags := b[0]
	h.seq = le.Uint16(b[1:])
	b = b[3:]
	if flags&flagAck == 0 {
		return h, b, flags == 0
	}
	if len(b) < 2 {
		return h, nil, false
	}
	h.hasAck = true
	h.ack = le.Uint16(b)
	b = b[2:]
	for i := range 4 {
		v := byte(0xff)
		if flags&(1<<i) != 0 {
			// Writing 0xff out would be a second encoding of the same header.
			if len(b) == 0 || b[0] == 0xff {
				return h, nil, false
			}
			v, b = b[0], b[1:]
		}
		h.ackBits |= uint32(v) << (8 * i)
	}
	if len(b) == 0 {
		return h, nil, false
	}
	h.delay = b[0]
	return h, b[1:], true
}
