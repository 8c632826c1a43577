package trace

import (
	"encoding/binary"
	"slices"

	"github.com/foretick/foretick/schema"
)

// Bounds of a trace.
const (
	MaxEntities = 8        // entities of a trace
	RingTicks   = 32       // ticks that each end keeps
	MaxRecord   = 16 << 10 // bytes of a tick
)

// The operations of a record. Each is one byte, with its operands behind it.
const (
	opStep   = iota // varint: what follows is true from this step on
	opEntity        // u32 name, varint prefab, u8 audience: the next entity, from 0
	opWords         // u8 entity, u8 component, words: each as its difference from before
	opNone          // u8 entity, u8 component: the entity no longer has the component
	opGone          // u8 entity: the entity is gone
	opMore          // there are more entities than a trace holds
	opCut           // the rest did not fit
)

// recordHead is the tick's number.
const recordHead = 4

// mostOp is the most that an operation takes, without words.
const mostOp = 1 + 4 + 3 + 1

// Recorder writes the record of one tick after another. Its memory is reused.
type Recorder struct {
	l *Layout

	handles   [MaxEntities]uint64
	names     [MaxEntities]uint32
	audiences [MaxEntities]schema.Audience
	dead      [MaxEntities]bool
	n         int

	words   []int32 // words has the newest words, by entity.
	has     []bool  // has says, by entity and component, whether the entity has the component.
	scratch []int32
	zero    []int32

	b    []byte
	step int
	said int // said is the step that was written last.
	more bool
	cut  bool
}

// NewRecorder returns a recorder for a layout.
func NewRecorder(l *Layout) *Recorder {
	return &Recorder{
		l: l, words: make([]int32, MaxEntities*l.words), has: make([]bool, MaxEntities*len(l.Components)),
		scratch: make([]int32, l.words), zero: make([]int32, l.words),
	}
}

// Begin begins the record of a tick, at its first step.
func (r *Recorder) Begin(t Tick) {
	clear(r.has)
	clear(r.words)
	r.n, r.step, r.said, r.more, r.cut = 0, start, start, false, false
	r.b = binary.LittleEndian.AppendUint32(r.b[:0], t)
}

// At sets the step of what follows.
func (r *Recorder) At(step int) { r.step = step }

// Add adds an entity. handle is the caller's, name is the one that both ends know, and audience is what the
// trace may hold of the entity.
func (r *Recorder) Add(handle uint64, name uint32, prefab int, audience schema.Audience) {
	if r.n == MaxEntities {
		r.More()
		return
	}
	if !r.room(mostOp) {
		return
	}
	r.beginStep()
	r.b = binary.LittleEndian.AppendUint32(append(r.b, opEntity), name)
	r.b = append(binary.AppendUvarint(r.b, uint64(prefab)), byte(audience))
	r.handles[r.n], r.names[r.n], r.audiences[r.n], r.dead[r.n] = handle, name, audience, false
	r.n++
}

// More notes that there are more entities than fit.
func (r *Recorder) More() {
	if !r.more && r.room(1) {
		r.more = true
		r.b = append(r.b, opMore)
	}
}

// Entities returns the number of entities that were added in the tick.
func (r *Recorder) Entities() int { return r.n }

// Handle returns an entity's handle, 0 once it is gone.
func (r *Recorder) Handle(entity int) uint64 {
	if r.dead[entity] {
		return 0
	}
	return r.handles[entity]
}

// Named reports whether an entity of a name was added in the tick.
func (r *Recorder) Named(name uint32) bool { return slices.Contains(r.names[:r.n], name) }

// Scratch returns memory for the words of a component, for [Recorder.Put].
func (r *Recorder) Scratch(component int) []int32 {
	return r.scratch[:r.l.Components[component].Schema.Words()]
}

// Put records an entity's value of a component, if it changed. Fields that the entity's
// audience does not receive are recorded as zero. It changes words.
func (r *Recorder) Put(entity, component int, words []int32) {
	c := &r.l.Components[component]
	if !c.Schema.Reaches(r.audiences[entity]) {
		return
	}
	n := len(words)
	c.Schema.Cover(r.audiences[entity], words, r.zero[:n])
	has := &r.has[entity*len(r.l.Components)+component]
	before := r.words[entity*r.l.words+c.at:][:n]
	if *has && slices.Equal(before, words) {
		return
	}
	if !r.room(mostOp + 5*n) {
		return
	}
	r.beginStep()
	r.b = append(r.b, opWords, byte(entity), byte(component))
	for i, w := range words {
		r.b = appendWord(r.b, uint32(w)-uint32(before[i]))
	}
	copy(before, words)
	*has = true
}

// None records that an entity does not have a component.
func (r *Recorder) None(entity, component int) {
	has := &r.has[entity*len(r.l.Components)+component]
	if !*has || !r.room(mostOp) {
		return
	}
	r.beginStep()
	r.b = append(r.b, opNone, byte(entity), byte(component))
	*has = false
	c := &r.l.Components[component]
	clear(r.words[entity*r.l.words+c.at:][:c.Schema.Words()])
}

// Gone records that an entity is gone. It does not come back in the tick.
func (r *Recorder) Gone(entity int) {
	if r.dead[entity] || !r.room(mostOp) {
		return
	}
	r.beginStep()
	r.b = append(r.b, opGone, byte(entity))
	r.dead[entity] = true
}

// Record returns the tick's record, valid until the next [Recorder.Begin].
func (r *Recorder) Record() []byte { return r.b }

// beginStep writes the step if it is a new one.
func (r *Recorder) beginStep() {
	if r.said != r.step {
		r.said = r.step
		r.b = binary.AppendUvarint(append(r.b, opStep), uint64(r.step))
	}
}

// room reports whether n more bytes fit into the record. The first that do not fit end the record.
func (r *Recorder) room(n int) bool {
	if !r.cut && len(r.b)+n+mostOp+1 > MaxRecord {
		r.cut = true
		r.b = append(r.b, opCut)
	}
	return !r.cut
}

// A word is its difference from before: zigzag, in one byte below oneByte, in two below
// twoBytes, or a byte rawWord and the number itself. So a large number is there as it is.
const (
	oneByte  = 0xC0
	rawWord  = 0xFF
	twoBytes = oneByte + (rawWord-oneByte)<<8
)

func appendWord(dst []byte, d uint32) []byte {
	z := d<<1 ^ uint32(int32(d)>>31)
	switch {
	case z < oneByte:
		return append(dst, byte(z))
	case z < twoBytes:
		z -= oneByte
		return append(dst, oneByte+byte(z>>8), byte(z))
	}
	return binary.LittleEndian.AppendUint32(append(dst, rawWord), d)
}

// readWord returns the difference and the number of bytes that it took, which is 0 if the bytes end too early.
func readWord(b []byte) (d uint32, n int) {
	if len(b) == 0 {
		return 0, 0
	}
	z := uint32(b[0])
	switch {
	case z == rawWord:
		if len(b) < 5 {
			return 0, 0
		}
		return binary.LittleEndian.Uint32(b[1:]), 5
	case z >= oneByte:
		if len(b) < 2 {
			return 0, 0
		}
		z, n = oneByte+(z-oneByte)<<8+uint32(b[1]), 2
	default:
		n = 1
	}
	return z>>1 ^ -(z & 1), n
}
