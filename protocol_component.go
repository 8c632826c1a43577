package foretick

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/guard"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// ComponentOption is an option of [Protocol.Component] and [Protocol.Singleton]. [Predicted] and its like
// make one; the zero value is a fault.
type ComponentOption struct{ apply func(*layout.Component) }

// Predicted marks a component that shared systems may write. The owner's client computes it
// ahead of the server, compares it with the server's state and corrects it. On both ends its
// values are rounded to the simulation step after each tick. Mark also what only the server
// writes but shared systems read, such as health or a stun: the client then rolls back to
// the tick of the change.
func Predicted() ComponentOption {
	return ComponentOption{func(c *layout.Component) { c.Predicted = true }}
}

var entityType = reflect.TypeFor[ecs.Entity]()

// Component declares a replicated component. The net tags of its fields set how they are
// sent: see package schema. Without options every client receives all fields that have no
// audience tag ([For] changes that), and no client predicts the component ([Predicted] does).
// It also registers the handle: do not call [ecs.Types.Register] for it.
func (p *Protocol) Component(h ecs.Handle, opts ...ComponentOption) {
	if !p.given("Component", h) || p.typesFull() {
		return
	}
	if c := p.compiled.Command; c != nil && p.compiled.Types.Has(h) && h.ID() == c.ID {
		p.faultf("Component of %s, which Command declares already: drop the call of Component", c.Name)
		return
	}
	c := layout.Component{Name: game.TypeName(h.Type()), Size: h.Type().Size(), Singleton: -1}
	for _, o := range opts {
		if o.apply == nil {
			p.faultf("component %s has an empty option: leave it out", c.Name)
			continue
		}
		o.apply(&c)
	}
	if c.FullPrecision && !c.Predicted {
		p.faultf("component %s is FullPrecision and not Predicted: nothing simulates it on clients; drop FullPrecision, or add Predicted", c.Name)
	}
	s, err := schema.Compile(h.Type(), schema.Options{Name: c.Name, Predicted: c.Predicted, FullPrecision: c.FullPrecision, Ref: entityType, Audience: c.Audience, Audiences: p.compiled.Audiences})
	if err != nil {
		p.faulty(h, err)
		return
	}
	if err := commandless("component", s); err != nil {
		p.addFault(err)
	}
	options := []ecs.TypeOption{ecs.Named(c.Name)}
	if c.Name == game.ParentName {
		options = append(options, ecs.Open()) // no game system can name it
	}
	switch deep, err := s.Copier(); {
	case err != nil:
		p.faulty(h, err)
		return
	case deep != nil:
		c.Varies = true
		options = append(options, ecs.CopierAt(deep))
	}
	if err := p.compiled.Types.Register(h, options...); err != nil {
		p.addFault(err)
		return
	}
	p.label(c.Name, h.Type())
	c.ID, c.Handle, c.Zero = h.ID(), h, reflect.New(h.Type()).UnsafePointer()
	c.Schema, c.Tolerant = s, s.Tolerant()
	p.compiled.Extrapolates = p.compiled.Extrapolates || s.Extrapolates()
	c.Interpolate(s)
	p.compiled.Curved = p.compiled.Curved || c.Curved
	if _, err := p.compiled.Registry.Component(s); err != nil {
		p.addFault(err)
		return
	}
	p.compiled.Components = append(p.compiled.Components, c)
}

// LocalComponent declares a component that is never sent: each end keeps its own values. On
// a client no rollback touches it, even on an entity that prediction destroyed and the
// server brings back. A shared system may not read or write it. The exception is a
// component that only prefabs with [SpawnConfig].ClientOnly have, such as a bullet's data
// about its shot.
func (p *Protocol) LocalComponent(h ecs.Handle) {
	if !p.given("LocalComponent", h) || p.typesFull() {
		return
	}
	if err := p.compiled.Types.Register(h, ecs.Named(game.TypeName(h.Type()))); err != nil {
		p.faulty(h, err)
		return
	}
	p.compiled.Locals = append(p.compiled.Locals, layout.Local{ID: h.ID(), Size: h.Type().Size()})
}

// Command declares the component that holds a player's input. List it in the [Protocol.Prefab]
// of the entities that the player controls, and do not declare it with Component as well.
// Both ends fill it before each tick with the command of that tick, exactly as it was sent.
// A protocol has at most one, and a game without input has none.
//
// A command is not sent to other clients. They see its zero value, unless [PredictRemote]
// guesses it. State that they must see, such as a facing, belongs in another component.
//
// Use it for input of every tick. A single tick's command may be lost. Input that must
// arrive, such as a line of chat or a purchase, is a [Request].
func (p *Protocol) Command(h ecs.Handle) {
	if !p.given("Command", h) || p.typesFull() {
		return
	}
	if p.compiled.Command != nil {
		p.faultf("Command was declared twice: put both inputs into one struct")
		return
	}
	name := game.TypeName(h.Type())
	if p.compiled.Types.Has(h) {
		p.faultf("Command of %s, which is declared already: declare the command by Command alone, and drop the call of Component or LocalComponent", name)
		return
	}
	s, err := schema.Compile(h.Type(), schema.Options{Name: name, Ref: entityType})
	if err == nil {
		err = errors.Join(referless("command", s), sized(s), sendable(s), pressing(s))
	}
	if err != nil {
		p.faulty(h, err)
		return
	}
	p.label(name, h.Type())
	if err := p.compiled.Types.Register(h, ecs.Named(name)); err != nil {
		p.addFault(err)
		return
	}
	p.compiled.Command = &layout.Command{Name: name, ID: h.ID(), Size: h.Type().Size(), Schema: s, Handle: h}
}

// commandless returns an error if a type other than the command has a tag that only the command may
// have.
func commandless(what string, s *schema.Schema) error {
	for _, f := range s.Fields() {
		tag := "press"
		if f.Sum {
			tag = "sum"
		}
		if f.Press || f.Sum {
			return fmt.Errorf("foretick: %s %s: field %s is tagged %s, which is for the command: drop the tag, or declare the type by Command alone if it is the command", what, s.Name(), f.Name, tag)
		}
	}
	return nil
}

// mostCommand is the most bytes of a command that netcode.NewCommandSender accepts.
const mostCommand = 1024

// sendable returns an error for a command that is too long to send.
func sendable(s *schema.Schema) error {
	if n := s.PackedSize(); n > mostCommand {
		return fmt.Errorf("foretick: command %s takes %d bytes, and at most %d can be sent: give its fields ranges and steps, or send what is not input as a Request", s.Name(), n, mostCommand)
	}
	return nil
}

// pressing returns an error for a command with fields tagged press and no one-shot field.
func pressing(s *schema.Schema) error {
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

// referless returns an error for a schema with entity handles. Commands and messages are sent as raw
// bits, and the bits of a handle name another entity, or none, at the other end.
func referless(what string, s *schema.Schema) error {
	var errs []error
	for _, f := range s.Fields() {
		if f.Ref && standsForAll(f.Name) {
			errs = append(errs, fmt.Errorf("foretick: %s %s: field %s is an ecs.Entity, which means nothing at the other end: send a foretick.PlayerID, or a number of the game's own that a component carries too", what, s.Name(), f.Name))
		}
	}
	return errors.Join(errs...)
}

// sized returns an error for strings and slices in a command.
func sized(s *schema.Schema) error {
	var errs []error
	for _, f := range s.Fields() {
		if (f.Text || f.Slice) && standsForAll(f.Name) {
			errs = append(errs, fmt.Errorf("foretick: command %s: field %s is a %s: a command has one size: use an array, as in [24]byte, or the number of a choice", s.Name(), f.Name, f.Type))
		}
	}
	return errors.Join(errs...)
}

// standsForAll reports whether a field is outside an array, or is the array's first element. So each
// array is reported once.
func standsForAll(path string) bool {
	return strings.Count(path, "[") == strings.Count(path, "[0]")
}

// faulty notes a component's faults, and registers the component anyway, so that prefabs and systems do
// not report it again.
func (p *Protocol) faulty(h ecs.Handle, err error) {
	p.addFault(err)
	_ = p.compiled.Types.Register(h, ecs.Named(game.TypeName(h.Type())), ecs.CopierAt(func(_, _ unsafe.Pointer) {}))
	if h.Registered() {
		p.spoilt = append(p.spoilt, h.ID())
	}
}

// spoils reports whether a component has a fault that was noted before.
func (p *Protocol) spoils(h ecs.Handle) bool {
	return h.Registered() && slices.Contains(p.spoilt, h.ID())
}

// Prefab declares a prefab: the components that its entities are spawned with. Their values
// are zero unless [Default] sets them. They are the baseline of an entity's first snapshot.
//
// The state of an entity takes at most 16 KiB. Err reports a prefab that can get longer by the
// max of its fields. An entity that gets longer by components added in play is not sent: see
// stats.Server.RecordsTooLong.
func (p *Protocol) Prefab(k *ecs.Prefab, name string, hs ...ecs.Handle) {
	if !p.givenPrefab("Prefab", k) {
		return
	}
	if !p.named("Prefab", name) {
		p.unmade = append(p.unmade, k)
		return
	}
	all := append([]ecs.Handle{&p.compiled.Identity}, hs...)
	if p.compiled.HasParents {
		all = append(all, &p.compiled.Parent)
	}
	for _, h := range hs {
		switch {
		case guard.Missing(h):
			p.faultf("prefab %q is given a nil component: pass its address, as in &g.Position", name)
		case !h.Registered():
			p.faultf("prefab %q: component %s is not declared: call Command first if it is the players' input, and else Component or LocalComponent", name, game.TypeName(h.Type()))
		default:
			continue
		}
		p.unmade = append(p.unmade, k)
		return
	}
	if err := p.compiled.Types.RegisterPrefab(k, name, all...); err != nil {
		p.unmade = append(p.unmade, k)
		p.addFault(err)
		return
	}
	p.compiled.Prefabs = append(p.compiled.Prefabs, layout.Prefab{ECS: k, Own: len(p.compiled.Prefabs)})
	p.compiled.Handlers.Spawns = append(p.compiled.Handlers.Spawns, nil)
	p.compiled.Handlers.Relevant = append(p.compiled.Handlers.Relevant, nil)
}

// Default sets the value that entities of a prefab are spawned with, for one component.
// Call it after Prefab and before Err.
func Default[T any](p *Protocol, k *ecs.Prefab, c *ecs.Component[T], v T) {
	if !p.given("Default", c) || !p.givenPrefab("Default", k) {
		return
	}
	if slices.Contains(p.unmade, k) || p.spoils(c) {
		return
	}
	if !k.Registered() {
		p.faultf("Default of %s for a prefab that is not declared: call Prefab first", game.TypeName(c.Type()))
		return
	}
	if err := ecs.SetDefault(p.compiled.Types, k, c, v); err != nil {
		p.addFault(err)
		return
	}
	if i := p.compiled.Index(c.ID()); i >= 0 {
		if at := p.compiled.Components[i].Schema.Unfit(unsafe.Pointer(&v)); at >= 0 {
			f := p.compiled.Components[i].Schema.Fields()[at]
			p.faultf("Default of prefab %q: %s.%s does not fit its tag, and would be sent cut: it has room for %d", k.Name(), p.compiled.Components[i].Name, f.Name, f.Most)
		}
		if at := p.compiled.Components[i].Schema.Unsound(unsafe.Pointer(&v)); at >= 0 {
			p.outside(k.Name(), p.compiled.Components[i].Name, &p.compiled.Components[i].Schema.Fields()[at])
		}
	}
}

// outside notes a default that is out of its field's range.
func (p *Protocol) outside(kind, component string, f *schema.Field) {
	if f.Min == f.Max {
		p.faultf("Default of prefab %q: %s.%s is not a number, or no finite one: use one that is", kind, component, f.Name)
		return
	}
	p.faultf("Default of prefab %q: %s.%s lies outside of its tag, and would be sent as another value: use %.7g to %.7g", kind, component, f.Name, f.Min, f.Max)
}

// registerPrefabs adds the prefabs and their defaults to the schema's registry.
func (p *Protocol) registerPrefabs() {
	p.registerSpawns()
	for _, k := range p.compiled.Prefabs {
		var comps []int
		var defaults []unsafe.Pointer
		for i := range p.compiled.Components {
			for _, id := range k.ECS.Components() {
				if id == p.compiled.Components[i].ID {
					comps = append(comps, i)
					defaults = append(defaults, k.ECS.Default(id))
				}
			}
		}
		if k.Matched() {
			comps = append(comps, p.compiled.Origins.Matched)
		}
		if k.ClientOnly() {
			comps = append(comps, p.compiled.Origins.ClientOnly)
		}
		if k.Interpolated {
			comps = append(comps, p.compiled.Origins.Interpolated)
		}
		_, err := p.compiled.Registry.Prefab(k.ECS.Name(), comps, defaults)
		p.addFault(err)
	}
}

// findCommon marks the prefabs of shared physics objects: those with a component that
// shared systems write with WriteOther, such as the position of a crate that players push.
// Every client predicts their entities while they have no owner.
func (p *Protocol) findCommon() {
	if i := p.compiled.PrefabOf(&p.compiled.SingletonRow); i >= 0 {
		p.compiled.Prefabs[i].Common, p.compiled.Common = true, true
	}
	for _, s := range p.compiled.Schedule.Systems() {
		if !layout.Shared(s) {
			continue
		}
		for _, id := range s.OtherWrites {
			if i := p.compiled.Index(id); i < 0 || !p.compiled.Components[i].Predicted {
				continue
			}
			for k := range p.compiled.Prefabs {
				if !p.compiled.Prefabs[k].Interpolated && slices.Contains(p.compiled.Prefabs[k].ECS.Components(), id) {
					p.compiled.Prefabs[k].Common, p.compiled.Common = true, true
				}
			}
		}
	}
}

// Interpolated marks a prefab whose entities no client predicts: their owner sees them
// interpolated and in the past too, like every other player. Use it for entities that a
// player owns and only the server moves, such as a pet or a vehicle on autopilot. Shared
// systems run for these entities on the server alone. [ServerFrame.SetPredicted] switches the
// prediction of one entity on: while it is on, shared systems run for that entity on its
// owner's client too. Clients never predict an Interpolated prefab as a shared physics
// object (see [Protocol.Shared]) or for another player (see [PredictRemote]). Call it after
// Prefab.
func (p *Protocol) Interpolated(k *ecs.Prefab) {
	if !p.givenPrefab("Interpolated", k) {
		return
	}
	i := p.compiled.PrefabOf(k)
	switch {
	case slices.Contains(p.unmade, k):
	case i < 0:
		p.faultf("Interpolated names a prefab that is not declared: call Prefab first")
	case p.compiled.Prefabs[i].Interpolated:
		p.faultf("Interpolated(%q) was called twice", k.Name())
	default:
		p.compiled.Prefabs[i].Interpolated = true
	}
}

// checkInterpolated refuses Interpolated prefabs that shared systems spawn, because a client predicts
// its spawns.
func (p *Protocol) checkInterpolated() {
	for i := range p.compiled.Prefabs {
		if k := &p.compiled.Prefabs[i]; k.Interpolated && (k.Matched() || k.ClientOnly()) {
			p.faultf("prefab %q has Spawns and is Interpolated: clients predict what shared systems spawn; drop one of them", k.ECS.Name())
		}
	}
}

// Interpolate lets the game interpolate a component with its own function. fn returns the
// value at t, above 0 and below 1, on the way from one value to the next. It is not called
// where both are equal. It decides every field, whatever the tags say. Clients draw with
// it: remote entities between two snapshots, and their own between two ticks. The server
// judges shots with it, so they hit what the shooter saw. So fn must depend on its
// arguments alone, use only fields that every player receives, and return the same on every
// machine: the command github.com/foretick/foretick/cmd/foretick-vet checks that. It may
// run on several goroutines at once.
//
// Beyond the newest value, and where there is only one value, the tags decide.
// Corrections fade in the fields that a tag interpolates. The component may hold no strings
// or slices. Call Interpolate after Component. It is not part of [Protocol.Hash].
func Interpolate[T any](p *Protocol, c *ecs.Component[T], fn func(from, to T, t float32) T) {
	if p.late("Interpolate") || !p.able("Interpolate", fn != nil) {
		return
	}
	i := p.replicated("Interpolate", c)
	if i < 0 {
		return
	}
	switch comp := &p.compiled.Components[i]; {
	case comp.Varies:
		p.faultf("Interpolate of %s, which holds strings or slices: put what moves into a component of its own", comp.Name)
	case comp.Schema.OwnInterpolation():
		p.faultf("Interpolate of %s was called twice", comp.Name)
	default:
		comp.Schema.UseInterpolation(func(dst, from, to unsafe.Pointer, t float32) {
			*(*T)(dst) = fn(*(*T)(from), *(*T)(to), t)
		})
		comp.Lerped = true
	}
}

// Asset adds references to files that clients need to show a prefab, such as a model or a sound. The
// game decides what a reference means. Assets are not part of the protocol's hash: builds with other
// graphics play together. A prefab may have several. See [Protocol.Assets].
func (p *Protocol) Asset(k *ecs.Prefab, refs ...string) { p.asset(k, false, refs) }

// ServerAsset is like Asset, for files that the server needs: a collision map, a navigation
// mesh.
func (p *Protocol) ServerAsset(k *ecs.Prefab, refs ...string) { p.asset(k, true, refs) }

// prefabAsset is an asset as it was declared.
type prefabAsset struct {
	prefab *ecs.Prefab
	server bool
	ref    string
}

func (p *Protocol) asset(k *ecs.Prefab, server bool, refs []string) {
	if !p.givenPrefab("Asset", k) {
		return
	}
	for _, ref := range refs {
		p.assets = append(p.assets, prefabAsset{k, server, ref})
	}
}

// registerAssets adds the references to the registry, after the prefabs.
func (p *Protocol) registerAssets() {
	for _, a := range p.assets {
		i := p.compiled.PrefabOf(a.prefab)
		if i < 0 {
			p.faultf("Asset %q is of a prefab that is not declared with Protocol.Prefab", a.ref)
			continue
		}
		p.addFault(p.compiled.Registry.Asset(i, a.server, a.ref))
	}
}

// Assets lists the assets that a server's build needs, or a client's if server is false:
// each once, in order. Tools that pack builds use it. Call it after Err.
// server.Config.Verify and client.Config.Verify check at the start that none is missing.
func (p *Protocol) Assets(server bool) []string { return p.compiled.Registry.Assets(server) }

// checkRecords refuses prefabs whose record in a snapshot may be too long to send.
func (p *Protocol) checkRecords() {
	reg := p.compiled.Registry.Plan()
	for i := range reg.Prefabs {
		k, total, most, greatest := &reg.Prefabs[i], 0, 0, ""
		for c := k.Mask.Next(0); c >= 0; c = k.Mask.Next(c + 1) {
			n := reg.MostBits(c)
			if total += n; n > most {
				most, greatest = n, reg.Comps[c].Name
			}
		}
		if size := snapshot.RecordBytes(total); size > snapshot.MaxRecord {
			what := "prefab " + k.Name
			if k.Name == game.SingletonPrefab {
				what = "all singletons together"
			}
			p.faultf("%s can take %d bytes in a snapshot, and %d are allowed; %s takes most, up to %d: lower max= of its strings and slices, or move some to other entities", what, size, snapshot.MaxRecord, greatest, (most+7)/8)
		}
	}
}

// For sets the audience of those fields of a component that have no audience tag, for
// example [schema.ToOwner]. A player's packets hold no trace of the fields that it does not
// receive.
//
// A player may lose sight of a field: its team or audience changes, or the entity gets another
// owner. On its client the field then is the prefab's default, in the tick whose snapshot says
// so. A component of which a player receives no field is gone for it, and [Protocol.OnVanish]
// with the component as a term tells the game: give fields that the game must miss a component of
// their own.
func For(a schema.Audience) ComponentOption {
	return ComponentOption{func(c *layout.Component) { c.Audience |= a }}
}

// Audience declares an audience of the game, such as the players who scanned a ship, for
// the tag to=NAME and for [For]. It has no members until [ServerFrame.SetAudience] adds them.
// Declare audiences before the components that name them. There can be five: a sixth is an
// error of [Protocol.Err].
func (p *Protocol) Audience(name string) schema.Audience {
	switch {
	case p.late("Audience") || !p.named("Audience", name):
	case slices.Contains(p.compiled.Audiences, name):
		p.faultf("Audience %q is declared twice", name)
	case len(p.compiled.Audiences) == schema.MaxAudiences:
		p.faultf("Audience %q is one too many: there can be %d", name, schema.MaxAudiences)
	default:
		p.compiled.Audiences = append(p.compiled.Audiences, name)
		return schema.GameAudience(len(p.compiled.Audiences) - 1)
	}
	return 0
}

// checkAudiences refuses components that a client would have to predict although it does not receive
// all fields.
func (p *Protocol) checkAudiences() {
	for i := range p.compiled.Components {
		c := &p.compiled.Components[i]
		p.compiled.Teams = p.compiled.Teams || c.ByTeam()
		p.checkOthersFields(c)
		field := c.HiddenFromOwner()
		if field == "" {
			continue
		}
		if c.Predicted {
			p.faultf("component %s is predicted, but its owner does not receive %s: put that field into another component", c.Name, field)
		}
		for _, s := range p.compiled.Schedule.Systems() {
			if layout.Shared(s) && slices.Contains(s.Reads, c.ID) {
				p.faultf("shared system %q reads %s, of which an owner does not receive %s: put that field into another component", s.Name, c.Name, field)
			}
		}
	}
}

// checkOthersFields refuses shared systems that read a component of other players if a client does not
// receive all fields of it.
func (p *Protocol) checkOthersFields(c *layout.Component) {
	field := ""
	for _, f := range c.Schema.Fields() {
		if field == "" && f.Audience != 0 {
			field = f.Name
		}
	}
	if field == "" {
		return
	}
	for _, s := range p.compiled.Schedule.Systems() {
		if !layout.Shared(s) || !slices.Contains(s.OtherReads, c.ID) || slices.Contains(s.OtherWrites, c.ID) {
			continue
		}
		hidden := c.HiddenFromOwner()
		switch own := slices.Contains(s.OwnReads, c.ID); {
		case own && hidden != "":
			p.faultf("shared system %q reads %s, of which an owner does not receive %s: put that field into another component", s.Name, c.Name, hidden)
		case !own && hidden == "":
			p.faultf("shared system %q reads %s of other entities, whose %s a client does not receive: declare it with ecs.ReadOwn if they are the same player's, such as the holder of a thing; else put that field into another component, or, with a server, make the system Server", s.Name, c.Name, field)
		case !own:
			p.faultf("shared system %q reads %s of other entities, whose %s a client does not receive: put that field into another component, or, with a server, make the system Server", s.Name, c.Name, field)
		}
	}
}
