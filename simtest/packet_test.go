package simtest_test

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/foretick/foretick/netcode"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// packetFields takes a packet apart: the fields of its header up to its messages.
func packetFields(b []byte) (seq []byte, ack []byte, messages []byte) {
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

// eachMessage calls fn for each message of a packet.
func eachMessage(b []byte, fn func(t netcode.MessageType, body []byte)) {
	for len(b) > 1 {
		n, k := binary.Uvarint(b[1:])
		body := b[1+k : 1+k+int(n)]
		fn(netcode.MessageType(b[0]), body)
		b = b[1+k+int(n):]
	}
}
