package trace

import (
	"encoding/binary"
	"errors"

	"github.com/foretick/foretick/schema"
)

// ErrRecord is returned for a malformed record.
var ErrRecord = errors.New("foretick: malformed record of a trace")

// Visitor receives the operations of a record, in order.
type Visitor interface {
	// Step begins a step; the first is not announced.
	Step(step int)
	// Entity adds an entity. The first has number 0.
	Entity(name uint32, prefab int, audience schema.Audience)
	// Words has the packed differences of a component's words from those before. Add them to the words.
	Words(entity, component int, differences []byte)
	// None says that an entity no longer has a component.
	None(entity, component int)
	// Gone says that an entity is gone.
	Gone(entity int)
	// More says that there are more entities, and Cut that the record is not complete.
	More()
	Cut()
}

// nobody is a Visitor that does nothing, for Check.
type nobody struct{}

func (nobody) Step(int)                            {}
func (nobody) Entity(uint32, int, schema.Audience) {}
func (nobody) Words(int, int, []byte)              {}
func (nobody) None(int, int)                       {}
func (nobody) Gone(int)                            {}
func (nobody) More()                               {}
func (nobody) Cut()                                {}

// TickOf returns the tick of a record, 0 for one that is too short.
func TickOf(b []byte) Tick {
	if len(b) < recordHead {
		return 0
	}
	return binary.LittleEndian.Uint32(b)
}

// Check reports whether a record can be read with a layout: nil or [ErrRecord]. It allocates
// nothing.
func (l *Layout) Check(b []byte) error { return l.Visit(b, nobody{}) }

// Visit reads a record. On [ErrRecord] some of it was visited.
func (l *Layout) Visit(b []byte, v Visitor) error {
	if len(b) < recordHead || len(b) > MaxRecord {
		return ErrRecord
	}
	b = b[recordHead:]
	step, entities := start, 0
	for len(b) > 0 {
		op := b[0]
		b = b[1:]
		n := 0
		switch op {
		case opStep:
			u, k := binary.Uvarint(b)
			if k <= 0 || u <= uint64(step) || u >= uint64(l.Steps()) {
				return ErrRecord
			}
			step, n = int(u), k
			v.Step(step)
		case opEntity:
			if len(b) < 4 || entities == MaxEntities {
				return ErrRecord
			}
			u, k := binary.Uvarint(b[4:])
			if n = 4 + k + 1; k <= 0 || u >= uint64(len(l.Prefabs)) || len(b) < n {
				return ErrRecord
			}
			entities++
			v.Entity(binary.LittleEndian.Uint32(b), int(u), schema.Audience(b[n-1]))
		case opWords, opNone:
			if len(b) < 2 || int(b[0]) >= entities || int(b[1]) >= len(l.Components) || l.Components[b[1]].Schema == nil {
				return ErrRecord
			}
			n = 2
			if op == opNone {
				v.None(int(b[0]), int(b[1]))
				break
			}
			for range l.Components[b[1]].Schema.Words() {
				_, k := readWord(b[n:])
				if k == 0 {
					return ErrRecord
				}
				n += k
			}
			v.Words(int(b[0]), int(b[1]), b[2:n])
		case opGone:
			if len(b) < 1 || int(b[0]) >= entities {
				return ErrRecord
			}
			n = 1
			v.Gone(int(b[0]))
		case opMore:
			v.More()
		case opCut:
			if len(b) > 0 {
				return ErrRecord
			}
			v.Cut()
		default:
			return ErrRecord
		}
		b = b[n:]
	}
	return nil
}

// AddWords adds the differences of [Visitor.Words] to a component's words.
func AddWords(words []int32, differences []byte) {
	for i := range words {
		d, n := readWord(differences)
		words[i] += int32(d)
		differences = differences[n:]
	}
}
