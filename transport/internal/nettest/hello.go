package nettest

import (
	"encoding/binary"
	"hash/crc32"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Hello builds a hello of package udp in the memory of b, as in docs/STANDARD-udp.md, with a
// made-up cookie, or none if cookie is 0.
func Hello(b []byte, nonce, cookie uint64) []byte {
	b = append(b[:0], 0xA0, 'F', 'T', 'K', '1')
	b = binary.BigEndian.AppendUint64(b, nonce)
	b = append(b, 0, 0, 0, 0)
	b = binary.BigEndian.AppendUint64(b, cookie)
	b = append(b, make([]byte, 1200-4-len(b))...)
	return Sum(b)
}

// Sum appends the checksum at the end of package udp's datagrams.
func Sum(b []byte) []byte { return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli)) }
