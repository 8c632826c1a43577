package snapshot

import (
	"github.com/foretick/foretick/internal/quantise"
	"github.com/foretick/foretick/schema"
)

// entity is the history of one network id.
type entity struct {
	id     NetID
	slot   int32
	prefab int
	seen   schema.Tick
	stride int // stride is the number of words of one lane of one version.
	vers   []version
	// words has two lanes for each version. A lane has no words for components that the version lacks.
	words []int32
	head  int // head is the index of the newest version.
	n     int
	// high has, for each version, the mask's ids from 64 on. It is nil in a game without such ids.
	high []quantise.MaskHigh
	// news has, for each version, the newest change that each class sees. It is nil in a game without such
	// classes.
	news  []classTicks
	moved bool   // moved is true if the last Put displaced the entity.
	jumps uint16 // jumps counts the entity's teleports, modulo 2¹⁶.
}

// version is an entity's value from tick on, until the next version.
type version struct {
	tick  schema.Tick
	owner uint16
	jumps uint16
	low   uint64 // low has the mask's ids below 64.
	// changed is the value of slotHot.changed as of this version.
	changed [quantise.Lanes]schema.Tick
}

// makeVersionRoom makes room for one more version of n words. Histories start small, double when
// full, and stop at the configured length.
func (s *Source) makeVersionRoom(e *entity, n int) {
	slots, stride := len(e.vers), max(e.stride, n)
	if e.n == slots && slots < s.history {
		slots = min(max(2*slots, 4), s.history)
	}
	if slots == len(e.vers) && stride == e.stride {
		return
	}
	vers, words := make([]version, slots), make([]int32, slots*stride*quantise.Lanes)
	old := *e
	if s.reg.Wide() {
		e.high = make([]quantise.MaskHigh, slots)
	}
	e.vers, e.words, e.stride = vers, words, stride
	if s.reg.Shared() {
		e.news = make([]classTicks, slots)
	}
	for i := range old.n { // oldest first, from index 0
		from := (old.head - old.n + 1 + i + len(old.vers)) & (len(old.vers) - 1)
		vers[i] = old.vers[from]
		if e.high != nil {
			e.high[i] = old.high[from]
		}
		if e.news != nil {
			e.news[i] = old.news[from]
		}
		for a := range quantise.Audience(quantise.Lanes) {
			copy(e.lane(i, a), old.lane(from, a))
		}
	}
	e.head = old.n - 1
}

// mask returns the components of version i.
func (e *entity) mask(i int) quantise.Mask {
	if e.high == nil {
		return quantise.JoinMask(e.vers[i].low, nil)
	}
	return quantise.JoinMask(e.vers[i].low, e.high[i])
}

func (e *entity) setMask(i int, m quantise.Mask) {
	low, high := m.Split()
	if e.vers[i].low = low; e.high != nil {
		e.high[i] = high
	}
}

// lane is the storage of the words for an audience in version i.
func (e *entity) lane(i int, a quantise.Audience) []int32 {
	from := (i*quantise.Lanes + a.Lane()) * e.stride
	return e.words[from : from+e.stride]
}

// versionAt returns the version that held in tick t, or −1.
func (e *entity) versionAt(t schema.Tick) int {
	if e.n == 0 {
		return -1
	}
	// There is at most one version a tick: look no farther back than ticks went by.
	k := 0
	if d := e.vers[e.head].tick - t; int32(d) > 0 {
		k = min(int(d), e.n-1)
	}
	i := (e.head - k) & (len(e.vers) - 1)
	if after(e.vers[i].tick, t) {
		return -1
	}
	for ; k > 0; k-- {
		j := (i + 1) & (len(e.vers) - 1)
		if after(e.vers[j].tick, t) {
			break
		}
		i = j
	}
	return i
}

// versionHeld returns a version with the value that an audience held in tick t, or −1. It also
// finds values older than the oldest version: changes that only others see must not
// affect the bytes sent to this audience.
func (s *Source) versionHeld(e *entity, t schema.Tick, a quantise.Audience) int {
	i := e.versionAt(t)
	if i >= 0 || e.n == 0 {
		return i
	}
	oldest := (e.head - e.n + 1 + len(e.vers)) & (len(e.vers) - 1)
	if after(newest(e.vers[oldest].changed, a, e.news, oldest), t) {
		return -1
	}
	return oldest
}

// newest returns the tick of the newest change that an audience saw, over each lane and
// each class.
func newest(changed [quantise.Lanes]schema.Tick, a quantise.Audience, classes []classTicks, i int) schema.Tick {
	t := changed[a&quantise.ToOwner]
	for k, c := 0, a>>1; c != 0; k, c = k+1, c>>1 {
		if c&1 != 0 && after(classes[i][k], t) {
			t = classes[i][k]
		}
	}
	return t
}

func (s *Source) lookup(id NetID) *entity {
	if slot, ok := s.index[id]; ok {
		return s.slots[slot]
	}
	return nil
}
