package simtest

import (
	"fmt"
	"slices"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/server"
)

// AuditReport says where a client's state differs from what the server may show it. [Audit]
// returns it.
type AuditReport struct {
	Entities    int    // entities compared
	Fields      int    // fields compared
	Differences int    // fields, or whole entities, that differ between client and server
	First       string // the first difference in words; empty when there is none
	// Digest and ServerDigest are digests of the client's state and of the state that the
	// server may show it, in the order of network ids.
	Digest, ServerDigest uint64
}

func (r *AuditReport) differ(format string, args ...any) {
	r.Differences++
	if r.First == "" {
		r.First = fmt.Sprintf(format, args...)
	}
}

// fold adds a field's words to a digest. The order matters.
func fold(h uint64, words ...int32) uint64 {
	for _, w := range words {
		h = (h ^ uint64(uint32(w))) * 0x9E3779B97F4A7C15
		h ^= h >> 29
	}
	return h
}

// Audit compares a client's state with the server's state that this player may see, entity
// by entity and field by field. It compares values at the precision that the player is
// sent. Both ends must be in one process and at rest: no inputs and no changes until
// everything sent has arrived.
//
// State that the player must not receive is skipped, such as other players' owner-only
// fields. So are components and fields that only one of two builds has. An entity that is
// hidden from the player counts as a difference if the client has it.
func Audit(s *server.Server, player foretick.PlayerID, c *client.Client) AuditReport {
	var r AuditReport
	srv, cl := probe.OfServer(s), probe.OfClient(c)
	all, ok := srv.Entities(player)
	if v := c.View(); !ok || v.State != client.Playing || v.Player != player {
		r.differ("player %d is not in the match", player)
		return r
	}
	for i := range all {
		if auditShown(&r, &all[i], cl.Entity(all[i].Wire)) {
			r.Entities++
			r.Digest, r.ServerDigest = fold(r.Digest, int32(all[i].Net)), fold(r.ServerDigest, int32(all[i].Net))
			auditEntity(&r, srv, player, &all[i], cl)
		}
	}
	if n := cl.Count(); n != r.Entities {
		r.differ("the client has %d entities, the server shows it %d", n, r.Entities)
	}
	return r
}

// auditShown compares whether both ends have an entity. It reports whether its fields are
// to be compared.
func auditShown(r *AuditReport, e *probe.ServerEntity, own probe.ClientEntity) bool {
	switch {
	case own.Alien:
		return false
	case e.Hidden:
		if own.Known {
			r.differ("entity %v of prefab %q is hidden from the player and on the client", e.Entity, e.Prefab)
		}
		return false
	case !own.Alive:
		r.differ("entity %v of prefab %q is not on the client", e.Entity, e.Prefab)
		return false
	case own.Own != e.Own:
		r.differ("entity %v of prefab %q: the client takes it for its own: %v", e.Entity, e.Prefab, own.Own)
	}
	return true
}

func auditEntity(r *AuditReport, srv probe.Server, player foretick.PlayerID, e *probe.ServerEntity, cl probe.Client) {
	for comp := range cl.Components() {
		var component string
		var fields []probe.Field
		component, known, both := cl.Compare(e.Wire, comp, srv.Words(e, comp), e.Audience, func(f probe.Field) { fields = append(fields, f) })
		if known && !both {
			r.differ("%s is on one end only", component)
		}
		for _, f := range fields {
			want := slices.Clone(f.Theirs)
			if f.Ref {
				want[0] = int32(srv.Wire(player, uint32(want[0])))
			}
			r.Fields++
			r.Digest, r.ServerDigest = fold(r.Digest, f.Ours...), fold(r.ServerDigest, want...)
			if !slices.Equal(f.Ours, want) {
				r.differ("%s", difference(component, e.Prefab, f, want))
			}
		}
	}
}

// difference describes a field that differs, with both values.
func difference(component, prefab string, f probe.Field, want []int32) string {
	where := fmt.Sprintf("%s.%s of prefab %q", component, f.Name, prefab)
	if f.Singleton {
		where = fmt.Sprintf("singleton %s.%s", component, f.Name)
	}
	ours, theirs := shown(f.Value(f.Ours)), shown(f.Value(want))
	if f.Ref || ours == theirs { // entity numbers mean nothing as values, and equal texts would hide the difference
		ours, theirs = fmt.Sprint(f.Ours), fmt.Sprintf("%d (in steps)", want)
	}
	return fmt.Sprintf("%s: client has %s, server %s", where, ours, theirs)
}

// shown returns a value of a field as text.
func shown(v any) string {
	switch v := v.(type) {
	case float64:
		return fmt.Sprintf("%.8g", v)
	case string:
		return fmt.Sprintf("%q", v)
	case nil:
		return "nothing"
	}
	return fmt.Sprint(v)
}
