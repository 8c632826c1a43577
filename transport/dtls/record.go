package dtls

import (
	"encoding/binary"
	"errors"

	"golang.org/x/crypto/chacha20poly1305"
)

// A record (RFC 6347, section 4.1) begins with its type (1), version (2), epoch (2), sequence number (6) and length
// (2).
const (
	typeCCS       = 20
	typeAlert     = 21
	typeHandshake = 22
	typeData      = 23
	headerSize    = 13
	tagSize       = chacha20poly1305.Overhead
	epoch         = 1       // the epoch of all protected records: there is no renegotiation
	firstSequence = 1 << 40 // where this package's sequence numbers start; the library's start at 0 and are few
	lastSequence  = 1<<48 - 1
	farewells     = 64 // how many of the last sequence numbers are reserved for the end message
	windowSize    = 256
)

var (
	errMalformed = errors.New("dtls: malformed record")
	errForged    = errors.New("dtls: record not authentic")
	errReplayed  = errors.New("dtls: record came before, or is too old to tell")
)

// setNonce sets the nonce: the record's epoch and sequence number, left-padded to the length of the IV and XORed with
// it (RFC 7905, section 2). Each pair occurs once under a key, so the nonce is unique.
func (s *scratch) setNonce(iv *[chacha20poly1305.NonceSize]byte, header []byte) {
	s.nonce = *iv
	for i := range 8 {
		s.nonce[4+i] ^= header[3+i]
	}
}

// setAdditional sets the additional authenticated data: epoch, sequence number, type, version, and the length of the
// payload.
func (s *scratch) setAdditional(header []byte, n int) {
	copy(s.additional[:8], header[3:11])
	s.additional[8], s.additional[9], s.additional[10] = header[0], header[1], header[2]
	binary.BigEndian.PutUint16(s.additional[11:], uint16(n))
}

// scratch is memory that saves an allocation for each record.
type scratch struct {
	nonce      [chacha20poly1305.NonceSize]byte
	additional [headerSize]byte
}

// seal appends a protected payload to its header, and sets the length in the header.
func (h *half) seal(header, payload []byte, s *scratch) []byte {
	head := header[len(header)-headerSize:]
	binary.BigEndian.PutUint16(head[11:], uint16(len(payload)+tagSize))
	s.setNonce(&h.iv, head)
	s.setAdditional(head, len(payload))
	return h.aead.Seal(header, s.nonce[:], payload, s.additional[:])
}

// openRecord decrypts a whole record and appends its payload to dst.
func (h *half) openRecord(dst, record []byte, s *scratch) ([]byte, error) {
	size := len(record) - headerSize - tagSize
	if size < 0 || int(binary.BigEndian.Uint16(record[11:])) != size+tagSize {
		return nil, errMalformed
	}
	s.setNonce(&h.iv, record)
	s.setAdditional(record, size)
	out, err := h.aead.Open(dst, s.nonce[:], record[headerSize:], s.additional[:])
	if err != nil {
		return nil, errForged
	}
	return out, nil
}

// writer creates the records that this package sends on a connection.
type writer struct {
	half
	scratch scratch
	next    uint64 // next sequence number, from firstSequence
}

// appendRecord appends a protected record to b. The payload must not overlap b.
func (w *writer) appendRecord(b []byte, kind byte, payload []byte) ([]byte, error) {
	if w.next > lastSequence {
		return nil, errSequence
	}
	b = append(b, kind, 0xFE, 0xFD)
	b = binary.BigEndian.AppendUint64(b, epoch<<48|w.next)
	b = append(b, 0, 0)
	w.next++
	return w.seal(b, payload, &w.scratch), nil
}

// reader opens the records that this package receives on a connection, each once.
type reader struct {
	half
	scratch scratch
	window  window
}

// readRecord appends a record's payload to dst, if the record is authentic and was not read before.
func (r *reader) readRecord(dst, record []byte) ([]byte, error) {
	n := sequence(record)
	if !r.window.fresh(n) {
		return nil, errReplayed
	}
	out, err := r.openRecord(dst, record, &r.scratch)
	if err != nil {
		return nil, err
	}
	r.window.markSeen(n)
	return out, nil
}

func sequence(record []byte) uint64 { return binary.BigEndian.Uint64(record[3:]) & lastSequence }

// window remembers which of the newest sequence numbers were received.
type window struct {
	seen [windowSize / 64]uint64
	next uint64 // one more than the newest number
}

func (w *window) fresh(n uint64) bool {
	if n >= w.next {
		return true
	}
	return w.next-n <= windowSize && w.seen[n/64%uint64(len(w.seen))]&(1<<(n%64)) == 0
}

func (w *window) markSeen(n uint64) {
	if n >= w.next {
		if n-w.next >= windowSize {
			clear(w.seen[:])
		} else {
			for i := w.next; i <= n; i++ {
				w.seen[i/64%uint64(len(w.seen))] &^= 1 << (i % 64)
			}
		}
		w.next = n + 1
	}
	w.seen[n/64%uint64(len(w.seen))] |= 1 << (n % 64)
}

// next returns the first record of a datagram and the bytes after it.
func next(b []byte) (record, rest []byte, ok bool) {
	if len(b) < headerSize {
		return nil, nil, false
	}
	n := headerSize + int(binary.BigEndian.Uint16(b[11:]))
	if n > len(b) || n == headerSize {
		return nil, nil, false
	}
	return b[:n:n], b[n:], true
}
