package snapshot

import (
	"slices"
	"sync"
	"sync/atomic"
)

// coding is how a schema's words are coded for an audience.
type coding struct {
	a       audience
	codes   []wordCode // of each word sent
	units   []unit     // what of them is predicted together
	runs    []runWord  // the words as runs take them
	extents []extent   // of the lists
	whole   bool       // all words are sent, and none is a reference
}

// newCoding makes the coding for an audience, of classes that make a difference.
func (s *Schema) newCoding(a audience) coding {
	c, g := coding{a: a}, GridPublic
	if a&ToOwner != 0 {
		g = GridSim
	}
	for i := range s.leaves {
		if l := &s.leaves[i]; l.seenBy(a) {
			c.add(l, g)
		}
	}
	c.findExtents(s)
	c.findRuns()
	c.whole = len(c.codes) == s.words && len(s.refWords) == 0
	return c
}

// add adds the words of a leaf.
func (c *coding) add(l *leaf, g Grid) {
	from := int32(len(c.codes))
	c.codes = l.wordCodes(c.codes, g)
	us := c.units
	switch {
	case l.op == opQuat:
		us = append(us, unit{sort: sortRotation, from: from, n: quatWords})
	case l.op == opRef:
		us = append(us, unit{sort: sortRef, from: from, n: 1})
	case l.op == opText:
		us = append(us, unit{sort: sortText, from: from, n: int32(l.words())})
	case l.op == opLength:
		us = append(us, unit{sort: sortLength, from: from, n: 1, vec: -1 - l.list})
	case l.vec != 0 && len(us) > 0 && us[len(us)-1].vec == int32(l.vec):
		us[len(us)-1].n++
	case l.vec != 0:
		us = append(us, unit{sort: sortVector, from: from, n: 1, vec: int32(l.vec)})
	default:
		for ; int(from) < len(c.codes); from++ {
			us = append(us, unit{sort: sortScalar, from: from, n: 1})
		}
	}
	c.units = us
}

// findRuns notes which units stand together so that a run takes them at once.
func (c *coding) findRuns() {
	us, codes := c.units, c.codes
	c.runs = make([]runWord, len(codes))
	for i := range codes {
		c.runs[i] = codes[i].runWord()
	}
	for i := len(us) - 1; i >= 0; i-- {
		k := &codes[us[i].from]
		if us[i].sort != sortScalar || !k.inRun() {
			continue
		}
		us[i].run = 1
		if i+1 < len(us) && us[i+1].run > 0 && codes[us[i+1].from].word == k.word+1 {
			us[i].run = min(us[i+1].run+1, runMost)
		}
	}
}

func (s *Schema) coding(a audience) *coding {
	if a &= s.classes; int(a) < len(s.codings) {
		return &s.codings[a]
	}
	return s.asked(a)
}

// mostCodings is how many codings of a schema that was read are kept: more than
// there are audiences in most games.
const mostCodings = 8

// codings are those of a schema that was read, made when they are asked for: a few
// bytes can claim fields for each of 256 audiences.
type codings struct {
	made atomic.Pointer[[]*coding]
	lock sync.Mutex
}

// asked is the coding of a schema that was read for an audience.
func (s *Schema) asked(a audience) *coding {
	c := s.few
	if made := c.made.Load(); made != nil {
		for _, x := range *made {
			if x.a == a {
				return x
			}
		}
	}
	x := s.newCoding(a)
	c.lock.Lock()
	defer c.lock.Unlock()
	var made []*coding
	if old := c.made.Load(); old != nil {
		made = slices.Clone(*old)
	}
	if len(made) == mostCodings {
		made = made[1:]
	}
	made = append(made, &x)
	c.made.Store(&made)
	return &x
}
