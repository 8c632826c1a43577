package schema

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"github.com/foretick/foretick/internal/coder"
	"github.com/foretick/foretick/internal/quantise"
)

const (
	maxComponents  = quantise.MaskBits
	maxPrefabs     = 65535
	maxPrefabWords = 1 << 16
)

// Registry lists a game's replicated components and prefabs. Both ends must register
// the same in the same order, because the order gives the ids.
type Registry struct {
	plan    *quantise.Registry
	Schemas []*Schema
	assets  [][]asset // assets has the asset references by prefab.
	names   map[string]bool
	spread  int // spread is the sum of the components' Spread: see plan.MaxSpread.
	words   int // words is the number of words of all components.
	// prefabWords is the number of words of all prefabs.
	prefabWords int
}

// NewRegistry returns an empty registry.
func NewRegistry() *Registry {
	return &Registry{names: map[string]bool{}, plan: quantise.NewRegistry()}
}

// Component registers a component and returns its id, 0 to 255, which is also its
// bit in masks.
func (r *Registry) Component(s *Schema) (int, error) {
	switch {
	case r.plan.Frozen:
		return 0, ErrFrozen
	case s == nil:
		return 0, errors.New("schema: Component(nil): compile a schema first")
	case len(r.plan.Comps) == maxComponents:
		return 0, fmt.Errorf("schema: component %s is one too many: %d can be replicated; merge small ones", s.plan.Name, maxComponents)
	case r.words+s.plan.Words > maxSchemaWords:
		return 0, fmt.Errorf("schema: component %s brings the words of all components to %d: there can be %d; lower a max, or merge components", s.plan.Name, r.words+s.plan.Words, maxSchemaWords)
	case r.spread+s.plan.Spread() > quantise.MaxSpread:
		return 0, fmt.Errorf("schema: component %s: the slices of all components have too many elements: lower a max, or name fewer audiences", s.plan.Name)
	case r.names["c "+s.plan.Name]:
		return 0, fmt.Errorf("schema: a component named %s exists: give SchemaOptions.Name", s.plan.Name)
	}
	r.names["c "+s.plan.Name] = true
	r.words += s.plan.Words
	r.spread += s.plan.Spread()
	r.plan.Add(s.plan)
	r.Schemas = append(r.Schemas, s)
	return len(r.plan.Comps) - 1, nil
}

// Prefab registers a prefab and returns its number. It has a name, the ids of its
// initial components, and their default values. A value equal to the default costs at
// most a bit when an entity is first shown. A nil or missing default is the zero value.
// References in defaults are none.
func (r *Registry) Prefab(name string, comps []int, defaults []unsafe.Pointer) (int, error) {
	switch {
	case r.plan.Frozen:
		return 0, ErrFrozen
	case len(r.plan.Prefabs) == maxPrefabs:
		return 0, fmt.Errorf("schema: prefab %s is one too many: there can be %d", name, maxPrefabs)
	case r.names["k "+name]:
		return 0, fmt.Errorf("schema: a prefab named %s exists: names are unique", name)
	case len(defaults) > len(comps):
		return 0, fmt.Errorf("schema: prefab %s has %d defaults for %d components", name, len(defaults), len(comps))
	}
	var set quantise.MaskBuilder
	at := map[int]unsafe.Pointer{}
	for i, c := range comps {
		if c < 0 || c >= len(r.plan.Comps) {
			return 0, fmt.Errorf("schema: prefab %s: no component %d: register components before prefabs", name, c)
		}
		if set.Has(c) {
			return 0, fmt.Errorf("schema: prefab %s lists component %s twice", name, r.plan.Comps[c].Name)
		}
		set.Set(c)
		if i < len(defaults) {
			at[c] = defaults[i]
		}
	}
	mask := set.Mask()
	n := r.plan.WordsOf(mask)
	if r.prefabWords += n; r.prefabWords > maxReadPrefabWords {
		return 0, fmt.Errorf("schema: prefab %s brings the words of all prefabs to %d: there can be %d; use one prefab for what has the same components, and set values when it spawns", name, r.prefabWords, maxReadPrefabWords)
	}
	r.names["k "+name] = true
	r.plan.AddPrefab(name, mask, at)
	return len(r.plan.Prefabs) - 1, nil
}

// Plan returns the registry as this module's coding packages use it.
func (r *Registry) Plan() *quantise.Registry { return r.plan }

// Components returns the number of components registered.
func (r *Registry) Components() int { return len(r.plan.Comps) }

// Schema returns the schema of a component, by its id.
func (r *Registry) Schema(comp int) *Schema { return r.Schemas[comp] }

// Describe returns everything that both ends must agree on, as text: the coding tables,
// every component with its fields, and every prefab with its components and the words
// of its defaults.
func (r *Registry) Describe() string {
	var b strings.Builder
	b.WriteString(r.plan.Tables.Describe())
	for _, s := range r.Schemas {
		b.WriteString(s.Describe())
	}
	for i := range r.plan.Prefabs {
		k := &r.plan.Prefabs[i]
		fmt.Fprintf(&b, "prefab %s", k.Name)
		for c, off := 0, 0; c < len(r.plan.Comps); c++ {
			if k.Mask.Has(c) {
				n := r.plan.Comps[c].Words
				fmt.Fprintf(&b, " %s=%v", r.plan.Comps[c].Name, r.plan.Defaults(k)[quantise.ToOwner][off:off+n])
				off += n
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Prefabs returns the number of prefabs registered.
func (r *Registry) Prefabs() int { return len(r.plan.Prefabs) }

// PrefabHas reports whether entities of a prefab start with a component.
func (r *Registry) PrefabHas(prefab, comp int) bool { return r.plan.Prefabs[prefab].Mask.Has(comp) }

// PrefabName returns a prefab's name, by its number.
func (r *Registry) PrefabName(prefab int) string { return r.plan.Prefabs[prefab].Name }

// UseTables makes the registry code with learned tables instead of the built-in ones. b
// comes from [snapshot.Statistics]. Both ends need the same tables: Describe differs
// between tables.
func (r *Registry) UseTables(b []byte) error {
	if r.plan.Frozen {
		return ErrFrozen
	}
	t, err := coder.ParseTables(b)
	if err != nil {
		return fmt.Errorf("schema: %w", err)
	}
	r.plan.Tables = t
	return nil
}
