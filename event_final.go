package foretick

// finalEvents are the events of a server's queue whose handlers wait until nothing can undo
// them: see [Event.OnFinal].
type finalEvents[T any] struct {
	waiting []finalEvent[T]
	ready   []raised[T] // for the handlers of this tick
	tick    Tick        // that ready is of
}

type finalEvent[T any] struct {
	tick   Tick
	stands bool // nothing runs again what raised it
	raised[T]
}

// lasting notes an event for the handlers of OnFinal.
func (q *queue[T]) lasting(f *Frame, it raised[T]) {
	if len(q.row.final) == 0 {
		return
	}
	if again, practice := f.server.mayRunAgain(it.owner); !practice {
		q.final.waiting = append(q.final.waiting, finalEvent[T]{f.Tick, !again, it})
	}
}

// dropFinal forgets the events of a player's tick that were not final: it runs again.
func (q *queue[T]) dropFinal(owner PlayerID, t Tick) { q.final.drop(owner, t) }

func (l *finalEvents[T]) drop(owner PlayerID, t Tick) {
	if len(l.waiting) == 0 {
		return
	}
	left := l.waiting[:0]
	for _, it := range l.waiting {
		if it.stands || it.tick != t || it.owner != owner {
			left = append(left, it)
		}
	}
	clear(l.waiting[len(left):])
	l.waiting = left
}

func (l *finalEvents[T]) clear() {
	clear(l.waiting)
	l.waiting = l.waiting[:0]
}

// findFinal lets the next handler find what is final, though its tick did before.
func (q *queue[T]) findFinal() { q.final.tick = q.final.tick - 1 }

// begin finds what is final in the running tick. What the handlers raise is for the next one.
func (l *finalEvents[T]) begin(f *Frame) {
	if l.tick == f.Tick {
		return
	}
	clear(l.ready)
	l.tick, l.ready = f.Tick, l.ready[:0]
	left := l.waiting[:0]
	for _, it := range l.waiting {
		if it.stands || int32(it.tick-f.server.finalFor(it.owner)) <= 0 {
			l.ready = append(l.ready, it.raised)
		} else {
			left = append(left, it)
		}
	}
	clear(l.waiting[len(left):])
	l.waiting = left
}

// finish runs one of the handlers of OnFinal for what is final, in the order of raising.
func (q *queue[T]) finish(f *Frame, handler int) {
	q.final.begin(f)
	for _, it := range q.final.ready {
		q.handle(f, q.row.final[handler], it)
	}
}
