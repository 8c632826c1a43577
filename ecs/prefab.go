package ecs

import (
	"errors"
	"fmt"
	"unsafe"
)

// Prefab is the handle of a kind of entity: a set of components with default values. Its
// zero value is unregistered; it lives in the game's own struct, and works by
// pointer or as a copy made after registration. Until then its methods, all but
// Registered and Name, panic. It does not change once a world was made.
type Prefab struct{ d *prefabData }

type prefabData struct {
	types    *Types
	name     string
	index    uint16
	mask     Mask
	kept     *typeData // the component by which it is managed; nil: it is not
	comps    []ID
	defaults []unsafe.Pointer // as comps; points at size bytes
}

// RegisterPrefab names a component set. Its components are registered before,
// and its defaults are zero until [SetDefault]. The error names every component
// that does not belong there.
func (t *Types) RegisterPrefab(k *Prefab, name string, hs ...Handle) error {
	if t.frozen {
		return fmt.Errorf("register prefab %q: %w: register it before", name, ErrFrozen)
	}
	if k == nil {
		return fmt.Errorf("ecs: register prefab %q: the handle is nil: pass the address of a Prefab, as in &g.Player", name)
	}
	if name == "" {
		return errors.New("ecs: register prefab: the name is empty: give it one")
	}
	if k.d != nil {
		return fmt.Errorf("ecs: register prefab %q: this handle is registered already as %q", name, k.d.name)
	}
	if len(t.prefabs) == 1<<16-1 {
		return fmt.Errorf("ecs: register prefab %q: 65535 prefabs are the most", name)
	}
	for _, o := range t.prefabs {
		if o.d.name == name {
			return fmt.Errorf("ecs: register prefab %q: the name is taken", name)
		}
	}
	d := &prefabData{types: t, name: name, index: uint16(len(t.prefabs))}
	var errs []error
	for _, h := range hs {
		switch err := t.owns(h); {
		case err != nil:
			errs = append(errs, fmt.Errorf("ecs: register prefab %q: %w", name, err))
		case h.single():
			errs = append(errs, fmt.Errorf("ecs: register prefab %q: %v is a singleton, which every world has: leave it out", name, h.Type()))
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
	t.prefabs = append(t.prefabs, &Prefab{d})
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

// SetDefault gives the value that the prefab's entities begin with, copied by the
// component's [Copier] if it has one. The error wraps [ErrFrozen] once a world was
// made, and names a prefab that is not registered or lacks the component.
func SetDefault[T any](t *Types, k *Prefab, c *Component[T], v T) error {
	if t.frozen {
		return fmt.Errorf("default of %v: %w: set it before", c.Type(), ErrFrozen)
	}
	if !k.Registered() {
		return fmt.Errorf("ecs: default of %v: the prefab is not registered: call RegisterPrefab first", c.Type())
	}
	if err := t.owns(c); err != nil {
		return fmt.Errorf("ecs: prefab %q: default: %w", k.d.name, err)
	}
	p := k.Default(c.ID())
	if p == nil {
		return fmt.Errorf("ecs: prefab %q has no %v: name it where the prefab is declared", k.d.name, c.Type())
	}
	if d := t.slots[c.slot]; d.ops.deep != nil {
		d.ops.deep(p, unsafe.Pointer(&v), 1)
		return nil
	}
	*(*T)(p) = v
	return nil
}

// Prefabs lists the prefabs in order of registration.
func (t *Types) Prefabs() []*Prefab { return t.prefabs }

// Name is what the prefab was registered as; "" before.
func (k *Prefab) Name() string {
	if !k.Registered() {
		return ""
	}
	return k.d.name
}

// Registered tells whether the handle was given to [Types.RegisterPrefab].
func (k *Prefab) Registered() bool { return k != nil && k.d != nil }

// Index is the prefab's number in order of registration.
func (k *Prefab) Index() uint16 { return k.d.index }

// Mask is the prefab's component set.
func (k *Prefab) Mask() Mask { return k.d.mask }

// Components lists the prefab's components, ascending. Not to be written.
func (k *Prefab) Components() []ID { return k.d.comps }

// Default points at the default value, of Info(id).Size bytes; nil when the
// prefab lacks the component. Not to be written: see [SetDefault].
func (k *Prefab) Default(id ID) unsafe.Pointer {
	for i, c := range k.d.comps {
		if c == id {
			return k.d.defaults[i]
		}
	}
	return nil
}
