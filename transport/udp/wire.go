package udp

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"strings"

	"github.com/foretick/foretick/transport"
)

// The first byte of every datagram. Integers are big-endian. All except data and gone end with a CRC-32C of the bytes
// before.
const (
	typeHello     byte = 0xA0 + iota // client: magic, nonce, cookie, token; padded to helloSize
	typeCookie                       // server: nonce, cookie
	typeAccept                       // server: nonce, connection id
	typeRefuse                       // server: nonce, code, reason
	typeUp                           // client: connection id, datagram
	typeDown                         // server: the nonce's low 32 bits, datagram
	typeAlive                        // both: connection id, whether a reply is requested
	typeChallenge                    // server, to a new address: connection id, proof
	typeResponse                     // client: connection id, proof
	typeClose                        // both: connection id, code, reason
	typeGone                         // server: unknown connection id
)

const (
	magic      = 0x46544b31 // "FTK1", which includes the format's version
	sumSize    = 4
	cookieSize = 20 // seconds (4), MAC (16)
	helloSize  = transport.MaxDatagram
	tokenAt    = 1 + 4 + 8 + cookieSize + 2
	signalSize = 1 + 8 + 8 + sumSize // alive, challenge, response
	acceptSize = 1 + 8 + 8 + sumSize
	replySize  = 1 + 8 + cookieSize + sumSize
	endSize    = 1 + 8 + 2 + 1 + sumSize // refuse and close, without reason
	goneSize   = 1 + 8
	ask        = 1 // value of an alive message that asks for one in reply
	upHeader   = 1 + 8
	downHeader = 1 + 4
)

// MTU is the most bytes that Send accepts, in either direction.
const MTU = transport.MaxDatagram - upHeader

var (
	errMalformed = errors.New("udp: malformed datagram")
	errChecksum  = errors.New("udp: checksum differs")
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

type cookie [cookieSize]byte

func appendSum(b []byte, from int) []byte {
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b[from:], castagnoli))
}

// checked verifies and removes b's checksum.
func checked(b []byte) ([]byte, error) {
	n := len(b) - sumSize
	if n < 0 {
		return nil, errMalformed
	}
	if binary.BigEndian.Uint32(b[n:]) != crc32.Checksum(b[:n], castagnoli) {
		return nil, errChecksum
	}
	return b[:n], nil
}

type hello struct {
	nonce  uint64
	cookie cookie // zero: none yet
	token  []byte
}

func appendHello(b []byte, h *hello) []byte {
	from := len(b)
	b = append(b, typeHello)
	b = binary.BigEndian.AppendUint32(b, magic)
	b = binary.BigEndian.AppendUint64(b, h.nonce)
	b = append(b, h.cookie[:]...)
	b = binary.BigEndian.AppendUint16(b, uint16(len(h.token)))
	b = append(b, h.token...)
	for len(b)-from < helloSize-sumSize {
		b = append(b, 0)
	}
	return appendSum(b, from)
}

func parseHello(b []byte) (h hello, err error) {
	if len(b) != helloSize || b[0] != typeHello || binary.BigEndian.Uint32(b[1:]) != magic {
		return h, errMalformed
	}
	if b, err = checked(b); err != nil {
		return h, err
	}
	h.nonce = binary.BigEndian.Uint64(b[5:])
	copy(h.cookie[:], b[13:])
	n := int(binary.BigEndian.Uint16(b[tokenAt-2:]))
	if n > MaxToken {
		return h, errMalformed
	}
	h.token = b[tokenAt : tokenAt+n : tokenAt+n]
	return h, nil
}

func appendCookie(b []byte, nonce uint64, c *cookie) []byte {
	from := len(b)
	b = append(b, typeCookie)
	b = binary.BigEndian.AppendUint64(b, nonce)
	b = append(b, c[:]...)
	return appendSum(b, from)
}

func parseCookie(b []byte) (nonce uint64, c cookie, err error) {
	if len(b) != replySize || b[0] != typeCookie {
		return 0, c, errMalformed
	}
	if b, err = checked(b); err != nil {
		return 0, c, err
	}
	copy(c[:], b[9:])
	return binary.BigEndian.Uint64(b[1:]), c, nil
}

// appendPair writes the layout shared by accept, alive, challenge and response.
func appendPair(b []byte, kind byte, first, second uint64) []byte {
	from := len(b)
	b = append(b, kind)
	b = binary.BigEndian.AppendUint64(b, first)
	b = binary.BigEndian.AppendUint64(b, second)
	return appendSum(b, from)
}

func parsePair(b []byte, kind byte) (first, second uint64, err error) {
	if len(b) != signalSize || b[0] != kind {
		return 0, 0, errMalformed
	}
	if b, err = checked(b); err != nil {
		return 0, 0, err
	}
	return binary.BigEndian.Uint64(b[1:]), binary.BigEndian.Uint64(b[9:]), nil
}

// appendEnd writes the layout shared by refuse and close.
func appendEnd(b []byte, kind byte, key uint64, c transport.Code, reason string) []byte {
	from := len(b)
	reason = transport.CutReason(reason)
	b = append(b, kind)
	b = binary.BigEndian.AppendUint64(b, key)
	b = binary.BigEndian.AppendUint16(b, uint16(c))
	b = append(b, byte(len(reason)))
	b = append(b, reason...)
	return appendSum(b, from)
}

func parseEnd(b []byte, kind byte) (key uint64, c transport.Code, reason []byte, err error) {
	if len(b) < endSize || len(b) > endSize+transport.MaxReason || b[0] != kind || int(b[11]) != len(b)-endSize {
		return 0, 0, nil, errMalformed
	}
	if b, err = checked(b); err != nil {
		return 0, 0, nil, err
	}
	return binary.BigEndian.Uint64(b[1:]), transport.Code(binary.BigEndian.Uint16(b[9:])), b[12:], nil
}

// text converts a remote peer's bytes to a string.
func text(reason []byte) string { return strings.ToValidUTF8(string(reason), "\uFFFD") }

func appendGone(b []byte, id uint64) []byte {
	return binary.BigEndian.AppendUint64(append(b, typeGone), id)
}

func parseGone(b []byte) (id uint64, err error) {
	if len(b) != goneSize || b[0] != typeGone {
		return 0, errMalformed
	}
	return binary.BigEndian.Uint64(b[1:]), nil
}
