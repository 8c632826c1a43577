package netcode

// lateCommands holds the commands of past ticks that came after them. The zero value holds
// none, and keeps none.
type lateCommands struct {
	ring  []Command // ring has the late commands, by tick.
	held  []bool
	known Tick   // known is the newest snapshot that the sender has: see Knows.
	knew  []Tick // knew has the value of known for each command in ring, by tick.
}

// KeepLate makes the buffer keep commands that come up to ticks after their own tick,
// for [CommandBuffer.TakeLate]. 0, the default, keeps none. At most the window.
func (b *CommandBuffer) KeepLate(ticks int) {
	b.past = lateCommands{known: b.past.known}
	if ticks = min(max(ticks, 0), b.window); ticks == 0 {
		return
	}
	b.past = lateCommands{ring: make([]Command, ticks), held: make([]bool, ticks), knew: make([]Tick, ticks), known: b.past.known}
	data := make([]byte, b.size*ticks)
	for i := range b.past.ring {
		b.past.ring[i].Data = data[i*b.size : (i+1)*b.size : (i+1)*b.size]
	}
}

// keepLate keeps a command of a past tick and reports whether it did. ahead is the distance from the next tick
// to it, which is below 0. ahead is not negated, because the least int of 32 bits, half the circle, has no
// opposite.
func (b *CommandBuffer) keepLate(c *Command, early int16, ahead int) bool {
	n := Tick(len(b.past.ring))
	if ahead < -int(n) {
		return false
	}
	to := &b.past.ring[c.Tick%n]
	to.copyFrom(*c)
	to.Early = early
	b.past.held[c.Tick%n], b.past.knew[c.Tick%n] = true, b.past.known
	b.remember(c)
	return true
}

// TakeLate returns the command of a past tick that came too late for Take, once.
// Early is negative: it says how long after the tick the command came. TakeLate
// returns false if none came, or if the tick is further back than KeepLate allows.
// Data is valid until the next Read.
func (b *CommandBuffer) TakeLate(t Tick) (Command, bool) {
	n := Tick(len(b.past.ring))
	if n == 0 || !b.past.held[t%n] || b.past.ring[t%n].Tick != t || Distance(b.next, t) > int(n) {
		return Command{}, false
	}
	b.past.held[t%n] = false
	return b.past.ring[t%n], true
}

// Knows sets the newest snapshot that the sender of the next bodies has, for [CommandBuffer.Knew].
func (b *CommandBuffer) Knows(snapshot Tick) { b.past.known = snapshot }

// Knew returns the newest snapshot that the sender had, as far as it was known, when the late
// command of tick t first arrived: see [CommandBuffer.Knows]. Call it after TakeLate.
func (b *CommandBuffer) Knew(t Tick) Tick {
	if n := Tick(len(b.past.knew)); n > 0 {
		return b.past.knew[t%n]
	}
	return 0
}
