//go:build !linux || (!amd64 && !arm64)

package udp

import (
	"syscall"

	"github.com/foretick/foretick/transport"
)

// held is never used: on these systems each datagram is sent in a call of its own.
type held struct {
	n    int
	none [transport.MaxDatagram]byte
	tell batchCounters
}

func newHeld(int) *held { return nil }

func (h *held) nextBuffer() *[transport.MaxDatagram]byte { return &h.none }

func (h *held) addDatagram(int, route, *socket) (full bool) { return true }

func (h *held) sendHeld(*socket) error { return nil }

// canBatch says that these systems read one datagram in each call.
const canBatch = false

func (e *Endpoint) readMany(syscall.RawConn, func(buf []byte, n int, from route) []byte) error {
	return syscall.EINVAL
}
