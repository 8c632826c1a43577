package quantise

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/foretick/foretick/internal/coder"
)

// TestWordCodes: each leaf has a code for each of its words, in order, which holds every
// word that a value quantises to.
func TestWordCodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawPlan(t)
		p := drawValue(t, s, "value")
		for _, g := range []Grid{GridPublic, GridSim} {
			words := s.words(p, g)
			for i := range s.Leaves {
				l := &s.Leaves[i]
				codes := l.WordCodes(nil, g)
				require.Len(t, codes, l.Words(), l.Class.Name())
				for k := range codes {
					c := &codes[k]
					require.Equal(t, l.Word+k, c.Word)
					if c.Kind != coder.Ref {
						require.True(t, c.Holds(words[c.Word]), "%s on grid %d: %d", l.Class.Name(), g, words[c.Word])
					}
					if c.Lo <= c.Hi {
						require.Equal(t, coder.Width(c.Lo, c.Hi), c.Size)
					}
				}
			}
		}
	})
}

// TestCodings: an audience's coding has the words of the fields that it receives, on its
// grid; units cover them once, and runs are of neighbouring words.
func TestCodings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawPlan(t)
		a := Audience(rapid.IntRange(0, 255).Draw(t, "audience"))
		c := s.Coding(a)
		var want []int
		for i := range s.Leaves {
			if l := &s.Leaves[i]; l.SeenBy(a) {
				for w := range l.Words() {
					want = append(want, l.Word+w)
				}
			}
		}
		var got []int
		for i := range c.Codes {
			got = append(got, c.Codes[i].Word)
		}
		require.Equal(t, want, got)
		at := int32(0)
		for i, u := range c.Units {
			require.Equal(t, at, u.From, "unit %d", i)
			at += u.N
			for k := range u.Run {
				run := c.Units[i+int(k)]
				require.EqualValues(t, coder.SortScalar, run.Sort)
				require.Equal(t, c.Codes[u.From].Word+int(k), c.Codes[run.From].Word)
				require.True(t, c.Codes[run.From].InRun())
			}
			require.LessOrEqual(t, u.Run, int32(coder.RunMost))
		}
		require.Len(t, c.Codes, int(at))
		for w := range s.Words {
			require.Equal(t, contains(want, w), s.CodedFor(w, a))
		}
	})
}

func contains(words []int, w int) bool {
	for _, x := range words {
		if x == w {
			return true
		}
	}
	return false
}

// TestExtents: an audience's part of an element is what it receives of it.
func TestExtents(t *testing.T) {
	secret := leafOf(Int16)
	secret.Audience = ToOwner
	s := buildList(3, leafOf(Int8), secret, leafOf(Ref))
	for a, want := range map[Audience]extent{Public: {Units: 2, Refs: 1}, ToOwner: {Units: 3, Refs: 1}} {
		require.Equal(t, []extent{want}, s.Coding(a).Extents, "audience %d", a)
	}
}

// TestSpread: words of slices count once for every set of audiences.
func TestSpread(t *testing.T) {
	allies := leafOf(Int8)
	allies.Audience = ToAllies
	for _, c := range []struct {
		name string
		s    *Plan
		want int
	}{
		{"no slice", build(leafOf(Int8)), 0},
		{"for all", buildList(3, leafOf(Int8)), 4 << 1},
		{"for allies", buildList(3, allies), 4 << 2},
	} {
		require.Equal(t, c.want, c.s.Spread(), c.name)
	}
}
