package netcode

import "math"

// CommandBuffer is the server's store of one player's commands, until their
// ticks are executed. It is not safe for concurrent use.
type CommandBuffer struct {
	size, window int
	ring         []Command // of ticks from next on: a power of two that grows to the window
	came         tickSet   // ticks from next-window to next+window whose first arrival was taken
	scratch      []byte
	reader       commandReader

	started bool
	next    Tick // the first tick that is not past
	newest  Tick
	any     bool

	early                           int
	hasEarly                        bool
	late, duplicate, far, malformed uint64
	replaced                        uint64
}

// NewCommandBuffer makes a buffer of commands of size bytes (1 to 1024, else it
// panics). It takes commands up to window ticks ahead of the server's time;
// window is 1 to 1024, and 0 means 32.
func NewCommandBuffer(size, window int) *CommandBuffer {
	checkCommandSize(size)
	if window <= 0 {
		window = 32
	}
	window = min(window, 1024)
	return &CommandBuffer{size: size, window: window, scratch: make([]byte, size), came: newTickSet(2 * window)}
}

// grow makes room for commands up to n ticks ahead.
func (b *CommandBuffer) grow(n int) {
	slots := ringFor(n, len(b.ring))
	old, data := b.ring, make([]byte, b.size*slots)
	b.ring = make([]Command, slots)
	for i := range b.ring {
		b.ring[i].Data = data[i*b.size : (i+1)*b.size : (i+1)*b.size]
	}
	for i := range old {
		t := b.next + Tick(i)
		b.put(&old[int(t)&(len(old)-1)], t)
	}
}

func (b *CommandBuffer) slot(t Tick) *Command { return &b.ring[int(t)&(len(b.ring)-1)] }

// put copies a command into the slot of a tick.
func (b *CommandBuffer) put(c *Command, t Tick) {
	s := b.slot(t)
	data := s.Data
	copy(data, c.Data)
	*s = *c
	s.Data = data
}

// pass makes the ticks before next past, and forgets those that the window leaves
// behind.
func (b *CommandBuffer) pass(next Tick) {
	if gone := next - b.next; b.started && gone < Tick(b.came.size()) {
		for t := b.next - Tick(b.window); gone > 0; gone-- {
			b.came.remove(t)
			t++
		}
	} else {
		clear(b.came)
	}
	b.started, b.next = true, next
}

// Read takes a body of MessageCommands. at is the server's time in ticks, with
// fraction: tick k is consumed at k.0. A command's first arrival is stored and
// measured; in its place comes, until its tick is taken, one of the same tick whose
// view is newer: a client whose clock was set back, as after a server that stood
// still, makes its commands anew. Duplicates, ticks that are past (before at, or
// taken), and ticks more than the window ahead are counted and not stored, which is
// no error: an honest client's redundancy brings them. Error: ErrMalformed, for the
// whole body; nothing of it is then taken.
func (b *CommandBuffer) Read(body []byte, at float64) error {
	if !(at >= 0 && at <= math.MaxUint32) { // the caller's time: a fault of no packet
		at = 0
	}
	r := &b.reader
	if !r.check(body, b.scratch) {
		b.malformed++
		return errCommand
	}
	now := Tick(math.Ceil(at))
	if !b.started || Newer(now, b.next) {
		b.pass(now)
	}
	known, before := b.any, b.newest
	r.start(body, b.scratch)
	for first := true; r.more(); first = false {
		r.read()
		b.arrive(&r.c, at, first)
	}
	if known {
		b.measureGap(before, r.c.Tick, at)
	}
	return nil
}

// NewestCommand is the tick of the newest command in a body of MessageCommands,
// without reading the rest; false when it is too short to say.
func NewestCommand(body []byte) (Tick, bool) {
	if len(body) < 5 {
		return 0, false
	}
	return le.Uint32(body[1:]), true
}

// measureGap measures the ticks between what was known and the oldest command of
// a body, as if they had come with it: the client left them out because it was
// told that they are past, so they were too late by at least this much. Without
// it a client close to the server would never learn of such misses.
func (b *CommandBuffer) measureGap(known, oldest Tick, at float64) {
	gap := Distance(oldest, known) - 1
	if gap <= 0 || gap > b.window {
		return
	}
	if t := known + 1; Newer(b.next, t) {
		b.measure(t, at) // the oldest of them is the latest
	}
}

// check reads a whole body for its form.
func (r *commandReader) check(body, data []byte) bool {
	if !r.start(body, data) {
		return false
	}
	for r.more() {
		if !r.read() {
			return false
		}
	}
	return true
}

func (b *CommandBuffer) arrive(c *Command, at float64, first bool) {
	ahead := Distance(c.Tick, b.next)
	fresh := !b.any || Newer(c.Tick, b.newest)
	switch {
	case ahead >= b.window:
		b.far++
		if first {
			b.measure(c.Tick, at) // so that a client far ahead learns it
		}
		return
	case ahead < -b.window && !fresh:
		b.late++ // too old to tell whether it came before
		return
	case ahead >= -b.window && b.came.has(c.Tick):
		if ahead >= 0 && int64((c.view()-b.slot(c.Tick).view())<<24) > 0 {
			b.store(c, earliness(c.Tick, at)) // made anew, by who has seen more meanwhile
			b.replaced++
			return
		}
		b.duplicate++
		return
	}
	if fresh {
		b.newest, b.any = c.Tick, true
	}
	early := b.measure(c.Tick, at)
	if ahead >= -b.window {
		b.came.add(c.Tick)
	}
	if ahead < 0 {
		b.late++
		return
	}
	if ahead >= len(b.ring) {
		b.grow(ahead + 1)
	}
	b.store(c, early)
}

func (b *CommandBuffer) store(c *Command, early int16) {
	b.put(c, c.Tick)
	b.slot(c.Tick).Early = early
}

// measure tells how early a command of tick t comes, and keeps the smallest.
func (b *CommandBuffer) measure(t Tick, at float64) int16 {
	e := earliness(t, at)
	if !b.hasEarly || int(e) < b.early {
		b.early, b.hasEarly = int(e), true
	}
	return e
}

// earliness is by how much a time lies before tick t, in 1/256 tick.
func earliness(t Tick, at float64) int16 {
	whole := Tick(math.Floor(at))
	e := Distance(t, whole)*256 - int(math.Round((at-float64(whole))*256))
	return int16(max(math.MinInt16, min(math.MaxInt16, e)))
}

// Take gives the command of tick t, once, and makes every tick up to t past.
// false: it did not come, or t is past already; the caller repeats the last.
// Its Early says how long before t it first arrived: never negative, since what
// comes too late is not given. Data is valid until the next Read.
func (b *CommandBuffer) Take(t Tick) (Command, bool) {
	ahead := Distance(t, b.next)
	if b.started && ahead < 0 { // so is half the circle ahead
		return Command{}, false
	}
	came := ahead >= 0 && ahead < b.window && b.came.has(t)
	b.pass(t + 1)
	if !came {
		return Command{}, false
	}
	return *b.slot(t), true
}

// Early is the smallest earliness among first arrivals since the last call, in
// 1/256 tick: how long before its tick's execution the worst command came,
// negative for one that came too late. A command that its client gave up because
// it was past counts as having come with the next one. false: none came.
func (b *CommandBuffer) Early() (int16, bool) {
	e, ok := b.early, b.hasEarly
	b.early, b.hasEarly = 0, false
	return int16(e), ok
}

// Newest is the newest tick stored or refused as past so far; false before any.
func (b *CommandBuffer) Newest() (Tick, bool) { return b.newest, b.any }

// Ack is the tick up to which every command has come or is past. 0 before the
// first Read or Take.
func (b *CommandBuffer) Ack() Tick {
	if !b.started {
		return 0
	}
	t := b.next - 1
	for i := 0; i < b.window && b.came.has(t+1); i++ {
		t++
	}
	return t
}

// Replaced counts the commands that took the place of another of the same tick.
func (b *CommandBuffer) Replaced() uint64 { return b.replaced }

// Stats counts the commands refused: past when they came, received before, too
// far in the future; and bodies that were malformed.
func (b *CommandBuffer) Stats() (late, duplicate, far, malformed uint64) {
	return b.late, b.duplicate, b.far, b.malformed
}
