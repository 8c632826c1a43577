package snapshot

// Ghost is an entity as a client knows it. It stays until the client releases it:
// what is gone on the server is still shown for the length of the interpolation.
type Ghost struct {
	Wire  WireID
	Kind  int
	Owner uint16 // newest known; 0: nobody
	Mine  bool   // the viewer owns it, as of the newest value
	Born  Tick   // the tick in which the server first showed it to this viewer
	Gone  Tick   // the first tick without it; 0 while it lives
	Hid   bool   // with Gone: it may still exist, out of sight
	Data  uint64 // the caller's own

	r        *Receiver
	released bool
	stride   int
	vers     []ghostVersion // ring; by tick, newest at head
	words    []int32
	head, n  int
}

type ghostVersion struct {
	tick  Tick
	mask  uint64
	owner uint16
	jumps uint16
	aud   audience
}

// at is the storage index of the k-th newest version.
func (g *Ghost) at(k int) int { return (g.head - k + len(g.vers)) & (len(g.vers) - 1) }

func (g *Ghost) lane(i int) []int32 { return g.words[i*g.stride : (i+1)*g.stride] }

// exact is the version of precisely tick t, or −1.
func (g *Ghost) exact(t Tick) int {
	if i := g.upTo(t); i >= 0 && g.vers[i].tick == t {
		return i
	}
	return -1
}

// upTo is the newest version of tick t or before, or −1.
func (g *Ghost) upTo(t Tick) int {
	if g.n == 0 {
		return -1
	}
	// There is at most one version a tick: look no farther back than ticks went by.
	k := 0
	if d := g.vers[g.head].tick - t; int32(d) > 0 {
		k = min(int(d), g.n-1)
	}
	i := g.at(k)
	if after(g.vers[i].tick, t) {
		return -1
	}
	for ; k > 0; k-- {
		j := (i + 1) & (len(g.vers) - 1)
		if after(g.vers[j].tick, t) {
			break
		}
		i = j
	}
	return i
}

func (g *Ghost) state(i int, t Tick) State {
	v := &g.vers[i]
	n := g.r.reg.wordsOf(v.mask)
	return State{Tick: t, Mask: v.mask, Owner: v.owner, Mine: v.aud&ToOwner != 0, Audience: v.aud, Jumps: v.jumps, Words: g.lane(i)[:n:n], reg: g.r.reg}
}

// Newest is the newest value received.
func (g *Ghost) Newest() State {
	if g.n == 0 {
		return State{}
	}
	return g.state(g.head, g.vers[g.head].tick)
}

// At is the exact value in tick t, whose snapshot was received: it was in it, or
// left out because it had not changed. False when the snapshot of t was not
// received, or is too old, the entity was postponed in it, or did not exist.
func (g *Ghost) At(t Tick) (State, bool) {
	if g.n == 0 || !g.r.received(t) || after(g.Born, t) || (g.Gone != 0 && !after(g.Gone, t)) || g.postponed(t) {
		return State{}, false
	}
	if i := g.upTo(t); i >= 0 {
		return g.state(i, t), true
	}
	return State{}, false
}

// postponed tells whether the snapshot of a received tick did not hold what the
// entity then was.
func (g *Ghost) postponed(t Tick) bool {
	e := &g.r.ring[int(t)&(len(g.r.ring)-1)]
	return inSpans(e.late, g.Wire) && g.exact(t) < 0
}

// put stores the words of tick t in their place by tick; the oldest gives way when
// the ring is full. It tells whether they are the newest.
func (g *Ghost) put(v ghostVersion, words []int32) bool {
	k := 0
	for k < g.n && after(g.vers[g.at(k)].tick, v.tick) {
		k++
	}
	if k < g.n && g.vers[g.at(k)].tick == v.tick {
		return false
	}
	g.room(len(words))
	if k == len(g.vers) {
		return false
	}
	// Shift the k newer versions up by one.
	g.head = (g.head + 1) & (len(g.vers) - 1)
	g.n = min(g.n+1, len(g.vers))
	for j := range k {
		to, from := g.at(j), g.at(j+1)
		g.vers[to] = g.vers[from]
		copy(g.lane(to), g.lane(from))
	}
	i := g.at(k)
	g.vers[i] = v
	copy(g.lane(i), words)
	return k == 0
}

// room makes place for one more version of n words.
func (g *Ghost) room(n int) {
	slots, stride := len(g.vers), max(g.stride, n)
	if g.n == slots && slots < g.r.versions {
		slots = max(2*slots, 1)
	}
	if slots == len(g.vers) && stride == g.stride {
		return
	}
	old := *g
	g.vers, g.words, g.stride = make([]ghostVersion, slots), make([]int32, slots*stride), stride
	for k := range old.n {
		from, to := old.at(old.n-1-k), k
		g.vers[to] = old.vers[from]
		copy(g.lane(to), old.lane(from))
	}
	g.head = max(old.n-1, 0)
	if old.n == 0 {
		g.head = slots - 1
	}
}
