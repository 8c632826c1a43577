package foretick

import (
	"cmp"
	"fmt"
	"slices"

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
	if !rows.Has(p.identity.ID()) || p.identity.Slice(rows)[i].Net == 0 { // not replicated, or not yet
		return 1<<63 | uint64(rows.Entity(i))
	}
	return uint64(p.identity.Slice(rows)[i].Net)
}

// ServerEntity finds the server's entity that one of a player's local entities
// stands for. It needs both ends in one process, as tests have them.
func ServerEntity(s *Server, player PlayerID, c *Client, local ecs.Entity) (ecs.Entity, bool) {
	p := s.player(player)
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
	// Digest and ServerDigest fold what the client shows, and what the server
	// may show it, in the order of network ids.
	Digest, ServerDigest uint64
}

func (r *AuditReport) differ(format string, args ...any) {
	r.Differences++
	if r.First == "" {
		r.First = fmt.Sprintf(format, args...)
	}
}

// fold adds a field's words to a digest; the order counts.
func fold(h uint64, words ...int32) uint64 {
	for _, w := range words {
		h = (h ^ uint64(uint32(w))) * 0x9E3779B97F4A7C15
		h ^= h >> 29
	}
	return h
}

// Audit compares what a client shows, entity by entity and field by field, with
// what the server may show that player, on the grid that the player is sent.
// Both ends must be in one process and at rest: no inputs and no change for
// long enough that everything sent has arrived. What the player may not have is
// left out, as it is on the wire: owner-only fields of others and hidden
// entities, which must not be there. So is what only one of two builds has.
func Audit(s *Server, player PlayerID, c *Client) AuditReport {
	var r AuditReport
	p := s.player(player)
	if p == nil || p.state != playing || c.view.State != Playing || c.view.Player != player {
		r.differ("player %d is not in the match", player)
		return r
	}
	matched := 0
	for _, e := range s.byNet() {
		id := s.p.identity.Get(s.world, e)
		wire, ok := p.sender.Known(snapshot.NetID(id.Net))
		var g *snapshot.Ghost
		if ok {
			g = c.ghost(wire)
		}
		if g != nil && c.alien(g) {
			continue
		}
		hidden := p.hides[e]
		owner := s.world.Owner(e)
		own := owner == player || owner == ecs.Nobody && s.p.prefabs[id.Prefab].common
		if p.near != nil && !own {
			_, near := p.near.Since(snapshot.NetID(id.Net))
			hidden = hidden || !near
		}
		if hidden {
			if g != nil {
				r.differ("entity %v of prefab %q is hidden from the player and on the client", e, s.p.prefabs[id.Prefab].ecs.Name())
			}
			continue
		}
		if g == nil || g.Data == 0 || !c.world.Alive(ecs.Entity(g.Data)) {
			r.differ("entity %v of prefab %q is not on the client", e, s.p.prefabs[id.Prefab].ecs.Name())
			continue
		}
		matched++
		if g.Mine != own {
			r.differ("entity %v of prefab %q: the client takes it for its own: %v", e, s.p.prefabs[id.Prefab].ecs.Name(), g.Mine)
		}
		r.Digest, r.ServerDigest = fold(r.Digest, int32(id.Net)), fold(r.ServerDigest, int32(id.Net))
		s.auditEntity(&r, p, snapshot.NetID(id.Net), g, c)
	}
	if n := c.countEntities(); n != matched {
		r.differ("the client has %d entities, the server shows it %d", n, matched)
	}
	r.Entities = matched
	return r
}

// byNet lists the replicated entities in the order of their network ids.
func (s *Server) byNet() []ecs.Entity {
	var all []ecs.Entity
	for _, rows := range s.entities.All(s.world) {
		for i := range rows.Len() {
			all = append(all, rows.Entity(i))
		}
	}
	slices.SortFunc(all, func(a, b ecs.Entity) int {
		return cmp.Compare(s.p.identity.Get(s.world, a).Net, s.p.identity.Get(s.world, b).Net)
	})
	return all
}

func (s *Server) auditEntity(r *AuditReport, p *player, id snapshot.NetID, g *snapshot.Ghost, c *Client) {
	a := p.sender.Audience(id)
	for i := range c.p.components { // in the server's order
		comp := &c.p.components[i]
		if comp.unknown {
			continue
		}
		theirs := s.source.Words(id, i, a)
		at := c.world.Pointer(ecs.Entity(g.Data), comp.id)
		if (at == nil) != (theirs == nil) {
			r.differ("%s is on one end only", comp.name)
			continue
		}
		if at == nil {
			continue
		}
		ours := make([]int32, comp.schema.Words())
		known := make([]int32, len(ours))
		comp.schema.Quantise(at, c.receiver.Grid(g, i), clientRefs{c}, ours)
		comp.schema.Known(theirs, c.receiver.Grid(g, i), known)
		theirs = known
		for k, f := range comp.schema.Fields() {
			if f.Audience != 0 && f.Audience&a == 0 || !comp.schema.Knows(k) {
				continue
			}
			want := slices.Clone(theirs[f.Word : f.Word+f.Words])
			if f.Ref {
				want[0] = p.reference(want[0])
			}
			got := ours[f.Word : f.Word+f.Words]
			r.Fields++
			r.Digest, r.ServerDigest = fold(r.Digest, got...), fold(r.ServerDigest, want...)
			if !slices.Equal(got, want) {
				r.differ("%s.%s of prefab %q: client has %d, server %d (steps)", comp.name, f.Name, s.p.prefabs[g.Prefab].ecs.Name(), got, want)
			}
		}
	}
}

// reference is the wire id that a network id has for this player; 0 for what it
// is not shown.
func (p *player) reference(net int32) int32 {
	if net == 0 {
		return 0
	}
	w, ok := p.sender.Known(snapshot.NetID(net))
	if !ok {
		return 0
	}
	return int32(w)
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
	c.spawns.Open(func(_ Tick, s spawned) bool {
		if c.world.Alive(s.e) {
			n++
		}
		return true
	})
	return n + c.clientOnlyCount()
}
