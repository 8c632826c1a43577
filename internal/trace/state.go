package trace

import "github.com/foretick/foretick/schema"

// Replay walks through a record step by step, for whoever shows it.
type Replay struct {
	Tick Tick
	More bool // More is true if there were more entities than a trace holds.
	Cut  bool // Cut is true if the record is not complete.

	l       *Layout
	ops     []op
	next    int
	Present []Entity // Present has the entities in the order in which they were added.
}

// Entity is an entity of a record.
type Entity struct {
	Name     uint32
	Prefab   int
	Audience schema.Audience
	Here     bool      // Here is true if the entity exists at the step that was reached.
	Words    [][]int32 // Words has the words by component. nil means that the entity does not have it.
}

// op is a decoded operation.
type op struct {
	step        int
	kind        byte
	entity      int
	component   int
	differences []byte
	added       Entity
}

// NewReplay decodes a record, which must not change afterwards. The error is [ErrRecord].
func NewReplay(l *Layout, b []byte) (*Replay, error) {
	r := &Replay{l: l, Tick: TickOf(b)}
	return r, l.Visit(b, &collector{r: r})
}

// collector fills a Replay.
type collector struct {
	r    *Replay
	step int
}

func (c *collector) addOp(o op) { o.step = c.step; c.r.ops = append(c.r.ops, o) }

func (c *collector) Step(step int) { c.step = step }

func (c *collector) Entity(name uint32, prefab int, audience schema.Audience) {
	c.addOp(op{kind: opEntity, added: Entity{Name: name, Prefab: prefab, Audience: audience, Here: true}})
}

func (c *collector) Words(entity, component int, differences []byte) {
	c.addOp(op{kind: opWords, entity: entity, component: component, differences: differences})
}

func (c *collector) None(entity, component int) {
	c.addOp(op{kind: opNone, entity: entity, component: component})
}

func (c *collector) Gone(entity int) { c.addOp(op{kind: opGone, entity: entity}) }
func (c *collector) More()           { c.r.More = true }
func (c *collector) Cut()            { c.r.Cut = true }

// Reach applies the record up to the end of a step. Call it with rising steps.
func (r *Replay) Reach(step int) {
	for ; r.next < len(r.ops) && r.ops[r.next].step <= step; r.next++ {
		o := &r.ops[r.next]
		switch o.kind {
		case opEntity:
			e := o.added
			e.Words = make([][]int32, len(r.l.Components))
			r.Present = append(r.Present, e)
		case opWords:
			words := r.Present[o.entity].Words
			if words[o.component] == nil {
				words[o.component] = make([]int32, r.l.Components[o.component].Schema.Words())
			}
			AddWords(words[o.component], o.differences)
		case opNone:
			r.Present[o.entity].Words[o.component] = nil
		case opGone:
			r.Present[o.entity].Here = false
		}
	}
}

// Find returns an entity by its name, nil if the record does not have it.
func (r *Replay) Find(name uint32) *Entity {
	if r == nil {
		return nil
	}
	for i := range r.Present {
		if r.Present[i].Name == name {
			return &r.Present[i]
		}
	}
	return nil
}
