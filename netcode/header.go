package netcode

import (
	"hash/crc32"
	"time"
)

// A packet: [checksum 4] flags 1, sequence 2, [ack 2, ack bits 0–4, ack delay 1],
// messages. All little-endian.
const (
	flagAckBytes = 0x0f // which of the four ack bytes are written; the rest are 0xff
	flagAck      = 0x10 // anything was received: the ack fields are there
	flagUnused   = 0xe0

	maxHeader = 4 + 1 + 2 + 2 + 4 + 1
)

type header struct {
	seq     Seq
	hasAck  bool
	ack     Seq
	ackBits uint32 // bit i: ack-1-i was received too
	delay   uint8
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum covers the magic and everything after itself.
func checksum(seed uint32, b []byte) uint32 { return crc32.Update(seed, castagnoli, b) }

// checksumSeed is the running CRC after the magic's eight bytes.
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
			// A written 0xff would be a second encoding of the same header.
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

// The ack delay is one byte: half milliseconds below 64 ms, then steps of 8 ms;
// 255 is "longer than can be said", and gives no round-trip sample.
const unknownDelay = 255

func encodeDelay(d time.Duration) uint8 {
	switch {
	case d < 0:
		return 0
	case d < 64*time.Millisecond:
		return uint8(d / (500 * time.Microsecond))
	}
	return uint8(min(unknownDelay, 128+(d-64*time.Millisecond)/(8*time.Millisecond)))
}

func decodeDelay(v uint8) (time.Duration, bool) {
	switch {
	case v == unknownDelay:
		return 0, false
	case v < 128:
		return time.Duration(v) * 500 * time.Microsecond, true
	}
	return 64*time.Millisecond + time.Duration(v-128)*8*time.Millisecond, true
}
