package snapshot

// Cache keeps the records of one tick, for all senders that are given it in
// [SenderConfig].Cache: a record is a function of the entity, its baselines and its
// audience, and viewers with like delays ask for the same. What is sent is the same
// with it and without. Senders that share a cache belong to one [Source] and must
// not append at the same time: with several goroutines give each its own. The zero
// value is empty.
type Cache struct {
	src     *Source
	tick    Tick
	plans   []*plan
	entries []cached
	code    coder // the records
	desk    desk
	hits    uint64
	misses  uint64
}

// plan is what viewers of one audience with the same usual baselines share.
type plan struct {
	tick  Tick
	ago   [3]uint32 // how far back these lie
	aud   audience
	scale scales
	slots []slotPlan
}

// slotPlan is what they share of one entity.
type slotPlan struct {
	tick Tick // of all this
	is   planState
	vers [3]int32 // the versions in the ticks of the baselines
	at   int32    // index of the record against the values in the very ticks of the baselines
	more int32    // 1 + index of the newest of the others
}

type planState uint8

const (
	planRecord   planState = 1 << iota // at is known
	planSpecial                        // there is no such record
	planFound                          // vers are known
	planMoot                           // and not all there, or of another owner
	planCompared                       // the values of the baselines were compared
	planSame                           // the first and the second are equal
	planSame2                          // the second and the third are
)

// code is where a record's groups of flags and its bits lie.
type code struct {
	from, m int32 // groups
	pos, n  int32 // bits
	cost    int32 // of the groups, in 1/256 bit
}

// cached is a record against other values.
type cached struct {
	vers [3]Tick // which versions
	next int32
	at   code
}

// Hits returns how many records were found, and how many had to be made.
func (c *Cache) Hits() (found, made uint64) { return c.hits, c.misses }

// begin forgets the records of an earlier tick.
func (c *Cache) begin(s *Source) {
	if c.tick == s.tick && c.src == s {
		return
	}
	if c.src != s {
		c.plans = nil
	}
	c.src, c.tick, c.entries = s, s.tick, c.entries[:0]
	c.code.tab = s.reg.tab
	c.code.f.reset()
	c.code.w.Reset(c.code.w.buf[:0])
}

// plan finds or makes the plan for an audience.
func (c *Cache) plan(ago [3]uint32, a audience) *plan {
	var idle *plan
	for _, p := range c.plans {
		if p.ago == ago && p.aud == a {
			idle = p
			break
		}
		if p.tick != c.tick {
			idle = p
		}
	}
	if idle == nil {
		idle = &plan{}
		c.plans = append(c.plans, idle)
	}
	if idle.tick != c.tick || idle.ago != ago || idle.aud != a {
		idle.tick, idle.ago, idle.aud = c.tick, ago, a
		idle.scale.set(c.src.reg.tab, ago)
	}
	if n := len(c.src.slots); len(idle.slots) < n {
		idle.slots = append(idle.slots, make([]slotPlan, n-len(idle.slots))...)
	}
	return idle
}

// slot is the part of an entity, empty at first in each tick.
func (p *plan) slot(i int32) *slotPlan {
	x := &p.slots[i]
	if x.tick != p.tick {
		*x = slotPlan{tick: p.tick}
	}
	return x
}

// find returns a record, or nil.
func (c *Cache) find(p *slotPlan, vers *[3]Tick) *code {
	for i := p.more; i != 0; i = c.entries[i-1].next {
		if e := &c.entries[i-1]; e.vers == *vers {
			return &e.at
		}
	}
	return nil
}

// open starts a record, and close ends it.
func (c *coder) open() code {
	c.f.next()
	c.w.align()
	return code{from: int32(len(c.f.groups)), pos: int32(8 * len(c.w.buf))}
}

func (c *coder) close(at *code) {
	c.f.next()
	at.n = int32(c.w.Len()) - at.pos
	c.w.align()
	groups := c.f.groups[at.from:]
	at.m, at.cost = int32(len(groups)), int32(groupsCost(groups))
}
