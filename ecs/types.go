package ecs

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Types holds the component types, singletons and prefabs of one game. Fill it
// once, before the first world exists, and alike on both ends: the order of
// registration is the order of ids. A game with a foretick.Protocol does not fill
// it: Protocol.Component, Prefab and the like register with the protocol's Types.
//
// Registration is not safe for concurrent use. Worlds of the same frozen Types
// are independent of one another.
type Types struct {
	// slots has the types by slot. Slot 0 is unused, so that a zero Component matches nothing.
	slots       []*typeData
	singles     []*typeData
	prefabs     []*Prefab
	prefabNames map[string]bool // prefabNames has the names of the prefabs.
	frozen      bool
	link        *typeData // link is the hidden parent component.
	queries     atomic.Uint32
	watches     []*Watch
	tagsMu      sync.Mutex
	tags        []string
	bytesOnce   sync.Once   // bytesOnce guards asBytes.
	asBytes     *worldTypes // asBytes is what worldTypes returns.
}

// MaxTypes is the most component types that one game can have. (One of the 256
// bits in a mask is reserved for the hierarchy.)
const MaxTypes = 255

const linkID ID = 255

const (
	maxTags       = 64        // most tags that the systems have together
	maxSingletons = 256       // most singletons of a game
	maxPrefabs    = 1<<16 - 1 // most prefabs of a game
)

// NewTypes returns an empty set.
func NewTypes() *Types { return &Types{slots: make([]*typeData, 1)} }

// typeData describes one registered type.
type typeData struct {
	id     ID
	direct bool // direct is true if values are hashed as the bytes in memory, by their pieces.
	plain  bool // plain is true if there are no pointers: values are copied as bytes.
	solid  bool // solid is true if there is no padding: values are compared as bytes.
	open   bool // open is true if any system may touch the type without declaring it.
	slot   uint16
	size   uintptr
	length int // length is the number of bytes that are hashed.
	pieces []piece
	spans  []span      // spans has the bytes that hold values.
	runs   []numberRun // runs has the numbers in a value, as they are hashed.
	name   string
	rtype  reflect.Type
	keeper string // keeper is the fix text of Managed. "" means that the type is not managed.
	ops    typeOps
	coder  *typeCoder     // coder is nil without a Coder.
	zero   unsafe.Pointer // zero is a zero value that is never written.
	enums  map[reflect.Type][]string
	meta   map[string]string
	fields []Field
}

// typeOps are typed operations, created where T is known.
type typeOps struct {
	alloc func(n int) unsafe.Pointer
	copy  func(dst, src unsafe.Pointer, n int) // copy copies shallowly, with write barriers.
	clear func(dst unsafe.Pointer, n int)
	deep  func(dst, src unsafe.Pointer, n int) // deep is the caller's Copier.
}

func opsOf[T any]() typeOps {
	return typeOps{
		alloc: func(n int) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(make([]T, n))) },
		copy: func(dst, src unsafe.Pointer, n int) {
			copy(unsafe.Slice((*T)(dst), n), unsafe.Slice((*T)(src), n))
		},
		clear: func(dst unsafe.Pointer, n int) { clear(unsafe.Slice((*T)(dst), n)) },
	}
}

// TypeInfo describes a registered component type or singleton.
type TypeInfo struct {
	ID     ID
	Name   string
	Type   reflect.Type
	Size   uintptr           // bytes a row; the stride of Rows.Column
	Fields []Field           // the leaves, by path
	Meta   map[string]string // values set with Meta; do not write to it
}

// TypeOption refines a registration.
type TypeOption func(*typeData) error

// Named gives the type another name than its Go name.
func Named(name string) TypeOption {
	return func(d *typeData) error {
		if name == "" {
			return fmt.Errorf("empty name")
		}
		d.name = name
		return nil
	}
}

// Copier sets the copy function of a type that holds pointers. Save and restore
// use it, and the defaults of prefabs. dst may hold an older value whose memory
// can be reused.
func Copier[T any](f func(dst, src *T)) TypeOption {
	return func(d *typeData) error {
		if f == nil {
			return errors.New("a nil Copier: leave it out, or give the function")
		}
		if want := reflect.TypeFor[T](); d.rtype != want {
			return fmt.Errorf("copier is for %v, the component is %v", want, d.rtype)
		}
		d.ops.deep = func(dst, src unsafe.Pointer, n int) {
			a, b := unsafe.Slice((*T)(dst), n), unsafe.Slice((*T)(src), n)
			for i := range a {
				f(&a[i], &b[i])
			}
		}
		return nil
	}
}

// CopierAt is [Copier] for code that has no Go type parameter at hand: dst and src point to
// values of the component's type.
func CopierAt(f func(dst, src unsafe.Pointer)) TypeOption {
	return func(d *typeData) error {
		if f == nil {
			return errors.New("a nil CopierAt: leave it out, or give the function")
		}
		size := d.size
		d.ops.deep = func(dst, src unsafe.Pointer, n int) {
			for i := range uintptr(n) {
				f(unsafe.Add(dst, i*size), unsafe.Add(src, i*size))
			}
		}
		return nil
	}
}

// Meta attaches custom metadata to a type, for editors and inspectors.
func Meta(key, value string) TypeOption {
	return func(d *typeData) error {
		if d.meta == nil {
			d.meta = map[string]string{}
		}
		d.meta[key] = value
		return nil
	}
}

// Open lets every system touch the component without declaring it, in debug
// builds. It is for components that a library adds to the game's entities.
func Open() TypeOption {
	return func(d *typeData) error {
		d.open = true
		return nil
	}
}

// Handle is the argument of registrations and access declarations: a pointer to
// a [Component] or, where allowed, to a [Singleton]. No other type implements
// it.
type Handle interface {
	ID() ID             // number in order of registration
	Type() reflect.Type // type of the values
	Registered() bool

	bindTo(t *Types, d *typeData)
	ops() typeOps
	owner() *Types
	single() bool
}

// Register registers a component type. It refuses a type that holds pointers
// and has no [Copier]; the error names the path of each such field, joined by
// [errors.Join]. It also refuses a second registration, and any registration
// once a world exists.
func (t *Types) Register(h Handle, opts ...TypeOption) error {
	if absent(h) {
		return errors.New("ecs: Register is given a nil handle: pass the address of a Component, as in &g.Position")
	}
	if h.single() {
		return fmt.Errorf("ecs: register %v: a singleton is registered with RegisterSingleton", h.Type())
	}
	if len(t.slots) > MaxTypes {
		return fmt.Errorf("ecs: register %v: it is one too many: there can be %d types; merge small ones", h.Type(), MaxTypes)
	}
	d, err := t.describe(h, opts, t.slots[1:])
	if err != nil {
		return err
	}
	d.id, d.slot = ID(len(t.slots)-1), uint16(len(t.slots))
	t.slots = append(t.slots, d)
	h.bindTo(t, d)
	return nil
}

func (t *Types) describe(h Handle, opts []TypeOption, among []*typeData) (*typeData, error) {
	rt := h.Type()
	if t.frozen {
		return nil, fmt.Errorf("register %v: %w: register it before", rt, ErrFrozen)
	}
	switch {
	case h.Registered() && h.owner() != t:
		return nil, fmt.Errorf("ecs: register %v: this handle is %s", rt, ofAnother)
	case h.Registered():
		return nil, fmt.Errorf("ecs: register %v: this handle is already registered: use one handle per type", rt)
	}
	d := &typeData{name: rt.Name(), rtype: rt, size: rt.Size(), ops: h.ops()}
	if d.name == "" {
		d.name = rt.String()
	}
	for _, o := range opts {
		if o == nil {
			return nil, fmt.Errorf("ecs: register %v: a nil option: leave it out", rt)
		}
		if err := o(d); err != nil {
			return nil, fmt.Errorf("ecs: register %v: %w", rt, err)
		}
	}
	for _, o := range among {
		if o.rtype == rt && o.name == d.name {
			return nil, fmt.Errorf("ecs: register %v: type and name %q are taken: share the handle, declare another Go type for it, or give another name with Named", rt, d.name)
		}
		if o.name == d.name {
			return nil, fmt.Errorf("ecs: register %v: name %q is taken by %v: rename the Go type, or give another name with Named", rt, d.name, o.rtype)
		}
	}
	pointers := pointerPaths(rt, d.name, nil)
	if len(pointers) > 0 && d.ops.deep == nil {
		errs := make([]error, len(pointers))
		for i, path := range pointers {
			errs[i] = fmt.Errorf("ecs: register %v: field %s holds a pointer: keep it out of the component, or supply ecs.Copier", rt, path)
		}
		return nil, errors.Join(errs...)
	}
	d.plain = len(pointers) == 0 && d.ops.deep == nil
	d.spans = valueSpans(rt)
	d.solid = d.size == 0 || len(d.spans) == 1 && d.spans[0] == span{0, d.size}
	if d.plain {
		d.canonical()
	}
	d.fields = fieldsOf(d)
	d.zero = d.ops.alloc(1)
	return d, nil
}

// Has reports whether h is a component registered here. It is false for nil,
// for handles of other Types and for singletons.
func (t *Types) Has(h Handle) bool { return t.checkRegistered(h) == nil && !h.single() }

// absent reports whether a handle is nil, or a nil pointer.
func absent(h Handle) bool {
	if h == nil {
		return true
	}
	v := reflect.ValueOf(h)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// Len returns the number of component types.
func (t *Types) Len() int {
	if t.link != nil {
		return len(t.slots) - 2
	}
	return len(t.slots) - 1
}

// Info describes the type of an id below Len; it panics for any other id.
func (t *Types) Info(id ID) TypeInfo { return t.slots[int(id)+1].info() }

func (d *typeData) info() TypeInfo {
	return TypeInfo{ID: d.id, Name: d.name, Type: d.rtype, Size: d.size, Fields: d.fields, Meta: d.meta}
}

// Lookup finds a component type by name; it returns false when there is none.
func (t *Types) Lookup(name string) (ID, bool) {
	for _, d := range t.userTypes() {
		if d.name == name {
			return d.id, true
		}
	}
	return 0, false
}

// Singletons describes the singletons in order of registration.
func (t *Types) Singletons() []TypeInfo {
	out := make([]TypeInfo, len(t.singles))
	for i, d := range t.singles {
		out[i] = d.info()
	}
	return out
}

func (t *Types) freeze() {
	if t.frozen {
		return
	}
	t.frozen = true
	c := new(Component[link])
	d := &typeData{id: linkID, slot: uint16(len(t.slots)), name: "ecs.parent", rtype: reflect.TypeFor[link](),
		size: unsafe.Sizeof(link{}), plain: true, solid: true, ops: c.ops()}
	d.spans = []span{{0, d.size}}
	t.slots = append(t.slots, d)
	t.link = d
}

func (t *Types) slotOf(id ID) int {
	if id == linkID {
		return int(t.link.slot)
	}
	return int(id) + 1
}
