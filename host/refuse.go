package host

import (
	"errors"
	"log/slog"
	"time"

	"github.com/foretick/foretick/transport"
)

// logEvery is the time between two log lines about refusals for the same reason. It keeps peers from
// filling the log.
const logEvery = time.Minute

// quiet counts the log lines that were left out for one reason.
type quiet struct {
	next    time.Time // no line is logged before this time
	skipped uint64
}

// logRefusal logs that a peer was refused. The peer may not have said which match it wants.
func (h *Host) logRefusal(t *turned) {
	q := h.refusals[t.line]
	if q == nil {
		q = &quiet{}
		h.refusals[t.line] = q
	}
	if h.now.Before(q.next) {
		q.skipped++
		return
	}
	h.cfg.Logger.Warn(t.line, "match", t.match, "peer", t.peer, "address", t.address, slog.String("identity", string(t.identity)), "reason", t.reason, "skipped", q.skipped)
	q.next, q.skipped = h.now.Add(logEvery), 0
}

// turned is a peer that is refused once no lock is held.
type turned struct {
	*newcomer
	line   string         // the log line's text
	code   transport.Code // the code of the peer's disconnection
	reason string
}

// refusal returns the code for a match that cannot be made. It is Full if a later attempt may succeed.
func refusal(err error) transport.Code {
	if errors.Is(err, ErrFull) {
		return transport.Full
	}
	return transport.Refused
}

func (h *Host) refusalText(err error) string {
	if reason := h.drains.Load(); reason != nil && errors.Is(err, ErrDraining) {
		return *reason
	}
	return err.Error()
}

// refusePeers disconnects the refused peers, and the old connections of players that connected again.
func (h *Host) refusePeers() {
	for _, id := range h.replaced {
		h.endpoint.Disconnect(id, transport.Replaced, replaced)
	}
	h.replaced = h.replaced[:0]
	for _, t := range h.turned {
		h.logRefusal(&t)
		h.endpoint.Disconnect(t.peer, t.code, t.reason)
	}
	clear(h.turned)
	h.turned = h.turned[:0]
}
