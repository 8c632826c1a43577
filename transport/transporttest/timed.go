package transporttest

import (
	"time"

	"github.com/foretick/foretick/transport"
)

// timed is an endpoint whose calls are timed, since none may block.
type timed struct {
	transport.Endpoint
	s *suite
}

// prompt is the longest time for a call, even on the busiest machine. Close may take longer to
// notify the peers.
const prompt = time.Second

func (e *timed) checkTime(call string, begin time.Time, limit time.Duration) {
	if took := time.Since(begin); took > limit {
		e.s.Errorf("%s took %v; no call may block", call, took)
	}
}

// Unwrap implements transport.Wrapper.
func (e *timed) Unwrap() transport.Endpoint { return e.Endpoint }

func (e *timed) Recv(ev []transport.Event) int {
	defer e.checkTime("Recv", time.Now(), prompt)
	return e.Endpoint.Recv(ev)
}

func (e *timed) Send(p transport.PeerID, b []byte) error {
	defer e.checkTime("Send", time.Now(), prompt)
	return e.Endpoint.Send(p, b)
}

func (e *timed) Flush() {
	defer e.checkTime("Flush", time.Now(), prompt)
	e.Endpoint.Flush()
}

func (e *timed) Disconnect(p transport.PeerID, c transport.Code, reason string) {
	defer e.checkTime("Disconnect", time.Now(), prompt)
	e.Endpoint.Disconnect(p, c, reason)
}

func (e *timed) Info(p transport.PeerID, out *transport.Info) bool {
	defer e.checkTime("Info", time.Now(), prompt)
	return e.Endpoint.Info(p, out)
}

func (e *timed) Close(c transport.Code, reason string) error {
	defer e.checkTime("Close", time.Now(), 3*prompt)
	return e.Endpoint.Close(c, reason)
}
