package netcode

import "encoding/binary"

var le = binary.LittleEndian

// appendVarint writes v in groups of seven bits, low group first, as
// encoding/binary does.
func appendVarint(dst []byte, v uint64) []byte { return binary.AppendUvarint(dst, v) }

// readVarint accepts only the shortest form, so that a message has one
// encoding.
func readVarint(b []byte) (uint64, []byte, bool) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), b[1:], true
	}
	v, n := binary.Uvarint(b)
	if n <= 0 || b[n-1] == 0 {
		return 0, nil, false
	}
	return v, b[n:], true
}

func varintSize(v uint64) int {
	n := 1
	for ; v >= 0x80; v >>= 7 {
		n++
	}
	return n
}

// zigzag maps small numbers of either sign to small unsigned ones.
func zigzag(v int64) uint64   { return uint64(v<<1) ^ uint64(v>>63) }
func unzigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }

// readTickDelta reads a zigzag varint that must be the distance of two ticks.
func readTickDelta(b []byte) (Tick, []byte, bool) {
	u, rest, ok := readVarint(b)
	if !ok || u > 1<<32-1 {
		return 0, nil, false
	}
	return Tick(unzigzag(u)), rest, true
}

func appendTickDelta(dst []byte, d Tick) []byte {
	return appendVarint(dst, zigzag(int64(int32(d))))
}
