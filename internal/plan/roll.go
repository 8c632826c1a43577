package plan

import (
	"math/bits"
	"sync"
	"unsafe"

	"github.com/foretick/foretick/internal/coder"
)

// Shared reports whether there are audiences besides the owner and every viewer.
func (r *Registry) Shared() bool { return r.Classes&^ToOwner != 0 }

// DifferWithin reports whether an audience sees a difference between two sets of
// components in their words. It compares only components of within that both sets have.
func (r *Registry) DifferWithin(within uint64, a Audience, mx uint64, x []int32, my uint64, y []int32) bool {
	ox, oy := 0, 0
	for m := mx | my; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		c := r.Comps[i]
		if within>>i&1 != 0 && mx&my>>i&1 != 0 && c.differFor(a, x[ox:ox+c.Words], y[oy:oy+c.Words]) {
			return true
		}
		if mx>>i&1 != 0 {
			ox += c.Words
		}
		if my>>i&1 != 0 {
			oy += c.Words
		}
	}
	return false
}

// Differ reports whether the words of a set of components differ, not counting
// references.
func (r *Registry) Differ(mask uint64, a, b []int32) bool {
	off := 0
	for m := mask; m != 0; m &= m - 1 {
		c := r.Comps[bits.TrailingZeros64(m)]
		if c.differ(a[off:off+c.Words], b[off:off+c.Words]) {
			return true
		}
		off += c.Words
	}
	return false
}

// BaseOf narrows baselines to a component. If one lacks the component, it starts from
// zero.
func (r *Registry) BaseOf(b *coder.Baselines, packs *[3]uint64, comp int, a Audience) coder.Baselines {
	c := r.Comps[comp]
	if packs[0]>>comp&1 == 0 {
		return coder.Baselines{Words: [3][]int32{c.Zero[a.Lane()]}}
	}
	below := uint64(1)<<comp - 1
	at := b.At(r.WordsOf(packs[0]&below), c.Words)
	for i := 1; i < b.N; i++ { // hidden components may come and go
		if packs[i] != packs[0] {
			off := r.WordsOf(packs[i] & below)
			at.Words[i] = b.Words[i][off : off+c.Words]
		}
	}
	return at
}

// WordsOf returns the number of words of the components of a mask.
func (r *Registry) WordsOf(mask uint64) int {
	n := 0
	for m := mask; m != 0; m &= m - 1 {
		n += r.Comps[bits.TrailingZeros64(m)].Words
	}
	return n
}

// none is the value of a component without words, which is not nil.
var none = []int32{}

// Component returns one component's words out of the words of a mask, or nil if absent. A
// component that is there without any words, such as a tag, has an empty slice.
func (r *Registry) Component(mask uint64, words []int32, comp int) []int32 {
	if comp < 0 || comp >= len(r.Comps) || mask>>comp&1 == 0 {
		return nil
	}
	n := r.Comps[comp].Words
	if n == 0 {
		return none // words may be nil, where nothing has any
	}
	off := r.WordsOf(mask & (1<<comp - 1))
	return words[off : off+n : off+n]
}

// VisibleMask drops the components with no field that an audience receives.
func (r *Registry) VisibleMask(mask uint64, a Audience) uint64 {
	return mask &^ r.hidden[a]
}

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
			if k.Mask>>c&1 != 0 {
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
func (r *Registry) ZeroWords(mask uint64) []int32 {
	words := make([]int32, 0, r.WordsOf(mask))
	for c, s := range r.Comps {
		if mask>>c&1 != 0 {
			words = append(words, s.Zero[ToOwner]...)
		}
	}
	return words
}

// Registry lists the plans of a game's components and prefabs, by their ids.
type Registry struct {
	Comps   []*Plan
	Prefabs []Prefab
	Frozen  bool        // a Source or a Receiver uses it
	hidden  [256]uint64 // by audience: components without a field that it receives
	Classes Audience    // those that make a difference
	Tables  *coder.Tables
	Words   int // of all components
}

// NewRegistry returns an empty registry that codes with the built-in tables.
func NewRegistry() *Registry { return &Registry{Tables: coder.Builtin()} }

// Add adds a component.
func (r *Registry) Add(s *Plan) {
	r.Words += s.Words
	for a := range r.hidden {
		if !s.SeenBy(Audience(a)) {
			r.hidden[a] |= 1 << len(r.Comps)
		}
	}
	r.Classes |= s.Classes
	r.Comps = append(r.Comps, s)
}

// Prefab is a sort of entity. Its defaults are the baselines of entities that were
// never acknowledged.
type Prefab struct {
	Name string
	Mask uint64
	// words of the defaults, in each lane, without the components it lacks
	words [Lanes][]int32
	late  *lateDefaults // then words are made when they are asked for
}

// AddPrefab adds a prefab with the values at some addresses as defaults, by component.
func (r *Registry) AddPrefab(name string, mask uint64, at map[int]unsafe.Pointer) {
	k := Prefab{Name: name, Mask: mask}
	n := r.WordsOf(mask)
	k.words = [Lanes][]int32{make([]int32, n), make([]int32, n)}
	off := 0
	for c, s := range r.Comps {
		if mask>>c&1 == 0 {
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
func (r *Registry) AddLate(name string, mask uint64, set []WordDefault) {
	r.Prefabs = append(r.Prefabs, Prefab{Name: name, Mask: mask, late: &lateDefaults{set: set}})
}

// lateDefaults are the defaults of a prefab that was read. A few bytes can claim
// prefabs of very many words.
type lateDefaults struct {
	set   []WordDefault // that are not those of zero values
	once  sync.Once
	words [Lanes][]int32
}

// WordDefault is a default word, by its place among those of the owner.
type WordDefault struct{ At, Word int32 }
