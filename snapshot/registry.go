package snapshot

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"
	"sync"
	"unsafe"
)

const (
	maxComponents  = 64
	maxPrefabs     = 65535
	maxPrefabWords = 1 << 16
)

// Registry lists the replicated components and the prefabs of entities of a game.
// Both ends register the same, in the same order: the order is the ids.
type Registry struct {
	comps   []*Schema
	prefabs []prefab
	names   map[string]bool
	frozen  bool
	hidden  [256]uint64 // by audience: components of which it receives nothing
	classes Audience    // those that make a difference
	tab     *tables
	spread  int // see maxSpread
	words   int // of all components
}

// prefab is a sort of entity; its defaults are the baselines of entities never acked.
type prefab struct {
	name   string
	assets []asset
	mask   uint64
	// words of the defaults, in each lane, without the components it lacks
	words [lanes][]int32
	late  *lateDefaults // then words are made when they are asked for
}

// lateDefaults are the defaults of a kind that was read: a few bytes can claim kinds
// of very many words.
type lateDefaults struct {
	set   []wordDefault // that are not those of zero values
	once  sync.Once
	words [lanes][]int32
}

// wordDefault is a default word, by its place among those of the owner.
type wordDefault struct{ at, word int32 }

// defaults are the words of a kind's defaults.
func (r *Registry) defaults(k *prefab) *[lanes][]int32 {
	d := k.late
	if d == nil {
		return &k.words
	}
	d.once.Do(func() {
		own := r.zeroWords(k.mask)
		for _, x := range d.set {
			own[x.at] = x.word
		}
		pub := make([]int32, 0, len(own))
		for c, s := range r.comps {
			if k.mask>>c&1 != 0 {
				at := len(pub)
				pub = pub[:at+s.words]
				s.publish(own[at:at+s.words], pub[at:])
			}
		}
		d.words = [lanes][]int32{audiencePublic: pub, audienceOwner: own}
	})
	return &d.words
}

// NewRegistry returns an empty registry.
func NewRegistry() *Registry {
	return &Registry{names: map[string]bool{}, tab: builtin()}
}

// Component registers a component and returns its id, 0 to 63, which is also its
// bit in masks.
func (r *Registry) Component(s *Schema) (int, error) {
	switch {
	case r.frozen:
		return 0, ErrFrozen
	case s == nil:
		return 0, errors.New("snapshot: Component(nil): compile a schema first")
	case len(r.comps) == maxComponents:
		return 0, fmt.Errorf("snapshot: component %s is one too many: %d can be replicated; merge small ones", s.name, maxComponents)
	case r.spread+s.spread() > maxSpread:
		return 0, fmt.Errorf("snapshot: component %s: the slices of all components have too many elements: lower a max, or name fewer audiences", s.name)
	case r.names["c "+s.name]:
		return 0, fmt.Errorf("snapshot: a component named %s exists: give SchemaOptions.Name", s.name)
	}
	r.names["c "+s.name] = true
	r.spread += s.spread()
	r.words += s.words
	for a := range r.hidden {
		if !s.seenBy(Audience(a)) {
			r.hidden[a] |= 1 << len(r.comps)
		}
	}
	r.classes |= s.classes
	r.comps = append(r.comps, s)
	return len(r.comps) - 1, nil
}

// Prefab registers a sort of entity by name, the ids of the components it is made
// with and their default values, and returns its number. Values equal to the
// default cost a bit at most when an entity is first shown. A nil or missing
// default is the zero value; references in defaults are none.
func (r *Registry) Prefab(name string, comps []int, defaults []unsafe.Pointer) (int, error) {
	switch {
	case r.frozen:
		return 0, ErrFrozen
	case len(r.prefabs) == maxPrefabs:
		return 0, fmt.Errorf("snapshot: prefab %s is one too many: there can be %d", name, maxPrefabs)
	case r.names["k "+name]:
		return 0, fmt.Errorf("snapshot: a prefab named %s exists: names are unique", name)
	case len(defaults) > len(comps):
		return 0, fmt.Errorf("snapshot: prefab %s has %d defaults for %d components", name, len(defaults), len(comps))
	}
	k := prefab{name: name}
	at := map[int]unsafe.Pointer{}
	for i, c := range comps {
		if c < 0 || c >= len(r.comps) {
			return 0, fmt.Errorf("snapshot: prefab %s: no component %d: register components before prefabs", name, c)
		}
		if k.mask>>c&1 != 0 {
			return 0, fmt.Errorf("snapshot: prefab %s lists component %s twice", name, r.comps[c].name)
		}
		k.mask |= 1 << c
		if i < len(defaults) {
			at[c] = defaults[i]
		}
	}
	n := r.wordsOf(k.mask)
	if n > maxPrefabWords {
		return 0, fmt.Errorf("snapshot: prefab %s has %d words: %d are allowed", name, n, maxPrefabWords)
	}
	k.words = [lanes][]int32{make([]int32, n), make([]int32, n)}
	off := 0
	for c, s := range r.comps {
		if k.mask>>c&1 == 0 {
			continue
		}
		to := k.words[audienceOwner][off : off+s.words]
		copy(to, s.zero[audienceOwner])
		if p := at[c]; p != nil {
			s.Quantise(p, GridSim, nil, to)
		}
		s.publish(to, k.words[audiencePublic][off:off+s.words])
		off += s.words
	}
	r.names["k "+name] = true
	r.prefabs = append(r.prefabs, k)
	return len(r.prefabs) - 1, nil
}

// Components is the number of components registered.
func (r *Registry) Components() int { return len(r.comps) }

// Schema is the schema of a component's id.
func (r *Registry) Schema(comp int) *Schema { return r.comps[comp] }

// Describe writes all that both ends must agree on: the tables of its
// codes, every component and its fields, and every prefab with its components and
// the words of its defaults.
func (r *Registry) Describe() string {
	var b strings.Builder
	b.WriteString(r.tab.describe())
	for _, s := range r.comps {
		b.WriteString(s.Describe())
	}
	for i := range r.prefabs {
		k := &r.prefabs[i]
		fmt.Fprintf(&b, "prefab %s", k.name)
		for c, off := 0, 0; c < len(r.comps); c++ {
			if k.mask>>c&1 != 0 {
				n := r.comps[c].words
				fmt.Fprintf(&b, " %s=%v", r.comps[c].name, r.defaults(k)[audienceOwner][off:off+n])
				off += n
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// wordsOf is the number of words of the components of a mask.
func (r *Registry) wordsOf(mask uint64) int {
	n := 0
	for m := mask; m != 0; m &= m - 1 {
		n += r.comps[bits.TrailingZeros64(m)].words
	}
	return n
}

// component cuts one component's words out of the words of a mask; nil if absent.
func (r *Registry) component(mask uint64, words []int32, comp int) []int32 {
	if comp < 0 || comp >= len(r.comps) || mask>>comp&1 == 0 {
		return nil
	}
	off := r.wordsOf(mask & (1<<comp - 1))
	n := r.comps[comp].words
	return words[off : off+n : off+n]
}

// visibleMask drops the components of which an audience receives nothing.
func (r *Registry) visibleMask(mask uint64, a audience) uint64 {
	return mask &^ r.hidden[a]
}

// Prefabs is the number of prefabs registered.
func (r *Registry) Prefabs() int { return len(r.prefabs) }

// PrefabHas tells whether entities of a kind are born with a component.
func (r *Registry) PrefabHas(prefab, comp int) bool { return r.prefabs[prefab].mask>>comp&1 != 0 }

// PrefabName is the name of a kind's number.
func (r *Registry) PrefabName(prefab int) string { return r.prefabs[prefab].name }
