package quantise

import (
	"math/bits"
	"sync"
	"unsafe"

	"github.com/foretick/foretick/internal/coder"
)

// Shared reports whether there are audiences besides the owner and every viewer.
func (r *Registry) Shared() bool { return r.Classes&^ToOwner != 0 }

// SeenAlike reports whether an audience sees the same components of two sets.
func (r *Registry) SeenAlike(a Audience, x, y Mask) bool {
	if x.high == y.high {
		return (x.low^y.low)&^r.hidden[a].low == 0
	}
	return r.VisibleMask(x, a).Equal(r.VisibleMask(y, a))
}

// DifferSeen reports whether an audience sees a difference between two sets of components in
// their words. It compares only components that both sets have.
func (r *Registry) DifferSeen(a Audience, mx Mask, x []int32, my Mask, y []int32) bool {
	ox, oy := 0, 0
	for k := range max(mx.Parts(), my.Parts()) {
		mx, my, hidden := mx.Part(k), my.Part(k), r.hidden[a].Part(k)
		for m := mx | my; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m)
			c := r.Comps[k<<6+i]
			if mx&my&^hidden>>i&1 != 0 && c.differFor(a, x[ox:ox+c.Words], y[oy:oy+c.Words]) {
				return true
			}
			if mx>>i&1 != 0 {
				ox += c.Words
			}
			if my>>i&1 != 0 {
				oy += c.Words
			}
		}
	}
	return false
}

// Differ reports whether the words of a set of components differ, not counting
// references.
func (r *Registry) Differ(mask Mask, a, b []int32) bool {
	off := 0
	for k := range mask.Parts() {
		for m := mask.Part(k); m != 0; m &= m - 1 {
			c := r.Comps[k<<6+bits.TrailingZeros64(m)]
			if c.differ(a[off:off+c.Words], b[off:off+c.Words]) {
				return true
			}
			off += c.Words
		}
	}
	return false
}

// BaseOf narrows baselines to a component. If one lacks the component, it starts from
// zero.
func (r *Registry) BaseOf(b *coder.Baselines, packs *[3]Mask, comp int, a Audience) coder.Baselines {
	c := r.Comps[comp]
	if !packs[0].Has(comp) {
		return coder.Baselines{Words: [3][]int32{c.Zero[a.Lane()]}}
	}
	at := b.At(r.wordsBelow(packs[0], comp), c.Words)
	for i := 1; i < b.N; i++ { // hidden components may come and go
		if !packs[i].Equal(packs[0]) {
			off := r.wordsBelow(packs[i], comp)
			at.Words[i] = b.Words[i][off : off+c.Words]
		}
	}
	return at
}

// WordsOf returns the number of words of the components of a mask.
func (r *Registry) WordsOf(mask Mask) int {
	n := r.wordsOfPart(0, mask.low)
	for k := 1; k < mask.Parts(); k++ {
		n += r.wordsOfPart(k, mask.Part(k))
	}
	return n
}

func (r *Registry) wordsOfPart(k int, m uint64) (n int) {
	for ; m != 0; m &= m - 1 {
		n += r.Comps[k<<6+bits.TrailingZeros64(m)].Words
	}
	return n
}

// wordsBelow returns the number of words of a mask's components with ids below comp.
func (r *Registry) wordsBelow(mask Mask, comp int) int {
	last := comp >> 6
	n := r.wordsOfPart(last, mask.Part(last)&(1<<(comp&63)-1))
	for k := range last {
		n += r.wordsOfPart(k, mask.Part(k))
	}
	return n
}

// none is the value of a component without words, which is not nil.
var none = []int32{}

// Component returns one component's words out of the words of a mask, or nil if absent. A
// component that is there without any words, such as a tag, has an empty slice.
func (r *Registry) Component(mask Mask, words []int32, comp int) []int32 {
	if comp < 0 || comp >= len(r.Comps) || !mask.Has(comp) {
		return nil
	}
	n := r.Comps[comp].Words
	if n == 0 {
		return none // words may be nil if no component has any
	}
	off := r.wordsBelow(mask, comp)
	return words[off : off+n : off+n]
}

// VisibleMask drops the components with no field that an audience receives.
func (r *Registry) VisibleMask(mask Mask, a Audience) Mask {
	return mask.without(&r.hidden[a])
}

// Hides reports whether a mask has a component with no field that an audience receives.
func (r *Registry) Hides(mask Mask, a Audience) bool { return mask.meets(&r.hidden[a]) }

// Hidden returns the components with no field that an audience receives.
func (r *Registry) Hidden(a Audience) Mask { return r.hidden[a] }

// Defaults returns the words of a prefab's defaults.
func (r *Registry) Defaults(k *Prefab) *[Lanes][]int32 {
	d := k.late
	if d == nil {
		return &k.words
	}
	d.once.Do(func() {
		own := r.ZeroWords(k.Mask)
		for _, x := range d.set {
			own[x.At] = x.Word
		}
		pub := make([]int32, 0, len(own))
		for c, s := range r.Comps {
			if k.Mask.Has(c) {
				at := len(pub)
				pub = pub[:at+s.Words]
				s.Publish(own[at:at+s.Words], pub[at:])
			}
		}
		d.words = [Lanes][]int32{Public: pub, ToOwner: own}
	})
	return &d.words
}

// ZeroWords returns the words of zero values of the components of a mask.
func (r *Registry) ZeroWords(mask Mask) []int32 {
	words := make([]int32, 0, r.WordsOf(mask))
	for c, s := range r.Comps {
		if mask.Has(c) {
			words = append(words, s.Zero[ToOwner]...)
		}
	}
	return words
}

// Registry lists the plans of a game's components and prefabs, by their ids.
type Registry struct {
	Comps   []*Plan
	Prefabs []Prefab
	Frozen  bool      // Frozen is true once a Source or a Receiver uses the registry.
	hidden  [256]Mask // hidden has, by audience, the components without a field that it receives.
	Classes Audience  // Classes are the audiences that make a difference.
	Tables  *coder.Tables
	Words   int    // Words is the number of words of all components.
	all     uint64 // all has a bit for each component below 64.
	refs    Mask   // refs has the components that may hold references.
}

// HasRefs reports whether a component of a mask may hold references.
func (r *Registry) HasRefs(mask Mask) bool { return mask.meets(&r.refs) }

// Holds reports whether all components of a mask are in the registry.
func (r *Registry) Holds(mask Mask) bool {
	return mask.low&^r.all == 0 && (!mask.Wide() || mask.End() <= len(r.Comps))
}

// Wide reports whether there are components with ids of 64 and more.
func (r *Registry) Wide() bool { return len(r.Comps) > 64 }

// NewRegistry returns an empty registry that codes with the built-in tables.
func NewRegistry() *Registry { return &Registry{Tables: coder.Builtin()} }

// Add adds a component.
func (r *Registry) Add(s *Plan) {
	r.Words += s.Words
	for a := range r.hidden {
		if !s.SeenBy(Audience(a)) {
			r.hidden[a] = r.hidden[a].With(len(r.Comps))
		}
	}
	r.Classes |= s.Classes
	if len(s.RefWords) > 0 {
		r.refs = r.refs.With(len(r.Comps))
	}
	r.all = r.all<<1 | 1
	r.Comps = append(r.Comps, s)
}

// Prefab is a sort of entity. Its defaults are the baselines of entities that were
// never acknowledged.
type Prefab struct {
	Name string
	Mask Mask
	// words has the words of the defaults in each lane, without the components that the prefab lacks.
	words [Lanes][]int32
	late  *lateDefaults // late is set if the words are made when they are asked for.
}

// AddPrefab adds a prefab with the values at some addresses as defaults, by component.
func (r *Registry) AddPrefab(name string, mask Mask, at map[int]unsafe.Pointer) {
	k := Prefab{Name: name, Mask: mask}
	n := r.WordsOf(mask)
	k.words = [Lanes][]int32{make([]int32, n), make([]int32, n)}
	off := 0
	for c, s := range r.Comps {
		if !mask.Has(c) {
			continue
		}
		to := k.words[ToOwner][off : off+s.Words]
		copy(to, s.Zero[ToOwner])
		if p := at[c]; p != nil {
			s.Quantise(p, GridSim, nil, to)
		}
		s.Publish(to, k.words[Public][off:off+s.Words])
		off += s.Words
	}
	r.Prefabs = append(r.Prefabs, k)
}

// AddLate adds a prefab with words as defaults, which are made when first needed.
func (r *Registry) AddLate(name string, mask Mask, set []WordDefault) {
	r.Prefabs = append(r.Prefabs, Prefab{Name: name, Mask: mask, late: &lateDefaults{set: set}})
}

// lateDefaults are the defaults of a prefab of a schema that was read. They are made when needed, because a few
// bytes can claim prefabs of very many words.
type lateDefaults struct {
	set   []WordDefault // set has the words that are not those of zero values.
	once  sync.Once
	words [Lanes][]int32
}

// WordDefault is a default word, by its place among those of the owner.
type WordDefault struct{ At, Word int32 }
