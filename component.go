package foretick

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/snapshot"
)

// ComponentOption says how a component is replicated.
type ComponentOption func(*component)

// Predicted marks a component that shared systems may write: its owner's client
// computes it ahead of the server, compares and corrects it. Its values snap to
// the simulation step after each tick, on both ends.
func Predicted() ComponentOption { return func(c *component) { c.predicted = true } }

// component is a replicated component.
type component struct {
	id        ecs.ID
	handle    ecs.Handle
	name      string
	size      uintptr
	schema    *snapshot.Schema
	predicted bool
	lerped    bool // any field is interpolated
	curved    bool // any also by the value before the two
	audience  Audience
	zero      unsafe.Pointer // a zero value
	tolerant  bool           // any field has a tolerance
	unknown   bool           // another build's: it is passed over
	exact     bool           // everybody receives it on the simulation grid
	varies    bool           // it holds strings or slices, and is no plain memory
	refs      []int          // the words that are references
}

// command is the component that a tick's input fills.
type command struct {
	name   string // its Go type's
	id     ecs.ID
	size   uintptr
	schema *snapshot.Schema
	handle ecs.Handle

	validate func(f *Frame, player PlayerID, at unsafe.Pointer) error // nil without Validate
	decay    func(at unsafe.Pointer, missing int)                     // nil without Decay
}

// prefab is a kind of replicated entity.
type prefab struct {
	relevant        func(*Frame, PlayerID, ecs.Entity) Relevance // nil without a hook
	ecs             *ecs.Prefab                                  // nil: another build's, passed over
	own             int                                          // its index in this build
	common          bool                                         // a shared physics object: every client predicts it while nobody owns it
	remotePredicted bool                                         // clients predict those of other players
	spawn           *SpawnConfig                                 // nil: shared systems do not spawn it
}

var entityType = reflect.TypeFor[ecs.Entity]()

// Component declares a replicated component: its fields travel to clients as
// their net tags say (see package snapshot).
func (p *Protocol) Component(h ecs.Handle, opts ...ComponentOption) {
	if !p.given("Component", h) {
		return
	}
	c := component{name: typeName(h.Type()), size: h.Type().Size()}
	for _, o := range opts {
		if o == nil {
			p.faultf("component %s has a nil option: leave it out", c.name)
			continue
		}
		o(&c)
	}
	if c.exact && !c.predicted {
		p.faultf("component %s is Exact and not Predicted: nothing simulates it on clients; drop Exact, or add Predicted", c.name)
	}
	s, err := snapshot.Compile(h.Type(), snapshot.SchemaOptions{Name: c.name, Predicted: c.predicted, Exact: c.exact, Ref: entityType, Audience: c.audience, Audiences: p.audiences})
	if err != nil {
		p.faulty(h, err)
		return
	}
	if err := pressless("component", s); err != nil {
		p.fault(err)
	}
	options := []ecs.TypeOption{ecs.Named(c.name)}
	switch deep, err := s.Copier(); {
	case err != nil:
		p.faulty(h, err)
		return
	case deep != nil:
		c.varies = true
		options = append(options, ecs.CopierAt(deep))
	}
	if err := p.types.Register(h, options...); err != nil {
		p.fault(err)
		return
	}
	c.id, c.handle, c.zero = h.ID(), h, reflect.New(h.Type()).UnsafePointer()
	c.schema, c.tolerant = s, s.Tolerant()
	p.extrapolates = p.extrapolates || s.Extrapolates()
	c.moves(s)
	p.curved = p.curved || c.curved
	if _, err := p.registry.Component(s); err != nil {
		p.fault(err)
		return
	}
	p.components = append(p.components, c)
}

// moves notes how values of a schema are interpolated.
func (c *component) moves(s *snapshot.Schema) {
	c.lerped, c.curved, c.refs = false, false, nil
	for _, f := range s.Fields() {
		if f.Ref {
			c.refs = append(c.refs, f.Word)
		}
		c.lerped = c.lerped || f.Lerp
		c.curved = c.curved || f.Interpolation == snapshot.Hermite && f.Velocity == ""
	}
}

// LocalComponent declares a component that never travels: each end keeps its own. On a client
// no rollback touches it, also on an entity that prediction ended and the server brings
// back. A
// shared system may not read or write it, unless none but prefabs that are spawned
// with the policy [ClientOnly] carry it: what a bullet knows of its shot.
func (p *Protocol) LocalComponent(h ecs.Handle) {
	if !p.given("LocalComponent", h) {
		return
	}
	if err := p.types.Register(h, ecs.Named(typeName(h.Type()))); err != nil {
		p.faulty(h, err)
		return
	}
	p.locals = append(p.locals, localComponentType{id: h.ID(), size: h.Type().Size()})
}

// Command declares the component that carries a player's input: a column like
// any other, filled before each tick with that tick's command, on both ends
// with the very value that travelled. A protocol has at most one.
//
// It is for what a player does in every tick. A tick's command may be lost for good;
// what must arrive, such as a line of chat or a purchase, is a [Request].
func (p *Protocol) Command(h ecs.Handle) {
	if !p.given("Command", h) {
		return
	}
	if p.command != nil {
		p.faultf("Command was declared twice: put both inputs into one struct")
		return
	}
	name := typeName(h.Type())
	s, err := snapshot.Compile(h.Type(), snapshot.SchemaOptions{Name: name, Ref: entityType})
	if err == nil {
		err = errors.Join(referless("command", s), sized(s), pressing(s))
	}
	if err != nil {
		p.faulty(h, err)
		return
	}
	if err := p.types.Register(h, ecs.Named(name)); err != nil {
		p.fault(err)
		return
	}
	p.command = &command{name: name, id: h.ID(), size: h.Type().Size(), schema: s, handle: h}
}

// pressless refuses the tag press where nothing is pressed.
func pressless(what string, s *snapshot.Schema) error {
	for _, f := range s.Fields() {
		if f.Press {
			return fmt.Errorf("foretick: %s %s: field %s is tagged press, which is for the command: drop it", what, s.Name(), f.Name)
		}
	}
	return nil
}

// pressing refuses a command that belongs to a press and has none.
func pressing(s *snapshot.Schema) error {
	of := ""
	for _, f := range s.Fields() {
		if f.OneShot {
			return nil
		}
		if f.Press && of == "" {
			of = f.Name
		}
	}
	if of == "" {
		return nil
	}
	return fmt.Errorf("foretick: command %s: field %s is tagged press, and nothing can be pressed: tag the bool that is pressed with oneshot, or drop press", s.Name(), of)
}

// referless refuses a schema with fields that name an entity: commands and
// messages carry bits, and those of a handle name another entity, or none, at the
// other end.
func referless(what string, s *snapshot.Schema) error {
	var errs []error
	for _, f := range s.Fields() {
		if f.Ref && standsForAll(f.Name) {
			errs = append(errs, fmt.Errorf("foretick: %s %s: field %s is an ecs.Entity, which means nothing at the other end: send a foretick.PlayerID, or a number of the game's own that a component carries too", what, s.Name(), f.Name))
		}
	}
	return errors.Join(errs...)
}

// sized refuses a command's strings and slices.
func sized(s *snapshot.Schema) error {
	var errs []error
	for _, f := range s.Fields() {
		if (f.Text || f.Slice) && standsForAll(f.Name) {
			errs = append(errs, fmt.Errorf("foretick: command %s: field %s is a %s: a command has one size: use an array, as in [24]byte, or the number of a choice", s.Name(), f.Name, f.Type))
		}
	}
	return errors.Join(errs...)
}

// standsForAll tells whether a field is no element, or the first one.
func standsForAll(path string) bool {
	return strings.Count(path, "[") == strings.Count(path, "[0]")
}

// faulty notes what is wrong with a component, and registers it all the same, so
// that prefabs and systems do not complain of it too.
func (p *Protocol) faulty(h ecs.Handle, err error) {
	p.fault(err)
	_ = p.types.Register(h, ecs.Named(typeName(h.Type())), ecs.CopierAt(func(_, _ unsafe.Pointer) {}))
	if h.Registered() {
		p.spoilt = append(p.spoilt, h.ID())
	}
}

// spoils tells whether a component has a fault that is noted already.
func (p *Protocol) spoils(h ecs.Handle) bool {
	return h.Registered() && slices.Contains(p.spoilt, h.ID())
}

// commandSize is the bytes of a packed command; 0 without one.
func (p *Protocol) commandSize() int {
	if p.command == nil {
		return 0
	}
	return p.command.schema.PackedSize()
}

// Prefab declares a kind of entity: the components that entities of this prefab are born
// with. Their values are zero unless [Default] sets them, and are the baseline
// that a first snapshot is coded against.
func (p *Protocol) Prefab(k *ecs.Prefab, name string, hs ...ecs.Handle) {
	if !p.givenPrefab("Prefab", k) {
		return
	}
	if !p.named("Prefab", name) {
		p.unmade = append(p.unmade, k)
		return
	}
	all := append([]ecs.Handle{&p.identity}, hs...)
	for _, h := range hs {
		switch {
		case missing(h):
			p.faultf("prefab %q is given a nil component: pass its address, as in &g.Position", name)
		case !h.Registered():
			p.faultf("prefab %q: component %s is not declared: call Component, Command or LocalComponent first", name, typeName(h.Type()))
		default:
			continue
		}
		p.unmade = append(p.unmade, k)
		return
	}
	if err := p.types.RegisterPrefab(k, name, all...); err != nil {
		p.unmade = append(p.unmade, k)
		p.fault(err)
		return
	}
	p.prefabs = append(p.prefabs, prefab{ecs: k, own: len(p.prefabs)})
}

// Default sets the value that a component of a kind is born with. It must be
// called before Err.
func Default[T any](p *Protocol, k *ecs.Prefab, c *ecs.Component[T], v T) {
	if !p.given("Default", c) || !p.givenPrefab("Default", k) {
		return
	}
	if slices.Contains(p.unmade, k) || p.spoils(c) {
		return
	}
	if !k.Registered() {
		p.faultf("Default of %s for a prefab that is not declared: call Prefab first", typeName(c.Type()))
		return
	}
	if err := ecs.SetDefault(p.types, k, c, v); err != nil {
		p.fault(err)
		return
	}
	if i := p.index(c.ID()); i >= 0 {
		if at := p.components[i].schema.Unfit(unsafe.Pointer(&v)); at >= 0 {
			f := p.components[i].schema.Fields()[at]
			p.faultf("Default of prefab %q: %s.%s does not fit its tag, and would be sent cut: it has room for %d", k.Name(), p.components[i].name, f.Name, f.Most)
		}
		if at := p.components[i].schema.Unsound(unsafe.Pointer(&v)); at >= 0 {
			p.outside(k.Name(), p.components[i].name, &p.components[i].schema.Fields()[at])
		}
	}
}

// outside notes a default that is not in its field's range.
func (p *Protocol) outside(kind, component string, f *snapshot.Field) {
	if f.Min == f.Max {
		p.faultf("Default of prefab %q: %s.%s is not a number, or no finite one: use one that is", kind, component, f.Name)
		return
	}
	p.faultf("Default of prefab %q: %s.%s lies outside of its tag, and would be sent as another value: use %.7g to %.7g", kind, component, f.Name, f.Min, f.Max)
}

// registerPrefabs hands the prefabs with their defaults to the wire's registry.
func (p *Protocol) registerPrefabs() {
	p.registerSpawns()
	for _, k := range p.prefabs {
		var comps []int
		var defaults []unsafe.Pointer
		for i := range p.components {
			for _, id := range k.ecs.Components() {
				if id == p.components[i].id {
					comps = append(comps, i)
					defaults = append(defaults, k.ecs.Default(id))
				}
			}
		}
		if k.matched() {
			comps = append(comps, p.originAt)
		}
		if k.local() {
			comps = append(comps, p.localAt)
		}
		_, err := p.registry.Prefab(k.ecs.Name(), comps, defaults)
		p.fault(err)
	}
}

// findCommon marks the prefabs whose entities, while nobody owns them, every
// client predicts: those with a component that shared systems write through the
// world, such as the place of a crate that players push.
func (p *Protocol) findCommon() {
	for _, s := range p.schedule.Systems() {
		if !shared(s) {
			continue
		}
		for _, id := range s.OtherWrites {
			if i := p.index(id); i < 0 || !p.components[i].predicted {
				continue
			}
			for k := range p.prefabs {
				if slices.Contains(p.prefabs[k].ecs.Components(), id) {
					p.prefabs[k].common, p.common = true, true
				}
			}
		}
	}
}

// prefabOf finds a declared prefab's index, −1 for another.
func (p *Protocol) prefabOf(k *ecs.Prefab) int {
	if !k.Registered() {
		return -1
	}
	for i := range p.prefabs {
		if own := p.prefabs[i].ecs; own == k || own != nil && *own == *k {
			return i
		}
	}
	return -1
}
