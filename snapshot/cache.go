package snapshot

import (
	"github.com/foretick/foretick/internal/coder"
	"github.com/foretick/foretick/internal/plan"
	"github.com/foretick/foretick/schema"
)

// Cache keeps the records of one tick for all senders with it in [SenderConfig].Cache.
// A record depends only on the entity, its baselines and its audience, so viewers with
// similar delays need the same records. The bytes sent are the same with and without
// it.
//
// Senders that share a cache must belong to one [Source] and must not append at the
// same time: with several goroutines, give each its own. The zero value is empty.
type Cache struct {
	src     *Source
	tick    schema.Tick
	plans   []*basis
	entries []cached
	code    coder.Encoder // the records
	scratch senderScratch
	twins   []twin
	kept    int    // twins of this tick
	copied  uint64 // snapshots that were twins
	hits    uint64
	misses  uint64
}

// basis is shared by viewers of one audience with the same usual baselines.
type basis struct {
	tick  schema.Tick
	ago   [3]uint32 // ticks back to these
	aud   plan.Audience
	scale coder.Scales
	slots []slotPlan
}

// slotPlan is the shared part of one entity.
type slotPlan struct {
	tick schema.Tick // of all this
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

// cached is a record against other versions.
type cached struct {
	vers [3]schema.Tick // which versions
	next int32
	at   coder.Chunk
}

// Hits returns the number of records found in the cache and the number that were made.
func (c *Cache) Hits() (found, made uint64) { return c.hits, c.misses }

// Copied returns the number of snapshots that were whole copies of another viewer's.
func (c *Cache) Copied() uint64 { return c.copied }

// beginTick forgets the records of an earlier tick.
func (c *Cache) beginTick(s *Source) {
	if c.tick == s.tick && c.src == s {
		return
	}
	if c.src != s {
		c.plans = nil
	}
	c.src, c.tick, c.entries, c.kept = s, s.tick, c.entries[:0], 0
	c.code.Tables = s.reg.Tables
	c.code.Flags.Reset()
	c.code.Bits.Reset(c.code.Bits.Buf[:0])
}

// plan finds or makes the plan for an audience.
func (c *Cache) plan(ago [3]uint32, a plan.Audience) *basis {
	var idle *basis
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
		idle = &basis{}
		c.plans = append(c.plans, idle)
	}
	if idle.tick != c.tick || idle.ago != ago || idle.aud != a {
		idle.tick, idle.ago, idle.aud = c.tick, ago, a
		idle.scale.Set(c.src.reg.Tables, ago)
	}
	if n := len(c.src.slots); len(idle.slots) < n {
		idle.slots = append(idle.slots, make([]slotPlan, n-len(idle.slots))...)
	}
	return idle
}

// slotPlan returns an entity's part, empty at first in each tick.
func (p *basis) slotPlan(i int32) *slotPlan {
	x := &p.slots[i]
	if x.tick != p.tick {
		*x = slotPlan{tick: p.tick}
	}
	return x
}

// findRecord returns a record, or nil.
func (c *Cache) findRecord(p *slotPlan, vers *[3]schema.Tick) *coder.Chunk {
	for i := p.more; i != 0; i = c.entries[i-1].next {
		if e := &c.entries[i-1]; e.vers == *vers {
			return &e.at
		}
	}
	return nil
}
