package snapshot

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// tag is a parsed `net` tag.
type tag struct {
	min, max, step, sim, tol                 float64
	hasMin, hasMax, hasStep, hasSim, hasBits bool
	bits                                     int
	angle, quat, vec                         bool
	owner, oneshot, lerp, snap, skip         bool
}

func (t *tag) numeric() bool {
	return t.hasMin || t.hasMax || t.hasStep || t.hasSim || t.hasBits || t.angle || t.quat || t.vec || t.tol != 0
}

// parseTag reads a tag; the error is a problem and a fix.
func parseTag(s string) (t tag, problem, fix string) {
	if s == "" {
		return t, "", ""
	}
	for item := range strings.SplitSeq(s, ",") {
		key, value, hasValue := strings.Cut(strings.TrimSpace(item), "=")
		if problem, fix = t.item(key, value, hasValue); problem != "" {
			return t, problem, fix
		}
	}
	if t.lerp && t.snap {
		return t, "lerp and snap exclude each other", "keep one of them"
	}
	return t, "", ""
}

func (t *tag) item(key, value string, hasValue bool) (problem, fix string) {
	flags := map[string]*bool{"angle": &t.angle, "quat": &t.quat, "vec": &t.vec, "owner": &t.owner, "oneshot": &t.oneshot, "lerp": &t.lerp, "snap": &t.snap, "-": &t.skip}
	if f := flags[key]; f != nil {
		if hasValue {
			return fmt.Sprintf("%s takes no value", key), "write `" + key + "` alone"
		}
		*f = true
		return "", ""
	}
	numbers := map[string]struct {
		v   *float64
		has *bool
	}{"min": {&t.min, &t.hasMin}, "max": {&t.max, &t.hasMax}, "step": {&t.step, &t.hasStep}, "sim": {&t.sim, &t.hasSim}, "tol": {&t.tol, new(bool)}, "bits": {new(float64), &t.hasBits}}
	n, ok := numbers[key]
	if !ok {
		return fmt.Sprintf("unknown item %q", key), "use min, max, step, sim, angle, bits, quat, vec, owner, oneshot, tol, lerp, snap or -"
	}
	v, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return fmt.Sprintf("%s=%q is not a number", key, value), "write " + key + "=1.5"
	}
	if *n.has {
		return key + " is given twice", "keep one of them"
	}
	*n.v, *n.has = v, true
	switch key {
	case "step", "sim":
		if v <= 0 {
			return key + " must be positive", "write " + key + "=0.01"
		}
	case "tol":
		if v < 0 {
			return "tol must not be negative", "write tol=0.01, or leave it out"
		}
	case "bits":
		t.bits = int(v)
		if float64(t.bits) != v || t.bits < 2 || t.bits > maxAngleBits {
			return "bits=" + value + " is out of range", fmt.Sprintf("use a whole number from 2 to %d", maxAngleBits)
		}
	}
	return "", ""
}

// inherit gives a member of a vector what the vector's tag says of all.
func (t *tag) inherit(outer *tag) (problem, fix string) {
	if t.numeric() {
		return "is part of a vector", "give the range once, at the vector"
	}
	keep := *t
	*t = *outer
	t.vec, t.skip = false, keep.skip
	t.owner = keep.owner || outer.owner
	t.oneshot = keep.oneshot || outer.oneshot
	if keep.lerp || keep.snap {
		t.lerp, t.snap = keep.lerp, keep.snap
	}
	return "", ""
}
