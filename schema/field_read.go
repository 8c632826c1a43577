package schema

import (
	"math"
	"reflect"
	"unicode/utf8"

	"github.com/foretick/foretick/internal/coder"
	"github.com/foretick/foretick/internal/quantise"
)

// field reads one field and returns its name. before is the name of the field before it.
func (r *schemaReader) field(s *Schema, before string) string {
	same := int(r.uint(uint64(len(before)), "field's name"))
	name := before[:same] + r.readText("field's name")
	sort, flags := r.byte(), r.byte()
	l, way := quantise.Leaf{Class: quantise.Class(sort & (1<<sortBits - 1)), Shape: &r.shapes[len(s.plan.Leaves)]}, sort>>sortBits
	if same < min(len(before), len(name)) && before[same] == name[same] {
		r.failAt("field's name")
	}
	if name == "" || len(name) > maxSchemaText || !utf8.ValidString(name) || !l.Class.Known() || flags&fieldOwner != 0 && flags&fieldAudience != 0 {
		r.failAt("field")
		return name
	}
	if flags&fieldOwner != 0 {
		l.Audience = quantise.ToOwner
	}
	if flags&fieldAudience != 0 {
		if l.Audience = quantise.Audience(r.byte()); l.Audience == 0 || l.Audience == quantise.ToOwner {
			r.failAt("Audience")
		}
	}
	typ := l.Class.UsualType()
	if flags&fieldTyped != 0 {
		if t := r.readText("type"); t != typ {
			typ = t
		} else {
			r.failAt("type")
		}
	}
	l.OneShot, l.Sum, l.Interpolation = flags&fieldOneShot != 0, way == waySum, r.way(&l, way, flags&fieldLerp != 0)
	switch inside := flags&fieldVector != 0; {
	case !inside && flags&fieldFirst != 0, inside && r.vec == 0 && flags&fieldFirst == 0:
		r.failAt("vector")
	case inside:
		if flags&fieldFirst != 0 {
			r.vec++
		}
		l.Vec = uint16(r.vec)
	}
	r.sort(&l, s.plan.Predicted)
	if l.Sum && !l.HoldsZero() {
		r.failAt("range")
	}
	if flags&fieldTolerance != 0 {
		l.Tolerance = r.float("tolerance")
	}
	if way == wayVelocity {
		l.Speed = uint16(r.uint(maxWords-1, "velocity")) + 1
	}
	if r.fault != "" || typ == "" || l.OneShot && !l.CanPress() || l.Interpolation != quantise.Snap && (l.Class == quantise.Bool || l.Class == quantise.Ref || l.Class.Varies() || l.Class == quantise.Quat && !l.Floats()) || l.Tolerance != 0 && (!l.Class.Moves()) {
		r.failAt("field")
		return name
	}
	if l.List = int32(len(s.plan.Lists)); l.Class != quantise.Length {
		l.List = 0
	}
	s.addLeaf(name, typ, l)
	return name
}

// way reads how a leaf is interpolated.
func (r *schemaReader) way(l *quantise.Leaf, way byte, moves bool) quantise.Interpolation {
	switch {
	case (way == wayStraight || way == waySum && l.CanSum()) && !moves:
		return quantise.Snap
	case way == wayStraight && moves:
		return quantise.Lerp
	case way == waySlerp && moves && l.Class == quantise.Quat:
		return quantise.Slerp
	case (way == wayHermite || way == wayVelocity) && moves && l.Class.Number():
		return quantise.Hermite
	}
	r.failAt("interpolation")
	return quantise.Snap
}

// sort reads the properties that fields of one sort have. It accepts a range only as narrow as Compile makes
// it.
func (r *schemaReader) sort(l *quantise.Leaf, predicted bool) {
	switch {
	case l.Class == quantise.Bool:
		l.Hi, l.Bits = 1, 1
	case l.Class == quantise.Ref:
		l.Bits = 16
	case l.Class.Varies():
		most := uint64(coder.MaxText)
		if l.Class == quantise.Length {
			most = quantise.MaxElements
		}
		if l.Hi = int64(r.uint(most, "max")); l.Hi == 0 {
			r.failAt("max")
		}
		l.Bits = coder.Width(0, l.Hi)
	case l.Class.Raw():
		l.Wide, l.Bits = l.Class == quantise.Float64, int(8*l.Class.Size())
	case l.Class.Integer():
		least, most := l.Class.Limits()
		lo := r.int(least, most, "range")
		hi := r.int(lo, most, "range")
		l.Wide, l.Bits = l.Class.Size() == 8, int(8*l.Class.Size())
		if lo == hi || l.Class == quantise.Uint64 && lo < 0 && (lo != math.MinInt64 || hi != math.MaxInt64) {
			r.failAt("range")
			return
		}
		l.SetRange(lo, hi)
	case l.Angle():
		r.angle(l, predicted)
	case l.Stepped():
		r.stepped(l, predicted)
	default:
		r.rotation(l, predicted)
	}
}

func (r *schemaReader) ratio(predicted bool) int32 {
	v := r.uint(maxReadRatio, "ratio")
	if v == 0 || v != 1 && !predicted {
		r.failAt("ratio")
		return 1
	}
	return int32(v)
}

func (r *schemaReader) angle(l *quantise.Leaf, predicted bool) {
	l.Bits, l.Ratio = int(r.byte()), r.ratio(predicted)
	if l.Bits < 2 || l.Bits > maxAngleBits || l.Ratio != 1 && l.Ratio != 1<<ratioBits {
		r.failAt("angle")
		return
	}
	l.Lo, l.Hi = -1<<(l.Bits-1), 1<<(l.Bits-1)-1
	l.SetGrids(2 * math.Pi / float64(int64(1)<<l.Bits))
}

func (r *schemaReader) stepped(l *quantise.Leaf, predicted bool) {
	limit := int64(maxIndex32)
	if l.Class == quantise.Step64 {
		limit = maxIndex64
	}
	l.Lo = r.int(-limit, limit, "range")
	l.Hi = r.int(l.Lo, limit, "range")
	step := r.float("step")
	l.Ratio, l.Bits = r.ratio(predicted), coder.Width(l.Lo, l.Hi)
	most := max(-l.Lo, l.Hi)
	if l.Lo == l.Hi || most*int64(l.Ratio) > limit || math.IsInf(float64(most)*step, 0) || math.IsInf(float64(l.Ratio)/step, 0) || step/float64(l.Ratio) == 0 {
		r.failAt("range")
		return
	}
	l.SetGrids(step)
}

func (r *schemaReader) rotation(l *quantise.Leaf, predicted bool) {
	l.Bits = int(r.byte())
	switch op := quantise.Class(r.byte()); {
	case op == quantise.Float32:
		l.Kind, l.Size = reflect.Float32, 4
	case op == quantise.Float64:
		l.Kind, l.Size = reflect.Float64, 8
	case op.Signed():
		l.Kind, l.Size = reflect.Int, op.Size()
	case op.Unsigned():
		l.Kind, l.Size = reflect.Uint, op.Size()
	default:
		r.failAt("rotation")
		return
	}
	l.Ratio = r.ratio(predicted && l.Floats())
	if l.Bits < 2 || l.Bits > quantise.MaxQuatBits || l.Size < 2 && l.Bits > 8 || l.Ratio&(l.Ratio-1) != 0 || int64(l.Ratio)<<l.Bits > 1<<quantise.MaxQuatGrids && l.Ratio != 1 {
		r.failAt("rotation")
		return
	}
	l.Lo, l.Hi = -1<<(l.Bits-1), 1<<(l.Bits-1)-1
	l.SetGrids(math.Sqrt2 / float64(int64(1)<<l.Bits))
}
