package ecs

// Recycle gives up the tables that nothing needs, which a world does by itself in bulk.
func (w *World) Recycle() { w.recycle() }

// Tables returns the number of tables.
func (w *World) Tables() int { return w.inUse() }

// Words returns how many handles and records the saves have room for.
func (h *History) Words() (n int) {
	for i := range h.slots {
		n += len(h.slots[i].words)
	}
	return n
}
