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
	size uint8 // 1, 2, 4 or 8 bytes in memory
	wide bool  // int, uint or uintptr: hashed as 8 bytes
	sign bool  // negative numbers keep their sign when widened
}

// little is whether this machine stores the lowest byte first.
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

// sameInMemory reports whether the bytes of a value without padding are those that a hash
// counts.
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
	if !d.plain {
		return mix(h, 1)
	}
	if !d.direct {
		return d.hashRuns(h, p)
	}
	b := unsafe.Slice((*byte)(p), d.size)
	h = mix(h, uint64(d.size))
	for ; len(b) >= 8; b = b[8:] {
		h = mix(h, binary.LittleEndian.Uint64(b))
	}
	if len(b) > 0 {
		var tail [8]byte
		copy(tail[:], b)
		h = mix(h, binary.LittleEndian.Uint64(tail[:]))
	}
	return h
}

func (d *typeData) hashRuns(h uint64, p unsafe.Pointer) uint64 {
	h = mix(h, uint64(d.length))
	var word uint64
	var have uint // bytes in word
	for _, r := range d.runs {
		bytes := uint(r.size)
		if r.wide {
			bytes = 8
		}
		for i := range r.n {
			v := r.load(unsafe.Add(p, r.from+uintptr(i)*uintptr(r.size)))
			word |= v << (have * 8)
			if have += bytes; have >= 8 {
				h = mix(h, word)
				have -= 8
				word = v >> ((bytes - have) * 8) // nothing where the number fitted exactly
			}
		}
	}
	if have > 0 {
		h = mix(h, word)
	}
	return h
}

// load returns a number; signed ones of an int keep their sign.
func (r *numberRun) load(p unsafe.Pointer) uint64 {
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
	d.direct = d.solid && sameInMemory(d.runs)
}
