package flight

import (
	"encoding/binary"
	"io"

	"github.com/foretick/foretick/transport"
)

// listener is the endpoint of a server that is recorded.
type listener struct {
	transport.Endpoint
	r *Recorder
}

var _ transport.Wrapper = (*listener)(nil)

// Unwrap implements transport.Wrapper.
func (l *listener) Unwrap() transport.Endpoint { return l.Endpoint }

// Recv implements transport.Endpoint.
func (l *listener) Recv(ev []transport.Event) int {
	n := l.Endpoint.Recv(ev)
	if n == 0 {
		return 0
	}
	r := l.r
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range ev[:n] {
		e := &ev[i]
		r.scratch = appendPeer(r.scratch[:0], e.Peer)
		switch e.Kind {
		case transport.Data:
			kind := byte(recData)
			if !e.At.IsZero() {
				if age := r.start.Add(r.last).Sub(e.At); age > 0 {
					kind, r.scratch = recWaited, binary.AppendUvarint(r.scratch, uint64(age))
				}
			}
			r.putData(kind, e.Data)
		case transport.Disconnected:
			r.scratch = append(binary.AppendUvarint(r.scratch, uint64(e.Code)), e.Reason...)
			r.putRecord(recDisconnected)
		default:
			r.putRecord(recConnected)
		}
	}
	return n
}

// Info implements transport.Endpoint.
func (l *listener) Info(p transport.PeerID, out *transport.Info) bool {
	known := l.Endpoint.Info(p, out)
	r := l.r
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.inStep {
		r.scratch = appendInfo(r.scratch[:0], p, out, known)
		r.putRecord(recInfo)
	}
	return known
}

// Send implements transport.Endpoint.
func (l *listener) Send(p transport.PeerID, b []byte) error {
	err := l.Endpoint.Send(p, b)
	l.r.sends.addSend(p, b)
	if err != nil {
		l.failed(err)
	}
	return err
}

func (l *listener) failed(err error) {
	r := l.r
	r.mu.Lock()
	defer r.mu.Unlock()
	r.scratch = appendSendError(r.scratch[:0], r.sends.n, err)
	r.putRecord(recSendError)
}

// sends counts and sums the datagrams that a server sends.
type sends struct {
	n uint64 // number of datagrams sent in this Step
	h uint64 // hash of the datagrams sent since the last tick
}

func (s *sends) addSend(p transport.PeerID, b []byte) {
	s.n++
	const prime = 0x9E3779B97F4A7C15
	h := (s.h ^ uint64(p) ^ uint64(len(b))<<48) * prime
	for ; len(b) >= 8; b = b[8:] {
		h = (h ^ binary.LittleEndian.Uint64(b)) * prime
		h ^= h >> 32
	}
	for _, c := range b {
		h = (h ^ uint64(c)) * prime
	}
	s.h = h ^ h>>29
}

// sum returns the sum of the datagrams sent since the last call.
func (s *sends) sum() uint32 {
	h := s.h
	s.h = 0
	return uint32(h ^ h>>32)
}

// dice is the source of randomness of a server that is recorded.
type dice struct {
	r  *Recorder
	of io.Reader
}

func (d *dice) Read(b []byte) (int, error) {
	n, err := d.of.Read(b)
	r := d.r
	r.mu.Lock()
	defer r.mu.Unlock()
	failed := byte(0)
	if err != nil {
		failed = 1
	}
	r.scratch = append(append(r.scratch[:0], failed), b[:n]...)
	r.putRecord(recRandom)
	return n, err
}
