package schema

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/foretick/foretick/internal/quantise"
)

// tag is a parsed `net` tag.
type tag struct {
	min, max, step, sim, tol, extrapolate    float64
	hasMin, hasMax, hasStep, hasSim, hasBits bool
	bits                                     int
	angle, quat, vec                         bool
	owner, allies, enemies                   bool
	oneshot, sum, press, skip                bool
	snap, lerp, slerp, hermite               bool
	// velocity is the field that hermite names, in the same struct.
	velocity string
	// at and beside are, for hermite, the paths of the tagged field and of its struct.
	at, beside string
	to         []string // to has the game-defined audiences.
	elem       string   // elem is the tag of a slice's elements.
	hasElem    bool
}

func (t *tag) numeric() bool {
	return t.hasElem || t.hasMin || t.hasMax || t.hasStep || t.hasSim || t.hasBits || t.angle || t.quat || t.vec || t.tol != 0
}

// tagFault is a fault in a tag.
type tagFault struct{ problem, fix string }

// parseTag reads a tag, and returns all faults that it has by itself.
func parseTag(s string) (t tag, faults []tagFault) {
	s, t.elem, t.hasElem = strings.Cut(s, ";")
	if s == "" {
		return t, nil
	}
	for item := range strings.SplitSeq(s, ",") {
		key, value, hasValue := strings.Cut(strings.TrimSpace(item), "=")
		if problem, fix := t.item(key, value, hasValue); problem != "" {
			faults = append(faults, tagFault{problem, fix})
		}
	}
	var how []string
	for i, on := range [...]bool{t.lerp, t.slerp, t.hermite, t.snap} {
		if on {
			how = append(how, [...]string{"lerp", "slerp", "hermite", "snap"}[i])
		}
	}
	if len(how) > 1 {
		faults = append(faults, tagFault{strings.Join(how, " and ") + " exclude each other", "keep one of them"})
	}
	return t, faults
}

// how returns the interpolation that the tag names.
func (t *tag) how() quantise.Interpolation {
	switch {
	case t.lerp:
		return quantise.Lerp
	case t.slerp:
		return quantise.Slerp
	case t.hermite:
		return quantise.Hermite
	}
	return quantise.Snap
}

// moveAs takes the interpolation of an outer tag over, unless it names one itself.
func (t *tag) moveAs(outer *tag) {
	if !t.snap && t.how() == quantise.Snap {
		t.snap, t.lerp, t.slerp, t.hermite = outer.snap, outer.lerp, outer.slerp, outer.hermite
		t.velocity, t.at, t.beside = outer.velocity, outer.at, outer.beside
	}
}

// act sets oneshot, sum and press if the field's own tag or an outer one has them.
func (t *tag) act(own, outer *tag) {
	t.oneshot, t.sum, t.press = own.oneshot || outer.oneshot, own.sum || outer.sum, own.press || outer.press
}

func (t *tag) item(key, value string, hasValue bool) (problem, fix string) {
	flags := map[string]*bool{"angle": &t.angle, "quat": &t.quat, "vec": &t.vec, "owner": &t.owner, "allies": &t.allies, "enemies": &t.enemies, "oneshot": &t.oneshot, "sum": &t.sum, "press": &t.press, "lerp": &t.lerp, "slerp": &t.slerp, "snap": &t.snap, "-": &t.skip}
	if key == "hermite" {
		if t.hermite = true; hasValue && value == "" {
			return "hermite names no field", "write hermite=VX, the field beside it that holds its velocity in units a second, or hermite alone"
		}
		t.velocity = value
		return "", ""
	}
	if f := flags[key]; f != nil {
		if hasValue {
			return fmt.Sprintf("%s takes no value", key), "write `" + key + "` alone"
		}
		*f = true
		return "", ""
	}
	if key == "to" {
		if value == "" {
			return "to names no Audience", "write to=spectators, the name of one of the game's own"
		}
		t.to = append(t.to, value)
		return "", ""
	}
	numbers := map[string]struct {
		v   *float64
		has *bool
	}{"min": {&t.min, &t.hasMin}, "max": {&t.max, &t.hasMax}, "step": {&t.step, &t.hasStep}, "sim": {&t.sim, &t.hasSim}, "tol": {&t.tol, new(bool)}, "bits": {new(float64), &t.hasBits}, "extrapolate": {&t.extrapolate, new(bool)}}
	n, ok := numbers[key]
	if !ok {
		return fmt.Sprintf("unknown item %q", key), "use min, max, step, sim, angle, bits, quat, vec, owner, allies, enemies, to, oneshot, sum, press, tol, lerp, slerp, hermite, extrapolate, snap or -"
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
	case "extrapolate":
		if !(v > 0 && v <= 1000) {
			return "extrapolate=" + value + " is out of range", "write for how many ticks, as in extrapolate=3"
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

// audible reports whether the tag names an audience.
func (t *tag) audible() bool { return t.owner || t.allies || t.enemies || len(t.to) > 0 }

// audience is the set of classes that the tag names.
func (t *tag) audience(names []string) (a quantise.Audience, problem, fix string) {
	for i, on := range [...]bool{t.owner, t.allies, t.enemies} {
		if on {
			a |= quantise.ToOwner << i
		}
	}
	for _, name := range t.to {
		i := slices.Index(names, name)
		if i < 0 {
			return 0, fmt.Sprintf("there is no Audience %q", name), "declare it before the component: SchemaOptions.Audiences, or Protocol.Audience"
		}
		a |= quantise.FirstOwn << i
	}
	return a, "", ""
}

// inherit copies a vector's tag to a member.
func (t *tag) inherit(outer *tag) (problem, fix string) {
	if t.numeric() {
		return "is part of a vector", "give the range once, at the vector"
	}
	keep := *t
	*t = *outer
	t.vec, t.skip = false, keep.skip
	if keep.audible() {
		t.owner, t.allies, t.enemies, t.to = keep.owner, keep.allies, keep.enemies, keep.to
	}
	t.act(&keep, outer)
	keep.moveAs(outer)
	t.snap, t.lerp, t.slerp, t.hermite, t.velocity, t.at, t.beside = keep.snap, keep.lerp, keep.slerp, keep.hermite, keep.velocity, keep.at, keep.beside
	return "", ""
}
