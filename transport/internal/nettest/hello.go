package nettest

import (
	"encoding/binary"
	"hash/crc32"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Hello makes package udp's hello in the memory of b, as docs/STANDARD-udp.md has it, with a cookie of which no server has heard, or
// none if that is 0.
func Hello(b []byte, nonce, cookie uint64) []byte {
	b = append(b[:0], 0xA0, 'F', 'T', 'K', '1')
	b = binary.BigEndian.AppendUint64(b, nonce)
	b = append(b, 0, 0, 0, 0)
	b = binary.BigEndian.AppendUint64(b, cookie)
	b = append(b, make([]byte, 1200-4-len(b))...)
	return Sum(b)
}

// Sum adds the checksum that ends package udp's datagrams.
func Sum(b []byte) []byte { return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli)) }
