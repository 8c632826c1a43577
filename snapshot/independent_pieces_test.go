package snapshot_test

import (
	"fmt"
	"maps"
	"slices"
)

// indParts is a record of which the second reader has read some pieces.
type indParts struct {
	pin  uint32
	born uint32
	kind int
	v    indValue
	got  map[int]bool
}

// pieces reads the records in pieces of the message of tick t.
func (d *independent) pieces(t uint32) {
	for range d.golomb() + 1 {
		wire := d.golomb() + 1
		pin := t - uint32(d.golomb())
		for range d.golomb() + 1 {
			from := d.golomb()
			d.piece(wire, pin, from, from+d.golomb()+1)
		}
	}
}

// piece reads the units of a record from a number up to another.
func (d *independent) piece(wire int, pin uint32, from, end int) {
	d.endGroup()
	defer d.endGroup()
	v, kind, born, base := d.head(pin)
	d.shape(&v)
	d.log = append(d.log, fmt.Sprintf("piece of wire %d in %d: units %d to %d", wire, pin, from, end-1))
	p := d.parts[wire]
	if p == nil || p.pin < pin {
		p = &indParts{pin: pin, born: born, kind: kind, v: v, got: map[int]bool{}}
		p.v.tick, p.v.words = pin, map[int][]int32{}
		d.parts[wire] = p
	}
	known := p.pin == pin
	if !known {
		p = &indParts{v: indValue{words: map[int][]int32{}}, got: map[int]bool{}}
	}
	at := 0
	for c := range d.comps[0] {
		if !v.mask[c] {
			continue
		}
		k := d.comps[v.class&1][c].as(v.class)
		b := base[c]
		if b == nil {
			b = k.zero()
			for i := range b {
				if _, ok := k.sent[i]; !ok {
					b[i] = 0
					if k.quat[i] {
						b[i] = 3
					}
				}
			}
		}
		if p.v.words[c] == nil {
			p.v.words[c] = slices.Clone(b)
		}
		firsts := k.firsts()
		if lo, hi := max(from-at, 0), min(end-at, len(firsts)); lo < hi {
			d.surprise = noSurprise
			d.pieceOf(k, firsts, lo, hi, [3][]int32{b}, p.v.words[c])
		}
		at += len(firsts)
	}
	for i := from; i < end; i++ {
		p.got[i] = true
	}
	if end > at {
		panic(errIndependent)
	}
	if !known || len(p.got) < at {
		return
	}
	for c, words := range p.v.words {
		k := d.comps[v.class&1][c].as(v.class)
		for i, l := range k.list {
			if _, ok := k.sent[i]; ok {
				n := i + 1 + int(words[i])*l.words
				z := k.zero()
				for j := range z {
					if _, ok := k.sent[j]; !ok && !k.quat[j] {
						z[j] = 0
					}
				}
				copy(words[n:i+1+l.most*l.words], z[n:])
			}
		}
	}
	g := d.ghosts[wire]
	if g == nil || g.born != p.born {
		g = &indGhost{born: p.born, kind: p.kind}
		d.ghosts[wire] = g
	}
	i, there := slices.BinarySearchFunc(g.vals, pin, func(v indValue, t uint32) int { return int(v.tick) - int(t) })
	if there {
		return
	}
	g.vals = slices.Insert(g.vals, i, p.v)
	d.note(fmt.Sprintf("whole in %d: wire", pin), wire, g, p.v)
}

// firsts returns the first word of each unit, with the elements of slices one by one.
func (k indComponent) firsts() (out []int) {
	for i := 0; i < k.n; {
		if _, ok := k.sent[i]; ok {
			out = append(out, i)
		}
		if k.list[i].most > 0 {
			i++
		} else {
			i = k.end(i)
		}
	}
	return out
}

// pieceOf reads the units of a component from lo up to hi.
func (d *independent) pieceOf(k indComponent, firsts []int, lo, hi int, from [3][]int32, out []int32) {
	end, next := 0, 0 // the words behind the slice's last element that is there, and behind the slice
	enter := func(i int) {
		out[i] = d.word(k.sent[i], 0, i, from, [3]uint32{})
		l := k.list[i]
		end, next = i+1+int(out[i])*l.words, i+1+l.most*l.words
	}
	for _, i := range slices.Sorted(maps.Keys(k.list)) {
		if _, ok := k.sent[i]; ok && i < firsts[lo] && firsts[lo] < k.end(i) {
			enter(i)
		}
	}
	for _, i := range firsts[lo:hi] {
		switch {
		case i >= end && i < next:
		case k.list[i].most > 0:
			enter(i)
		default:
			d.units(k, 0, i, k.end(i), from, [3]uint32{}, out)
		}
	}
}
