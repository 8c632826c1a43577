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

// audienceCodes makes the codes for every audience that makes a difference.
func (s *Schema) audienceCodes() {
	s.classes = 0
	for i := range s.leaves {
		l := &s.leaves[i]
		if s.classes |= l.aud; l.ratio > 1 {
			s.classes |= ToOwner
		}
	}
	if s.few != nil {
		return
	}
	s.codings = make([]coding, int(s.classes)+1)
	for n := range s.codings {
		if a := Audience(n); a&^s.classes == 0 {
			s.codings[n] = s.newCoding(a)
		}
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

// Cover puts from's words where an audience receives nothing of a component: the two
// can then be compared, and the whole be taken for what from is a guess of.
func (s *Schema) Cover(a Audience, words, from []int32) {
	for i := range s.leaves {
		if l := &s.leaves[i]; !l.seenBy(a) {
			copy(words[l.word:l.word+l.words()], from[l.word:])
		}
	}
}

// Reaches tells whether viewers of an audience receive any of the component.
func (s *Schema) Reaches(a Audience) bool { return s.seenBy(a) }

// Coarse is the index in [Schema.Fields] of the first field that others than the
// owner receive in coarser steps than he does, or −1: see [SchemaOptions].Exact.
func (s *Schema) Coarse() int {
	for i := range s.leaves {
		if l := &s.leaves[i]; l.ratio > 1 && l.aud != ToOwner {
			return i
		}
	}
	return -1
}
