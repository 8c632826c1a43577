package dtls

import (
	"encoding/binary"
	"strings"

	"github.com/foretick/foretick/transport"
)

// The first byte of the plaintext of a data record. Integers are big-endian.
const (
	msgData   byte = iota // both ends: a datagram
	msgHello              // client, until the server replies: token
	msgAccept             // server, for each hello
	msgAlive              // both ends: 1 to request a reply, else 0
	msgEnd                // both ends: code, reason
)

const (
	msgHeader = 1
	ask       = 1
	maxEnd    = 3 + transport.MaxReason
	overhead  = headerSize + tagSize + msgHeader

	alertClose = 0 // close_notify, RFC 5246, section 7.2
)

// MaxToken is the longest token, in bytes.
const MaxToken = 1024

func appendEnd(b []byte, c transport.Code, reason string) []byte {
	b = append(b, msgEnd)
	b = binary.BigEndian.AppendUint16(b, uint16(c))
	return append(b, transport.CutReason(reason)...)
}

func parseEnd(b []byte) (c transport.Code, reason string, ok bool) {
	if len(b) < 3 || len(b) > maxEnd || b[0] != msgEnd {
		return 0, "", false
	}
	return transport.Code(binary.BigEndian.Uint16(b[1:])), strings.ToValidUTF8(string(b[3:]), "\uFFFD"), true
}

func parseAlive(b []byte) (answer, ok bool) {
	if len(b) != 2 || b[0] != msgAlive || b[1] > ask {
		return false, false
	}
	return b[1] == ask, true
}
