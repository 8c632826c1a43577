package server

import (
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/late"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// capture passes the state of each tick to the snapshots and to the history of hitboxes.
type capture struct {
	sim      *simulation
	source   *snapshot.Source
	interest *interest
	views    *shotViews
	late     *late.Room
	put      putScratch
}

// putScratch has the memory that is used to pass entities to the snapshot source.
type putScratch struct {
	pointers []unsafe.Pointer
	columns  []column
	masks    []tableMask // the masks of the tables, in the order of this tick
	tables   int         // how many tables this tick has passed
}

// column is a replicated component of one table.
type column struct {
	base  unsafe.Pointer
	size  uintptr
	index int
}

// captureTick passes the tick's state to the snapshots and to the history of hitboxes.
func (c *capture) captureTick() {
	t := c.sim.frame.Tick
	c.source.Begin(t)
	c.put.tables = 0
	for _, rows := range c.sim.entities.All(c.sim.world) {
		c.putRows(rows)
	}
	c.interest.passGroups()
	if c.interest.survey != nil {
		c.interest.fillSurvey()
	}
	c.source.End()
	c.views.recordPast(c.put.masks, c.source)
}

// tableMask has the components of a table's entities. It is kept for the next tick, in which the table
// mostly has the same place and needs no new mask.
type tableMask struct {
	has    schema.Mask // the game's components
	sent   schema.Mask // has and the library's own components, for entities of prefab
	prefab int         // the prefab that sent is for; −1: sent is not known
}

// next returns the mask of the next table. The table's entities have the game's components in has.
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

// of returns the mask of those of the table's entities that have a prefab.
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

func (c *capture) putRows(rows ecs.Rows) {
	var set schema.MaskBuilder
	cols := c.put.columns[:0]
	for i := range c.sim.p.Components {
		comp := &c.sim.p.Components[i]
		if base := rows.Column(comp.ID); base != nil {
			set.Set(i)
			cols = append(cols, column{base, comp.Size, i})
		}
	}
	c.put.columns = cols
	ids, mask := c.sim.p.Identity.Slice(rows), c.put.next(set)
	for k := range ids {
		at := c.put.pointers[:0]
		for _, col := range cols {
			at = append(at, unsafe.Add(col.base, uintptr(k)*col.size))
			if p := &c.sim.p.Components[col.index]; !p.Predicted {
				if p.Varies {
					c.sim.countCut(p, at[len(at)-1])
				}
				c.sim.losses.Bounds(col.index, at[len(at)-1])
			}
		}
		owner, prefab := uint16(rows.Owner()), &c.sim.p.Prefabs[ids[k].Prefab]
		switch {
		case prefab.Matched():
			at = append(at, ids[k].Sent(rows.Owner()))
		case prefab.ClientOnly():
			at = append(at, unsafe.Pointer(&game.NoOrigin))
		}
		if prefab.Interpolated {
			at = append(at, unsafe.Pointer(&ids[k].Ahead))
		}
		c.put.pointers = at
		if owner == 0 && prefab.Common {
			owner = snapshot.Everyone
		}
		c.late.Displace(c.source, rows.Entity(k))
		if c.source.Put(snapshot.NetID(ids[k].Net), int(ids[k].Prefab), owner, mask.of(c.sim.p, ids[k].Prefab), at, referenceMap{c.sim}) {
			c.interest.appears(rows.Entity(k), snapshot.NetID(ids[k].Net))
		}
		if rows.Entity(k) == c.sim.row.Entity {
			c.source.SetFirst(snapshot.NetID(ids[k].Net))
		}
		if c.sim.p.Teams {
			c.source.SetTeam(snapshot.NetID(ids[k].Net), c.interest.teamOf(rows.Entity(k), rows.Owner()))
		}
	}
}

// referenceMap maps entity references to network ids.
type referenceMap struct{ sim *simulation }

func (r referenceMap) Net(entity uint64) uint32 {
	if id := r.sim.p.Identity.Find(r.sim.world, ecs.Entity(entity)); id != nil {
		return id.Net
	}
	return 0
}

// Entity is not used on the server: words are read back only for hitboxes, which have no references.
func (r referenceMap) Entity(uint32) uint64 { return 0 }

// roundTick rounds predicted values to the simulation step, and clears references to entities that are
// gone, as clients do after their own ticks. Before that it copies the parents and the singletons that
// are sent into components, so that a save of the tick has them too. In the first run of a tick it
// counts values that are out of range.
func (m *simulation) roundTick(first bool) {
	m.parents.NoteParents()
	m.row.TakeRow()
	defer m.row.Give()
	for _, rows := range m.entities.All(m.world) {
		m.roundRows(rows, first)
	}
}

func (m *simulation) roundRows(rows ecs.Rows, first bool) {
	for i := range m.p.Components {
		c := &m.p.Components[i]
		if !c.Predicted {
			continue
		}
		if base := rows.Column(c.ID); base != nil {
			for k := range rows.Len() {
				at := unsafe.Add(base, uintptr(k)*c.Size)
				if c.Varies {
					m.countCut(c, at)
				}
				if first {
					m.losses.Bounds(i, at)
				}
				c.Schema.Snap(at)
				if len(c.Refs) > 0 {
					c.Schema.DropRefs(at, m.there)
				}
			}
		}
	}
}

// countCut counts a value that is too long to be sent whole, and logs the first one of each component.
func (m *simulation) countCut(c *layout.Component, at unsafe.Pointer) {
	i := c.Schema.Unfit(at)
	if i < 0 {
		return
	}
	m.stats.ValuesCut++
	if !m.toldCut[c.ID] {
		m.toldCut[c.ID] = true
		f := c.Schema.Field(i)
		m.losses.Log.Warn("a string or slice does not fit its tag, and is sent cut", "tick", m.frame.Tick, "component", c.Name, "field", f.Name, "max", f.Most)
	}
}
