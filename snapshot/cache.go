package snapshot

// Cache keeps the records of one tick, for all senders that are given it in
// [SenderConfig].Cache: a record is a function of the entity, its baselines and its
// audience, and viewers with like delays ask for the same. What is sent is the same
// with it and without. Senders that share a cache belong to one [Source] and must
// not append at the same time: with several goroutines give each its own. The zero
// value is empty.
type Cache struct {
	tick    Tick
	heads   []int32 // by slot: 1 + index of the newest record
	entries []cached
	syms    []uint16
	bits    []byte
	w       BitWriter
	hits    uint64
	misses  uint64
}

// cached is a record: which, and where its flags and bits lie.
type cached struct {
	key    cacheKey
	next   int32
	sym, m int32
	pos, n int32
	cost   uint32
}

type cacheKey struct {
	ago  uint32  // how far back the usual baselines lie, and the audience
	vers [3]Tick // which versions the baselines are
}

func keyOf(ago [3]uint32, a audience, vers [3]Tick) cacheKey {
	return cacheKey{ago[0]<<18 | ago[1]<<12 | ago[2]<<6 | uint32(a), vers}
}

// Hits returns how many records were found, and how many had to be made.
func (c *Cache) Hits() (found, made uint64) { return c.hits, c.misses }

// begin forgets the records of an earlier tick.
func (c *Cache) begin(t Tick, slots int) {
	if c.tick == t && len(c.heads) >= slots {
		return
	}
	if len(c.heads) < slots {
		c.heads = append(c.heads, make([]int32, slots-len(c.heads))...)
	}
	clear(c.heads)
	c.tick, c.entries, c.syms, c.bits = t, c.entries[:0], c.syms[:0], c.bits[:0]
}

// find returns the index of a record, or −1.
func (c *Cache) find(slot int32, key *cacheKey) int {
	for i := c.heads[slot]; i != 0; i = c.entries[i-1].next {
		if k := &c.entries[i-1].key; k.ago == key.ago && k.vers == key.vers {
			c.hits++
			return int(i - 1)
		}
	}
	c.misses++
	return -1
}

// add keeps a record, of which the bits lie from bit pos of w on.
func (c *Cache) add(slot int32, key *cacheKey, syms []uint16, w *BitWriter, pos, n int, cost uint32) {
	e := cached{key: *key, next: c.heads[slot], sym: int32(len(c.syms)), m: int32(len(syms)), pos: int32(8 * len(c.bits)), n: int32(n), cost: cost}
	c.syms = append(c.syms, syms...)
	c.w.Reset(c.bits)
	c.w.spliceOpen(w, pos, n)
	c.bits = c.w.Bytes()
	c.entries = append(c.entries, e)
	c.heads[slot] = int32(len(c.entries))
}
