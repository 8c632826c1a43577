package lagcomp

// life is what is known of an entity as of the newest tick that held it.
type life struct {
	id   ID
	last Tick // last is the newest tick that held the entity.
	life uint32
	run  uint32 // run is which life it is, numbered over all entities. 0 means that the slot is free.
}

// lives finds an entity's slot by its id: an open-addressed table of slot
// numbers over slots that never move while the entity is held.
type lives struct {
	slots []life
	free  []int32
	table []int32 // table has slot + 1, or 0 for an empty place. Its length is a power of two.
	used  int
}

func hash(id ID) uint64 {
	id ^= id >> 32
	id *= 0x9e3779b97f4a7c15
	return id ^ id>>29
}

// lookup returns an entity's slot, or -1.
func (l *lives) lookup(id ID) int32 {
	if len(l.table) == 0 {
		return -1
	}
	mask := uint64(len(l.table) - 1)
	for i := hash(id) & mask; ; i = (i + 1) & mask {
		s := l.table[i] - 1
		if s < 0 || l.slots[s].id == id {
			return s
		}
	}
}

// slotFor returns an entity's slot. It takes one if the entity has none. The caller must then set the life's
// run, which is 0.
func (l *lives) slotFor(id ID) int32 {
	if s := l.lookup(id); s >= 0 {
		return s
	}
	if 2*(l.used+1) > len(l.table) {
		l.growTable()
	}
	var s int32
	if n := len(l.free); n > 0 {
		s = l.free[n-1]
		l.free = l.free[:n-1]
	} else {
		s = int32(len(l.slots))
		l.slots = append(l.slots, life{})
	}
	l.slots[s] = life{id: id}
	l.insert(s)
	l.used++
	return s
}

func (l *lives) insert(s int32) {
	mask := uint64(len(l.table) - 1)
	i := hash(l.slots[s].id) & mask
	for l.table[i] != 0 {
		i = (i + 1) & mask
	}
	l.table[i] = s + 1
}

func (l *lives) growTable() {
	old := l.table
	l.table = make([]int32, max(64, 2*len(old)))
	for _, s := range old {
		if s != 0 {
			l.insert(s - 1)
		}
	}
	l.free = append(make([]int32, 0, len(l.table)), l.free...)
}

// expire frees a slot when tick was the last to hold its entity.
func (l *lives) expire(s int32, tick Tick) {
	if l.slots[s].last != tick || l.slots[s].run == 0 {
		return
	}
	l.removeID(l.slots[s].id)
	l.slots[s] = life{}
	l.free = append(l.free, s)
	l.used--
}

// removeID takes an id out of the table, closing the gap it leaves.
func (l *lives) removeID(id ID) {
	mask := uint64(len(l.table) - 1)
	i := hash(id) & mask
	for l.slots[l.table[i]-1].id != id {
		i = (i + 1) & mask
	}
	for j := (i + 1) & mask; l.table[j] != 0; j = (j + 1) & mask {
		home := hash(l.slots[l.table[j]-1].id) & mask
		if (j-home)&mask >= (j-i)&mask {
			l.table[i] = l.table[j]
			i = j
		}
	}
	l.table[i] = 0
}

func (l *lives) reset() {
	l.slots, l.free, l.used = l.slots[:0], l.free[:0], 0
	clear(l.table)
}
