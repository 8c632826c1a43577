package schema

import (
	"fmt"
	"math"
	"reflect"

	"github.com/foretick/foretick/internal/coder"
	"github.com/foretick/foretick/internal/quantise"
)

func (c *compiler) float(t reflect.Type, offset uintptr, path string, g tag) {
	double := t.Kind() == reflect.Float64
	pick := func(single, wide quantise.Class) quantise.Class {
		if double {
			return wide
		}
		return single
	}
	switch {
	case g.angle:
		c.angle(t, offset, path, g, pick(quantise.Angle32, quantise.Angle64))
	case g.hasStep:
		c.stepped(t, offset, path, g, pick(quantise.Step32, quantise.Step64))
	case g.hasMin || g.hasMax || g.hasSim || g.hasBits:
		c.addFault(path, "a range needs a step", "add step=0.01, or drop min, max and sim; bits is for angle and quat alone")
	default:
		l := quantise.Leaf{Class: pick(quantise.Float32, quantise.Float64), Offset: offset, Wide: double, Shape: &quantise.Shape{Bits: 8 * int(t.Size()), Tolerance: g.tol}}
		c.addLeaf(t, path, g, l)
	}
}

func (c *compiler) angle(t reflect.Type, offset uintptr, path string, g tag, op quantise.Class) {
	if g.hasMin || g.hasMax || g.hasStep || g.hasSim {
		c.addFault(path, "an angle has no min, max, step or sim", "choose its bits, as in `net:\"angle,bits=12\"`")
		return
	}
	if !g.hasBits {
		g.bits = 12
	}
	l := quantise.Leaf{Class: op, Offset: offset, Shape: &quantise.Shape{Bits: g.bits, Ratio: 1, Lo: -1 << (g.bits - 1), Hi: 1<<(g.bits-1) - 1, Tolerance: g.tol}}
	if c.opt.Predicted {
		l.Ratio = 1 << ratioBits
	}
	if c.opt.Predicted && c.opt.FullPrecision {
		l.Refine(maxAngleBits)
	}
	l.SetGrids(2 * math.Pi / float64(int64(1)<<l.Bits))
	c.addLeaf(t, path, g, l)
}

func (c *compiler) stepped(t reflect.Type, offset uintptr, path string, g tag, op quantise.Class) {
	if g.hasMax && !g.hasMin {
		g.min, g.hasMin = -g.max, true
	}
	if g.hasMin && g.hasMax && g.min >= g.max {
		c.addFault(path, fmt.Sprintf("min=%g is not below max=%g", g.min, g.max), "say the least value as min and the greatest as max")
		return
	}
	if !g.hasMin || !g.hasMax {
		c.addFault(path, "step needs a range", fmt.Sprintf("add min and max, as in `net:\"min=-512,max=512,step=%g\"`", g.step))
		return
	}
	if g.hasBits {
		c.addFault(path, "bits is for angles", "drop it: the range and the step say how many are needed")
		return
	}
	limit := float64(maxIndex32)
	if op == quantise.Step64 {
		limit = maxIndex64
	}
	lo, hi := g.min/g.step, g.max/g.step
	if most := max(math.Abs(lo), math.Abs(hi)); most > limit {
		c.addFault(path, fmt.Sprintf("a %s does not tell %.0f steps from 0 apart", t, most), fmt.Sprintf("use step=%g or more, or a smaller range", g.step*most/limit))
		return
	}
	for _, e := range []struct {
		name     string
		v, index float64
	}{{"min", g.min, lo}, {"max", g.max, hi}} {
		if r := math.Round(e.index); math.Abs(e.index-r) > 1e-6*max(1, math.Abs(r)) {
			c.addFault(path, fmt.Sprintf("%s=%g is not a multiple of step=%g: 0 must lie on the grid, and so must the ends", e.name, e.v, g.step), fmt.Sprintf("use %s=%.7g", e.name, r*g.step))
			return
		}
	}
	l := quantise.Leaf{Class: op, Offset: offset, Shape: &quantise.Shape{Ratio: 1, Lo: int64(math.Round(lo)), Hi: int64(math.Round(hi)), Tolerance: g.tol}}
	l.Bits = coder.Width(l.Lo, l.Hi)
	if c.opt.Predicted {
		l.Ratio = c.ratio(path, g, max(math.Abs(lo), math.Abs(hi)), limit)
	}
	step := g.step
	if c.opt.FullPrecision && l.Ratio > 1 {
		step /= float64(l.Ratio)
		l.Lo, l.Hi, l.Ratio = l.Lo*int64(l.Ratio), l.Hi*int64(l.Ratio), 1
		l.Bits = coder.Width(l.Lo, l.Hi)
	}
	l.SetGrids(step)
	c.addLeaf(t, path, g, l)
}

// ratio returns the number of simulation steps in a public step.
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
		c.addFault(path, fmt.Sprintf("step=%g is not a whole number of sim=%g", g.step, g.sim), fmt.Sprintf("use sim=%g", g.step/max(r, 1)))
		return 1
	}
	if most*r > limit {
		c.addFault(path, fmt.Sprintf("sim=%g is finer than the type can hold over this range", g.sim), fmt.Sprintf("use sim=%g or more", g.step*most/limit))
		return 1
	}
	return int32(r)
}
