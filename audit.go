package foretick

import (
	"fmt"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/snapshot"
)

// Hash is the digest of the server's world, the same for equal worlds whatever
// the order of their rows.
func (s *Server) Hash() uint64 { return s.world.Hash(s.p.order) }

// Hash is the digest of the client's world as it stands, picture included.
func (c *Client) Hash() uint64 { return c.world.Hash(c.p.order) }

// order ranks rows by network id, the one thing that does not hang on the order
// in which they were made.
func (p *Protocol) order(rows ecs.Rows, i int) uint64 {
	if !rows.Has(p.identity.ID()) {
		return 1<<63 | uint64(rows.Entity(i))
	}
	return uint64(p.identity.Slice(rows)[i].Net)
}

// Counterpart finds the server's entity that one of a player's local entities
// stands for. It needs both ends in one process, as tests have them.
func Counterpart(s *Server, who ecs.Owner, c *Client, local ecs.Entity) (ecs.Entity, bool) {
	p := s.player(who)
	id := c.p.identity.Find(c.world, local)
	if p == nil || id == nil {
		return ecs.None, false
	}
	for _, rows := range s.entities.All(s.world) {
		for i, sid := range s.p.identity.Slice(rows) {
			if w, ok := p.sender.Known(snapshot.NetID(sid.Net)); ok && uint32(w) == id.Net {
				return rows.Entity(i), true
			}
		}
	}
	return ecs.None, false
}

// AuditReport is the outcome of Audit.
type AuditReport struct {
	Entities    int    // entities compared
	Fields      int    // fields compared
	Differences int    // fields, or whole entities, that differ
	First       string // the first difference in words; empty when there is none
}

func (r *AuditReport) differ(format string, args ...any) {
	r.Differences++
	if r.First == "" {
		r.First = fmt.Sprintf(format, args...)
	}
}

// Audit compares what a client shows, entity by entity and field by field, with
// what the server may show that player, on the grid that the player is sent.
// Both ends must be in one process and at rest: no inputs and no change for
// long enough that everything sent has arrived. Owner-only fields of others are
// left out, as they are on the wire.
func Audit(s *Server, who ecs.Owner, c *Client) AuditReport {
	var r AuditReport
	p := s.player(who)
	if p == nil || c.view.State != Playing || c.view.Me != who {
		r.differ("player %d is not in the match", who)
		return r
	}
	matched := 0
	for _, rows := range s.entities.All(s.world) {
		for i, sid := range s.p.identity.Slice(rows) {
			wire, ok := p.sender.Known(snapshot.NetID(sid.Net))
			var g *snapshot.Ghost
			if ok {
				g = c.ghost(wire)
			}
			if g == nil || g.Data == 0 || !c.world.Alive(ecs.Entity(g.Data)) {
				r.differ("entity %v of kind %q is not on the client", rows.Entity(i), s.p.kinds[sid.Kind].ecs.Name())
				continue
			}
			matched++
			s.auditEntity(&r, snapshot.NetID(sid.Net), g, c)
		}
	}
	if n := c.countEntities(); n != matched {
		r.differ("the client has %d entities, the server shows it %d", n, matched)
	}
	r.Entities = matched
	return r
}

func (s *Server) auditEntity(r *AuditReport, id snapshot.NetID, g *snapshot.Ghost, c *Client) {
	for i := range s.p.components {
		comp := &s.p.components[i]
		mine := g.Mine
		theirs := s.source.PublicWords(id, i)
		if mine {
			theirs = s.source.OwnerWords(id, i)
		}
		at := c.world.Pointer(ecs.Entity(g.Data), comp.id)
		if (at == nil) != (theirs == nil) {
			r.differ("%s is on one end only", comp.name)
			continue
		}
		if at == nil {
			continue
		}
		ours := make([]int32, comp.schema.Words())
		comp.schema.Quantise(at, c.receiver.Grid(g, i), clientRefs{c}, ours)
		for _, f := range comp.schema.Fields() {
			if f.Owner && !mine || f.Ref {
				continue
			}
			r.Fields++
			for w := f.Word; w < f.Word+f.Words; w++ {
				if ours[w] != theirs[w] {
					r.differ("%s.%s of kind %q: client has %d, server %d (steps)", comp.name, f.Name, s.p.kinds[g.Kind].ecs.Name(), ours[w], theirs[w])
					break
				}
			}
		}
	}
}

func (c *Client) ghost(w snapshot.WireID) *snapshot.Ghost {
	if g := c.receiver.Find(w); g != nil && g.Gone == 0 {
		return g
	}
	return nil
}

func (c *Client) countEntities() int {
	n := 0
	for _, g := range c.receiver.Ghosts() {
		if g.Data != 0 {
			n++
		}
	}
	return n
}
