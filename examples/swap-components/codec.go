package main

import (
	"encoding/binary"
	"errors"
	"slices"
	"unicode/utf8"
)

// A snapshot starts with its tick, and the distance to its baseline in ticks, 0 for no baseline. Then follows each
// entity that differs, ascending: the difference of its id from the previous one, and a byte. In the byte, a low bit
// means that the component follows, and the bit four higher that the component was removed. A 0 in place of an id
// ends the snapshot. Numbers are varints.

const (
	maxName = 32
	maxIDs  = 4096 // most entities that a client accepts
)

var errMalformed = errors.New("malformed snapshot")

// part handles one component in the codec: it compares and writes an entity's value relative to the baseline's, or
// reads it.
type part interface {
	ids(w *World) []uint32
	append(b []byte, now, base *World, id uint32) (out []byte, set, gone bool)
	read(b []byte, w *World, id uint32) ([]byte, error)
	remove(w *World, id uint32)
}

var parts = []part{
	partOf[Place]{func(w *World) *Column[Place] { return &w.Places },
		func(b []byte, v, was Place) []byte {
			return binary.AppendVarint(binary.AppendVarint(b, v.X-was.X), v.Y-was.Y)
		},
		func(b []byte, was Place) (v Place, rest []byte, err error) {
			dx, b, err := varint(b)
			if err != nil {
				return v, nil, err
			}
			dy, b, err := varint(b)
			return Place{was.X + dx, was.Y + dy}, b, err
		}},
	partOf[Course]{func(w *World) *Column[Course] { return &w.Courses },
		func(b []byte, v, _ Course) []byte {
			return binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(b, v.Heading), uint16(v.Speed))
		},
		func(b []byte, _ Course) (v Course, rest []byte, err error) {
			if len(b) < 4 {
				return v, nil, errMalformed
			}
			return Course{binary.BigEndian.Uint16(b), int16(binary.BigEndian.Uint16(b[2:]))}, b[4:], nil
		}},
	partOf[string]{func(w *World) *Column[string] { return &w.Names },
		func(b []byte, v, _ string) []byte {
			v = v[:min(len(v), maxName)]
			return append(append(b, byte(len(v))), v...)
		},
		func(b []byte, _ string) (v string, rest []byte, err error) {
			if len(b) == 0 || b[0] > maxName || len(b) < 1+int(b[0]) {
				return "", nil, errMalformed
			}
			if v = string(b[1 : 1+b[0]]); !utf8.ValidString(v) {
				return "", nil, errMalformed
			}
			return v, b[1+b[0]:], nil
		}},
}

// partOf is a component of type T, with functions to write and read a value relative to the baseline's, which is zero
// if there is none.
type partOf[T comparable] struct {
	column func(w *World) *Column[T]
	put    func(b []byte, v, was T) []byte
	get    func(b []byte, was T) (T, []byte, error)
}

func (p partOf[T]) ids(w *World) []uint32 { return p.column(w).ids }

func (p partOf[T]) append(b []byte, now, base *World, id uint32) (out []byte, set, gone bool) {
	v, was := p.column(now).Get(id), p.column(base).Get(id)
	switch {
	case v == nil:
		return b, false, was != nil
	case was == nil:
		return p.put(b, *v, *new(T)), true, false
	case *v == *was:
		return b, false, false
	}
	return p.put(b, *v, *was), true, false
}

func (p partOf[T]) read(b []byte, w *World, id uint32) ([]byte, error) {
	c := p.column(w)
	var was T
	if v := c.Get(id); v != nil {
		was = *v
	} else if c.Len() >= maxIDs {
		return nil, errMalformed
	}
	v, rest, err := p.get(b, was)
	if err == nil {
		c.Set(id, v)
	}
	return rest, err
}

func (p partOf[T]) remove(w *World, id uint32) { p.column(w).Remove(id) }

// encode appends a tick's state relative to an older one's, or to nothing if base is nil.
func encode(b []byte, tick uint32, now *World, baseTick uint32, base *World) []byte {
	b = binary.AppendUvarint(b, uint64(tick))
	if base == nil {
		base, baseTick = &World{}, tick
	}
	b = binary.AppendUvarint(b, uint64(tick-baseTick))
	last := uint32(0)
	for _, id := range entities(now, base) {
		head := binary.AppendUvarint(b, uint64(id-last))
		body, mask := append(head, 0), byte(0)
		for i, p := range parts {
			var set, gone bool
			if body, set, gone = p.append(body, now, base, id); set {
				mask |= 1 << i
			} else if gone {
				mask |= 1 << (4 + i)
			}
		}
		if mask != 0 {
			body[len(head)] = mask
			b, last = body, id
		}
	}
	return append(b, 0)
}

// entities returns the ids in either world, ascending.
func entities(a, b *World) (ids []uint32) {
	for _, p := range parts {
		ids = append(append(ids, p.ids(a)...), p.ids(b)...)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// decode reads a snapshot into an end's state and returns its tick. A snapshot that is malformed, or whose baseline
// is missing, changes nothing.
func decode(b []byte, e *end) (tick uint32, err error) {
	t, b, err := uvarint(b, 1<<32-1)
	if err != nil {
		return 0, err
	}
	age, b, err := uvarint(b, min(t, history-1))
	if err != nil || t == 0 {
		return 0, errMalformed
	}
	tick = uint32(t)
	var w World
	if age > 0 {
		base := e.at(tick - uint32(age))
		if base == nil {
			return 0, errMalformed
		}
		w.Copy(base)
	}
	if err := apply(&w, b); err != nil {
		return 0, err
	}
	*e.begin(tick) = w
	return tick, nil
}

// apply changes a baseline into the state of a snapshot.
func apply(w *World, b []byte) error {
	for id := uint64(0); ; {
		gap, rest, err := uvarint(b, 1<<32-1-id)
		switch {
		case err != nil:
			return err
		case gap == 0 && len(rest) == 0:
			return nil
		case gap == 0 || len(rest) == 0:
			return errMalformed
		}
		id += gap
		mask := rest[0]
		b = rest[1:]
		for i, p := range parts {
			if mask&(1<<i) != 0 {
				if b, err = p.read(b, w, uint32(id)); err != nil {
					return err
				}
			} else if mask&(1<<(4+i)) != 0 {
				p.remove(w, uint32(id))
			}
		}
	}
}

// uvarint reads a number of at most limit.
func uvarint(b []byte, limit uint64) (uint64, []byte, error) {
	v, n := binary.Uvarint(b)
	if n <= 0 || v > limit {
		return 0, nil, errMalformed
	}
	return v, b[n:], nil
}

func varint(b []byte) (int64, []byte, error) {
	v, n := binary.Varint(b)
	if n <= 0 {
		return 0, nil, errMalformed
	}
	return v, b[n:], nil
}
