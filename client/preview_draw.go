package client

import (
	"reflect"
	"slices"
	"unsafe"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/misuse"
	"github.com/foretick/foretick/internal/seat"
	"github.com/foretick/foretick/schema"
)

// canvas draws a preview's entities between two ticks into the world in which the ticks are computed,
// and restores that world afterwards.
type canvas struct {
	p        *compiled
	world    *ecs.World
	entities *ecs.Query
	row      *game.SingletonRow
	parents  *game.Hierarchy

	deep []func(dst, src unsafe.Pointer) // a function for each component; nil: it is plain memory
	refs *previewRefs

	now, before record
	unedited    record       // scratch: what now had before an edit
	cut         []ecs.Entity // the entities that were teleported in the running tick

	drawn bool
	kept  []keptEntity
	bytes []byte             // the values of plain components
	boxes [][]unsafe.Pointer // the values of the other components, a list for each
	used  []int              // how many of each list in boxes are in use
}

// keptEntity is an entity in the state that the tick left.
type keptEntity struct {
	e    ecs.Entity
	mask schema.Mask // the replicated components that the entity has
}

func newCanvas(p *compiled, m seat.Match) canvas {
	c := canvas{p: p, world: m.World(), row: m.Row(), parents: m.Parents(), refs: &previewRefs{m.Refs(), map[uint32]ecs.Entity{}}}
	c.entities = ecs.NewQuery(p.Types, ecs.With(&p.Identity))
	c.deep = make([]func(dst, src unsafe.Pointer), len(p.Components))
	c.boxes, c.used = make([][]unsafe.Pointer, len(p.Components)), make([]int, len(p.Components))
	for i := range p.Components {
		c.deep[i], _ = p.Components[i].Schema.Copier() // the component was compiled with it
	}
	return c
}

// record keeps the values of a tick, on the grid on which they are drawn. A second record of the same
// tick replaces the first.
func (c *canvas) record(t foretick.Tick) {
	if c.now.basis != t {
		c.now, c.before = c.before, c.now
		c.now.cuts = append(c.now.cuts[:0], c.cut...)
	}
	c.cut = c.cut[:0]
	c.now.clearRecord()
	c.now.basis = t
	if len(c.refs.names) > 2*c.world.Len()+16 {
		clear(c.refs.names)
	}
	for _, rows := range c.entities.All(c.world) {
		for k, e := range rows.Entities() {
			c.recordEntity(rows, k, e)
		}
	}
}

// recordEdit is record after an edit. What the edit changed is drawn as it is now, without a way from where
// it was.
func (c *canvas) recordEdit(t foretick.Tick) {
	c.unedited.copyFrom(&c.now)
	c.record(t)
	for _, it := range c.now.items {
		if it.comp == itself {
			continue
		}
		was, from, n := c.unedited.wordsOf(it.e, int(it.comp)), c.before.wordsOf(it.e, int(it.comp)), c.p.Components[it.comp].Schema.Words()
		if is := c.now.words[it.off:]; was != nil && from != nil && !slices.Equal(was[:n], is[:n]) {
			copy(from[:n], is)
		}
	}
}

func (c *canvas) recordEntity(rows ecs.Rows, k int, e ecs.Entity) {
	p, r := c.p, &c.now
	r.items = append(r.items, recordItem{e: e, comp: itself, off: int32(len(r.words))})
	for _, l := range p.Lives {
		life := uint32(0)
		if of := &p.Components[l.Component]; rows.Column(of.ID) != nil {
			life = p.LifeOf[l.Own](unsafe.Add(rows.Column(of.ID), uintptr(k)*of.Size))
		}
		r.words = append(r.words, int32(life))
	}
	for i := range p.Components {
		comp := &p.Components[i]
		if !comp.Lerped {
			continue
		}
		base := rows.Column(comp.ID)
		if base == nil {
			continue
		}
		off, n := len(r.words), comp.Schema.Words()
		for range n {
			r.words = append(r.words, 0)
		}
		comp.Schema.Quantise(unsafe.Add(base, uintptr(k)*comp.Size), drawnGrid(comp), c.refs, r.words[off:])
		r.items = append(r.items, recordItem{e: e, comp: uint8(i), off: int32(off)})
	}
}

// drawnGrid returns the grid on which a client draws a component. A predicted one has the precision
// that it has for its own player.
func drawnGrid(comp *layout.Component) schema.Grid {
	if comp.Predicted {
		return schema.GridSim
	}
	return schema.GridPublic
}

// draw writes values between the newest tick and the tick before into the world.
func (c *canvas) draw(fraction float32) {
	c.keep()
	if fraction == 1 || c.now.basis != c.before.basis+1 {
		return
	}
	w, p := c.world, c.p
	for i, it := range c.now.items {
		if it.comp == itself || !w.Alive(it.e) || c.apart(it.e) {
			continue
		}
		comp := &p.Components[it.comp]
		at, from := ecs.Engine(w).Pointer(it.e, comp.ID), c.before.wordsOf(it.e, int(it.comp))
		if at == nil || from == nil {
			continue
		}
		to := c.now.words[c.now.items[i].off:]
		comp.Schema.Interpolate(^schema.Audience(0), p.Between(from, to, fraction), drawnGrid(comp), c.refs, at)
	}
}

// apart reports whether nothing of an entity may be interpolated between the two ticks: it was
// teleported, or its life changed.
func (c *canvas) apart(e ecs.Entity) bool {
	for _, cut := range c.now.cuts {
		if cut == e {
			return true
		}
	}
	lives := len(c.p.Lives)
	if lives == 0 {
		return false
	}
	was, is := c.before.wordsOf(e, itself), c.now.wordsOf(e, itself)
	for i := range lives {
		if was != nil && is != nil && was[i] != is[i] {
			return true
		}
	}
	return false
}

// keep saves the replicated state of the world.
func (c *canvas) keep() {
	c.row.TakeRow()
	c.parents.NoteParents()
	c.kept, c.bytes = c.kept[:0], c.bytes[:0]
	clear(c.used)
	for _, rows := range c.entities.All(c.world) {
		mask := c.p.Mask(rows)
		for k, e := range rows.Entities() {
			c.kept = append(c.kept, keptEntity{e, mask})
			c.each(mask, func(i int, comp *layout.Component) {
				at := unsafe.Add(rows.Column(comp.ID), uintptr(k)*comp.Size)
				if deep := c.deep[i]; deep != nil {
					deep(c.box(i), at)
				} else {
					c.bytes = append(c.bytes, unsafe.Slice((*byte)(at), comp.Size)...)
				}
			})
		}
	}
	c.drawn = true
}

// each calls fn for the components of a mask.
func (c *canvas) each(mask schema.Mask, fn func(i int, comp *layout.Component)) {
	for i := range c.p.Components {
		if mask.Has(i) {
			fn(i, &c.p.Components[i])
		}
	}
}

// box returns the memory for the next value of a component that is not plain memory.
func (c *canvas) box(i int) unsafe.Pointer {
	if c.used[i] == len(c.boxes[i]) {
		c.boxes[i] = append(c.boxes[i], reflect.New(c.p.Components[i].Handle.Type()).UnsafePointer())
	}
	c.used[i]++
	return c.boxes[i][c.used[i]-1]
}

// undraw restores the state that keep saved, whatever was drawn and whatever render systems wrote. It
// leaves components that are not replicated as they are.
func (c *canvas) undraw() {
	if !c.drawn {
		return
	}
	c.drawn = false
	clear(c.used)
	w, plain := c.world, c.bytes
	for _, k := range c.kept {
		if !w.Alive(k.e) {
			misuse.Panicf("foretick: entity %v, which is replicated, was destroyed by a render system, or between Steps: let a Server system do it, or Preview.Edit", k.e)
		}
		c.each(k.mask, func(i int, comp *layout.Component) {
			var from unsafe.Pointer
			if c.deep[i] != nil {
				from = c.box(i)
			} else {
				from = unsafe.Pointer(unsafe.SliceData(plain))
				plain = plain[comp.Size:]
			}
			switch at := ecs.Engine(w).Pointer(k.e, comp.ID); {
			case at == nil:
				ecs.Engine(w).AddByID(k.e, comp.ID, from)
			case c.deep[i] != nil:
				c.deep[i](at, from)
			default:
				layout.CopyBytes(at, from, comp.Size)
			}
		})
		for i := range c.p.Components {
			if id := c.p.Components[i].ID; !k.mask.Has(i) && ecs.Engine(w).Pointer(k.e, id) != nil {
				ecs.Engine(w).RemoveByID(k.e, id)
			}
		}
	}
	c.parents.ApplyParents()
	c.row.Give()
}

// previewRefs names entities in records by their network ids.
type previewRefs struct {
	schema.Refs
	names map[uint32]ecs.Entity
}

// Net implements schema.Refs.
func (r *previewRefs) Net(entity uint64) uint32 {
	net := r.Refs.Net(entity)
	if net != 0 {
		r.names[net] = ecs.Entity(entity)
	}
	return net
}

// Entity implements schema.Refs.
func (r *previewRefs) Entity(net uint32) uint64 { return uint64(r.names[net]) }
