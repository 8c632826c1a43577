package snapshot

import (
	"fmt"
	"math"
	"math/bits"
	"reflect"
)

func (c *compiler) float(t reflect.Type, offset uintptr, path string, g tag) {
	double := t.Kind() == reflect.Float64
	pick := func(single, wide opcode) opcode {
		if double {
			return wide
		}
		return single
	}
	switch {
	case g.angle:
		c.angle(t, offset, path, g, pick(opAngle32, opAngle64))
	case g.hasStep:
		c.stepped(t, offset, path, g, pick(opStep32, opStep64))
	case g.hasMin || g.hasMax || g.hasSim || g.hasBits:
		c.fail(path, "a range needs a step", "add step=0.01, or drop min, max, sim and bits")
	default:
		l := leaf{op: pick(opFloat32, opFloat64), offset: offset, wide: double, shape: &shape{bits: 8 * int(t.Size()), tol: g.tol}}
		c.add(t, path, g, l)
	}
}

func (c *compiler) angle(t reflect.Type, offset uintptr, path string, g tag, op opcode) {
	if g.hasMin || g.hasMax || g.hasStep || g.hasSim {
		c.fail(path, "an angle has no min, max, step or sim", "choose its bits, as in `net:\"angle,bits=12\"`")
		return
	}
	if !g.hasBits {
		g.bits = 12
	}
	l := leaf{op: op, offset: offset, shape: &shape{bits: g.bits, ratio: 1, lo: -1 << (g.bits - 1), hi: 1<<(g.bits-1) - 1, tol: g.tol}}
	if c.opt.Predicted {
		l.ratio = 1 << ratioBits
	}
	if c.opt.Predicted && c.opt.Exact {
		l.refine(maxAngleBits)
	}
	l.setGrids(2 * math.Pi / float64(int64(1)<<l.bits))
	c.add(t, path, g, l)
}

func (c *compiler) stepped(t reflect.Type, offset uintptr, path string, g tag, op opcode) {
	if g.hasMax && !g.hasMin {
		g.min, g.hasMin = -g.max, true
	}
	if g.hasMin && g.hasMax && g.min >= g.max {
		c.fail(path, fmt.Sprintf("min=%g is not below max=%g", g.min, g.max), "say the least value as min and the greatest as max")
		return
	}
	if !g.hasMin || !g.hasMax {
		c.fail(path, "step needs a range", fmt.Sprintf("add min and max, as in `net:\"min=-512,max=512,step=%g\"`", g.step))
		return
	}
	if g.hasBits {
		c.fail(path, "bits is for angles", "drop it: the range and the step say how many are needed")
		return
	}
	limit := float64(maxIndex32)
	if op == opStep64 {
		limit = maxIndex64
	}
	lo, hi := g.min/g.step, g.max/g.step
	if most := max(math.Abs(lo), math.Abs(hi)); most > limit {
		c.fail(path, fmt.Sprintf("a %s does not tell %.0f steps from 0 apart", t, most), fmt.Sprintf("use step=%g or more, or a smaller range", g.step*most/limit))
		return
	}
	for _, e := range []struct {
		name     string
		v, index float64
	}{{"min", g.min, lo}, {"max", g.max, hi}} {
		if r := math.Round(e.index); math.Abs(e.index-r) > 1e-6*max(1, math.Abs(r)) {
			c.fail(path, fmt.Sprintf("%s=%g is not a multiple of step=%g: 0 must lie on the grid, and so must the ends", e.name, e.v, g.step), fmt.Sprintf("use %s=%.7g", e.name, r*g.step))
			return
		}
	}
	l := leaf{op: op, offset: offset, shape: &shape{ratio: 1, lo: int64(math.Round(lo)), hi: int64(math.Round(hi)), tol: g.tol}}
	l.bits = width(l.lo, l.hi)
	if c.opt.Predicted {
		l.ratio = c.ratio(path, g, max(math.Abs(lo), math.Abs(hi)), limit)
	}
	step := g.step
	if c.opt.Exact && l.ratio > 1 {
		step /= float64(l.ratio)
		l.lo, l.hi, l.ratio = l.lo*int64(l.ratio), l.hi*int64(l.ratio), 1
		l.bits = width(l.lo, l.hi)
	}
	l.setGrids(step)
	c.add(t, path, g, l)
}

// refine gives an angle or a rotation one grid, as fine as the simulation's where
// that many bits can travel.
func (l *leaf) refine(most int) {
	l.bits = min(l.bits+bits.TrailingZeros32(uint32(l.ratio)), most)
	l.ratio, l.lo, l.hi = 1, -1<<(l.bits-1), 1<<(l.bits-1)-1
}

// ratio is the number of simulation steps in a step.
func (c *compiler) ratio(path string, g tag, most, limit float64) int32 {
	if !g.hasSim {
		r := int32(defaultRatio)
		for r > 1 && most*float64(r) > limit {
			r /= 2
		}
		return r
	}
	r := math.Round(g.step / g.sim)
	if r < 1 || math.Abs(g.step/g.sim-r) > 1e-6*r {
		c.fail(path, fmt.Sprintf("step=%g is not a whole number of sim=%g", g.step, g.sim), fmt.Sprintf("use sim=%g", g.step/max(r, 1)))
		return 1
	}
	if most*r > limit {
		c.fail(path, fmt.Sprintf("sim=%g is finer than the type can hold over this range", g.sim), fmt.Sprintf("use sim=%g or more", g.step*most/limit))
		return 1
	}
	return int32(r)
}
