package dtls

import (
	"encoding/binary"
	"hash/crc32"
)

// sumSize is the size of the checksum record of a handshake datagram.
//
// Handshake datagrams are not authenticated until the end of the handshake, and the library keeps the
// first version that it sees of each message. One damaged bit in that would fail the handshake. So the
// client appends a record of an unused type with a CRC-32C of the bytes before it. A server that
// receives such a record from a client does the same. It protects against damage, not against
// attackers.
const sumSize = headerSize + 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sumHeader is long enough not to occur in protected bytes by chance.
const sumHeader = "\x46\xfe\xfd\x00\x00\x00\x00\x00\x00\x00\x00\x00\x04"

func appendSum(b []byte) []byte {
	sum := crc32.Checksum(b, castagnoli)
	return binary.BigEndian.AppendUint32(append(b, sumHeader...), sum)
}

// unsum splits the checksum off a datagram and reports whether there was one. ok is false for a wrong checksum.
func unsum(b []byte) (body []byte, sum uint32, summed, ok bool) {
	n := len(b) - sumSize
	if n < 0 || string(b[n:n+headerSize]) != sumHeader {
		return b, 0, false, true
	}
	sum = binary.BigEndian.Uint32(b[n+headerSize:])
	return b[:n], sum, true, sum == crc32.Checksum(b[:n], castagnoli)
}
