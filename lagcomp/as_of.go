package lagcomp

// AsOf takes the held tick t for the newest one: what came after it is not seen, and whoever
// lived in it counts as alive. It is for servers that compute tick t+1 again. AsOf(0) ends it,
// which has to be before the next Begin. A tick that is not held changes nothing.
func (h *History) AsOf(t Tick) {
	if h.last != nil {
		h.newest, h.last = h.last, nil
	}
	if f := h.frame(t); t != 0 && f != nil && f != h.newest {
		h.newest, h.last = f, h.newest
	}
}

// has reports whether an entity is in a frame, in the same run of its life.
func (f *frame) has(slot int32, run uint32) bool {
	if int(slot) >= len(f.at) {
		return false
	}
	i := f.at[slot]
	return i >= 0 && int(i) < len(f.who) && f.who[i].slot == slot && f.who[i].run == run
}
