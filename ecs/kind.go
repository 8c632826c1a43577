package ecs

import (
	"errors"
	"fmt"
	"unsafe"
)

// Kind is the handle of a prefab: a set of components with default values. Its
// zero value is unregistered; it lives in the game's own struct, and works by
// pointer or as a copy made after registration. Until then its methods, all but
// Registered and Name, panic. It does not change once a world was made.
type Kind struct{ d *kindData }

type kindData struct {
	types    *Types
	name     string
	index    uint16
	mask     Mask
	kept     *typeData // the component by which it is managed; nil: it is not
	comps    []ID
	defaults []unsafe.Pointer // as comps; points at size bytes
}

// RegisterKind names a component set. Its components are registered before,
// and its defaults are zero until [SetDefault]. The error names every component
// that does not belong there.
func (t *Types) RegisterKind(k *Kind, name string, hs ...Handle) error {
	if t.frozen {
		return fmt.Errorf("register kind %q: %w: register it before", name, ErrFrozen)
	}
	if k == nil {
		return fmt.Errorf("ecs: register kind %q: the handle is nil: pass the address of a Kind, as in &g.Player", name)
	}
	if name == "" {
		return errors.New("ecs: register kind: the name is empty: give it one")
	}
	if k.d != nil {
		return fmt.Errorf("ecs: register kind %q: this handle is registered already as %q", name, k.d.name)
	}
	if len(t.kinds) == 1<<16-1 {
		return fmt.Errorf("ecs: register kind %q: 65535 kinds are the most", name)
	}
	for _, o := range t.kinds {
		if o.d.name == name {
			return fmt.Errorf("ecs: register kind %q: the name is taken", name)
		}
	}
	d := &kindData{types: t, name: name, index: uint16(len(t.kinds))}
	var errs []error
	for _, h := range hs {
		switch err := t.owns(h); {
		case err != nil:
			errs = append(errs, fmt.Errorf("ecs: register kind %q: %w", name, err))
		case h.single():
			errs = append(errs, fmt.Errorf("ecs: register kind %q: %v is a singleton, which every world has: leave it out", name, h.Type()))
		default:
			d.mask.Set(h.ID())
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	d.comps = d.mask.IDs()
	d.kept = t.keptBy(d.mask)
	for _, id := range d.comps {
		d.defaults = append(d.defaults, t.slots[int(id)+1].ops.alloc(1))
	}
	k.d = d
	t.kinds = append(t.kinds, &Kind{d})
	return nil
}

// owns checks that a handle was registered here.
func (t *Types) owns(h Handle) error {
	if absent(h) {
		return errors.New("a nil handle: pass the address of a Component or a Singleton, as in &g.Position")
	}
	if !h.Registered() {
		return fmt.Errorf("component %v is not registered: declare it first (Types.Register, or what calls that for you)", h.Type())
	}
	if h.owner() != t {
		return fmt.Errorf("component %v is registered with other Types: each game struct has its own handles", h.Type())
	}
	return nil
}

// SetDefault gives the value that the kind's entities begin with, copied by the
// component's [Copier] if it has one. The error wraps [ErrFrozen] once a world was
// made, and names a kind that is not registered or lacks the component.
func SetDefault[T any](t *Types, k *Kind, c *Component[T], v T) error {
	if t.frozen {
		return fmt.Errorf("default of %v: %w: set it before", c.Type(), ErrFrozen)
	}
	if !k.Registered() {
		return fmt.Errorf("ecs: default of %v: the kind is not registered: call RegisterKind first", c.Type())
	}
	if err := t.owns(c); err != nil {
		return fmt.Errorf("ecs: kind %q: default: %w", k.d.name, err)
	}
	p := k.Default(c.ID())
	if p == nil {
		return fmt.Errorf("ecs: kind %q has no %v: name it where the kind is declared", k.d.name, c.Type())
	}
	if d := t.slots[c.slot]; d.ops.deep != nil {
		d.ops.deep(p, unsafe.Pointer(&v), 1)
		return nil
	}
	*(*T)(p) = v
	return nil
}

// Kinds lists the kinds in order of registration.
func (t *Types) Kinds() []*Kind { return t.kinds }

// Name is what the kind was registered as; "" before.
func (k *Kind) Name() string {
	if !k.Registered() {
		return ""
	}
	return k.d.name
}

// Registered tells whether the handle was given to [Types.RegisterKind].
func (k *Kind) Registered() bool { return k != nil && k.d != nil }

// Index is the kind's number in order of registration.
func (k *Kind) Index() uint16 { return k.d.index }

// Mask is the kind's component set.
func (k *Kind) Mask() Mask { return k.d.mask }

// Components lists the kind's components, ascending. Not to be written.
func (k *Kind) Components() []ID { return k.d.comps }

// Default points at the default value, of Info(id).Size bytes; nil when the
// kind lacks the component. Not to be written: see [SetDefault].
func (k *Kind) Default(id ID) unsafe.Pointer {
	for i, c := range k.d.comps {
		if c == id {
			return k.d.defaults[i]
		}
	}
	return nil
}
