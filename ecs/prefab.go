package ecs

import (
	"errors"
	"fmt"
	"unsafe"
)

// Prefab is the handle of a type of entity: a set of components with default
// values. Its zero value is unregistered. Keep it in the game's own struct; use
// it by pointer, or as a copy made after registration. Before registration its
// methods panic, except Registered and Name. It is immutable once a world
// exists.
type Prefab struct{ d *prefabData }

type prefabData struct {
	types    *Types
	name     string
	index    uint16
	mask     Mask
	kept     *typeData // kept is the component that makes the prefab managed. nil means none.
	comps    []ID
	defaults []unsafe.Pointer // defaults has the default of each of comps. Each points to size bytes.
}

// RegisterPrefab names a set of components. Register the components first.
// Defaults are zero until [SetDefault]. The error lists every component that
// does not belong there.
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
	if k.d != nil && k.d.types != t {
		return fmt.Errorf("ecs: register prefab %q: this handle is %s", name, ofAnother)
	}
	if k.d != nil {
		return fmt.Errorf("ecs: register prefab %q: this handle is already registered as %q", name, k.d.name)
	}
	if len(t.prefabs) == maxPrefabs {
		return fmt.Errorf("ecs: register prefab %q: it is one too many: there can be %d; use one for all that have the same components, and tell them apart by a field", name, maxPrefabs)
	}
	if t.prefabNames[name] {
		return fmt.Errorf("ecs: register prefab %q: the name is taken", name)
	}
	d := &prefabData{types: t, name: name, index: uint16(len(t.prefabs))}
	var errs []error
	for _, h := range hs {
		switch err := t.checkRegistered(h); {
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
	if t.prefabNames == nil {
		t.prefabNames = map[string]bool{}
	}
	t.prefabNames[name] = true
	return nil
}

// checkRegistered returns an error unless the handle was registered here.
func (t *Types) checkRegistered(h Handle) error {
	if absent(h) {
		return errors.New("a nil handle: pass the address of a Component or a Singleton, as in &g.Position")
	}
	if !h.Registered() {
		return fmt.Errorf("component %v is not registered: %s", h.Type(), declareIt)
	}
	if h.owner() != t {
		return fmt.Errorf("component %v is %s", h.Type(), ofAnother)
	}
	return nil
}

// SetDefault sets the value that the prefab's entities start with. The
// component's [Copier] copies it, if there is one. The error wraps [ErrFrozen]
// once a world exists, and otherwise says that the prefab is not registered or
// lacks the component.
func SetDefault[T any](t *Types, k *Prefab, c *Component[T], v T) error {
	if t.frozen {
		return fmt.Errorf("default of %v: %w: set it before", c.Type(), ErrFrozen)
	}
	if !k.Registered() {
		return fmt.Errorf("ecs: default of %v: the prefab is not registered: call RegisterPrefab first", c.Type())
	}
	if err := t.checkRegistered(c); err != nil {
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

// Prefabs returns the prefabs in order of registration.
func (t *Types) Prefabs() []*Prefab { return t.prefabs }

// Name returns the registered name of the prefab; "" before registration.
func (k *Prefab) Name() string {
	if !k.Registered() {
		return ""
	}
	return k.d.name
}

// Registered reports whether the handle was passed to [Types.RegisterPrefab].
func (k *Prefab) Registered() bool { return k != nil && k.d != nil }

// Index returns the prefab's number in order of registration.
func (k *Prefab) Index() uint16 { return k.d.index }

// Mask returns the prefab's component set.
func (k *Prefab) Mask() Mask { return k.d.mask }

// Components returns the prefab's components, in ascending order of ID. Do not write
// to the slice.
func (k *Prefab) Components() []ID { return k.d.comps }

// Default returns a pointer to the default value, of Info(id).Size bytes; nil
// when the prefab lacks the component. Do not write to it: use [SetDefault].
func (k *Prefab) Default(id ID) unsafe.Pointer {
	for i, c := range k.d.comps {
		if c == id {
			return k.d.defaults[i]
		}
	}
	return nil
}
