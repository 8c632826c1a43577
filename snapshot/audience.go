package snapshot

// Audience is a set of classes of viewers, as seen from an entity: a field or a
// component that names classes is for viewers of any of them, and does not exist for
// others. The empty set is everybody.
type Audience uint8

const (
	// ToOwner is the entity's owner. It receives predicted components on the
	// simulation grid.
	ToOwner Audience = 1 << iota
	// ToAllies are the viewers of the entity's team, and its owner.
	ToAllies
	// ToEnemies are the viewers of another team. Team 0 is none: neither an ally's
	// nor an enemy's.
	ToEnemies
	// firstGroup is the first of the game's own: see [SchemaOptions].Audiences.
	firstGroup
)

// MaxAudiences is how many audiences of its own a game may have.
const MaxAudiences = 5

// GameAudience is the i-th of the game's own audiences, in the order of
// [SchemaOptions].Audiences.
func GameAudience(i int) Audience { return firstGroup << i }

type audience = Audience

// A version's words lie in two lanes: those of the owner on the simulation grid, and
// on the public grid those of all others, without what only the owner receives.
// What somebody does not receive of a lane is not coded for him.
const (
	audiencePublic audience = 0
	audienceOwner           = ToOwner
	lanes                   = 2
	everything     audience = 255 // of the fields, whoever is asked
)

// lane is where the words for an audience lie.
func (a Audience) lane() int { return int(a & ToOwner) }

// seenBy tells whether an audience, the classes that a viewer is of, receives a field.
func (l *leaf) seenBy(a audience) bool { return l.aud == 0 || l.aud&a != 0 }

// seenBy tells whether an audience receives any of a component: all do of one
// without fields.
func (s *Schema) seenBy(a audience) bool {
	for i := range s.leaves {
		if s.leaves[i].seenBy(a) {
			return true
		}
	}
	return len(s.leaves) == 0
}

// codesFor are the words that an audience receives.
func (s *Schema) codesFor(a audience) []wordCode { return s.codes[a&s.classes] }

// allFor tells whether an audience receives all words, and none is a reference.
func (s *Schema) allFor(a audience) bool { return s.whole[a&s.classes] }

// runsFor are the words that an audience receives, as runs take them.
func (s *Schema) runsFor(a audience) []runWord { return s.runs[a&s.classes] }

// unitsFor are what of them is predicted together.
func (s *Schema) unitsFor(a audience) []unit { return s.units[a&s.classes] }

// audienceCodes makes the codes for every audience that makes a difference.
func (s *Schema) audienceCodes() {
	s.classes = 0
	for i := range s.leaves {
		l := &s.leaves[i]
		if s.classes |= l.aud; l.ratio > 1 {
			s.classes |= ToOwner
		}
	}
	s.codes, s.units = make([][]wordCode, int(s.classes)+1), make([][]unit, int(s.classes)+1)
	s.runs, s.whole = make([][]runWord, int(s.classes)+1), make([]bool, int(s.classes)+1)
	s.extents = make([][]extent, int(s.classes)+1)
	for n := range s.codes {
		a := Audience(n)
		if a&^s.classes != 0 {
			continue
		}
		g := GridPublic
		if a&ToOwner != 0 {
			g = GridSim
		}
		for i := range s.leaves {
			if l := &s.leaves[i]; l.seenBy(a) {
				s.addCodes(l, a, g)
			}
		}
		s.findExtents(a)
		s.findRuns(a)
	}
}

// hide makes the words of fields that an audience does not receive 0.
func (s *Schema) hide(words []int32, a audience) {
	for i := range s.leaves {
		if l := &s.leaves[i]; !l.seenBy(a) {
			l.blank(words)
		}
	}
}

// blank writes the words of a field that is not there.
func (l *leaf) blank(words []int32) {
	clear(words[l.word : l.word+l.words()])
	if l.op == opQuat {
		words[l.word] = identity
	}
}

// differFor tells whether two vectors differ in a word that an audience receives and
// that is no reference.
func (s *Schema) differFor(a audience, x, y []int32) bool {
	for i := range s.leaves {
		l := &s.leaves[i]
		if l.op == opRef || !l.seenBy(a) {
			continue
		}
		for w := l.word; w < l.word+l.words(); w++ {
			if x[w] != y[w] {
				return true
			}
		}
	}
	return false
}
