package schema

import (
	"fmt"
	"math"
	"reflect"

	"github.com/foretick/foretick/internal/quantise"
)

// quat compiles a field tagged quat: four floats x, y, z, w, or four integers that
// are a rotation in the smallest-three form already.
func (c *compiler) quat(t reflect.Type, offset uintptr, path string, g tag) {
	elem, ok := fourOf(t)
	if !ok {
		c.addFault(path, "is no quaternion", "use [4]float32 or a struct of four, in the order x, y, z, w; or four integers: the index of the greatest component, and the others")
		return
	}
	if problem, fix, ok := layoutOf(elem); !ok {
		c.addFault(path, problem, fix)
		return
	}
	if g.hasMin || g.hasMax || g.hasStep || g.hasSim || g.angle || g.vec || g.tol != 0 {
		c.addFault(path, "a rotation has no min, max, step, sim, angle, vec or tol", "choose its bits, as in `net:\"quat,bits=9\"`")
		return
	}
	if !g.hasBits {
		g.bits = quantise.QuatDefault
	}
	if g.bits > quantise.MaxQuatBits {
		c.addFault(path, fmt.Sprintf("bits=%d is out of range", g.bits), fmt.Sprintf("use 2 to %d", quantise.MaxQuatBits))
		return
	}
	l := quantise.Leaf{Class: quantise.Quat, Offset: offset, Shape: &quantise.Shape{Kind: elem.Kind(), Size: elem.Size(), Bits: g.bits, Ratio: 1, Lo: -1 << (g.bits - 1), Hi: 1<<(g.bits-1) - 1}}
	if l.Size < 2 && g.bits > 8 {
		c.addFault(path, "the integers are too small", "use wider ones, or bits=8")
		return
	}
	if c.opt.Predicted && l.Floats() {
		for k := ratioBits; k > 0 && l.Ratio == 1; k-- {
			if g.bits+k <= quantise.MaxQuatGrids {
				l.Ratio = 1 << k
			}
		}
	}
	if c.opt.FullPrecision {
		l.Refine(quantise.MaxQuatBits)
	}
	if g.how() != quantise.Snap && !l.Floats() {
		c.addFault(path, "integers are not interpolated", "drop "+g.how().String()+", or use floats")
		return
	}
	l.SetGrids(math.Sqrt2 / float64(int64(1)<<l.Bits))
	c.addLeaf(t, path, g, l)
}

// fourOf returns the type of the elements of an array or struct of four.
func fourOf(t reflect.Type) (reflect.Type, bool) {
	var elem reflect.Type
	switch {
	case t.Kind() == reflect.Array && t.Len() == 4:
		elem = t.Elem()
	case t.Kind() == reflect.Struct && t.NumField() == 4:
		elem = t.Field(0).Type
		for i := range 4 {
			if f := t.Field(i); f.Type != elem || !f.IsExported() || f.Tag.Get("net") != "" {
				return nil, false
			}
		}
	default:
		return nil, false
	}
	k := elem.Kind()
	return elem, k == reflect.Float32 || k == reflect.Float64 || k >= reflect.Int && k <= reflect.Uint64
}
