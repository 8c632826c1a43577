package host

import (
	"errors"
	"log/slog"
	"time"

	"github.com/foretick/foretick/transport"
)

// logEvery is the time between two lines about refusals for one reason, so that nobody outside
// can fill the log.
const logEvery = time.Minute

// quiet counts the lines of one reason that were left out.
type quiet struct {
	next    time.Time // no line before
	skipped uint64
}

// logRefusal logs that a peer was turned away. The peer may not have said which match it wants.
func (h *Host) logRefusal(t *turned) {
	q := h.refusals[t.reason]
	if q == nil {
		q = &quiet{}
		h.refusals[t.reason] = q
	}
	if h.now.Before(q.next) {
		q.skipped++
		return
	}
	h.cfg.Logger.Warn(t.reason, "match", t.match, "peer", t.peer, "address", t.address, slog.String("identity", string(t.identity)), "detail", t.detail, "skipped", q.skipped)
	q.next, q.skipped = h.now.Add(logEvery), 0
}

// turned is a peer to refuse when no lock is held.
type turned struct {
	*newcomer
	reason string // for the log
	code   transport.Code
	detail string
}

// refusal returns the code for a match that cannot be made. Full is for what passes.
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

// refusePeers disconnects the peers that found no match, and those that connected anew.
func (h *Host) refusePeers() {
	for _, id := range h.replaced {
		h.endpoint.Disconnect(id, transport.Replaced, replaced)
	}
	h.replaced = h.replaced[:0]
	for _, t := range h.turned {
		h.logRefusal(&t)
		h.endpoint.Disconnect(t.peer, t.code, t.detail)
	}
	clear(h.turned)
	h.turned = h.turned[:0]
}
