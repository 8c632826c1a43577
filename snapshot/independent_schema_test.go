package snapshot_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
)

// indSchema is a second reader of schemas, written from docs/STANDARD-snapshot.md.
type indSchema struct {
	b   []byte
	out strings.Builder
}

func (d *indSchema) varint() uint64 {
	v, n := binary.Uvarint(d.b)
	d.b = d.b[n:]
	return v
}

func (d *indSchema) zigzag() int64 {
	v := d.varint()
	return int64(v>>1) ^ -int64(v&1)
}

func (d *indSchema) u8() byte {
	v := d.b[0]
	d.b = d.b[1:]
	return v
}

func (d *indSchema) text() string {
	n := d.varint()
	s := string(d.b[:n])
	d.b = d.b[n:]
	return s
}

func (d *indSchema) f64() float64 {
	v := math.Float64frombits(binary.LittleEndian.Uint64(d.b))
	d.b = d.b[8:]
	return v
}

// independentSchema describes a registry that uses the built-in tables.
func independentSchema(b []byte) (text string, err error) {
	d := &indSchema{b: b}
	defer func() {
		if recover() != nil {
			err = errors.New("malformed")
		}
	}()
	if d.u8() != 1 || d.varint() != 0 {
		return "", errors.New("head")
	}
	d.b = d.b[8:]
	n := d.varint()
	var names []string
	var zeros [][]int32
	for range n {
		name, zero := d.component()
		names, zeros = append(names, name), append(zeros, zero)
	}
	for range d.varint() {
		fmt.Fprintf(&d.out, "prefab %s", d.text())
		var mask indSet
		for at, more := 0, true; more; at += 7 {
			b := d.u8()
			for i := range 7 {
				if b>>i&1 != 0 {
					mask[at+i] = true
				}
			}
			more = b >= 128
		}
		var words []int32
		for c := range names {
			if mask[c] {
				words = append(words, zeros[c]...)
			}
		}
		at := -1
		for skip := d.varint(); skip != 0; skip = d.varint() {
			at += int(skip)
			words[at] = int32(d.zigzag())
		}
		for c := range names {
			if mask[c] {
				n := len(zeros[c])
				fmt.Fprintf(&d.out, " %s=%v", names[c], words[:n])
				words = words[n:]
			}
		}
		d.out.WriteString("\n")
	}
	if len(d.b) > 0 {
		return "", errors.New("length")
	}
	return d.out.String(), nil
}

func (d *indSchema) component() (name string, zero []int32) {
	name = d.text()
	fmt.Fprintf(&d.out, "component %s predicted=%t\n", name, d.u8() == 1)
	before, vec, vecs, elems, most := "", 0, 0, 0, 0
	var element []int32
	var lines, names []string
	var speeds []int
	for range d.varint() {
		same := d.varint()
		before = before[:same] + d.text()
		sort, flags := d.u8(), d.u8()
		way := sort >> 5
		sort &= 31
		names = append(names, before)
		if flags&64 != 0 {
			vec++
		}
		aud := byte(0)
		if flags&128 != 0 {
			aud = d.u8()
		}
		var words []int32
		line, ending := d.field(sort, flags, &words)
		if sort == 18 {
			most, elems, element, vecs = int(d.varint()), int(d.varint()), nil, 0
			line += fmt.Sprintf(" max=%d", most)
		}
		line = fmt.Sprintf("%s.%s %s", name, before, line)
		if flags&32 != 0 {
			line += fmt.Sprintf(" vec=%d", vec)
		}
		if aud != 0 {
			line += fmt.Sprintf(" to=%d", aud)
		}
		if flags&8 != 0 {
			line += fmt.Sprintf(" tol=%g", d.f64())
		}
		line += ending
		if way == 4 == (flags&4 != 0) && way != 0 {
			panic("a way of what holds")
		}
		for i, flag := range []string{"owner", "oneshot", []string{"lerp", "slerp", "hermite", "hermite", "sum"}[way]} {
			if flags>>i&1 != 0 || flag == "sum" {
				line += " " + flag
			}
		}
		speed := -1
		if way == 3 {
			speed = int(d.varint())
		}
		lines, speeds = append(lines, line), append(speeds, speed)
		zero = append(zero, words...)
		if sort != 18 && elems > 0 { // a field of a slice's first element, which stands for the others
			element = append(element, words...)
			if flags&64 != 0 {
				vecs++
			}
			if elems--; elems == 0 {
				for range most - 1 {
					zero = append(zero, element...)
				}
				vec += (most - 1) * vecs
			}
		}
	}
	for i, line := range lines {
		if speeds[i] >= 0 {
			line += "=" + names[speeds[i]]
		}
		d.out.WriteString(line + "\n")
	}
	return name, zero
}

// field reads what follows a field's flags; its words are those of the zero value.
func (d *indSchema) field(sort, flags byte, words *[]int32) (line, ending string) {
	typ := []string{"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "float32", "float64", "float32", "float64", "", "", "string", ""}[sort]
	if flags&16 != 0 {
		typ = d.text()
	}
	*words = []int32{0}
	ranged := func(lo, hi int64) { line = fmt.Sprintf(" lo=%d hi=%d", lo, hi) }
	switch {
	case sort == 0:
		ranged(0, 1)
	case sort <= 8:
		lo, hi := d.zigzag(), d.zigzag()
		v := min(max(lo, 0), hi)
		*words = []int32{int32(v)}
		if lo >= math.MinInt32 && hi <= math.MaxInt32 || lo >= 0 && hi <= math.MaxUint32 {
			ranged(lo, hi)
		} else {
			*words = append(*words, int32(v>>32))
			if sort == 4 {
				ranged(lo, hi)
			}
		}
	case sort == 10:
		*words = []int32{0, 0}
	case sort == 11 || sort == 12:
		lo, hi := d.zigzag(), d.zigzag()
		ranged(lo, hi)
		step := d.f64()
		ratio := int64(d.varint())
		(*words)[0] = int32(min(max(lo*ratio, 0), hi*ratio))
		line += fmt.Sprintf(" step=%g ratio=%d", step, ratio)
	case sort == 13 || sort == 14:
		n := d.u8()
		ranged(-1<<(n-1), 1<<(n-1)-1)
		line += fmt.Sprintf(" step=%g ratio=%d", 2*math.Pi/float64(int64(1)<<n), d.varint())
		ending = " angle"
	case sort == 15:
		ending = " ref"
	case sort == 16:
		n := d.u8()
		d.u8()
		line = fmt.Sprintf(" bits=%d ratio=%d", n, d.varint())
		ending = " quat"
		*words = []int32{3, 0, 0, 0}
	case sort == 17:
		most := d.varint()
		*words = make([]int32, 1+(most+3)/4)
		line = fmt.Sprintf(" max=%d", most)
	}
	return fmt.Sprintf("%s words=%d%s", typ, len(*words), line), ending
}
