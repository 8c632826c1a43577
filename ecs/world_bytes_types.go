package ecs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"strconv"
)

// worldTypes is what the bytes of worlds need of Types. It is made at the first use.
type worldTypes struct {
	comps   []worldType // comps has the components by id.
	singles []worldType
	link    worldType // link is the hidden parent component.
	// declaration describes the components, singletons and watches. Worlds with equal declarations can be read
	// without looking at names.
	declaration string
	err         error // err names types that cannot be written.
}

// worldType is how the values of one type are written.
type worldType struct {
	d    *typeData
	node *typeNode
	// fixed is true if a value is written as its bytes in memory without padding: length bytes.
	fixed  bool
	length int
	bools  []int // bools has where bools are in a fixed value.
}

// typeNode describes a type by names and kinds, as it is written.
type typeNode struct {
	// kind is one of a number, a bool, reflect.String, reflect.Slice, reflect.Array or reflect.Struct.
	// reflect.Invalid means that a Coder writes the value. Complex numbers are structs of two floats.
	kind   reflect.Kind
	n      int // n is the length of an array.
	elem   *typeNode
	fields []typeField
	least  int // least is the fewest bytes of a value.

	rtype reflect.Type // rtype is the Go type. It is nil in a type that was read.
}

// typeField is a field of a struct.
type typeField struct {
	name string
	node *typeNode
	at   uintptr // at is the offset in the Go type.
}

const (
	maxTypeDepth = 32      // most types within one another
	maxTypeName  = 1 << 10 // longest name of a type or field
	maxLeast     = 1 << 24 // most bytes of a value without strings and slices
)

// worldTypes returns what the bytes of worlds need. The types must be frozen.
func (t *Types) worldTypes() *worldTypes {
	t.bytesOnce.Do(func() { t.asBytes = t.describeBytes() })
	return t.asBytes
}

func (t *Types) describeBytes() *worldTypes {
	wt := &worldTypes{}
	var errs []error
	add := func(d *typeData) worldType {
		w, err := newWorldType(d)
		errs = append(errs, err)
		return w
	}
	for _, d := range t.userTypes() {
		wt.comps = append(wt.comps, add(d))
	}
	for _, d := range t.singles {
		wt.singles = append(wt.singles, add(d))
	}
	if t.link != nil {
		wt.link = add(t.link)
	}
	if wt.err = errors.Join(errs...); wt.err == nil {
		wt.declaration = string(wt.declare(t.watches))
	}
	return wt
}

// bySlot returns the type of a component by its slot.
func (wt *worldTypes) bySlot(slot uint16) *worldType {
	if i := int(slot) - 1; i < len(wt.comps) {
		return &wt.comps[i]
	}
	return &wt.link
}

func newWorldType(d *typeData) (worldType, error) {
	w := worldType{d: d}
	if d.coder != nil {
		w.node = &typeNode{kind: reflect.Invalid, least: 1}
		return w, nil
	}
	node, err := nodeOf(d.rtype, d.name, 0)
	if err != nil {
		return w, err
	}
	w.node = node
	if w.fixed = d.plain && (d.direct || d.id == linkID && little); w.fixed {
		w.length = node.least
		w.bools = node.appendBools(nil, 0)
	}
	return w, nil
}

// nodeOf describes a Go type. path names it in errors.
func nodeOf(t reflect.Type, path string, depth int) (*typeNode, error) {
	n := &typeNode{kind: t.Kind(), rtype: t}
	if depth > maxTypeDepth {
		return nil, fmt.Errorf("ecs: %s is nested too deep for the bytes of a world: give the type an ecs.Coder", path)
	}
	var err error
	switch k := t.Kind(); {
	case k >= reflect.Bool && k <= reflect.Float64:
	case k == reflect.Complex64:
		n.setComplex(reflect.TypeFor[float32]())
	case k == reflect.Complex128:
		n.setComplex(reflect.TypeFor[float64]())
	case k == reflect.String:
	case k == reflect.Slice || k == reflect.Array:
		if k == reflect.Array {
			n.n = t.Len()
		}
		if n.elem, err = nodeOf(t.Elem(), path+"[0]", depth+1); err != nil {
			return nil, err
		}
		if k == reflect.Slice && n.elem.least == 0 {
			return nil, fmt.Errorf("ecs: %s is a slice of nothing, which the bytes of a world cannot hold: use a number", path)
		}
	case k == reflect.Struct:
		var errs []error
		for i := range t.NumField() {
			f := t.Field(i)
			if f.Name == "_" {
				continue
			}
			node, err := nodeOf(f.Type, path+"."+f.Name, depth+1)
			errs = append(errs, err)
			n.fields = append(n.fields, typeField{f.Name, node, f.Offset})
		}
		if err := errors.Join(errs...); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("ecs: %s is a %s, which the bytes of a world cannot hold: give the type an ecs.Coder, or keep the value outside", path, k)
	}
	if !n.measure() {
		return nil, fmt.Errorf("ecs: %s is too large for the bytes of a world: give the type an ecs.Coder", path)
	}
	return n, nil
}

func (n *typeNode) setComplex(part reflect.Type) {
	half := &typeNode{kind: part.Kind(), least: int(part.Size()), rtype: part}
	n.kind, n.fields = reflect.Struct, []typeField{{"re", half, 0}, {"im", half, part.Size()}}
}

// measure finds the fewest bytes of a value. It returns false if they are too many.
func (n *typeNode) measure() bool {
	switch n.kind {
	case reflect.Invalid, reflect.String, reflect.Slice:
		n.least = 1
	case reflect.Array:
		if n.elem.least > 0 && n.n > maxLeast/n.elem.least {
			return false
		}
		n.least = n.n * n.elem.least
	case reflect.Struct:
		for _, f := range n.fields {
			if n.least += f.node.least; n.least > maxLeast {
				return false
			}
		}
	default:
		n.least = numberSize(n.kind)
	}
	return true
}

// numberSize returns the bytes of a number or bool as it is written.
func numberSize(k reflect.Kind) int {
	switch k {
	case reflect.Bool, reflect.Int8, reflect.Uint8:
		return 1
	case reflect.Int16, reflect.Uint16:
		return 2
	case reflect.Int32, reflect.Uint32, reflect.Float32:
		return 4
	}
	return 8
}

// appendBools appends where the bools of a value without strings and slices are, from at on.
func (n *typeNode) appendBools(out []int, at int) []int {
	switch n.kind {
	case reflect.Bool:
		return append(out, at)
	case reflect.Array:
		if n.elem.least == 0 {
			return out
		}
		for i := range n.n {
			before := len(out)
			if out = n.elem.appendBools(out, at+i*n.elem.least); len(out) == before {
				return out
			}
		}
	case reflect.Struct:
		for _, f := range n.fields {
			out = f.node.appendBools(out, at)
			at += f.node.least
		}
	}
	return out
}

// declare writes the declaration.
func (wt *worldTypes) declare(watches []*Watch) []byte {
	var b []byte
	for _, types := range [][]worldType{wt.comps, wt.singles} {
		b = binary.AppendUvarint(b, uint64(len(types)))
		for i := range types {
			b = appendText(b, types[i].d.name)
			b = types[i].node.appendNode(b)
		}
	}
	b = binary.AppendUvarint(b, uint64(len(watches)))
	for _, v := range watches {
		for _, m := range []Mask{v.query.with, v.query.without} {
			b = append(b, byte(m.Len()))
			for _, id := range m.IDs() {
				b = append(b, byte(id))
			}
		}
	}
	return b
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// appendNode writes a type: its kind, and for an array its length and element, for a slice its element, for a
// struct the number of its fields, each with name and type.
func (n *typeNode) appendNode(b []byte) []byte {
	b = append(b, byte(n.kind))
	switch n.kind {
	case reflect.Array:
		b = n.elem.appendNode(binary.AppendUvarint(b, uint64(n.n)))
	case reflect.Slice:
		b = n.elem.appendNode(b)
	case reflect.Struct:
		b = binary.AppendUvarint(b, uint64(len(n.fields)))
		for _, f := range n.fields {
			b = f.node.appendNode(appendText(b, f.name))
		}
	}
	return b
}

// readNode reads a type that appendNode wrote.
func (r *worldReader) readNode(depth int) *typeNode {
	n := &typeNode{kind: reflect.Kind(r.byte())}
	switch k := n.kind; {
	case depth > maxTypeDepth:
		r.fail("types are nested too deep")
	case k == reflect.Invalid && depth == 0, k >= reflect.Bool && k <= reflect.Float64, k == reflect.String:
	case k == reflect.Array, k == reflect.Slice:
		if k == reflect.Array {
			n.n = r.number(maxLeast)
		}
		n.elem = r.readNode(depth + 1)
		if k == reflect.Slice && r.err == nil && n.elem.least == 0 {
			r.fail("a slice of nothing")
		}
	case k == reflect.Struct:
		for range r.count(2) {
			f := typeField{name: r.text(maxTypeName)}
			f.node = r.readNode(depth + 1)
			n.fields = append(n.fields, f)
			if r.err != nil {
				return n
			}
		}
	default:
		r.fail("kind " + strconv.Itoa(int(k)))
	}
	if r.err == nil && !n.measure() {
		r.fail("a type is too large")
	}
	return n
}
