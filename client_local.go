package foretick

import (
	"unsafe"

	"github.com/foretick/foretick/ecs"
)

// locals keeps what only this client knows of the entities that are predicted here:
// their components declared with Protocol.LocalComponent. Every frame and every correction goes
// back to a save, and they go through it as they are: also on an entity that a replay, or
// the server, brings back.
type locals struct {
	stashed bool // since the world was last put back
	kept    []ecs.Entity
	data    []byte // of each of kept: a byte a component that says whether it is there, and the values
	next    int    // where find looks first
}

// localComponentType is a component that never travels.
type localComponentType struct {
	id   ecs.ID
	size uintptr
	at   int // in data, from the entity's first byte
}

// localStride is how many bytes of data an entity has.
func (p *Protocol) localStride() int {
	if len(p.locals) == 0 {
		return 0
	}
	last := p.locals[len(p.locals)-1]
	return last.at + int(last.size)
}

// placeLocals finds the components' places once all are declared.
func (p *Protocol) placeLocals() {
	at := len(p.locals)
	for i := range p.locals {
		p.locals[i].at = at
		at += int(p.locals[i].size)
	}
}

func (l *locals) find(e ecs.Entity) int {
	if l.next >= len(l.kept) {
		l.next = 0
	}
	for i := range l.kept {
		k := l.next + i
		if k >= len(l.kept) {
			k -= len(l.kept)
		}
		if l.kept[k] == e {
			l.next = k + 1
			return k
		}
	}
	return -1
}

// forgetLocals drops an entity whose handle becomes another's.
func (c *Client) forgetLocals(e ecs.Entity) {
	l, stride := &c.locals, c.p.localStride()
	if i := l.find(e); i >= 0 {
		n := len(l.kept) - 1
		copy(l.data[i*stride:(i+1)*stride], l.data[n*stride:])
		l.kept[i] = l.kept[n]
		l.kept, l.data = l.kept[:n], l.data[:n*stride]
	}
}

func (l *locals) clear() { l.kept, l.data, l.stashed = l.kept[:0], l.data[:0], false }

// stashLocals keeps the local components ahead of the first save that is loaded.
func (c *Client) stashLocals() {
	l := &c.locals
	if len(c.p.locals) == 0 || l.stashed {
		return
	}
	l.stashed = true
	stride := c.p.localStride()
	for _, e := range c.predictedHere() {
		if !c.world.Alive(e) {
			continue
		}
		i := l.find(e)
		if i < 0 {
			i = len(l.kept)
			l.kept = append(l.kept, e)
			l.data = append(l.data, c.zeroBytes(stride)...)
		}
		row := l.data[i*stride:][:stride]
		for k, t := range c.p.locals {
			at := c.world.Pointer(e, t.id)
			if row[k] = 0; at != nil {
				row[k] = 1
				copy(row[t.at:], unsafe.Slice((*byte)(at), t.size))
			}
		}
	}
}

// putLocals gives them back to whoever lives once all saves are loaded and all ticks run
// again. It reports whether components came or went.
func (c *Client) putLocals() (moved bool) {
	l := &c.locals
	if !l.stashed {
		return false
	}
	l.stashed = false
	stride := c.p.localStride()
	for _, e := range c.predictedHere() {
		i := -1
		if c.world.Alive(e) {
			i = l.find(e)
		}
		if i < 0 {
			continue
		}
		row := l.data[i*stride:][:stride]
		for k, t := range c.p.locals {
			at, there := c.world.Pointer(e, t.id), row[k] != 0
			switch {
			case there && at != nil:
				copy(unsafe.Slice((*byte)(at), t.size), row[t.at:])
			case there:
				c.world.AddByID(e, t.id, unsafe.Pointer(unsafe.SliceData(row[t.at:])))
				moved = true
			case at != nil:
				c.world.RemoveByID(e, t.id)
				moved = true
			}
		}
	}
	return moved
}

func (c *Client) zeroBytes(n int) []byte {
	for len(c.noBytes) < n {
		c.noBytes = append(c.noBytes, 0)
	}
	return c.noBytes[:n]
}
