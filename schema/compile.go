package schema

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/foretick/foretick/internal/coder"
	"github.com/foretick/foretick/internal/quantise"
)

// compiler collects the leaves of one type.
type compiler struct {
	s    *Schema
	opt  Options
	errs []*TagError
	told map[string]bool // told has the fields whose faults are already reported.
	long bool            // long is true if an array or slice was given up as too long.

	speeds  []speed
	vectors int            // vectors counts the vectors so far.
	vec     int            // vec is the number of the vector being compiled. 0 means none.
	slice   *quantise.Leaf // slice is the length of the slice being compiled. nil means none.
}

// speed is a hermite leaf and the name of its velocity, which may be compiled later.
type speed struct {
	leaf int
	name string
}

// Compile reads the tags of a struct type once (see the package documentation). The
// error names every fault: a [*TagError] with type, field and fix, or several in the
// order of the fields, joined by [errors.Join]. For an array it reports only the first
// element with a fault.
func Compile(t reflect.Type, o Options) (*Schema, error) {
	if t == nil || t.Kind() != reflect.Struct {
		return nil, &TagError{fmt.Sprint(t), "", "is not a struct", "wrap the value in a struct"}
	}
	if o.Name == "" {
		o.Name = t.Name()
	}
	if len(o.Audiences) > MaxAudiences {
		return nil, &TagError{o.Name, "", fmt.Sprintf("SchemaOptions.Audiences has %d", len(o.Audiences)), fmt.Sprintf("a game may have %d", MaxAudiences)}
	}
	if o.Ref != nil && o.Ref.Kind() != reflect.Uint64 {
		return nil, &TagError{o.Name, "", fmt.Sprintf("SchemaOptions.Ref is %s, whose kind is not uint64", o.Ref), "pass the type of an entity handle"}
	}
	c := &compiler{s: &Schema{plan: &quantise.Plan{Name: o.Name, Type: t, Predicted: o.Predicted}, all: &allFields{}}, opt: o}
	c.structType(t, 0, "", tag{})
	c.checkTogether()
	if len(c.errs) > 0 {
		return nil, joinTags(c.errs)
	}
	c.s.fold()
	c.s.plan.Finish()
	return c.s, nil
}

func (c *compiler) addFault(path, problem, fix string) {
	if !c.told[path] {
		c.errs = append(c.errs, &TagError{c.opt.Name, path, problem, fix})
	}
}

// tooLong reports an array or slice as too long and drops its words from the count.
func (c *compiler) tooLong(path, what string) {
	if c.long {
		return // earlier fields used up the room
	}
	c.long = true
	c.addFault(path, "the "+what+" is too long", fmt.Sprintf("a component holds %d words", maxWords))
}

func (c *compiler) structType(t reflect.Type, offset uintptr, path string, outer tag) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Name == "_" {
			continue
		}
		at := f.Name
		if path != "" {
			at = path + "." + f.Name
		}
		items, ok := f.Tag.Lookup("net")
		if s := string(f.Tag); !ok && (strings.HasPrefix(s, "net:") || strings.HasPrefix(s, "net=")) {
			c.addFault(at, fmt.Sprintf("its tag %s is malformed", s), "put the items into quotes, as in `net:\"max=8\"`")
			continue
		}
		own, faults := parseTag(items)
		for _, x := range faults {
			c.addFault(at, x.problem, x.fix)
		}
		if own.skip || outer.skip {
			c.skipped(f.Type, at)
			continue
		}
		own.at, own.beside = at, path
		if !f.IsExported() {
			c.addFault(at, "is not exported", "export it, or tag it `net:\"-\"` if it is not to be sent")
			continue
		}
		if len(faults) > 0 {
			continue
		}
		if outer.vec {
			problem, fix := own.inherit(&outer)
			if problem != "" {
				c.addFault(at, problem, fix)
				continue
			}
		}
		if !own.audible() {
			own.owner, own.allies, own.enemies, own.to = outer.owner, outer.allies, outer.enemies, outer.to
		}
		own.act(&own, &outer)
		own.moveAs(&outer)
		c.compileValue(f.Type, offset+f.Offset, at, own)
	}
}

func (c *compiler) compileValue(t reflect.Type, offset uintptr, path string, g tag) {
	switch {
	case c.opt.Ref != nil && t == c.opt.Ref:
		if g.numeric() {
			c.addFault(path, "a reference has no range", "remove min, max, step, sim, angle, bits and tol")
		}
		c.addLeaf(t, path, g, quantise.Leaf{Class: quantise.Ref, Offset: offset, Shape: &quantise.Shape{Bits: 16}})
	case t.Kind() == reflect.String:
		c.compileText(t, offset, path, g)
	case t.Kind() == reflect.Slice:
		c.compileList(t, offset, path, g)
	case g.hasElem && t.Kind() != reflect.Array:
		c.addFault(path, "a semicolon is for slices", "give the range before it, as in `net:\"min=-1,max=1,step=0.01\"`")
	case g.quat:
		c.quat(t, offset, path, g)
	case g.vec:
		c.vector(t, offset, path, g)
	case t.Kind() == reflect.Struct:
		if g.numeric() {
			c.addFault(path, "a struct has no range", "tag its fields")
			return
		}
		c.structType(t, offset, path, g)
	case t.Kind() == reflect.Array:
		for i, told := 0, len(c.errs); i < t.Len() && len(c.errs) == told; i++ {
			if i > 0 && c.s.plan.Words > maxWords { // check the first element in any case
				c.tooLong(path, "array")
				return
			}
			c.compileValue(t.Elem(), offset+uintptr(i)*t.Elem().Size(), path+"["+strconv.Itoa(i)+"]", g)
		}
	case t.Kind() == reflect.Bool:
		if g.numeric() {
			c.addFault(path, "a bool has no range", "remove min, max, step, sim, angle, bits and tol")
		}
		c.addLeaf(t, path, g, quantise.Leaf{Class: quantise.Bool, Offset: offset, Shape: &quantise.Shape{Hi: 1, Bits: 1}})
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Uintptr:
		c.integer(t, offset, path, g)
	case t.Kind() == reflect.Float32 || t.Kind() == reflect.Float64:
		c.float(t, offset, path, g)
	default:
		c.addFault(path, "a "+t.Kind().String()+" cannot be sent", "use integers, bools, floats, strings, arrays, slices and structs of them, or tag it `net:\"-\"`")
	}
}

// vector compiles an array or struct of numbers that move together. They share a range
// and are predicted as one.
func (c *compiler) vector(t reflect.Type, offset uintptr, path string, g tag) {
	if k := t.Kind(); k != reflect.Array && k != reflect.Struct || c.vec != 0 {
		c.addFault(path, "is no vector", "tag an array or a struct of numbers with vec")
		return
	}
	first, told := len(c.s.plan.Leaves), len(c.errs)
	c.vectors++
	c.vec = c.vectors
	if t.Kind() == reflect.Struct {
		c.structType(t, offset, path, g)
	} else {
		g.vec = false
		for i := 0; i < min(t.Len(), coder.MaxVector+1) && len(c.errs) == told; i++ {
			c.compileValue(t.Elem(), offset+uintptr(i)*t.Elem().Size(), path+"["+strconv.Itoa(i)+"]", g)
		}
	}
	c.vec = 0
	if len(c.errs) > told {
		return
	}
	ls := c.s.plan.Leaves[first:]
	if len(ls) < 2 || len(ls) > coder.MaxVector {
		c.addFault(path, fmt.Sprintf("a vector of %d numbers", len(ls)), fmt.Sprintf("use 2 to %d", coder.MaxVector))
		return
	}
	for i := range ls {
		if l := &ls[i]; l.Class != ls[0].Class || l.Wide || !l.Class.Moves() || l.Audience != ls[0].Audience {
			c.addFault(path, "mixes what moves differently", "use numbers of one type of at most 32 bits, for one Audience")
			return
		}
	}
}

// layoutOf returns the fault of integers that have 32 bits on some machines.
func layoutOf(t reflect.Type) (problem, fix string, ok bool) {
	switch t.Kind() {
	case reflect.Int:
		return t.String() + " has another layout on 32 bits", "use int32 or int64", false
	case reflect.Uint, reflect.Uintptr:
		return t.String() + " has another layout on 32 bits", "use uint32 or uint64", false
	}
	return "", "", true
}

// skipped checks a field that is not sent. In a predicted component it is still saved,
// compared and hashed.
func (c *compiler) skipped(t reflect.Type, path string) {
	if !c.s.plan.Predicted {
		return
	}
	switch t.Kind() {
	case reflect.Array:
		c.skipped(t.Elem(), path)
	case reflect.Struct:
		for i := range t.NumField() {
			c.skipped(t.Field(i).Type, path+"."+t.Field(i).Name)
		}
	default:
		if problem, fix, ok := layoutOf(t); !ok {
			c.addFault(path, problem, fix)
		}
	}
}

func (c *compiler) integer(t reflect.Type, offset uintptr, path string, g tag) {
	if problem, fix, ok := layoutOf(t); !ok {
		c.addFault(path, problem, fix)
		return
	}
	if g.hasStep || g.hasSim || g.angle || g.hasBits {
		c.addFault(path, "step, sim, angle and bits are for floats", "give an integer min and max")
		return
	}
	size := int(t.Size())
	signed := t.Kind() <= reflect.Int64
	op := quantise.IntegerOf(t.Size(), signed)
	lo, hi := int64(0), int64(math.MaxInt64)
	if size < 8 {
		hi = 1<<(8*size) - 1
	}
	if signed {
		lo, hi = -1<<(8*size-1), 1<<(8*size-1)-1
	}
	l := quantise.Leaf{Class: op, Offset: offset, Wide: size == 8, Shape: &quantise.Shape{Bits: 8 * size}}
	if g.hasMin || g.hasMax {
		if g.hasMax && !g.hasMin && signed {
			g.min, g.hasMin = -g.max, true
		}
		if !g.hasMin {
			g.min = float64(lo)
		}
		if !g.hasMax {
			g.max = float64(hi)
		}
		if g.min != math.Trunc(g.min) || g.max != math.Trunc(g.max) || g.min < float64(lo) || g.max > float64(hi) || g.min >= g.max {
			c.addFault(path, fmt.Sprintf("min=%g and max=%g are no range of %s", g.min, g.max, t), fmt.Sprintf("use whole numbers with %d ≤ min < max ≤ %d", lo, hi))
			return
		}
		lo = int64(g.min)
		if g.max < float64(hi) {
			hi = int64(g.max)
		}
	}
	if op == quantise.Uint64 && !g.hasMin && !g.hasMax {
		lo = math.MinInt64 // all bit patterns
	}
	l.SetRange(lo, hi)
	l.Tolerance = g.tol
	c.addLeaf(t, path, g, l)
}

func (c *compiler) addLeaf(t reflect.Type, path string, g tag, l quantise.Leaf) {
	if g.oneshot && !l.CanPress() {
		c.addFault(path, "only a bool, or an integer that can be 0, can be a oneshot", "use one of these, or drop oneshot")
		return
	}
	if problem, fix := g.sums(&l); problem != "" {
		c.addFault(path, problem, fix)
		return
	}
	how := g.how()
	switch {
	case how != quantise.Snap && (l.Class == quantise.Bool || l.Class == quantise.Ref || l.Class == quantise.Text):
		c.addFault(path, "a "+t.Kind().String()+" has nothing to interpolate", "drop "+how.String())
		return
	case how == quantise.Slerp && l.Class != quantise.Quat:
		c.addFault(path, "slerp is for rotations", "tag it quat if it is one, else use lerp: angles go the shorter way round")
		return
	case how == quantise.Hermite && l.Class == quantise.Quat:
		c.addFault(path, "hermite is for numbers", "use slerp or lerp for a rotation")
		return
	case g.extrapolate > 0 && how == quantise.Snap:
		c.addFault(path, "extrapolate needs lerp, slerp or hermite", "add one, or drop it")
		return
	}
	aud, problem, fix := g.audience(c.opt.Audiences)
	if problem != "" {
		c.addFault(path, problem, fix)
		return
	}
	if !g.audible() {
		aud = quantise.Audience(c.opt.Audience)
	}
	if s := c.slice; s != nil && s.Audience != 0 && (aud == 0 || aud&^s.Audience != 0) {
		c.addFault(path, "is for viewers that do not receive the slice", "let the slice's Audience be everybody, or all who receive any of it")
		return
	}
	if how == quantise.Hermite && g.velocity != "" {
		name := g.velocity + path[len(g.at):]
		if g.beside != "" {
			name = g.beside + "." + name
		}
		c.speeds = append(c.speeds, speed{leaf: len(c.s.plan.Leaves), name: name})
	}
	l.Audience, l.OneShot, l.Sum, l.Interpolation, l.Vec, l.Ahead, l.Press = aud, g.oneshot, g.sum, how, uint16(c.vec), float32(g.extrapolate), g.press
	c.s.addLeaf(path, t.String(), l)
	c.s.plan.Press.Add(g.oneshot, g.press, l.Offset, t.Size())
}

// checkTogether checks the fields together.
func (c *compiler) checkTogether() {
	if s := c.s; s.plan.Words > maxWords && !c.long {
		c.addFault("", fmt.Sprintf("has %d words", s.plan.Words), fmt.Sprintf("a component holds %d", maxWords))
	}
	for _, x := range c.speeds {
		c.speed(x)
	}
}

// speed finds the velocity of a hermite field.
func (c *compiler) speed(x speed) {
	path := c.s.names[x.leaf].Name
	k := slices.IndexFunc(c.s.names, func(f fieldName) bool { return f.Name == x.name })
	if k < 0 && slices.ContainsFunc(c.errs, func(e *TagError) bool { return e.Field == x.name }) {
		return // the velocity's own fault is reported already
	}
	if k < 0 {
		c.addFault(path, fmt.Sprintf("hermite names %s, which is no number that is sent", x.name), "name a field beside it that holds its velocity in units a second, as in hermite=VX, or write hermite alone")
		return
	}
	if problem, fix := c.s.setSpeed(x.leaf, k, x.name); problem != "" {
		c.addFault(path, problem, fix)
	}
}

// setSpeed makes one leaf the velocity of another.
func (s *Schema) setSpeed(leaf, velocity int, name string) (problem, fix string) {
	l, v := &s.plan.Leaves[leaf], &s.plan.Leaves[velocity]
	switch {
	case leaf == velocity || !v.Class.Moves() || v.Angle():
		return "hermite names " + name + ", which is no velocity", "name a number in units a second, or write hermite alone"
	case !s.plan.Together(leaf, velocity):
		return "hermite names " + name + ", which is no field of the same element", "name a field beside it, or write hermite alone"
	case v.Audience != 0 && (l.Audience == 0 || l.Audience&^v.Audience != 0):
		return "hermite names " + name + ", which some who receive this do not", "give both the same Audience, or write hermite alone"
	}
	l.Speed = uint16(velocity + 1)
	return "", ""
}

// fold makes leaves with equal shapes share one. It drops the names of slice elements after the first, which
// follow from the first one's.
func (s *Schema) fold() {
	var shapes []quantise.Shape
	at := map[quantise.Shape]int{}
	for i := range s.plan.Leaves {
		if l := s.plan.Leaves[i].Shape; i == 0 || *l != shapes[at[*l]] {
			at[*l], shapes = len(shapes), append(shapes, *l)
		}
	}
	for i := range s.plan.Leaves {
		l := &s.plan.Leaves[i]
		l.Shape = &shapes[at[*l.Shape]]
	}
	names := make([]fieldName, 0, len(s.names))
	for i := range s.plan.Written() {
		names = append(names, s.names[i])
	}
	s.names = names
}
