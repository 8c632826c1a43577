// Package roster keeps for a server's endpoint who is connected by which identity, and who may not be. It holds no lock;
// an endpoint with goroutines brings its own.
package roster

import (
	"slices"
	"time"

	"github.com/foretick/foretick/transport"
)

// Roster keeps the peers P of an endpoint by identity. Nothing is kept under an empty one. The zero value is empty.
type Roster[P comparable] struct {
	by   map[string][]P
	bans map[string]ban
}

type ban struct {
	until  time.Time // zero: for good
	detail string
}

func (b ban) over(now time.Time) bool { return !b.until.IsZero() && !now.Before(b.until) }

// Judge decides on a new peer: it returns those whom it replaces, or a *transport.CloseError that says why it is refused.
// Those replaced are the caller's to drop, before it adds the new one.
func (r *Roster[P]) Judge(identity []byte, same transport.Same, now time.Time) (replaced []P, err error) {
	if b, ok := r.bans[string(identity)]; ok && !b.over(now) {
		return nil, &transport.CloseError{Code: transport.Refused, Detail: b.detail}
	}
	there := r.by[string(identity)]
	switch {
	case len(there) == 0 || same == transport.AllowBoth:
		return nil, nil
	case same == transport.RefuseNew:
		return nil, &transport.CloseError{Code: transport.Refused, Detail: "already connected"}
	}
	return slices.Clone(there), nil
}

// Add notes that p is connected.
func (r *Roster[P]) Add(identity []byte, p P) {
	if len(identity) == 0 {
		return
	}
	if r.by == nil {
		r.by = make(map[string][]P)
	}
	r.by[string(identity)] = append(r.by[string(identity)], p)
}

// Remove notes that p is not; a peer that was never added is ignored.
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

// Find returns who is connected by an identity, in order of arrival.
func (r *Roster[P]) Find(identity []byte) []P { return slices.Clone(r.by[string(identity)]) }

// Len returns by how many identities somebody is connected.
func (r *Roster[P]) Len() int { return len(r.by) }

// Ban has Judge refuse an identity until a time, or for good if that is zero; bans that are over by now are forgotten.
func (r *Roster[P]) Ban(identity []byte, until, now time.Time, detail string) {
	if len(identity) == 0 {
		return
	}
	for id, b := range r.bans {
		if b.over(now) {
			delete(r.bans, id)
		}
	}
	if r.bans == nil {
		r.bans = make(map[string]ban)
	}
	r.bans[string(identity)] = ban{until, transport.CutDetail(detail)}
}

// Unban ends a ban.
func (r *Roster[P]) Unban(identity []byte) { delete(r.bans, string(identity)) }
