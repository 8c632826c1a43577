package snapshot

import "unsafe"

// press is what of a command belongs to the frame in which it was pressed.
type press struct {
	fields   []place   // tagged press
	triggers []uintptr // one-shots tagged press
	all      []uintptr // every one-shot
}

// place is where a field lies in memory.
type place struct{ offset, size uintptr }

// add takes a field in, as its tag says.
func (p *press) add(g tag, offset, size uintptr) {
	switch {
	case g.oneshot:
		p.all = append(p.all, offset)
		if g.press {
			p.triggers = append(p.triggers, offset)
		}
	case g.press:
		p.fields = append(p.fields, place{offset, size})
	}
}

// Pressed reports whether a command has a one-shot set that counts as a press: one
// of those tagged press, or where none is, any.
func (s *Schema) Pressed(p unsafe.Pointer) bool {
	if s.via != nil {
		s = s.via.own
	}
	at := s.press.triggers
	if len(at) == 0 {
		at = s.press.all
	}
	for _, offset := range at {
		if *(*bool)(unsafe.Add(p, offset)) {
			return true
		}
	}
	return false
}

// CopyPress copies the fields tagged press, one-shots excepted, from src to dst. It
// returns false, and copies nothing, where nothing is tagged, no one-shot either.
func (s *Schema) CopyPress(dst, src unsafe.Pointer) bool {
	if s.via != nil {
		s = s.via.own
	}
	for _, f := range s.press.fields {
		copy(unsafe.Slice((*byte)(unsafe.Add(dst, f.offset)), f.size), unsafe.Slice((*byte)(unsafe.Add(src, f.offset)), f.size))
	}
	return len(s.press.fields)+len(s.press.triggers) > 0
}
