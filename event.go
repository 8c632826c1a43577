package foretick

import (
	"github.com/foretick/foretick/ecs"
)

// Event is something that happened in a tick: a shot, a jump, a hit. Shared
// systems raise it on both ends; the server's handlers (see [OnServer]) give it
// its consequences, a client's (see [OnPredicted]) its sound and light. The
// zero value is ready for OnServer or OnPredicted, which register it.
type Event[T any] struct {
	id int // 1 and up; 0 is unregistered
}

// eventType is an event's row in the protocol.
type eventType struct {
	fresh func() eventQueue
}

// eventQueue holds what was raised in a world and not yet handled.
type eventQueue interface {
	drain(f *Frame)
	forget()
}

type raised[T any] struct {
	by    ecs.Entity
	owner ecs.Owner
	value T
}

type queue[T any] struct {
	items     []raised[T]
	handled   int
	server    []func(*Frame, ecs.Owner, T)
	predicted []func(*Frame, ecs.Entity, T)
}

// eventOf finds or makes the event's row.
func eventOf[T any](p *Protocol, e *Event[T]) *eventRow[T] {
	if e.id == 0 {
		row := &eventRow[T]{}
		p.events = append(p.events, eventType{fresh: func() eventQueue {
			return &queue[T]{server: row.server, predicted: row.predicted}
		}})
		p.eventRows = append(p.eventRows, row)
		e.id = len(p.events)
	}
	row, ok := p.eventRows[e.id-1].(*eventRow[T])
	if !ok {
		p.faultf("an Event was registered with another Protocol before: build a new game value for each Protocol")
		return &eventRow[T]{}
	}
	return row
}

type eventRow[T any] struct {
	server    []func(*Frame, ecs.Owner, T)
	predicted []func(*Frame, ecs.Entity, T)
}

// Raise tells the event's handlers that it happened to or through the entity
// by. On the server they run at the end of the same tick, in the order of the
// calls; on a client at once, and not again when the tick is replayed.
func (e *Event[T]) Raise(f *Frame, by ecs.Entity, v T) {
	if e.id == 0 || e.id > len(f.queues) {
		return // nobody listens
	}
	q, ok := f.queues[e.id-1].(*queue[T])
	if !ok {
		return
	}
	if f.server != nil {
		q.items = append(q.items, raised[T]{by, f.World.Owner(by), v})
		return
	}
	if f.Replay {
		return
	}
	for _, fn := range q.predicted {
		fn(f, by, v)
	}
}

// drain runs the server's handlers on everything raised since the last drain.
func (q *queue[T]) drain(f *Frame) {
	for q.handled < len(q.items) {
		it := q.items[q.handled]
		q.handled++
		for _, fn := range q.server {
			fn(f, it.owner, it.value)
		}
	}
	q.forget()
}

func (q *queue[T]) forget() { q.items, q.handled = q.items[:0], 0 }

// stageEvents is the stage, after all of the game's own, in which the server
// handles events.
const stageEvents = "foretick.events"

// OnServer has the server call fn for every e raised in a tick, at its end. by
// is the owner of the entity that raised it. access says what fn reads and
// writes, by [ecs.ReadOther] and [ecs.WriteOther].
func OnServer[T any](p *Protocol, e *Event[T], fn func(f *Frame, by ecs.Owner, v T), access ...ecs.Access) {
	first := e.id == 0
	row := eventOf(p, e)
	row.server = append(row.server, fn)
	index := e.id - 1
	name := "event " + typeNameOf[T]() + " " + itoa(e.id)
	if !first {
		name += "+" + itoa(len(row.server))
	}
	p.eventSystem(name, index, access)
}

// eventSystem declares the server system that drains an event's queue.
func (p *Protocol) eventSystem(name string, index int, access []ecs.Access) {
	all := append(access[:len(access):len(access)], ecs.Tags(TagServer), ecs.Once(), ecs.Stage(stageEvents))
	p.system(name, func(f *Frame, _ ecs.Rows) { f.queues[index].drain(f) }, all)
}

// OnPredicted has a client call fn when its own prediction raises e: at once,
// and once, however often the tick is replayed. by is the local entity.
func OnPredicted[T any](p *Protocol, e *Event[T], fn func(f *Frame, by ecs.Entity, v T)) {
	row := eventOf(p, e)
	row.predicted = append(row.predicted, fn)
}
