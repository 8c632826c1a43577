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

// eventQueue holds what was raised in a world and not yet handled. Frames are only passed on
// to handlers.
type eventQueue interface {
	drain(s *frameState, f *Frame)
	finish(s *frameState, f *Frame, now Tick, handler int)
	findFinal()
	waitingEvents() int
	clear()
	pending() bool
	release(owner PlayerID, t Tick)
	drop(owner PlayerID, t Tick)
	dropFinal(owner PlayerID, t Tick)
	save(slot int)
	restore(slot int)
	differs(slot int) bool
	begin(t Tick)
	end(s *frameState, f *Frame)
	confirm(s *frameState, f *Frame, t Tick)
	refuse(s *frameState, f *Frame, t Tick, executed func(Tick) int)
	cancel(s *frameState, f *Frame)
	wait(waits bool)
	show(s *frameState, f *Frame, at *Tick, t Tick)
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

// heldEvent is an event of a tick that ran with a replacement for its player's command.
type heldEvent[T any] struct {
	tick Tick
	raised[T]
}

// eventFate is what becomes of an event that is raised: the end decides it, and the event's
// queue does it.
type eventFate uint8

const (
	eventHappens   eventFate = 1 << iota // handlers of OnServer are called at the end of the tick
	eventWaits                           // they are called when the command of its tick is here
	eventLasts                           // handlers of OnFinal are called when its tick is final
	eventStands                          // nothing runs again what raised it
	eventShows                           // a screen in the same world shows its tick later
	eventPredicted                       // it is compared with what its tick raises when it runs again
	eventTold                            // handlers of a client are called at once, and never again
)

// raise does with an event of tick t what its fate says.
func (q *queue[T]) raise(s *frameState, f *Frame, t Tick, fate eventFate, it raised[T]) {
	if len(q.row.server) > 0 {
		switch {
		case fate&eventHappens != 0:
			q.items = append(q.items, it)
		case fate&eventWaits != 0:
			q.held = append(q.held, heldEvent[T]{t, it})
		}
	}
	if fate&eventLasts != 0 && len(q.row.final) > 0 {
		q.final.waiting = append(q.final.waiting, finalEvent[T]{t, fate&eventStands != 0, it})
	}
	switch {
	case fate&eventShows != 0:
		q.waiting = append(q.waiting, shownLater[T]{t, it.by, it.value})
	case fate&eventTold != 0:
		tell(s, f, q.row.predicted, it.by, it.value)
		tell(s, f, q.row.confirmed, it.by, it.value)
	case fate&eventPredicted != 0 && q.ledger.Raise(raisedKey{it.by, q.ordinal(it.by)}, it.value) && !q.waits:
		tell(s, f, q.row.predicted, it.by, it.value)
	}
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

// tell calls handlers in the middle of the system that raised the event. What they write is
// not that system's doing. Debug builds panic where one writes predicted state.
func tell[T any](s *frameState, f *Frame, fns []func(*Frame, ecs.Entity, T), by ecs.Entity, v T) {
	was := s.world.Guard(false)
	for _, fn := range fns {
		if !debugBuild {
			fn(f, by, v)
			continue
		}
		sum := s.screen.predictedSum()
		fn(f, by, v)
		if s.screen.predictedSum() != sum {
			refuseWrite(typeNameOf[T](), reflect.ValueOf(fn).Pointer())
		}
	}
	s.world.Guard(was)
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

func (q *queue[T]) end(s *frameState, f *Frame) {
	q.ledger.End(func(_ Tick, k raisedKey, v T) { q.undo(s, f, k.by, v) })
}

func (q *queue[T]) confirm(s *frameState, f *Frame, t Tick) {
	q.ledger.Confirm(t, func(tick Tick, k raisedKey, v T) {
		if q.waits {
			q.waiting = append(q.waiting, shownLater[T]{tick, k.by, v})
			return
		}
		tell(s, f, q.row.confirmed, k.by, v)
	})
}

// wait says whether the handlers of a client's events wait for show.
func (q *queue[T]) wait(waits bool) {
	clear(q.waiting)
	q.waits, q.waiting = waits, q.waiting[:0]
}

// show calls the handlers of the events up to tick t that waited for the screen. at is the
// frame's tick: it becomes that of each event.
func (q *queue[T]) show(s *frameState, f *Frame, at *Tick, t Tick) {
	left := q.waiting[:0]
	for _, w := range q.waiting {
		if int32(w.tick-t) > 0 {
			left = append(left, w)
			continue
		}
		*at = w.tick
		tell(s, f, q.row.predicted, w.by, w.value)
		tell(s, f, q.row.confirmed, w.by, w.value)
	}
	clear(q.waiting[len(left):])
	q.waiting = left
}

// undo calls the handlers of a cancelled event, unless nobody heard of it yet.
func (q *queue[T]) undo(s *frameState, f *Frame, by ecs.Entity, v T) {
	if !q.waits {
		tell(s, f, q.row.cancelled, by, v)
	}
}

// refuse cancels the events up to tick t that the server did not raise. executed gives the
// server's number for each tick; later events of that tick are cancelled.
func (q *queue[T]) refuse(s *frameState, f *Frame, t Tick, executed func(Tick) int) {
	at, left := Tick(0), 0
	q.ledger.Refuse(t, func(k Tick, r raisedKey) bool {
		if s.world.Owner(r.by) == ecs.Common {
			return true // the server sends each player those of its own entities
		}
		if k != at {
			at, left = k, executed(k)
		}
		left--
		return left >= 0
	}, func(_ Tick, k raisedKey, v T) { q.undo(s, f, k.by, v) })
}

func (q *queue[T]) cancel(s *frameState, f *Frame) {
	q.ledger.Clear(func(_ Tick, k raisedKey, v T) { q.undo(s, f, k.by, v) })
}

// drain runs the server's handlers on everything raised since the last drain.
func (q *queue[T]) drain(s *frameState, f *Frame) {
	for depth := 0; q.handled < len(q.items); depth++ {
		if depth == maxNesting {
			s.handlers.nestedTooDeep(len(q.items) - q.handled)
			break
		}
		for end := len(q.items); q.handled < end; q.handled++ {
			for _, fn := range q.row.server {
				q.handle(s, f, fn, q.items[q.handled])
			}
		}
	}
	q.forget()
}

// handle calls one handler. A panic in it is attributed to its player.
func (q *queue[T]) handle(s *frameState, f *Frame, fn func(*Frame, PlayerID, T), it raised[T]) {
	defer s.handlers.contain(it.owner, q.row.handler)
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
func (l *finalEvents[T]) begin(s *frameState, now Tick) {
	if l.tick == now {
		return
	}
	clear(l.ready)
	l.tick, l.ready = now, l.ready[:0]
	left := l.waiting[:0]
	for _, it := range l.waiting {
		if it.stands || int32(it.tick-s.finals.finalFor(it.owner)) <= 0 {
			l.ready = append(l.ready, it.raised)
		} else {
			left = append(left, it)
		}
	}
	clear(l.waiting[len(left):])
	l.waiting = left
}

// finish runs one of the handlers of OnFinal for what is final, in the order of raising.
func (q *queue[T]) finish(s *frameState, f *Frame, now Tick, handler int) {
	q.final.begin(s, now)
	for _, it := range q.final.ready {
		q.handle(s, f, q.row.final[handler], it)
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
