// Package roster stores the connected peers of a server's endpoint by identity, and the banned identities. It has no
// lock; an endpoint with goroutines must use its own.
package roster

import (
	"slices"
	"time"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/refused"
)

// Roster holds the peers P of an endpoint by identity. It stores nothing for an empty identity. The zero value is
// empty.
type Roster[P comparable] struct {
	by   map[string][]P
	bans map[string]ban
}

type ban struct {
	until  time.Time // zero: permanent
	reason string
}

func (b ban) hasEnded(now time.Time) bool { return !b.until.IsZero() && !now.Before(b.until) }

// Judge decides on a new peer. It returns the peers to replace, or an error with the reason for a refusal, which
// wraps a *transport.DisconnectError. The caller drops the replaced peers before it adds the new one.
func (r *Roster[P]) Judge(identity []byte, same transport.Same, now time.Time) (replaced []P, err error) {
	if b, ok := r.bans[string(identity)]; ok && !b.hasEnded(now) {
		return nil, refused.Because("banned", &transport.DisconnectError{Code: transport.Refused, Reason: b.reason})
	}
	there := r.by[string(identity)]
	switch {
	case len(there) == 0 || same == transport.AllowBoth:
		return nil, nil
	case same == transport.RefuseNew:
		return nil, refused.Because("twice", &transport.DisconnectError{Code: transport.Refused, Reason: "already connected"})
	}
	return slices.Clone(there), nil
}

// Add records that p is connected.
func (r *Roster[P]) Add(identity []byte, p P) {
	if len(identity) == 0 {
		return
	}
	if r.by == nil {
		r.by = make(map[string][]P)
	}
	r.by[string(identity)] = append(r.by[string(identity)], p)
}

// Remove records that p is no longer connected; a peer that was never added is ignored.
func (r *Roster[P]) Remove(identity []byte, p P) {
	there := r.by[string(identity)]
	i := slices.Index(there, p)
	switch {
	case i < 0:
	case len(there) == 1:
		delete(r.by, string(identity))
	default:
		r.by[string(identity)] = slices.Delete(there, i, i+1)
	}
}

// Find returns the peers connected with an identity, in order of arrival.
func (r *Roster[P]) Find(identity []byte) []P { return slices.Clone(r.by[string(identity)]) }

// Len returns the number of connected identities.
func (r *Roster[P]) Len() int { return len(r.by) }

// Ban makes Judge refuse an identity until a time; the zero time means permanently. It also removes bans that have
// ended.
func (r *Roster[P]) Ban(identity []byte, until, now time.Time, reason string) {
	if len(identity) == 0 {
		return
	}
	for id, b := range r.bans {
		if b.hasEnded(now) {
			delete(r.bans, id)
		}
	}
	if r.bans == nil {
		r.bans = make(map[string]ban)
	}
	r.bans[string(identity)] = ban{until, transport.CutReason(reason)}
}

// Unban ends a ban.
func (r *Roster[P]) Unban(identity []byte) { delete(r.bans, string(identity)) }
