package ecs

import (
	"encoding/binary"
	"reflect"
	"unsafe"
)

// numberRun is a row of adjacent numbers of one size.
type numberRun struct {
	from uintptr
	n    int
	size uint8 // size is 1, 2, 4 or 8 bytes in memory.
	wide bool  // wide is true for int, uint and uintptr, which are hashed as 8 bytes.
	sign bool  // sign is true if negative numbers keep their sign when widened.
}

// little is true if this machine stores the lowest byte first.
var little = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// valueRuns lists the numbers in a type without pointers, in the order of its fields.
func valueRuns(t reflect.Type) (out []numberRun) {
	eachValue(t, 0, func(t reflect.Type, at uintptr) {
		switch t.Kind() {
		case reflect.Complex64, reflect.Complex128:
			half := t.Size() / 2
			out = addRun(addRun(out, numberRun{at, 1, uint8(half), false, false}), numberRun{at + half, 1, uint8(half), false, false})
		default:
			sign := t.Kind() == reflect.Int
			out = addRun(out, numberRun{at, 1, uint8(t.Size()), sign || t.Kind() == reflect.Uint || t.Kind() == reflect.Uintptr, sign})
		}
	})
	return out
}

func addRun(out []numberRun, r numberRun) []numberRun {
	if n := len(out); n > 0 {
		last := &out[n-1]
		if last.size == r.size && last.wide == r.wide && last.sign == r.sign && last.from+uintptr(last.n)*uintptr(last.size) == r.from {
			last.n++
			return out
		}
	}
	return append(out, r)
}

// sameInMemory reports whether a hash counts a value's numbers with the bytes that they have in memory.
func sameInMemory(runs []numberRun) bool {
	for _, r := range runs {
		if r.wide && r.size != 8 {
			return false
		}
	}
	return little
}

// hash folds a value into h: the bytes of its numbers, lowest first, one after the other,
// so that machines with another order of bytes or another padding agree.
func (d *typeData) hash(h uint64, p unsafe.Pointer) uint64 {
	one := [1]uint64{h}
	d.hashColumn(one[:], p, 0)
	return one[0]
}

// hashColumn folds the values of a column into the hashes of their rows. salt distinguishes the column from
// others.
func (d *typeData) hashColumn(rows []uint64, column unsafe.Pointer, salt uint64) {
	salt = mix(uint64(d.length), hashSeed+salt)
	switch {
	case !d.plain:
		for i := range rows {
			rows[i] = mix(rows[i]^salt, 1)
		}
		return
	case !d.direct:
		for i := range rows {
			rows[i] = d.hashRuns(rows[i]^salt, unsafe.Add(column, uintptr(i)*d.size))
		}
		return
	}
	for i := range rows {
		h, word := rows[i]^salt, uint64(0)
		for k := range d.pieces {
			c := &d.pieces[k]
			at := unsafe.Add(column, uintptr(i)*d.size+c.from)
			if c.words > 0 {
				for n := range uintptr(c.words) {
					h = mix(h, binary.LittleEndian.Uint64((*[8]byte)(unsafe.Add(at, 8*n))[:]))
				}
				continue
			}
			switch c.size {
			case 1:
				word |= uint64(*(*uint8)(at)) << c.shift
			case 2:
				word |= uint64(binary.LittleEndian.Uint16((*[2]byte)(at)[:])) << c.shift
			default:
				word |= uint64(binary.LittleEndian.Uint32((*[4]byte)(at)[:])) << c.shift
			}
			if c.last {
				h, word = mix(h, word), 0
			}
		}
		rows[i] = h
	}
}

// piece is a part of a value that is hashed as the bytes in memory.
type piece struct {
	from uintptr
	// words is a number of whole words, one after the other. 0 means that the piece is a part of a word.
	words int32
	size  uint8 // size is the size of a part of a word: 1, 2 or 4 bytes.
	shift uint8 // shift is the place of the part's lowest bit in the word that is hashed.
	last  bool  // last is true if the part completes its word.
}

// pieces divides the bytes that hold values into the words that hashRuns makes of them.
func pieces(spans []span) (out []piece) {
	have := uintptr(0) // bytes in the word
	for _, s := range spans {
		for from := s.from; from < s.to; {
			left := s.to - from
			if n := left / 8; have == 0 && n > 0 {
				out = append(out, piece{from: from, words: int32(n)})
				from += 8 * n
				continue
			}
			size := min(left, 8-have)
			for size&(size-1) != 0 {
				size &= size - 1 // round down to a power of two
			}
			out = append(out, piece{from: from, size: uint8(size), shift: uint8(8 * have)})
			from, have = from+size, (have+size)%8
			out[len(out)-1].last = have == 0
		}
	}
	if have > 0 {
		out[len(out)-1].last = true
	}
	return out
}

func (d *typeData) hashRuns(h uint64, p unsafe.Pointer) uint64 {
	var word uint64
	var have uint // bytes in word
	for _, r := range d.runs {
		bytes := uint(r.size)
		if r.wide {
			bytes = 8
		}
		for i := range r.n {
			v := r.loadNumber(unsafe.Add(p, r.from+uintptr(i)*uintptr(r.size)))
			word |= v << (have * 8)
			if have += bytes; have >= 8 {
				h = mix(h, word)
				have -= 8
				word = v >> ((bytes - have) * 8) // 0 if the number fitted exactly
			}
		}
	}
	if have > 0 {
		h = mix(h, word)
	}
	return h
}

// loadNumber returns a number; signed ones of an int keep their sign.
func (r *numberRun) loadNumber(p unsafe.Pointer) uint64 {
	switch r.size {
	case 1:
		return uint64(*(*uint8)(p))
	case 2:
		return uint64(*(*uint16)(p))
	case 4:
		if v := *(*uint32)(p); !r.sign {
			return uint64(v)
		} else {
			return uint64(int32(v))
		}
	}
	return *(*uint64)(p)
}

// canonical prepares a type without pointers for hashing.
func (d *typeData) canonical() {
	d.runs = valueRuns(d.rtype)
	for _, r := range d.runs {
		if r.wide {
			d.length += 8 * r.n
		} else {
			d.length += int(r.size) * r.n
		}
	}
	if d.direct = sameInMemory(d.runs); d.direct {
		d.pieces = pieces(d.spans)
	}
}
