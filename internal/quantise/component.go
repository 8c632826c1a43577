package quantise

import (
	"iter"
	"slices"

	"github.com/foretick/foretick/internal/coder"
)

// Context returns the context of the flag that says whether a component changed.
// References do not count, because their meaning differs between the ends.
func Context(c *Plan, b *coder.Baselines, a Audience) int {
	switch {
	case b.N < 3:
		return coder.CtxComponent + b.N
	case c.equal(a, b.Words[0], b.Words[1]):
		return coder.CtxComponent + 2 // at rest
	case c.equal(a, b.Words[1], b.Words[2]):
		return coder.CtxComponent + 3 // began to change
	}
	return coder.CtxComponent + 4
}

// equal reports whether an audience sees no difference, not counting references.
func (s *Plan) equal(a Audience, v, w []int32) bool {
	c := s.Coding(a)
	if c.Whole {
		return slices.Equal(v, w)
	}
	return coder.EqualWords(c.Codes, v, w)
}

// differ reports whether two vectors differ in a word that is not a reference.
func (s *Plan) differ(a, b []int32) bool {
	if len(s.RefWords) == 0 {
		return !slices.Equal(a, b)
	}
	from := 0
	for _, w := range s.RefWords {
		if !slices.Equal(a[from:w], b[from:w]) {
			return true
		}
		from = w + 1
	}
	return !slices.Equal(a[from:], b[from:])
}

// BlankFrom sets the words of a list's elements from index from up to to. They become those of zero values.
func (s *Plan) BlankFrom(l *List, from, to int, a Audience, words []int32) {
	if from >= to {
		return
	}
	at, end := l.Word+from*l.Words, l.Word+to*l.Words
	copy(words[at:end], s.Zero[a.Lane()][at:end])
	for i := l.From + from*l.Each; i < l.From+to*l.Each; i++ {
		if e := &s.Leaves[i]; !e.SeenBy(a) {
			e.blank(words)
		}
	}
}

// FieldOf returns the field that a word belongs to.
func (s *Plan) FieldOf(word int) int {
	i, ok := slices.BinarySearchFunc(s.Leaves, word, func(l Leaf, word int) int { return l.Word - word })
	if !ok {
		i--
	}
	return i
}

// Written yields each leaf with its index in the list of field names. It leaves out the
// elements of a slice after the first, which have no names in that list.
func (s *Plan) Written() iter.Seq2[int, int] {
	return func(yield func(leaf, entry int) bool) {
		list := 0
		for i, entry := 0, 0; ; i, entry = i+1, entry+1 {
			if list < len(s.Lists) && i == s.Lists[list].From+s.Lists[list].Each {
				i = s.Lists[list].End()
				list++
			}
			if i >= len(s.Leaves) || !yield(i, entry) {
				return
			}
		}
	}
}
