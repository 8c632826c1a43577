package snapshot

import (
	"reflect"
	"strconv"
	"unsafe"
)

// copyPlan is how a value that holds strings and slices is copied: the bytes between
// them, the strings, whose bytes never change and are shared, and the slices, whose
// elements are copied.
type copyPlan struct {
	spans []bytesSpan
	texts []uintptr // offsets
	lists []*list

	pointers []string // paths of pointers that are neither strings nor slices of a schema
}

type bytesSpan struct{ from, size uintptr }

// sliceHeader is how a slice lies in memory.
type sliceHeader struct {
	data     unsafe.Pointer
	len, cap int
}

// add adds a type at an offset, and notes pointers that are neither strings nor
// any of the slices, which a schema knows; of an array's, those of one element.
func (p *copyPlan) add(t reflect.Type, at uintptr, path string, lists []list) {
	switch t.Kind() {
	case reflect.String:
		p.texts = append(p.texts, at)
		return
	case reflect.Slice:
		for i := range lists {
			if lists[i].offset == at && lists[i].typ == t {
				p.lists = append(p.lists, &lists[i])
				return
			}
		}
		p.pointers = append(p.pointers, path)
		return
	case reflect.Pointer, reflect.Map, reflect.Chan, reflect.Func, reflect.Interface, reflect.UnsafePointer:
		p.pointers = append(p.pointers, path)
		return
	case reflect.Array:
		for i, told := 0, len(p.pointers); i < t.Len() && len(p.pointers) == told; i++ {
			p.add(t.Elem(), at+uintptr(i)*t.Elem().Size(), path+"["+strconv.Itoa(i)+"]", lists)
		}
		return
	case reflect.Struct:
		for i := range t.NumField() {
			f, name := t.Field(i), t.Field(i).Name
			if path != "" {
				name = path + "." + name
			}
			p.add(f.Type, at+f.Offset, name, lists)
		}
		return
	}
	if n := len(p.spans); n > 0 && p.spans[n-1].from+p.spans[n-1].size == at {
		p.spans[n-1].size += t.Size()
	} else if t.Size() > 0 {
		p.spans = append(p.spans, bytesSpan{at, t.Size()})
	}
}

// copy makes the value at dst that at src, but for its lists.
func (p *copyPlan) copy(dst, src unsafe.Pointer) {
	for _, s := range p.spans {
		copy(unsafe.Slice((*byte)(unsafe.Add(dst, s.from)), s.size), unsafe.Slice((*byte)(unsafe.Add(src, s.from)), s.size))
	}
	for _, at := range p.texts {
		*(*string)(unsafe.Add(dst, at)) = *(*string)(unsafe.Add(src, at))
	}
}

// clear makes the value at dst zero, but for its lists.
func (p *copyPlan) clear(dst unsafe.Pointer) {
	for _, s := range p.spans {
		clear(unsafe.Slice((*byte)(unsafe.Add(dst, s.from)), s.size))
	}
	for _, at := range p.texts {
		*(*string)(unsafe.Add(dst, at)) = ""
	}
}

// Copier returns how a value of the schema's type is copied into another, sharing
// no memory that either of them may write afterwards; nil if its bytes do. The
// copy's slices keep arrays that this package made, and it makes no garbage unless
// one has to be made. The error is a [*TagError], or several joined by
// [errors.Join], for a type that holds pointers besides strings and the slices that
// travel.
func (s *Schema) Copier() (func(dst, src unsafe.Pointer), error) {
	if s.typ == nil {
		return nil, nil
	}
	p := &copyPlan{}
	p.add(s.typ, 0, "", s.lists)
	var errs []*TagError
	for _, path := range p.pointers {
		errs = append(errs, &TagError{s.name, path, "holds a pointer that does not travel", "keep it out of the component: of pointers it may hold strings, and slices that are sent"})
	}
	if len(errs) > 0 {
		return nil, joinTags(errs)
	}
	if len(p.texts)+len(p.lists) == 0 {
		return nil, nil
	}
	return func(dst, src unsafe.Pointer) {
		p.copy(dst, src)
		for _, l := range p.lists {
			l.copy(dst, src)
		}
	}, nil
}
