// Package packettest reads packets of netcode for tests: the header, the messages, and the checksum.
package packettest

import (
	"encoding/binary"
	"hash/crc32"
)

// Fields returns the parts of a valid packet: the sequence number, the flags with the ack fields,
// and the messages.
func Fields(b []byte) (seq, ack, messages []byte) {
	flags := b[4]
	seq = b[5:7]
	if flags&0x10 == 0 {
		return seq, b[4:5], b[7:]
	}
	end := 9
	for i := range 4 {
		if flags&(1<<i) != 0 {
			end++
		}
	}
	return seq, append([]byte{flags}, b[7:end+1]...), b[end+1:]
}

// Each calls fn for each message of a valid packet, given the messages that Fields returned. T is
// netcode.MessageType, which this package does not import.
func Each[T ~uint8](messages []byte, fn func(t T, body []byte)) {
	for b := messages; len(b) > 1; {
		n, k := binary.Uvarint(b[1:])
		body := b[1+k : 1+k+int(n)]
		fn(T(b[0]), body)
		b = b[1+k+int(n):]
	}
}

// Carries returns a function that reports whether a valid packet has a message of a type.
func Carries[T ~uint8](want T) func(b []byte) bool {
	return func(b []byte) (carries bool) {
		_, _, messages := Fields(b)
		Each(messages, func(t T, _ []byte) { carries = carries || t == want })
		return carries
	}
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Seal writes the checksum of a connection without keys into a packet, and returns the packet.
func Seal(b []byte) []byte {
	var magic [8]byte
	binary.LittleEndian.PutUint32(b, crc32.Update(crc32.Update(0, castagnoli, magic[:]), castagnoli, b[4:]))
	return b
}
