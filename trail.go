package foretick

import (
	"encoding/binary"
	"errors"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/snapshot"
)

// messageTrail carries, from a server built with the foretick_debug tag, the
// hashes of a player's predicted state: ahead of the first shared system of a
// tick, and after each.
const messageTrail netcode.MessageType = 65

// trailTicks bounds the ticks of one message, and how many are kept.
const trailTicks = 32

// trails is the hashes of the newest ticks: one ahead of the first shared
// system, and one after each.
type trails struct {
	ticks *prediction.History[[]uint32]
	now   *[]uint32 // of the tick that runs
}

func newTrails(ticks int) trails {
	return trails{ticks: prediction.NewHistory[[]uint32](ticks)}
}

func (t *trails) begin(k Tick) {
	t.now = t.ticks.Put(k)
	*t.now = (*t.now)[:0]
}

func (t *trails) note(h uint32) {
	if t.now != nil {
		*t.now = append(*t.now, h)
	}
}

// entityHash is the digest of an entity's predicted components as their owner is
// sent them. References are left out: each end has its own. Those of several
// entities are added up, since the ends do not keep them in one order.
// name is what both ends call the entity: its wire id, or its origin.
func (p *Protocol) entityHash(w *ecs.World, e ecs.Entity, name uint32, words []int32) uint32 {
	h := (uint64(fnvOffset) ^ uint64(name)) * fnvPrime
	for i := range p.components {
		c := &p.components[i]
		if !c.predicted {
			continue
		}
		at := w.Pointer(e, c.id)
		if at == nil {
			continue
		}
		h = (h ^ uint64(i+1)) * fnvPrime
		words = append(words[:0], make([]int32, c.schema.Words())...)
		c.schema.Quantise(at, snapshot.GridSim, nil, words)
		for _, x := range words {
			h = (h ^ uint64(uint32(x))) * fnvPrime
		}
	}
	h ^= h >> 29
	h *= 0xBF58476D1CE4E5B9
	return uint32(h >> 32)
}

// beginTrails starts a tick's hashes on the server.
func (s *Server) beginTrails() {
	for _, p := range s.players {
		if p.state == playing {
			p.trails.begin(s.frame.Tick)
		}
	}
	s.noteTrails()
}

// settleTrails hashes what the last shared system left. What it added, removed, spawned
// and destroyed shows when its commands were carried out, which is after it ended.
func (s *Server) settleTrails() {
	if s.trailsDue {
		s.trailsDue = false
		s.noteTrails()
	}
}

// noteTrails hashes each player's predicted state as it stands.
func (s *Server) noteTrails() {
	for _, p := range s.players {
		if p.state != playing || p.trails.now == nil {
			continue
		}
		sum := s.hashOwned(p, p.owner)
		if s.p.common {
			sum += s.hashOwned(p, ecs.Nobody)
		}
		p.trails.note(sum)
	}
}

func (s *Server) hashOwned(p *player, owner PlayerID) (sum uint32) {
	for _, rows := range s.entities.Owned(s.world, owner) {
		for i, id := range s.p.identity.Slice(rows) {
			if owner == ecs.Nobody && !s.p.prefabs[id.Prefab].common {
				continue
			}
			name := uint32(0)
			if id.maker == uint16(owner) { // else the client was never told it
				name = id.origin // known to the client before the entity is
			}
			if wire, ok := p.sender.Known(snapshot.NetID(id.Net)); ok && name == 0 {
				name = uint32(wire)
			}
			if name != 0 {
				sum += s.p.entityHash(s.world, rows.Entity(i), name, s.trailWords)
			}
		}
	}
	return sum
}

// trail writes the hashes of the ticks that the client has no snapshot of yet:
//
//	tick 4, count 1, then per tick, newest first: n 1, n × 4
func (s *Server) trail(p *player, pk *netcode.Packet) {
	t := s.frame.Tick
	b := binary.LittleEndian.AppendUint32(s.scratch[:0], t)
	b = append(b, 0)
	for k := t; k != t-trailTicks && int32(k-p.acked) > 0; k-- {
		hs := p.trails.ticks.Find(k)
		if hs == nil || len(*hs) > 255 || len(b)+1+4*len(*hs) > pk.Room()/2 {
			break
		}
		b[4]++
		b = append(b, byte(len(*hs)))
		for _, h := range *hs {
			b = binary.LittleEndian.AppendUint32(b, h)
		}
	}
	pk.Message(messageTrail, b)
	s.scratch = b[:0]
}

var errTrail = errors.New("foretick: malformed trail")

// trail takes the server's hashes in.
func (c *Client) trail(b []byte) error {
	if len(b) < 5 || b[4] > trailTicks {
		return errTrail
	}
	t, n, b := binary.LittleEndian.Uint32(b), int(b[4]), b[5:]
	for i := range n {
		if len(b) < 1 || len(b) < 1+4*int(b[0]) {
			return errTrail
		}
		c.theirs.begin(t - Tick(i))
		for k := range int(b[0]) {
			c.theirs.note(binary.LittleEndian.Uint32(b[1+4*k:]))
		}
		b = b[1+4*int(b[0]):]
	}
	if len(b) > 0 {
		return errTrail
	}
	return nil
}

// settleTrail is settleTrails for a client, and for a rehearsal.
func (c *Client) settleTrail() {
	if debugBuild && c.trailDue {
		c.trailDue = false
		c.noteTrail()
	}
	if c.practice.due > 0 {
		c.hashSystem(c.practice.due - 1)
		c.practice.due = 0
	}
}

// noteTrail hashes what is predicted as it stands.
func (c *Client) noteTrail() {
	var sum uint32
	for _, e := range c.predictedHere() {
		id := c.p.identity.Find(c.world, e)
		if id == nil || c.anothers(e) {
			continue // not in this tick, or nothing that the server hashes for us
		}
		name := id.origin
		if name == 0 {
			name = id.Net
		}
		sum += c.p.entityHash(c.world, e, name, c.words)
	}
	c.trails.note(sum)
}

// blame names the system, and its tick, after which the ends first differed since
// they agreed last, up to tick t: of a correction whose cause is the code.
func (c *Client) blame(t Tick) (system string, at Tick) {
	if c.p.foreign {
		return "", 0 // another build has other systems
	}
	for k := c.doubtful(t); int32(k-t) <= 0; k++ {
		ours, theirs := c.trails.ticks.Find(k), c.theirs.ticks.Find(k)
		if ours == nil || theirs == nil {
			continue
		}
		for i := range min(len(*ours), len(*theirs)) {
			switch {
			case (*ours)[i] == (*theirs)[i]:
			case i == 0:
				return "(ahead of the tick's systems)", k
			default:
				return c.p.sharedSystem(i - 1), k
			}
		}
	}
	return "", 0
}

// sharedSystem names the i-th system that both ends run.
func (p *Protocol) sharedSystem(i int) string {
	for _, s := range p.schedule.Systems() {
		if shared(s) {
			if i == 0 {
				return s.Name
			}
			i--
		}
	}
	return ""
}
