package schema

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/foretick/foretick/internal/quantise"
)

// ErrTables says that a schema was written by a version of this package with other
// built-in tables: its snapshots cannot be read.
var ErrTables = fmt.Errorf("%w: the schema rests on built-in tables of another version", ErrMalformed)

// ReadRegistry reads the bytes of [Registry.AppendSchema]; nothing may follow them. The
// schemas are like those of [Read]. Every claim in b is checked before it is used. The
// error is [ErrMalformed] or [ErrTables].
func ReadRegistry(b []byte) (*Registry, error) {
	r := schemaReader{b: b}
	reg := NewRegistry()
	if v := r.byte(); v != Version && r.fault == "" {
		return nil, malformed(fmt.Sprintf("schema of version %d: this is version %d", v, Version))
	}
	if err := r.tables(reg); err != nil {
		return nil, err
	}
	for range r.uint(maxComponents, "number of components") {
		s := r.schema()
		if r.fault != "" {
			break
		}
		if _, err := reg.Component(s); err != nil {
			r.failAt("component's name")
		}
	}
	words := 0
	for range r.uint(maxPrefabs, "number of prefabs") {
		if r.fault != "" {
			break
		}
		r.kind(reg, &words)
	}
	if r.fault == "" && len(r.b) > 0 {
		r.failAt("length")
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	return reg, nil
}

func (r *schemaReader) tables(reg *Registry) error {
	b := r.takeBytes(int(r.uint(maxReadTables, "tables")))
	h := r.takeBytes(8)
	if r.fault != "" {
		return r.err()
	}
	if len(b) > 0 {
		if err := reg.UseTables(b); err != nil {
			return malformed("tables")
		}
	}
	if reg.plan.Tables.Hash != binary.LittleEndian.Uint64(h) {
		return ErrTables
	}
	return nil
}

func (r *schemaReader) kind(reg *Registry, words *int) {
	name := r.readText("prefab's name")
	mask := r.mask(len(reg.plan.Comps))
	n := reg.plan.WordsOf(mask)
	if *words += n; *words > maxReadPrefabWords || n > maxPrefabWords || name == "" || reg.names["k "+name] {
		r.failAt("prefab")
	}
	if r.fault != "" {
		return
	}
	set := r.defaults(reg, mask, n)
	reg.names["k "+name] = true
	reg.plan.AddLate(name, mask, set)
}

// defaults reads those of a prefab's n default words that differ from zero values.
func (r *schemaReader) defaults(reg *Registry, mask Mask, n int) (set []quantise.WordDefault) {
	comp, first := -1, 0 // the component that the word is of, and its first word
	var s *Schema
	began := 0 // the length of set when the component began
	for at := 0; ; at++ {
		skip := int(r.uint(uint64(n), "default"))
		if skip == 0 {
			r.checkSound(s, set[began:], first)
			return set
		}
		if at += skip - 1; at >= n {
			r.failAt("default")
			return nil
		}
		for s == nil || at >= first+s.plan.Words {
			if s != nil {
				r.checkSound(s, set[began:], first)
				first += s.plan.Words
			}
			comp, began = comp+1, len(set)
			for !mask.Has(comp) {
				comp++
			}
			s = reg.Schemas[comp]
		}
		w := int32(r.int(math.MinInt32, math.MaxInt32, "default"))
		if r.fault != "" || w == s.plan.Zero[quantise.ToOwner][at-first] || !r.holds(s, at-first, w) {
			r.failAt("default")
			return nil
		}
		set = append(set, quantise.WordDefault{At: int32(at), Word: w})
	}
}

// checkSound refuses a component's defaults if their strings or slices are not valid.
func (r *schemaReader) checkSound(s *Schema, set []quantise.WordDefault, first int) {
	if len(set) == 0 || !s.plan.Varying {
		return
	}
	r.whole = append(r.whole[:0], s.plan.Zero[quantise.ToOwner]...)
	for _, x := range set {
		r.whole[int(x.At)-first] = x.Word
	}
	if !s.plan.Sound(r.whole) {
		r.failAt("default")
	}
}

// holds reports whether a schema allows a word on the simulation grid.
func (r *schemaReader) holds(s *Schema, word int, v int32) bool {
	i, ok := slices.BinarySearchFunc(s.plan.Leaves, word, func(l quantise.Leaf, word int) int { return l.Word - word })
	if !ok {
		i--
	}
	g := quantise.GridPublic
	if s.plan.Classes&quantise.ToOwner != 0 {
		g = quantise.GridSim
	}
	r.codes = s.plan.Leaves[i].WordCodes(r.codes[:0], g)
	for j := range r.codes {
		if c := &r.codes[j]; c.Word == word {
			return c.Holds(v)
		}
	}
	return false
}
