package foretick

import (
	"reflect"
	"runtime"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/prediction"
)

// raisedKey names an event within its tick: the n-th that an entity raised.
type raisedKey struct {
	by ecs.Entity
	n  int
}

type raised[T any] struct {
	by    ecs.Entity
	owner PlayerID
	value T
}

type queue[T any] struct {
	items    []raised[T]
	handled  int
	held     []heldEvent[T] // on a server: of ticks that wait for their player's command
	final    finalEvents[T]
	row      *eventRow[T]
	ledger   prediction.Ledger[raisedKey, T]
	waits    bool // on a client that does not predict: for the screen to show its tick
	waiting  []shownLater[T]
	saved    []savedQueue[T] // on a server whose ticks run again whole
	ordinals []raisedKey     // how often each entity raised it in the running tick
}

// raisedFate is what becomes of an event that is raised on a server. One that neither happens nor
// waits happened in its tick's first run.
type raisedFate struct {
	happens bool
	waits   bool // its tick waits for the player's command
	shown   bool // the player's screen is in this very world
}

// heldEvent is an event of a tick that ran with a replacement for its player's command.
type heldEvent[T any] struct {
	tick Tick
	raised[T]
}

// pending reports whether there are events to handle.
func (q *queue[T]) pending() bool { return len(q.items) > 0 }

// waitingEvents returns how many events wait for their handlers, or for their tick.
func (q *queue[T]) waitingEvents() int {
	return len(q.items) - q.handled + len(q.held) + len(q.final.waiting)
}

// release lets the held events of a player's tick happen with the next ones.
func (q *queue[T]) release(owner PlayerID, t Tick) { q.unhold(owner, t, true) }

// drop forgets the held events of a player's tick, which runs again.
func (q *queue[T]) drop(owner PlayerID, t Tick) { q.unhold(owner, t, false) }

func (q *queue[T]) unhold(owner PlayerID, t Tick, happens bool) {
	if len(q.held) == 0 {
		return
	}
	left := q.held[:0]
	for _, h := range q.held {
		switch {
		case h.tick != t || h.owner != owner:
			left = append(left, h)
		case happens:
			q.items = append(q.items, h.raised)
		}
	}
	clear(q.held[len(left):])
	q.held = left
}

// shownLater is an event that happened, and that no frame has shown yet.
type shownLater[T any] struct {
	tick  Tick
	by    ecs.Entity
	value T
}

type eventRow[T any] struct {
	handler   string // what a panic in a handler is said to be in
	server    []func(*Frame, PlayerID, T)
	final     []func(*Frame, PlayerID, T)
	predicted []func(*Frame, ecs.Entity, T)
	confirmed []func(*Frame, ecs.Entity, T)
	cancelled []func(*Frame, ecs.Entity, T)
}

// tell calls handlers in the middle of the system that raised the event. What they write and
// ask is not that system's doing: they may ask what the player saw. Debug builds panic where
// one writes predicted state.
func tell[T any](f *Frame, fns []func(*Frame, ecs.Entity, T), by ecs.Entity, v T) {
	was, shared := f.World.Guard(false), f.run.shared
	f.run.shared = nil
	for _, fn := range fns {
		if !debugBuild || f.client == nil {
			fn(f, by, v)
			continue
		}
		sum := f.client.predictedSum()
		fn(f, by, v)
		if f.client.predictedSum() != sum {
			refuseWrite(typeNameOf[T](), reflect.ValueOf(fn).Pointer())
		}
	}
	f.run.shared = shared
	f.World.Guard(was)
}

// ordinal counts what an entity raises within a tick.
func (q *queue[T]) ordinal(by ecs.Entity) int {
	for i := range q.ordinals {
		if q.ordinals[i].by == by {
			q.ordinals[i].n++
			return q.ordinals[i].n
		}
	}
	q.ordinals = append(q.ordinals, raisedKey{by: by})
	return 0
}

// begin, end, confirm and cancel are the client's side; see prediction.Ledger.
func (q *queue[T]) begin(t Tick) {
	q.ordinals = q.ordinals[:0]
	q.ledger.Begin(t)
}

func (q *queue[T]) end(f *Frame) {
	q.ledger.End(func(_ Tick, k raisedKey, v T) { q.undo(f, k.by, v) })
}

func (q *queue[T]) confirm(f *Frame, t Tick) {
	q.ledger.Confirm(t, func(tick Tick, k raisedKey, v T) {
		if q.waits {
			q.waiting = append(q.waiting, shownLater[T]{tick, k.by, v})
			return
		}
		tell(f, q.row.confirmed, k.by, v)
	})
}

// wait says whether the handlers of a client's events wait for show.
func (q *queue[T]) wait(waits bool) {
	clear(q.waiting)
	q.waits, q.waiting = waits, q.waiting[:0]
}

// show calls the handlers of the events up to tick t that waited for the screen.
func (q *queue[T]) show(f *Frame, t Tick) {
	left := q.waiting[:0]
	for _, w := range q.waiting {
		if int32(w.tick-t) > 0 {
			left = append(left, w)
			continue
		}
		f.Tick = w.tick
		tell(f, q.row.predicted, w.by, w.value)
		tell(f, q.row.confirmed, w.by, w.value)
	}
	clear(q.waiting[len(left):])
	q.waiting = left
}

// undo calls the handlers of a cancelled event, unless nobody heard of it yet.
func (q *queue[T]) undo(f *Frame, by ecs.Entity, v T) {
	if !q.waits {
		tell(f, q.row.cancelled, by, v)
	}
}

// refuse cancels the events up to tick t that the server did not raise. executed gives the
// server's number for each tick; later events of that tick are cancelled.
func (q *queue[T]) refuse(f *Frame, t Tick, executed func(Tick) int) {
	at, left := Tick(0), 0
	q.ledger.Refuse(t, func(k Tick, r raisedKey) bool {
		if f.World.Owner(r.by) == ecs.Common {
			return true // the server sends each player those of its own entities
		}
		if k != at {
			at, left = k, executed(k)
		}
		left--
		return left >= 0
	}, func(_ Tick, k raisedKey, v T) { q.undo(f, k.by, v) })
}

func (q *queue[T]) cancel(f *Frame) {
	q.ledger.Clear(func(_ Tick, k raisedKey, v T) { q.undo(f, k.by, v) })
}

// drain runs the server's handlers on everything raised since the last drain.
func (q *queue[T]) drain(f *Frame) {
	for depth := 0; q.handled < len(q.items); depth++ {
		if depth == maxNesting {
			f.server.nestedTooDeep(len(q.items) - q.handled)
			break
		}
		for end := len(q.items); q.handled < end; q.handled++ {
			for _, fn := range q.row.server {
				q.handle(f, fn, q.items[q.handled])
			}
		}
	}
	q.forget()
}

// handle calls one handler. A panic in it is attributed to its player.
func (q *queue[T]) handle(f *Frame, fn func(*Frame, PlayerID, T), it raised[T]) {
	defer f.server.contain(it.owner, q.row.handler)
	fn(f, it.owner, it.value)
}

func (q *queue[T]) forget() { q.items, q.handled = q.items[:0], 0 }

// clear forgets the held ones too, and those that are not final.
func (q *queue[T]) clear() {
	q.forget()
	q.held = q.held[:0]
	q.final.clear()
}

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

// refuseWrite panics because a client's handler of an event wrote predicted state.
func refuseWrite(event string, handler uintptr) {
	file, line := runtime.FuncForPC(handler).FileLine(handler)
	misuse("the handler of event %s at %s:%d writes predicted state. On a client it runs once, and not when the tick runs again, so a correction takes the write back: write it in the system that raises the event, or in the event's OnServer handler", event, file, line)
}

// maxNesting is the depth to which handlers may raise the event that they handle, within
// one tick. Events raised deeper are dropped and counted.
const maxNesting = 8
