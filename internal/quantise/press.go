package quantise

import "unsafe"

// Press lists the fields of a command that belong to the frame with the press.
type Press struct {
	fields   []place   // fields has the fields tagged press that are not one-shots.
	triggers []uintptr // triggers has the offsets of one-shots tagged press.
	all      []uintptr // all has the offsets of all one-shots.
}

// place is a field's place in memory.
type place struct{ offset, size uintptr }

// Add adds a field, as its tag says.
func (p *Press) Add(oneshot, press bool, offset, size uintptr) {
	switch {
	case oneshot:
		p.all = append(p.all, offset)
		if press {
			p.triggers = append(p.triggers, offset)
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
	for _, offset := range at {
		if *(*bool)(unsafe.Add(p, offset)) {
			return true
		}
	}
	return false
}

// CopyPress is [schema.Schema.CopyPress].
func (s *Plan) CopyPress(dst, src unsafe.Pointer) bool {
	if s.via != nil {
		s = s.via.own
	}
	for _, f := range s.Press.fields {
		copy(unsafe.Slice((*byte)(unsafe.Add(dst, f.offset)), f.size), unsafe.Slice((*byte)(unsafe.Add(src, f.offset)), f.size))
	}
	return len(s.Press.fields)+len(s.Press.triggers) > 0
}
