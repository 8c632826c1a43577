package quantise

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/foretick/foretick/internal/coder"
)

// Coding describes the coding of a schema's words for an audience.
type Coding struct {
	Audience Audience
	Codes    []coder.Code    // Codes has the code of each word sent.
	Units    []unit          // Units has the parts of the words that are predicted together.
	Runs     []coder.RunWord // Runs has the words in the form that runs take.
	Extents  []extent        // Extents has the audience's part of an element, for each list.
	Whole    bool            // Whole is true if all words are sent, and none is a reference.
}

// newCoding makes the coding for an audience, of classes that make a difference.
func (s *Plan) newCoding(a Audience) Coding {
	c, g := Coding{Audience: a}, GridPublic
	if a&ToOwner != 0 {
		g = GridSim
	}
	for i := range s.Leaves {
		if l := &s.Leaves[i]; l.SeenBy(a) {
			c.addLeaf(l, g)
		}
	}
	c.findExtents(s)
	c.findRuns()
	c.Whole = len(c.Codes) == s.Words && len(s.RefWords) == 0
	return c
}

// addLeaf adds the words of a leaf.
func (c *Coding) addLeaf(l *Leaf, g Grid) {
	from := int32(len(c.Codes))
	c.Codes = l.WordCodes(c.Codes, g)
	us := c.Units
	switch {
	case l.Class == Quat:
		us = append(us, unit{Sort: coder.SortRotation, From: from, N: coder.QuatWords})
	case l.Class == Ref:
		us = append(us, unit{Sort: coder.SortRef, From: from, N: 1})
	case l.Class == Text:
		us = append(us, unit{Sort: coder.SortText, From: from, N: int32(l.Words())})
	case l.Class == Length:
		us = append(us, unit{Sort: coder.SortLength, From: from, N: 1, Vec: -1 - l.List})
	case l.Vec != 0 && len(us) > 0 && us[len(us)-1].Vec == int32(l.Vec):
		us[len(us)-1].N++
	case l.Vec != 0:
		us = append(us, unit{Sort: coder.SortVector, From: from, N: 1, Vec: int32(l.Vec)})
	default:
		for ; int(from) < len(c.Codes); from++ {
			us = append(us, unit{Sort: coder.SortScalar, From: from, N: 1})
		}
	}
	c.Units = us
}

// findRuns finds neighbouring units that a run can code at once.
func (c *Coding) findRuns() {
	us, codes := c.Units, c.Codes
	c.Runs = make([]coder.RunWord, len(codes))
	for i := range codes {
		c.Runs[i] = codes[i].RunWord()
	}
	for i := len(us) - 1; i >= 0; i-- {
		k := &codes[us[i].From]
		if us[i].Sort != coder.SortScalar || !k.InRun() {
			continue
		}
		us[i].Run = 1
		if i+1 < len(us) && us[i+1].Run > 0 && codes[us[i+1].From].Word == k.Word+1 {
			us[i].Run = min(us[i+1].Run+1, coder.RunMost)
		}
	}
}

// Coding returns the coding of the component for an audience.
func (s *Plan) Coding(a Audience) *Coding {
	if a &= s.Classes; int(a) < len(s.codings) {
		return &s.codings[a]
	}
	return s.asked(a)
}

// MostCodings is the number of codings kept for a schema that was read. Most games have
// fewer audiences.
const MostCodings = 8

// Codings are the codings of a schema that was read. They are made when first needed,
// because a few bytes can claim fields for each of 256 audiences.
type Codings struct {
	Made atomic.Pointer[[]*Coding]
	lock sync.Mutex
}

// asked returns the coding of a schema that was read, for an audience.
func (s *Plan) asked(a Audience) *Coding {
	c := s.Few
	if made := c.Made.Load(); made != nil {
		for _, x := range *made {
			if x.Audience == a {
				return x
			}
		}
	}
	x := s.newCoding(a)
	c.lock.Lock()
	defer c.lock.Unlock()
	var made []*Coding
	if old := c.Made.Load(); old != nil {
		made = slices.Clone(*old)
	}
	if len(made) == MostCodings {
		made = made[1:]
	}
	made = append(made, &x)
	c.Made.Store(&made)
	return &x
}

// unit is predicted as one: a word, a vector, a rotation, a string, or the length of a slice.
type unit struct {
	Sort    uint8
	From, N int32 // From is the first of the unit's word codes, and N is their number.
	// Vec is the number of the vector. For a slice's length it is −1 − the number of the list.
	Vec int32
	Run int32 // Run is the number of units from this one on that a run codes at once.
}

// WordCodes appends the codes of a leaf's words on a grid.
func (l *Leaf) WordCodes(to []coder.Code, g Grid) []coder.Code {
	c := coder.Code{Word: l.Word, Lo: 1, Hi: 0, Size: 32}
	switch {
	case l.Class == Quat:
		return l.quatCodes(to, g)
	case l.Class == Ref:
		c.Kind = coder.Ref
	case l.Class == Text:
		c.Kind, c.Size = coder.Text, int(l.Hi)
		for range l.Words() {
			to = append(to, c)
			c.Word++
		}
		return to
	case l.Class == Length:
		c.Lo, c.Hi = l.Lo, l.Hi
	case l.Class == Float32:
		c.Kind = coder.Float
	case l.Angle():
		c.Kind, c.Lo, c.Hi = coder.Angle, l.Grid[g].lo, l.Grid[g].hi
	case l.Stepped():
		c.Lo, c.Hi = l.Grid[g].lo, l.Grid[g].hi
	case !l.Wide && l.Class.Integer() && l.Hi <= math.MaxInt32 && (l.Lo > math.MinInt32 || l.Hi < math.MaxInt32):
		c.Lo, c.Hi = l.Lo, l.Hi
	}
	if c.Lo <= c.Hi {
		c.Size = coder.Width(c.Lo, c.Hi)
	}
	to = append(to, c)
	if l.Wide {
		c.Word++
		c.High = l.Class == Float64
		to = append(to, c)
	}
	return to
}

// extent is an audience's part of a slice's element.
type extent struct{ Units, Refs int }

// findExtents counts the units of the elements of each list.
func (c *Coding) findExtents(s *Plan) {
	if len(s.Lists) == 0 {
		return
	}
	c.Extents = make([]extent, len(s.Lists))
	codes := c.Codes
	for _, u := range c.Units {
		for i := range s.Lists {
			l := &s.Lists[i]
			if at := codes[u.From].Word; at >= l.Word && at < l.Word+l.Words {
				c.Extents[i].Units++
				if u.Sort == coder.SortRef {
					c.Extents[i].Refs++
				}
			}
		}
	}
}

// CodedFor reports whether an audience receives a word.
func (s *Plan) CodedFor(word int, a Audience) bool {
	for _, k := range s.Coding(a).Codes {
		if k.Word == word {
			return true
		}
	}
	return false
}
