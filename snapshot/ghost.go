package snapshot

import (
	"iter"

	"github.com/foretick/foretick/internal/quantise"
	"github.com/foretick/foretick/schema"
)

// Ghost is an entity as a client knows it. It stays until the client releases it: an
// entity removed on the server is still shown for the length of the interpolation.
type Ghost struct {
	Wire   schema.WireID
	Prefab int         // number of the entity's prefab in the Registry
	Owner  uint16      // newest known owner of the entity; 0: nobody
	Mine   bool        // the viewer owns the entity, as of the newest value
	Born   schema.Tick // the first tick that the server showed the entity to this viewer
	Gone   schema.Tick // the first tick without the entity; 0 while it lives
	Hid    bool        // Gone is set because the viewer may no longer see the entity: it may still exist on the server
	Data   uint64      // for the caller's use, such as its own handle of the entity; 0 at first

	r        *Receiver
	released bool
	ever     quantise.Audience // ever has the viewer's classes in all values that were received.
	// vers is a ring of versions in the order of ticks, with the newest at head. Places that were never used
	// are nil.
	vers    []*ghostVersion
	head, n int
}

type ghostVersion struct {
	tick  schema.Tick
	mask  quantise.Mask
	owner uint16
	jumps uint16
	aud   quantise.Audience
	words []int32 // words has the words of the components. Its memory is reused for later values.
}

// versionIndex is the storage index of the k-th newest version.
func (g *Ghost) versionIndex(k int) int { return (g.head - k + len(g.vers)) & (len(g.vers) - 1) }

func (g *Ghost) lane(i int) []int32 { return g.vers[i].words }

// exact returns the index of the version of exactly tick t, or −1.
func (g *Ghost) exact(t schema.Tick) int {
	if i := g.upTo(t); i >= 0 && g.vers[i].tick == t {
		return i
	}
	return -1
}

// upTo returns the index of the newest version of tick t or before, or −1.
func (g *Ghost) upTo(t schema.Tick) int {
	if g.n == 0 {
		return -1
	}
	// There is at most one version a tick: look no farther back than ticks went by.
	k := 0
	if d := int32(g.vers[g.head].tick - t); d > 0 {
		k = min(int(d), g.n-1)
	}
	if after(g.vers[g.versionIndex(k)].tick, t) {
		return -1
	}
	// Search for the newest version that is not after t. The k-th newest is not after t.
	for lo := 0; lo < k; {
		if m := (lo + k) / 2; after(g.vers[g.versionIndex(m)].tick, t) {
			lo = m + 1
		} else {
			k = m
		}
	}
	return g.versionIndex(k)
}

func (g *Ghost) state(i int, t schema.Tick) State {
	v := g.vers[i]
	n := len(v.words)
	return State{Tick: t, Mask: v.mask, Owner: v.owner, Mine: v.aud&quantise.ToOwner != 0, Audience: schema.Audience(v.aud), Ever: schema.Audience(g.ever), Jumps: v.jumps, Words: v.words[:n:n], reg: g.r.reg}
}

// Newest returns the newest value received.
func (g *Ghost) Newest() State {
	if g.n == 0 {
		return State{}
	}
	return g.state(g.head, g.vers[g.head].tick)
}

// Since returns the known values that held in tick t or later, newest first. Each has its own tick. The last
// may be of a tick before t, because a value holds until the next.
func (g *Ghost) Since(t schema.Tick) iter.Seq[State] {
	return func(yield func(State) bool) {
		for k := range g.n {
			i := g.versionIndex(k)
			if !yield(g.state(i, g.vers[i].tick)) || !after(g.vers[i].tick, t) {
				return
			}
		}
	}
}

// At returns the exact value in tick t. The snapshot of t must have been received, with
// the entity in it or left out because it had not changed. At returns false if that
// snapshot was not received or is too old, or the entity was postponed in it or did not
// exist.
func (g *Ghost) At(t schema.Tick) (State, bool) {
	if g.n == 0 || !g.r.received(t) || after(g.Born, t) || (g.Gone != 0 && !after(g.Gone, t)) || g.postponed(t) {
		return State{}, false
	}
	if i := g.upTo(t); i >= 0 {
		return g.state(i, t), true
	}
	return State{}, false
}

// postponed reports whether a received tick's snapshot lacks the entity's value.
func (g *Ghost) postponed(t schema.Tick) bool {
	e := &g.r.ring[int(t)&(len(g.r.ring)-1)]
	return inSpans(e.late, g.Wire) && g.exact(t) < 0
}

// putVersion stores the words of tick t in order. When the ring is full, the oldest is
// replaced. It reports whether the words are the newest.
func (g *Ghost) putVersion(v ghostVersion, words []int32) bool {
	k, to := 0, g.n // k becomes the number of versions that are newer
	for k < to {
		if m := (k + to) / 2; after(g.vers[g.versionIndex(m)].tick, v.tick) {
			k = m + 1
		} else {
			to = m
		}
	}
	if k < g.n && g.vers[g.versionIndex(k)].tick == v.tick {
		return false
	}
	g.ever |= v.aud
	if slots := len(g.vers); g.n == slots || g.n > slots*3/4 {
		g.growVersions(len(words))
	}
	if k == len(g.vers) {
		return false
	}
	// Shift the k newer versions up by one, and reuse the version that they overwrite.
	g.head = (g.head + 1) & (len(g.vers) - 1)
	g.n = min(g.n+1, len(g.vers))
	old := g.vers[g.head]
	for j := range k {
		g.vers[g.versionIndex(j)] = g.vers[g.versionIndex(j+1)]
	}
	if old == nil {
		old = g.r.newVersion()
	}
	if v.words = old.words; cap(v.words) < len(words) {
		v.words = g.r.newWords(len(words))
	}
	v.words = append(v.words[:0], words...)
	*old = v
	g.vers[g.versionIndex(k)] = old
	return k == 0
}

// slots returns the next length of a ring.
func (g *Ghost) slots() int { return min(max(2*len(g.vers), leastVersions), g.r.versions) }

// mustGrow reports whether a ring is too short to lose its oldest version.
func (g *Ghost) mustGrow() bool {
	return g.n == len(g.vers) && g.n < min(mustVersions, g.r.versions)
}

// growVersions makes the ring longer if there is credit. Otherwise the oldest version is
// replaced.
func (g *Ghost) growVersions(n int) {
	if slots := g.slots(); slots > len(g.vers) && g.r.spend(slots*pointerBytes+versionBytes+4*n) {
		g.lengthen(slots)
	}
}

func (g *Ghost) lengthen(slots int) {
	vers := make([]*ghostVersion, slots)
	spare := len(g.vers) - g.n
	for k := range g.n {
		vers[k] = g.vers[g.versionIndex(g.n-1-k)]
	}
	for k := range spare { // the versions that were used before follow the newest
		vers[g.n+k] = g.vers[(g.head+1+k)&(len(g.vers)-1)]
	}
	g.vers, g.head = vers, g.n-1
	if g.n == 0 {
		g.head = slots - 1
	}
}
