package snapshot

import (
	"github.com/foretick/foretick/internal/coder"
	"github.com/foretick/foretick/internal/quantise"
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
	code    coder.Encoder // code holds the encoded records.
	scratch senderScratch
	twins   []twin
	kept    int    // kept is how many of twins are of this tick.
	copied  uint64 // copied counts the snapshots that were copies of a twin.
	hits    uint64
	misses  uint64
}

// basis is shared by viewers of one audience with the same usual baselines.
type basis struct {
	tick schema.Tick
	// ago has the distances in ticks back to the usual baselines, each from the next newer one.
	ago   [3]uint32
	aud   quantise.Audience
	scale coder.Scales
	slots []slotPlan
}

// slotPlan is what the viewers of a basis share about one entity.
type slotPlan struct {
	tick schema.Tick // tick is the tick that all other fields are of.
	is   planState
	vers [3]int32 // vers are the entity's versions in the ticks of the usual baselines.
	at   int32    // at is the index in Cache.entries of the record that is coded against vers.
	// more is 1 + the index in Cache.entries of the newest record that is coded against other versions.
	more int32
}

type planState uint8

const (
	planRecord   planState = 1 << iota // slotPlan.at is known
	planSpecial                        // no plain record can be coded against slotPlan.vers
	planFound                          // slotPlan.vers is known
	planMoot                           // a version in slotPlan.vers is missing, or has another owner
	planCompared                       // the values in the baselines' ticks were compared
	planSame                           // the values of the first and the second baseline are equal
	planSame2                          // the values of the second and the third baseline are equal
)

// cached is one record in the cache.
type cached struct {
	// vers has the ticks of the versions that the record is coded against. It is not set for slotPlan.at.
	vers [3]schema.Tick
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

// plan finds or makes the basis of an audience and three distances.
func (c *Cache) plan(ago [3]uint32, a quantise.Audience) *basis {
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

// slotPlan returns the shared part of the entity in a slot. It is empty at first in each tick.
func (p *basis) slotPlan(i int32) *slotPlan {
	x := &p.slots[i]
	if x.tick != p.tick {
		*x = slotPlan{tick: p.tick}
	}
	return x
}

// findRecord returns the record that is coded against the given versions, or nil.
func (c *Cache) findRecord(p *slotPlan, vers *[3]schema.Tick) *coder.Chunk {
	for i := p.more; i != 0; i = c.entries[i-1].next {
		if e := &c.entries[i-1]; e.vers == *vers {
			return &e.at
		}
	}
	return nil
}
