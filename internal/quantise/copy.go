package quantise

import (
	"reflect"
	"strconv"
	"unsafe"
)

// Copies describes how a value with strings and slices is copied. The bytes between them are copied as they
// are. Strings share their bytes, which never change. The elements of slices are copied.
type Copies struct {
	spans []bytesSpan
	texts []uintptr // texts has the offsets of the strings.
	lists []*List

	Pointers []string // Pointers has the paths of pointers that are neither strings nor slices of a schema.
}

type bytesSpan struct{ from, size uintptr }

// sliceHeader is the memory layout of a slice.
type sliceHeader struct {
	data     unsafe.Pointer
	len, cap int
}

// Add adds a type at an offset. It notes pointers other than strings and the schema's
// slices; for an array, those of one element.
func (p *Copies) Add(t reflect.Type, at uintptr, path string, lists []List) {
	switch t.Kind() {
	case reflect.String:
		p.texts = append(p.texts, at)
		return
	case reflect.Slice:
		for i := range lists {
			if lists[i].Offset == at && lists[i].Type == t {
				p.lists = append(p.lists, &lists[i])
				return
			}
		}
		p.Pointers = append(p.Pointers, path)
		return
	case reflect.Pointer, reflect.Map, reflect.Chan, reflect.Func, reflect.Interface, reflect.UnsafePointer:
		p.Pointers = append(p.Pointers, path)
		return
	case reflect.Array:
		for i, told := 0, len(p.Pointers); i < t.Len() && len(p.Pointers) == told; i++ {
			p.Add(t.Elem(), at+uintptr(i)*t.Elem().Size(), path+"["+strconv.Itoa(i)+"]", lists)
		}
		return
	case reflect.Struct:
		for i := range t.NumField() {
			f, name := t.Field(i), t.Field(i).Name
			if path != "" {
				name = path + "." + name
			}
			p.Add(f.Type, at+f.Offset, name, lists)
		}
		return
	}
	if n := len(p.spans); n > 0 && p.spans[n-1].from+p.spans[n-1].size == at {
		p.spans[n-1].size += t.Size()
	} else if t.Size() > 0 {
		p.spans = append(p.spans, bytesSpan{at, t.Size()})
	}
}

// copyValue copies the value at src to dst, without its lists.
func (p *Copies) copyValue(dst, src unsafe.Pointer) {
	for _, s := range p.spans {
		copy(unsafe.Slice((*byte)(unsafe.Add(dst, s.from)), s.size), unsafe.Slice((*byte)(unsafe.Add(src, s.from)), s.size))
	}
	for _, at := range p.texts {
		*(*string)(unsafe.Add(dst, at)) = *(*string)(unsafe.Add(src, at))
	}
}

// clearValue sets the value at dst to zero, without its lists.
func (p *Copies) clearValue(dst unsafe.Pointer) {
	for _, s := range p.spans {
		clear(unsafe.Slice((*byte)(unsafe.Add(dst, s.from)), s.size))
	}
	for _, at := range p.texts {
		*(*string)(unsafe.Add(dst, at)) = ""
	}
}

// Copier returns a function that copies a value of the plan's type, or nil if copying
// the bytes is enough. It also returns the paths of all other pointers: those that
// are not of strings and slices that are sent.
func (s *Plan) Copier() (copier func(dst, src unsafe.Pointer), pointers []string) {
	if s.Type == nil {
		return nil, nil
	}
	p := &Copies{}
	p.Add(s.Type, 0, "", s.Lists)
	if len(p.Pointers) > 0 || len(p.texts)+len(p.lists) == 0 {
		return nil, p.Pointers
	}
	return func(dst, src unsafe.Pointer) {
		p.copyValue(dst, src)
		for _, l := range p.lists {
			l.copyList(dst, src)
		}
	}, nil
}
