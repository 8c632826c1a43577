package schema

import (
	"fmt"
	"math"
	"reflect"
	"strconv"

	"github.com/foretick/foretick/internal/coder"
	"github.com/foretick/foretick/internal/quantise"
)

// compileText compiles a string.
func (c *compiler) compileText(t reflect.Type, offset uintptr, path string, g tag) {
	most, ok := c.most(path, g, coder.MaxText, "bytes", 24)
	if !ok {
		return
	}
	if g.only() {
		c.addFault(path, "a string has a max and nothing else of a number", "write `net:\"max=24\"`")
		return
	}
	c.addLeaf(t, path, g, quantise.Leaf{Class: quantise.Text, Offset: offset, Shape: &quantise.Shape{Hi: most, Bits: coder.Width(0, most)}})
}

// only reports whether the tag has items for numbers besides max.
func (t *tag) only() bool {
	u := *t
	u.hasMax = false
	return u.numeric() || t.extrapolate > 0
}

// most returns the max of a string or slice.
func (c *compiler) most(path string, g tag, limit int, what string, such int) (int64, bool) {
	switch {
	case !g.hasMax:
		c.addFault(path, "has no max", fmt.Sprintf("say how many %s it has at most, as in `net:\"max=%d\"`", what, such))
	case g.max != math.Trunc(g.max) || g.max < 1 || g.max > float64(limit):
		c.addFault(path, fmt.Sprintf("max=%g is out of range", g.max), fmt.Sprintf("use a whole number of %s from 1 to %d", what, limit))
	default:
		return int64(g.max), true
	}
	return 0, false
}

// compileList compiles a slice: its length, and the greatest number of elements.
func (c *compiler) compileList(t reflect.Type, offset uintptr, path string, g tag) {
	elem, ok := c.element(path, g)
	if !ok {
		return
	}
	most, ok := c.most(path, g, quantise.MaxElements, "elements", 8)
	if !ok {
		c.faultsOf(t, path, elem)
		return
	}
	s, told := c.s, len(c.errs)
	length := quantise.Leaf{Class: quantise.Length, Offset: offset, Shape: &quantise.Shape{Hi: most, Bits: coder.Width(0, most), List: int32(len(s.plan.Lists))}}
	g.lerp, g.slerp, g.hermite, g.snap = false, false, false, false
	c.addLeaf(t, path, g, length)
	if len(c.errs) > told {
		c.faultsOf(t, path, elem)
		return
	}
	if t.Name() == "" && t.Elem().Name() == "" && t.Elem().Kind() == reflect.Struct {
		s.names[len(s.names)-1].typ = "[]struct" // not the text of all its fields
	}
	l := quantise.List{Offset: offset, Type: t, Stride: t.Elem().Size(), Most: int(most), From: len(s.plan.Leaves), Word: s.plan.Words}
	if l.Copies.Add(t.Elem(), 0, path+"[0]", nil); t.Elem().Kind() != reflect.Slice {
		c.pointers(l.Copies.Pointers)
	}
	l.Copies.Pointers = nil
	s.plan.Lists = append(s.plan.Lists, l)
	c.slice = &s.plan.Leaves[l.From-1]
	aud := *c.slice // a copy, because the leaves move as they grow
	c.slice = &aud
	told = len(c.errs)
	for i := 0; i < l.Most && len(c.errs) == told; i++ {
		if i > 0 && s.plan.Words > maxWords {
			c.tooLong(path, "slice")
			c.slice = nil
			return
		}
		c.compileValue(t.Elem(), uintptr(i)*l.Stride, path+"["+strconv.Itoa(i)+"]", elem)
	}
	c.slice = nil
	if len(c.errs) > told {
		return
	}
	li := &s.plan.Lists[length.List]
	if li.Each = (len(s.plan.Leaves) - l.From) / l.Most; li.Each == 0 {
		c.addFault(path, "its elements have nothing to send", "give them a field, or send their number")
		return
	}
	li.Words = (s.plan.Words - l.Word) / l.Most
}

// faultsOf finds the faults in the elements of a slice that is refused.
func (c *compiler) faultsOf(t reflect.Type, path string, elem tag) {
	if c.slice != nil {
		return
	}
	c.slice = &quantise.Leaf{}
	c.compileValue(t.Elem(), 0, path+"[0]", elem)
	c.slice = nil
}

// pointers refuses pointers that a slice's elements may not hold.
func (c *compiler) pointers(paths []string) {
	for _, at := range paths {
		c.addFault(at, "is a pointer or slice inside of a slice", "use an array there, or keep it out of the component")
		if c.told == nil {
			c.told = map[string]bool{}
		}
		c.told[at] = true
	}
}

// element returns the tag of a slice's elements.
func (c *compiler) element(path string, g tag) (tag, bool) {
	var problem, fix string
	e, faults := parseTag(g.elem)
	for _, x := range faults {
		c.addFault(path, x.problem, x.fix)
	}
	switch {
	case len(faults) > 0:
		return e, false
	case c.slice != nil:
		problem, fix = "is a slice inside of a slice", "use an array there"
	case c.vec != 0:
		problem, fix = "is part of a vector", "take it out"
	case g.oneshot || e.oneshot:
		problem, fix = "a slice holds no oneshot", "use an array"
	case g.sum || e.sum:
		problem, fix = "a slice holds no sum", "use an array"
	case e.skip:
		problem, fix = "its elements are not sent", "tag the slice `net:\"-\"`"
	default:
		list := g
		if list.hasElem = false; list.only() {
			problem, fix = "what a slice has is a max", "say the rest of the elements, behind a semicolon, as in `net:\"max=8;min=-1,max=1,step=0.01\"`"
		}
	}
	if problem != "" {
		c.addFault(path, problem, fix)
		return e, false
	}
	if !e.audible() {
		e.owner, e.allies, e.enemies, e.to = g.owner, g.allies, g.enemies, g.to
	}
	e.moveAs(&g)
	if e.velocity != "" {
		c.addFault(path, "hermite names a field beside an element, where there is none", "write hermite alone, or let the elements be structs that have it")
		return e, false
	}
	return e, true
}
