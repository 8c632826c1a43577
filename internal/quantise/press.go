package quantise

import (
	"slices"
	"unsafe"
)

// Press lists the fields of a command that belong to the frame with the press.
type Press struct {
	fields   []place // fields has the fields tagged press that are not one-shots.
	triggers []place // triggers has the one-shots tagged press.
	all      []place // all has all one-shots.
}

// place is a field's place in memory.
type place struct{ offset, size uintptr }

func (f place) bytes(p unsafe.Pointer) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(p, f.offset)), f.size)
}

// Add adds a field, as its tag says.
func (p *Press) Add(oneshot, press bool, offset, size uintptr) {
	switch {
	case oneshot:
		p.all = append(p.all, place{offset, size})
		if press {
			p.triggers = append(p.triggers, place{offset, size})
		}
	case press:
		p.fields = append(p.fields, place{offset, size})
	}
}

// Pressed is [schema.Schema.Pressed].
func (s *Plan) Pressed(p unsafe.Pointer) bool {
	if s.via != nil {
		s = s.via.own
	}
	at := s.Press.triggers
	if len(at) == 0 {
		at = s.Press.all
	}
	return slices.ContainsFunc(at, func(f place) bool {
		return slices.ContainsFunc(f.bytes(p), func(b byte) bool { return b != 0 })
	})
}

// CopyPress is [schema.Schema.CopyPress].
func (s *Plan) CopyPress(dst, src unsafe.Pointer) bool {
	if s.via != nil {
		s = s.via.own
	}
	for _, f := range s.Press.fields {
		copy(f.bytes(dst), f.bytes(src))
	}
	return len(s.Press.fields)+len(s.Press.triggers) > 0
}
