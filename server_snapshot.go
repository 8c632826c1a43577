package foretick

import (
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// snap rounds predicted values to the simulation step, and clears references to entities
// that are gone, as clients do after their own ticks. Before that it notes what travels of
// the world's own state, its parents and singletons: a save of the tick has that, too.
func (s *Server) snap() {
	s.sim.parents.note()
	s.sim.row.take()
	defer s.sim.row.give()
	for _, rows := range s.sim.entities.All(s.sim.world) {
		s.snapRows(rows)
	}
}

func (s *Server) snapRows(rows ecs.Rows) {
	first := s.late.player == nil && !s.late.world.running // a tick's values out of range are counted in its first run
	for i := range s.p.Components {
		c := &s.p.Components[i]
		if !c.Predicted {
			continue
		}
		if base := rows.Column(c.ID); base != nil {
			for k := range rows.Len() {
				at := unsafe.Add(base, uintptr(k)*c.Size)
				if c.Varies {
					s.measure(c, at)
				}
				if first {
					s.sim.losses.bounds(i, at)
				}
				c.Schema.Snap(at)
				if len(c.Refs) > 0 {
					c.Schema.DropRefs(at, s.sim.there)
				}
			}
		}
	}
}

// measure counts a value that cannot be sent whole, and logs the first of each component.
func (s *Server) measure(c *layout.Component, at unsafe.Pointer) {
	i := c.Schema.Unfit(at)
	if i < 0 {
		return
	}
	s.stats.ValuesCut++
	if !s.sim.toldCut[c.ID] {
		s.sim.toldCut[c.ID] = true
		f := c.Schema.Field(i)
		s.cfg.Logger.Warn("a string or slice does not fit its tag, and is sent cut", "tick", s.sim.frame.Tick, "component", c.Name, "field", f.Name, "max", f.Most)
	}
}

// capture passes the tick's state to the snapshots and to the history of hitboxes.
func (s *Server) capture() {
	t := s.sim.frame.Tick
	s.senders.source.Begin(t)
	s.late.fades.age(s)
	s.senders.put.tables = 0
	for _, rows := range s.sim.entities.All(s.sim.world) {
		s.putRows(rows)
	}
	s.group()
	if s.interest.survey != nil {
		s.fillSurvey()
	}
	s.senders.source.End()
	s.recordPast()
}

// tableMask has the components of a table's entities. It is kept for the next tick: then the
// same table mostly has the same place, and needs no new mask.
type tableMask struct {
	has    schema.Mask // those of the game
	sent   schema.Mask // and the library's own, of entities of a prefab
	prefab int         // that one; −1: sent is not known
}

// next returns the mask of the next table, which has these components of the game.
func (p *putScratch) next(has schema.MaskBuilder) *tableMask {
	if p.tables == len(p.masks) {
		p.masks = append(p.masks, tableMask{prefab: -1})
	}
	m := &p.masks[p.tables]
	p.tables++
	if now := has.MaskLike(m.has); !now.Equal(m.has) {
		m.has, m.prefab = now, -1
	}
	return m
}

// of returns the mask of the table's entities of a prefab.
func (m *tableMask) of(p *compiled, prefab uint16) schema.Mask {
	if m.prefab == int(prefab) {
		return m.sent
	}
	set, k := m.has.Builder(), &p.Prefabs[prefab]
	switch {
	case k.Matched():
		set.Set(p.Origins.Matched)
	case k.ClientOnly():
		set.Set(p.Origins.ClientOnly)
	}
	if k.Interpolated {
		set.Set(p.Origins.Interpolated)
	}
	m.sent, m.prefab = set.MaskLike(m.sent), int(prefab)
	return m.sent
}

func (s *Server) putRows(rows ecs.Rows) {
	var set schema.MaskBuilder
	cols := s.senders.put.columns[:0]
	for i := range s.p.Components {
		c := &s.p.Components[i]
		if base := rows.Column(c.ID); base != nil {
			set.Set(i)
			cols = append(cols, column{base, c.Size, i})
		}
	}
	s.senders.put.columns = cols
	ids, mask := s.p.identity.Slice(rows), s.senders.put.next(set)
	for k := range ids {
		at := s.senders.put.pointers[:0]
		for _, c := range cols {
			at = append(at, unsafe.Add(c.base, uintptr(k)*c.size))
			if p := &s.p.Components[c.index]; !p.Predicted {
				if p.Varies {
					s.measure(p, at[len(at)-1])
				}
				s.sim.losses.bounds(c.index, at[len(at)-1])
			}
		}
		owner, prefab := uint16(rows.Owner()), &s.p.Prefabs[ids[k].Prefab]
		switch {
		case prefab.Matched():
			at = append(at, ids[k].sent(rows.Owner()))
		case prefab.ClientOnly():
			at = append(at, unsafe.Pointer(&noOrigin))
		}
		if prefab.Interpolated {
			at = append(at, unsafe.Pointer(&ids[k].ahead))
		}
		s.senders.put.pointers = at
		if owner == 0 && prefab.Common {
			owner = snapshot.Everyone
		}
		s.late.fades.displace(s.senders.source, rows.Entity(k))
		if s.senders.source.Put(snapshot.NetID(ids[k].Net), int(ids[k].Prefab), owner, mask.of(s.p, ids[k].Prefab), at, serverRefs{s}) {
			s.appears(rows.Entity(k), snapshot.NetID(ids[k].Net))
		}
		if rows.Entity(k) == s.sim.row.e {
			s.senders.source.SetFirst(snapshot.NetID(ids[k].Net))
		}
		if s.p.Teams {
			s.senders.source.SetTeam(snapshot.NetID(ids[k].Net), s.teamOf(rows.Entity(k), rows.Owner()))
		}
	}
}

// serverRefs maps entity references to network ids and back.
type serverRefs struct{ s *Server }

func (r serverRefs) Net(entity uint64) uint32 {
	if id := r.s.p.identity.Find(r.s.sim.world, ecs.Entity(entity)); id != nil {
		return id.Net
	}
	return 0
}

// Entity is never needed on the server: words are only read back for hitboxes, which do not
// use references.
func (r serverRefs) Entity(uint32) uint64 { return 0 }
