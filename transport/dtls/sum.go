package dtls

import (
	"encoding/binary"
	"hash/crc32"
)

// A handshake's datagrams are not authentic until its end, and the library keeps the first form of each message that it
// sees. One damaged bit in it costs the handshake. So the client ends them with a record of a type that nobody else
// uses, which holds a CRC-32C of what is before; a server that saw one from a client answers likewise. It helps against
// damage, and is not meant to against anybody.
const sumSize = headerSize + 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sumHeader is long enough that what is protected does not look so by chance.
const sumHeader = "\x46\xfe\xfd\x00\x00\x00\x00\x00\x00\x00\x00\x00\x04"

func appendSum(b []byte) []byte {
	sum := crc32.Checksum(b, castagnoli)
	return binary.BigEndian.AppendUint32(append(b, sumHeader...), sum)
}

// unsum returns a datagram without its sum, which it reports, and whether there was one. It is not ok if it is wrong.
func unsum(b []byte) (body []byte, sum uint32, summed, ok bool) {
	n := len(b) - sumSize
	if n < 0 || string(b[n:n+headerSize]) != sumHeader {
		return b, 0, false, true
	}
	sum = binary.BigEndian.Uint32(b[n+headerSize:])
	return b[:n], sum, true, sum == crc32.Checksum(b[:n], castagnoli)
}
