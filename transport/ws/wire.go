package ws

import (
	"encoding/binary"
	"errors"
	"strconv"
	"strings"

	"github.com/foretick/foretick/transport"
)

// Subprotocol is the WebSocket subprotocol that both ends name (RFC 6455, section 1.9). It includes the format's
// version.
const Subprotocol = "foretick.1"

// The first byte of every message. Integers are big-endian.
const (
	typeData   byte = iota // both ends: a datagram
	typeHello              // client's first message: its token
	typeAccept             // server's first message
	typeAlive              // both ends: 1 to request a reply, else 0
	typeEnd                // both ends, last message: code, reason
)

// MTU is the most bytes that Send accepts, in either direction.
const MTU = transport.MaxDatagram - header

const (
	header     = 1
	maxMessage = header + transport.MaxDatagram // larger than the largest hello and end message
	bufferSize = 1280                           // more than maxMessage
	ask        = 1
	maxReason  = 123 // bytes of a close frame's reason (RFC 6455, section 5.5)
)

var errMalformed = errors.New("ws: malformed message")

func appendEnd(b []byte, c transport.Code, reason string) []byte {
	b = append(b, typeEnd)
	b = binary.BigEndian.AppendUint16(b, uint16(c))
	return append(b, transport.CutReason(reason)...)
}

func parseEnd(b []byte) (c transport.Code, reason string, err error) {
	if len(b) < 3 || len(b) > 3+transport.MaxReason || b[0] != typeEnd {
		return 0, "", errMalformed
	}
	return transport.Code(binary.BigEndian.Uint16(b[1:])), strings.ToValidUTF8(string(b[3:]), "\uFFFD"), nil
}

func parseHello(b []byte) (token []byte, err error) {
	if len(b) < header || len(b) > header+MaxToken || b[0] != typeHello {
		return nil, errMalformed
	}
	return b[header:], nil
}

func parseAlive(b []byte) (answer bool, err error) {
	if len(b) != 2 || b[0] != typeAlive || b[1] > ask {
		return false, errMalformed
	}
	return b[1] == ask, nil
}

// Statuses of RFC 6455, section 7.4, that another implementation may close with.
const (
	statusNormal  = 1000
	statusBroken  = 1002
	statusType    = 1003
	statusPayload = 1007
	statusPolicy  = 1008
	statusTooBig  = 1009
	statusPrivate = 4000 // the first status of the private range
	statusOther   = 4999 // the last status: for codes that do not fit
)

// status returns the close frame's status for a code: one that a browser's script may choose.
func status(c transport.Code) int {
	switch {
	case c == transport.Closed:
		return statusNormal
	case c < statusOther-statusPrivate:
		return statusPrivate + int(c)
	}
	return statusOther
}

// codeOf returns the code for a close frame's status when no end message came before it. An endpoint
// that leaves sends an end message. A close frame alone comes from something between the two ends: a
// proxy that restarts or has no server (1000, 1001, 1012, 1013), or a browser whose page is loaded
// again (1001). So the connection is lost and nobody left: Unreachable. The exceptions are statuses
// with which the other end's library rejects the bytes it received.
func codeOf(status int) transport.Code {
	switch status {
	case statusBroken:
		return transport.Protocol
	case statusType, statusPayload, statusTooBig:
		return transport.Malformed
	case statusPolicy:
		return transport.Refused
	}
	if status >= statusPrivate && status < statusOther {
		return transport.Code(status - statusPrivate)
	}
	if status == statusOther {
		return transport.None
	}
	return transport.Unreachable
}

// closedWith returns the error for a connection that ended by a close frame without an end message.
func closedWith(status int, reason string) *transport.DisconnectError {
	if reason == "" {
		reason = "closed without an end message, with status " + strconv.Itoa(status)
	}
	return &transport.DisconnectError{Code: codeOf(status), Reason: reason}
}

// closeReason cuts a reason to the length that a close frame holds.
func closeReason(reason string) string {
	reason = strings.ToValidUTF8(reason, "?")
	n := min(len(reason), maxReason)
	for n > 0 && n < len(reason) && reason[n]&0xC0 == 0x80 {
		n--
	}
	return reason[:n]
}
