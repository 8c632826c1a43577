package foretick

// savedQueue is a queue of a server's as it was at the end of a tick.
type savedQueue[T any] struct {
	items   []raised[T]
	handled int
	waiting []finalEvent[T]
}

// save keeps what is neither handled nor final.
func (q *queue[T]) save(slot int) {
	for len(q.saved) <= slot {
		q.saved = append(q.saved, savedQueue[T]{})
	}
	to := &q.saved[slot]
	clear(to.items)
	clear(to.waiting)
	to.items, to.handled = append(to.items[:0], q.items...), q.handled
	to.waiting = append(to.waiting[:0], q.final.waiting...)
}

// restore brings back what save kept.
func (q *queue[T]) restore(slot int) {
	from := &q.saved[slot]
	clear(q.items)
	q.items, q.handled = append(q.items[:0], from.items...), from.handled
	q.final.clear()
	q.final.waiting = append(q.final.waiting, from.waiting...)
	q.final.tick = 0 // it finds what is final again
}

// differs reports whether events were raised or handled since save.
func (q *queue[T]) differs(slot int) bool {
	return len(q.saved) <= slot || len(q.items) != len(q.saved[slot].items) || len(q.final.waiting) != len(q.saved[slot].waiting)
}
