package game

import (
	"runtime"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/misuse"
	"github.com/foretick/foretick/prediction"
)

// raisedKey names an event within its tick: the n-th event that an entity raised.
type raisedKey struct {
	by ecs.Entity
	n  int
}

// EventQueue holds the events of one type that were raised in a world and not yet handled. Both ends
// call a [Queue] through it, without knowing the event's type. It only passes frames on to handlers.
type EventQueue[F any] interface {
	Drain(s *State[F], f F)
	Finish(s *State[F], f F, now Tick, handler int)
	FindFinal()
	WaitingEvents() int
	Clear()
	Pending() bool
	Release(owner PlayerID, t Tick)
	Drop(owner PlayerID, t Tick)
	DropFinal(owner PlayerID, t Tick)
	ForgetFinal(t Tick)
	Save(slot int)
	Restore(slot int)
	Differs(slot int) bool
	Begin(t Tick)
	End(s *State[F], f F)
	Confirm(s *State[F], f F, t Tick)
	Refuse(s *State[F], f F, t Tick, executed func(Tick) int)
	Cancel(s *State[F], f F)
	Wait(waits bool)
	Show(s *State[F], f F, at *Tick, t Tick)
}

// By says who raised an event, and when.
type By struct {
	Entity ecs.Entity
	Player PlayerID
	Tick   Tick
}

type raised[T any] struct {
	by    By
	value T
}

// Queue is the queue of one event, whose values have the type T.
type Queue[F, T any] struct {
	Items   []raised[T] // events that wait for handlers of OnServer
	handled int         // how many of Items were handled
	// held are a server's events of ticks that wait for their player's command.
	held   []raised[T]
	final  finalEvents[T]
	Row    *EventRow[F, T]                         // the event's handlers
	ledger prediction.Ledger[raisedKey, raised[T]] // on a client: the predicted events
	// waits is true on a client that does not predict: handlers wait until the screen shows the event's
	// tick.
	waits    bool
	waiting  []raised[T]     // the events that wait for the screen
	saved    []savedQueue[T] // with Late.World: the queue at the end of each tick that may run again
	ordinals []raisedKey     // how often each entity raised the event in the running tick
}

// Fate says what happens to a raised event. The end chooses it, and the event's queue carries it out.
type Fate uint8

const (
	EventHappens   Fate = 1 << iota // handlers of OnServer are called at the end of the tick
	EventWaits                      // handlers of OnServer are called once the command of the event's tick has arrived
	EventLasts                      // handlers of OnFinal are called when the event's tick is final
	EventStands                     // the code that raised the event never runs again
	EventShows                      // handlers are called when a screen in the same world shows the event's tick
	EventPredicted                  // a client compares the event with those of the tick's next run
	EventTold                       // a client's handlers are called at once, and never again
)

// Raise puts an event where its fate says, or calls its handlers.
func (q *Queue[F, T]) Raise(s *State[F], f F, fate Fate, by By, v T) {
	it := raised[T]{by, v}
	if len(q.Row.Server) > 0 {
		switch {
		case fate&EventHappens != 0:
			q.Items = append(q.Items, it)
		case fate&EventWaits != 0:
			q.held = append(q.held, it)
		}
	}
	if fate&EventLasts != 0 && len(q.Row.Final) > 0 {
		q.final.waiting = append(q.final.waiting, finalEvent[T]{fate&EventStands != 0, it})
	}
	switch {
	case fate&EventShows != 0:
		q.waiting = append(q.waiting, it)
	case fate&EventTold != 0:
		tell(s, f, q.Row.Predicted, it)
		tell(s, f, q.Row.Confirmed, it)
	case fate&EventPredicted != 0 && q.ledger.Raise(raisedKey{by.Entity, q.ordinal(by.Entity)}, it) && !q.waits:
		tell(s, f, q.Row.Predicted, it)
	}
}

// Pending reports whether there are events to handle.
func (q *Queue[F, T]) Pending() bool { return len(q.Items) > 0 }

// WaitingEvents returns how many events wait for their handlers or for the result of their tick.
func (q *Queue[F, T]) WaitingEvents() int {
	return len(q.Items) - q.handled + len(q.held) + len(q.final.waiting)
}

// Release delivers the held events of a player's tick together with the next events.
func (q *Queue[F, T]) Release(owner PlayerID, t Tick) { q.unhold(owner, t, true) }

// Drop removes the held events of a player's tick, because the tick runs again.
func (q *Queue[F, T]) Drop(owner PlayerID, t Tick) { q.unhold(owner, t, false) }

func (q *Queue[F, T]) unhold(owner PlayerID, t Tick, happens bool) {
	if len(q.held) == 0 {
		return
	}
	left := q.held[:0]
	for _, h := range q.held {
		switch {
		case h.by.Tick != t || h.by.Player != owner:
			left = append(left, h)
		case happens:
			q.Items = append(q.Items, h)
		}
	}
	clear(q.held[len(left):])
	q.held = left
}

// EventRow has the handlers of an event, by how the game declared them.
type EventRow[F, T any] struct {
	Handler   string // the name of the handler in errors about a panic
	Server    []func(F, By, T)
	Final     []func(F, By, T)
	Predicted []ScreenHandler[F, T]
	Confirmed []ScreenHandler[F, T]
	Cancelled []ScreenHandler[F, T]
}

// ScreenHandler is a client's handler of an event.
type ScreenHandler[F, T any] struct {
	Call func(F, By, T)
	At   uintptr // At is the game's own function, for the report of a wrong write.
}

// tell calls handlers in the middle of the system that raised the event. Their writes do not count as
// the system's. Debug builds panic if a handler writes predicted state.
func tell[F, T any](s *State[F], f F, handlers []ScreenHandler[F, T], it raised[T]) {
	if len(handlers) == 0 {
		return
	}
	was := s.World.Guard(false)
	s.Telling = true
	for _, h := range handlers {
		if !DebugBuild {
			h.Call(f, it.by, it.value)
			continue
		}
		sum := s.Screen.PredictedSum()
		h.Call(f, it.by, it.value)
		if s.Screen.PredictedSum() != sum {
			refuseWrite(TypeNameOf[T](), h.At)
		}
	}
	s.Telling = false
	s.World.Guard(was)
}

// ordinal returns how often an entity raised the event in the running tick before, and counts one more.
func (q *Queue[F, T]) ordinal(by ecs.Entity) int {
	for i := range q.ordinals {
		if q.ordinals[i].by == by {
			q.ordinals[i].n++
			return q.ordinals[i].n
		}
	}
	q.ordinals = append(q.ordinals, raisedKey{by: by})
	return 0
}

// Begin begins a tick that a client predicts, possibly not for the first time: see [prediction.Ledger].
func (q *Queue[F, T]) Begin(t Tick) {
	q.ordinals = q.ordinals[:0]
	q.ledger.Begin(t)
}

// End cancels the events that an earlier run of the tick raised and this run did not.
func (q *Queue[F, T]) End(s *State[F], f F) {
	q.ledger.End(func(_ Tick, _ raisedKey, it raised[T]) { q.undo(s, f, it) })
}

// Confirm confirms the events up to tick t that were not cancelled.
func (q *Queue[F, T]) Confirm(s *State[F], f F, t Tick) {
	q.ledger.Confirm(t, func(_ Tick, _ raisedKey, it raised[T]) {
		if q.waits {
			q.waiting = append(q.waiting, it)
			return
		}
		tell(s, f, q.Row.Confirmed, it)
	})
}

// Wait sets whether the handlers of a client's events wait for Show.
func (q *Queue[F, T]) Wait(waits bool) {
	clear(q.waiting)
	q.waits, q.waiting = waits, q.waiting[:0]
}

// Show calls the handlers of the events up to tick t that waited for the screen. It sets *at, the
// frame's tick, to the tick of each event.
func (q *Queue[F, T]) Show(s *State[F], f F, at *Tick, t Tick) {
	left := q.waiting[:0]
	for _, w := range q.waiting {
		if int32(w.by.Tick-t) > 0 {
			left = append(left, w)
			continue
		}
		*at = w.by.Tick
		tell(s, f, q.Row.Predicted, w)
		tell(s, f, q.Row.Confirmed, w)
	}
	clear(q.waiting[len(left):])
	q.waiting = left
}

// undo calls the handlers of a cancelled event, unless the game has not heard of the event yet.
func (q *Queue[F, T]) undo(s *State[F], f F, it raised[T]) {
	if !q.waits {
		tell(s, f, q.Row.Cancelled, it)
	}
}

// Refuse cancels the events up to tick t that the server did not raise. executed returns how many
// events of a tick the server raised; further events of that tick are cancelled.
func (q *Queue[F, T]) Refuse(s *State[F], f F, t Tick, executed func(Tick) int) {
	at, left := Tick(0), 0
	q.ledger.Refuse(t, func(k Tick, r raisedKey) bool {
		if s.World.Owner(r.by) == ecs.Common {
			return true // each player's counts cover its own entities only
		}
		if k != at {
			at, left = k, executed(k)
		}
		left--
		return left >= 0
	}, func(_ Tick, _ raisedKey, it raised[T]) { q.undo(s, f, it) })
}

// Cancel cancels all events that are not confirmed.
func (q *Queue[F, T]) Cancel(s *State[F], f F) {
	q.ledger.Clear(func(_ Tick, _ raisedKey, it raised[T]) { q.undo(s, f, it) })
}

// Drain calls the server's handlers for everything raised since the last Drain.
func (q *Queue[F, T]) Drain(s *State[F], f F) {
	for depth := 0; q.handled < len(q.Items); depth++ {
		if depth == MaxNesting {
			s.Handlers.NestedTooDeep(len(q.Items) - q.handled)
			break
		}
		for end := len(q.Items); q.handled < end; q.handled++ {
			for _, fn := range q.Row.Server {
				q.handle(s, f, fn, q.Items[q.handled])
			}
		}
	}
	q.forget()
}

// handle calls one handler. A panic in it counts against the event's player.
func (q *Queue[F, T]) handle(s *State[F], f F, fn func(F, By, T), it raised[T]) {
	defer s.Handlers.Contain(it.by.Player, q.Row.Handler)
	fn(f, it.by, it.value)
}

func (q *Queue[F, T]) forget() { q.Items, q.handled = q.Items[:0], 0 }

// Clear removes all events, including those that are held and those that are not final.
func (q *Queue[F, T]) Clear() {
	q.forget()
	q.held = q.held[:0]
	q.final.clear()
}

// finalEvents are a server's events whose OnFinal handlers wait until no late command can undo the
// event.
type finalEvents[T any] struct {
	waiting []finalEvent[T]
	ready   []raised[T] // events for the OnFinal handlers of tick
	tick    Tick        // the tick that ready was computed in
}

type finalEvent[T any] struct {
	stands bool // the code that raised the event never runs again
	raised[T]
}

// DropFinal removes the events of a player's tick that are not final, because the tick runs again.
func (q *Queue[F, T]) DropFinal(owner PlayerID, t Tick) { q.final.drop(owner, t) }

func (l *finalEvents[T]) drop(owner PlayerID, t Tick) {
	if len(l.waiting) == 0 {
		return
	}
	left := l.waiting[:0]
	for _, it := range l.waiting {
		if it.stands || it.by.Tick != t || it.by.Player != owner {
			left = append(left, it)
		}
	}
	clear(l.waiting[len(left):])
	l.waiting = left
}

// ForgetFinal removes the events up to tick t that wait for OnFinal, because its handlers were called for them
// before Restore brought them back.
func (q *Queue[F, T]) ForgetFinal(t Tick) {
	left := q.final.waiting[:0]
	for _, it := range q.final.waiting {
		if int32(it.by.Tick-t) > 0 {
			left = append(left, it)
		}
	}
	clear(q.final.waiting[len(left):])
	q.final.waiting = left
}

func (l *finalEvents[T]) clear() {
	clear(l.waiting)
	l.waiting = l.waiting[:0]
}

// FindFinal makes the next Finish look for final events again, even if its tick has done so before.
func (q *Queue[F, T]) FindFinal() { q.final.tick = q.final.tick - 1 }

// begin moves the events that are final as of the running tick to ready. Events that handlers raise
// come in the next tick.
func (l *finalEvents[T]) begin(finals Finals, now Tick) {
	if l.tick == now {
		return
	}
	clear(l.ready)
	l.tick, l.ready = now, l.ready[:0]
	left := l.waiting[:0]
	for _, it := range l.waiting {
		if it.stands || int32(it.by.Tick-finals.FinalFor(it.by.Player)) <= 0 {
			l.ready = append(l.ready, it.raised)
		} else {
			left = append(left, it)
		}
	}
	clear(l.waiting[len(left):])
	l.waiting = left
}

// Finish calls one of the OnFinal handlers for each final event, in the order of raising.
func (q *Queue[F, T]) Finish(s *State[F], f F, now Tick, handler int) {
	q.final.begin(s.finals, now)
	for _, it := range q.final.ready {
		q.handle(s, f, q.Row.Final[handler], it)
	}
}

// savedQueue is a server's queue as it was at the end of a tick.
type savedQueue[T any] struct {
	items   []raised[T]
	handled int
	waiting []finalEvent[T]
}

// Save stores the events that are neither handled nor final, in the slot of a tick.
func (q *Queue[F, T]) Save(slot int) {
	for len(q.saved) <= slot {
		q.saved = append(q.saved, savedQueue[T]{})
	}
	to := &q.saved[slot]
	clear(to.items)
	clear(to.waiting)
	to.items, to.handled = append(to.items[:0], q.Items...), q.handled
	to.waiting = append(to.waiting[:0], q.final.waiting...)
}

// Restore restores the events that Save stored.
func (q *Queue[F, T]) Restore(slot int) {
	from := &q.saved[slot]
	clear(q.Items)
	q.Items, q.handled = append(q.Items[:0], from.items...), from.handled
	q.final.clear()
	q.final.waiting = append(q.final.waiting, from.waiting...)
	q.final.tick = 0 // the next Finish finds the final events again
}

// Differs reports whether events were raised or handled since Save.
func (q *Queue[F, T]) Differs(slot int) bool {
	return len(q.saved) <= slot || len(q.Items) != len(q.saved[slot].items) || len(q.final.waiting) != len(q.saved[slot].waiting)
}

// refuseWrite panics because a client's event handler wrote predicted state.
func refuseWrite(event string, handler uintptr) {
	file, line := runtime.FuncForPC(handler).FileLine(handler)
	misuse.Panicf("foretick: the handler of event %s at %s:%d writes predicted state. On a client it runs once, and not when the tick runs again, so a correction takes the write back: write it in the system that raises the event, or in the event's OnServer handler", event, file, line)
}

// MaxNesting is how deep handlers may raise the event that they handle, within one tick. Events raised
// deeper are dropped and counted.
const MaxNesting = 8
