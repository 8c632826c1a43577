package netcode

import "math"

// CommandBuffer stores the commands of one player on the server until their
// ticks run. It is not safe for concurrent use.
type CommandBuffer struct {
	size, window int
	// ring has the commands from next on. Its length is a power of two that grows to the window.
	ring []Command
	// came has the ticks from next-window to next+window whose first command arrived.
	came tickSet
	// bases has the newest commands that arrived, by tick. It is nil before the first one.
	bases   []baseCommand
	scratch []byte
	reader  commandReader

	started bool
	next    Tick // next is the first tick that is not past.
	newest  Tick
	any     bool

	past lateCommands // past has late commands. It has none unless KeepLate was called.

	early                           int
	hasEarly                        bool
	late, duplicate, far, malformed uint64
	replaced                        uint64
}

// baseCommand is a command that arrived, with what is needed to decode others that are coded relative to it.
type baseCommand struct {
	lag    int64
	tick   Tick
	offset uint8
	held   bool
	data   []byte
}

// basesKept is for how many ticks commands stay known as bases: as far as a body reaches,
// and as much again for packets that others overtake.
const basesKept = 2 * baseReach

// NewCommandBuffer returns a buffer for commands of size bytes; it panics
// unless size is 1 to 1024. The buffer accepts commands up to window ticks
// ahead of the server's time. window is 1 to 1024, and 0 means 32. fields are those of
// [CommandConfig.Fields]; it panics if they do not fit into size.
func NewCommandBuffer(size, window int, fields ...uint8) *CommandBuffer {
	if window <= 0 {
		window = 32
	}
	window = min(window, 1024)
	return &CommandBuffer{size: size, window: window, reader: commandReader{fields: newCommandFields(size, fields)}, scratch: make([]byte, size), came: newTickSet(2 * window)}
}

// growRing makes room for commands up to n ticks ahead.
func (b *CommandBuffer) growRing(n int) {
	slots := ringFor(n, len(b.ring))
	old, data := b.ring, make([]byte, b.size*slots)
	b.ring = make([]Command, slots)
	for i := range b.ring {
		b.ring[i].Data = data[i*b.size : (i+1)*b.size : (i+1)*b.size]
	}
	for i := range old {
		t := b.next + Tick(i)
		b.storeCommand(&old[int(t)&(len(old)-1)], t)
	}
}

func (b *CommandBuffer) slotOf(t Tick) *Command { return &b.ring[int(t)&(len(b.ring)-1)] }

// storeCommand copies a command into the slot of tick t.
func (b *CommandBuffer) storeCommand(c *Command, t Tick) {
	s := b.slotOf(t)
	data := s.Data
	copy(data, c.Data)
	*s = *c
	s.Data = data
}

// pass marks the ticks before next as past, and drops those that leave the
// window.
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

// Read decodes a body of MessageCommands. at is the server's time in ticks, with
// fraction; tick k runs at k.0. Until tick k has run, at is at most k, however late the
// loop is: a later time makes the commands of tick k past. Read stores and measures the
// first command that arrives for a tick. Until the tick is taken, a command for the same tick with a
// newer view replaces it. A client whose clock was set back, for example after a
// server stall, makes its commands again. Three kinds are counted but not stored:
// duplicates, commands for past ticks (before at, or already taken), and commands
// beyond the window. They are no error, because the redundancy of honest clients
// causes them. A body that is coded relative to a command that is no longer known is
// dropped and counted as late. Error: ErrMalformed, and then Read takes no command of
// the body.
func (b *CommandBuffer) Read(body []byte, at float64) error {
	if !(at >= 0 && at <= math.MaxUint32) { // the caller's time is wrong: not the packet's fault
		at = 0
	}
	r := &b.reader
	now := Tick(math.Ceil(at))
	near := now
	if b.started && Newer(b.next, now) {
		near = b.next
	}
	if !r.startBody(body, b.scratch, near) {
		b.malformed++
		return errCommand
	}
	base := b.base(r.head)
	if r.head.based && base == nil {
		b.late += uint64(r.head.count)
		return nil
	}
	if !r.checkBody(base) {
		b.malformed++
		return errCommand
	}
	if !b.started || Newer(now, b.next) {
		b.pass(now)
	}
	if b.beyond(r.head.newest, r.c.Tick) { // a flood of such bodies must cost little
		b.far += uint64(r.head.count)
		b.measureEarly(r.head.newest, at) // arrive would do the same
		return nil
	}
	known, before := b.any, b.newest
	r.startBody(body, b.scratch, near)
	if base != nil {
		r.from(base)
	}
	for first := true; r.moreCommands(); first = false {
		r.readCommand()
		b.arrive(r.command(), at, first)
	}
	if known {
		b.measureGap(before, r.c.Tick, at)
	}
	return nil
}

// beyond reports whether all ticks of a body, from the newest down to the oldest, are beyond
// the window.
func (b *CommandBuffer) beyond(newest, oldest Tick) bool {
	far := Distance(oldest, b.next)
	return far >= b.window && Distance(newest, b.next) >= far
}

// base returns the command that a body is coded relative to; nil if there is none.
func (b *CommandBuffer) base(h commandHead) *baseCommand {
	if !h.based || b.bases == nil {
		return nil
	}
	if c := &b.bases[h.base%basesKept]; c.held && c.tick == h.base {
		return c
	}
	return nil
}

// NewestCommand returns the tick of the newest command in a body of MessageCommands,
// without decoding the rest. near is the server's tick: a body that is coded relative to an
// earlier command names the low 12 bits alone. It returns false when the body is too short.
func NewestCommand(body []byte, near Tick) (Tick, bool) {
	h, ok := readHead(&bitReader{b: body}, near)
	return h.newest, ok
}

// measureGap measures the ticks between the newest known command and the oldest
// command of a body as if they had arrived with it. The client left them out
// because it was told that they are past, so they were at least this late.
// Without this, a client close to the server would never learn of such misses.
func (b *CommandBuffer) measureGap(known, oldest Tick, at float64) {
	gap := Distance(oldest, known) - 1
	if gap <= 0 || gap > b.window {
		return
	}
	if t := known + 1; Newer(b.next, t) {
		b.measureEarly(t, at) // of the commands in the gap, that of the oldest tick is the latest
	}
}

// checkBody reports whether a body that was started has a valid form. base is the command that it is coded
// relative to.
func (r *commandReader) checkBody(base *baseCommand) bool {
	if base != nil {
		r.from(base)
	}
	for r.moreCommands() {
		if !r.readCommand() {
			return false
		}
	}
	return true
}

func (b *CommandBuffer) arrive(c *Command, at float64, first bool) {
	ahead := Distance(c.Tick, b.next)
	// measured from next, so that half the circle away does not count as newer
	fresh := !b.any || ahead > Distance(b.newest, b.next)
	switch {
	case ahead >= b.window:
		b.far++
		if first {
			b.measureEarly(c.Tick, at) // the client learns from Early that it is too far ahead
		}
		return
	case ahead < -b.window && !fresh:
		b.late++ // too old to know whether it is a duplicate
		return
	case ahead >= -b.window && b.came.has(c.Tick):
		if ahead >= 0 && int64((c.view()-b.slotOf(c.Tick).view())<<24) > 0 {
			b.store(c, earliness(c.Tick, at)) // the client made it again, with newer snapshots
			// packets on their way may be coded relative to the first command
			b.bases[c.Tick%basesKept].held = false
			b.replaced++
			return
		}
		b.duplicate++
		return
	}
	if fresh {
		b.newest, b.any = c.Tick, true
	}
	early := b.measureEarly(c.Tick, at)
	if ahead >= -b.window {
		b.came.add(c.Tick)
	}
	if ahead < 0 {
		if !b.keepLate(c, early, ahead) {
			b.late++
		}
		return
	}
	if ahead >= len(b.ring) {
		b.growRing(ahead + 1)
	}
	b.store(c, early)
}

func (b *CommandBuffer) store(c *Command, early int16) {
	b.storeCommand(c, c.Tick)
	b.slotOf(c.Tick).Early = early
	b.remember(c)
}

// remember keeps a command as a base for later ones.
func (b *CommandBuffer) remember(c *Command) {
	if b.bases == nil {
		b.bases = make([]baseCommand, basesKept)
		data := make([]byte, basesKept*b.size)
		for i := range b.bases {
			b.bases[i].data = data[i*b.size : (i+1)*b.size : (i+1)*b.size]
		}
	}
	to := &b.bases[c.Tick%basesKept]
	to.tick, to.lag, to.offset, to.held = c.Tick, c.lag(), c.Offset, true
	copy(to.data, c.Data)
}

// measureEarly returns how early a command of tick t arrived, and keeps the smallest
// value.
func (b *CommandBuffer) measureEarly(t Tick, at float64) int16 {
	e := earliness(t, at)
	if !b.hasEarly || int(e) < b.early {
		b.early, b.hasEarly = int(e), true
	}
	return e
}

// earliness returns how long before tick t a time is, in 1/256 tick.
func earliness(t Tick, at float64) int16 {
	whole := Tick(math.Floor(at))
	e := Distance(t, whole)*256 - int(math.Round((at-float64(whole))*256))
	return int16(max(math.MinInt16, min(math.MaxInt16, e)))
}

// Has reports whether Take would return the command of tick t.
func (b *CommandBuffer) Has(t Tick) bool {
	ahead := Distance(t, b.next)
	return ahead >= 0 && ahead < b.window && b.came.has(t)
}

// Take returns the command of tick t, once, and marks every tick up to t as
// past. It returns false when the command did not arrive or t is already past;
// the caller then repeats the last command. Early of the command is the time
// from its first arrival until t; it is never negative, since late commands are
// not returned. Data is valid until the next Read.
func (b *CommandBuffer) Take(t Tick) (Command, bool) {
	if b.started && Distance(t, b.next) < 0 { // also true if t is half the circle ahead
		return Command{}, false
	}
	came := b.Has(t)
	b.pass(t + 1)
	if !came {
		return Command{}, false
	}
	return *b.slotOf(t), true
}

// Early returns the smallest earliness of the first arrivals since the last
// call, in 1/256 tick: the margin of the worst command before its tick. It is
// negative for a late command. A command that the client dropped because it was
// past counts as arriving with the next one. It returns false when none
// arrived.
func (b *CommandBuffer) Early() (int16, bool) {
	e, ok := b.early, b.hasEarly
	b.early, b.hasEarly = 0, false
	return int16(e), ok
}

// Newest returns the newest tick stored, or refused as past, so far; false
// before the first.
func (b *CommandBuffer) Newest() (Tick, bool) { return b.newest, b.any }

// AckFrom is Ack for a server that still takes commands of past ticks: t is the newest
// tick up to which every command ran, or will not run any more. It returns 0 before the
// first Read or Take.
func (b *CommandBuffer) AckFrom(t Tick) Tick {
	if b.started && Newer(b.next-1, t) {
		return t
	}
	return b.Ack()
}

// Ack returns the tick up to which every command has arrived or is past. It
// returns 0 before the first Read or Take.
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

// Replaced returns how many commands replaced another one for the same tick.
func (b *CommandBuffer) Replaced() uint64 { return b.replaced }

// Stats returns how many commands were refused as past, as duplicates, and as
// too far in the future; and how many bodies were malformed.
func (b *CommandBuffer) Stats() (late, duplicate, far, malformed uint64) {
	return b.late, b.duplicate, b.far, b.malformed
}
