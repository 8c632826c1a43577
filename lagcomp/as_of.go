package lagcomp

// AsOf makes the held tick t the newest one: queries see no later tick, and every entity of
// tick t counts as alive. A server calls it to compute tick t+1 again. AsOf(0) ends it. Call
// that before the next Begin. A tick that is not held changes nothing.
func (h *History) AsOf(t Tick) {
	if h.last != nil {
		h.newest, h.last = h.last, nil
	}
	if f := h.frame(t); t != 0 && f != nil && f != h.newest {
		h.newest, h.last = f, h.newest
	}
}

// hasRun reports whether an entity is in a frame, in the same run of its life.
func (f *frame) hasRun(slot int32, run uint32) bool {
	if int(slot) >= len(f.at) {
		return false
	}
	i := f.at[slot]
	return i >= 0 && int(i) < len(f.who) && f.who[i].slot == slot && f.who[i].run == run
}
