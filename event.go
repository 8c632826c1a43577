package foretick

import (
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/prediction"
)

// Event is something that happened in a tick: a shot, a jump, a hit. Shared
// systems raise it on both ends; the server's handlers (see [Event.OnServer]) give it
// its consequences, a client's (see [Event.OnPredicted]) its sound and light.
//
// An event never travels: each end raises its own. So the clients that hear of it
// are those that predict it, its player's alone as a rule. Others learn of it by
// what the server makes of it: the change of a component, or a [Message], on a
// channel that is not reliable where it is worth nothing later (see
// [Protocol.Channel]). One that nobody handles is forgotten. The zero value is
// ready for OnServer or OnPredicted, which register it.
type Event[T any] struct {
	id int // 1 and up; 0 is unregistered
}

// eventType is an event's row in the protocol.
type eventType struct {
	name  string // its Go type's
	fresh func() eventQueue
}

// eventQueue holds what was raised in a world and not yet handled.
type eventQueue interface {
	drain(f *Frame)
	forget()
	begin(t Tick)
	end(f *Frame)
	confirm(f *Frame, t Tick)
	refuse(f *Frame, t Tick, executed func(Tick) int)
	cancel(f *Frame)
}

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
	row      *eventRow[T]
	ledger   prediction.Ledger[raisedKey, T]
	ordinals []raisedKey // how often each entity raised it in the running tick
}

// eventOf finds or makes the event's row.
func eventOf[T any](p *Protocol, e *Event[T], call string, has bool) *eventRow[T] {
	if e == nil {
		p.faultf("%s is given a nil Event: pass its address, as in &g.Shot", call)
		return nil
	}
	if !p.able(call+" of event "+typeNameOf[T](), has) {
		return nil
	}
	if e.id == 0 {
		row := &eventRow[T]{handler: "event " + typeNameOf[T]()}
		p.events = append(p.events, eventType{name: typeNameOf[T](), fresh: func() eventQueue {
			return &queue[T]{row: row}
		}})
		p.eventRows = append(p.eventRows, row)
		e.id = len(p.events)
	}
	var row *eventRow[T]
	if e.id <= len(p.eventRows) {
		row, _ = p.eventRows[e.id-1].(*eventRow[T])
	}
	if row == nil {
		p.faultf("an Event of %s was registered with another Protocol before: build a new game value for each Protocol", typeNameOf[T]())
	}
	return row
}

type eventRow[T any] struct {
	handler   string // what a panic in a handler is said to be in
	server    []func(*Frame, PlayerID, T)
	predicted []func(*Frame, ecs.Entity, T)
	confirmed []func(*Frame, ecs.Entity, T)
	cancelled []func(*Frame, ecs.Entity, T)
}

// Raise tells the event's handlers that it happened to or through the entity
// by. On the server they run at the end of the same tick, in the order of the
// calls; on a client at once, and not again when the tick is replayed. What is raised
// there by a remote player's entity that the client predicts (see [PredictRemote]) is
// passed over.
func (e *Event[T]) Raise(f *Frame, by ecs.Entity, v T) {
	if e.id == 0 || e.id > len(f.queues) {
		return // nobody listens
	}
	q, ok := f.queues[e.id-1].(*queue[T])
	if !ok {
		return
	}
	if f.server != nil {
		owner := f.World.Owner(by)
		q.items = append(q.items, raised[T]{by, owner, v})
		if p := f.server.player(owner); p != nil && !f.server.isLocal(by) {
			p.raise(f.Tick, e.id-1)
		}
		return
	}
	if f.World.Owner(by) == ecs.ClientOnly {
		if !f.client.again(f.Tick) { // it is never rolled back, and neither is what it raises
			tell(f, q.row.predicted, by, v)
			tell(f, q.row.confirmed, by, v)
		}
		return
	}
	if f.client.anothers(by) {
		return // the server tells what came of it
	}
	if q.ledger.Raise(raisedKey{by, q.ordinal(by)}, v) {
		tell(f, q.row.predicted, by, v)
	}
}

// tell calls handlers in the middle of the system that raised the event. What they
// touch is not that system's doing.
func tell[T any](f *Frame, fns []func(*Frame, ecs.Entity, T), by ecs.Entity, v T) {
	was := f.World.Guard(false)
	for _, fn := range fns {
		fn(f, by, v)
	}
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
	q.ledger.End(func(_ Tick, k raisedKey, v T) { tell(f, q.row.cancelled, k.by, v) })
}

func (q *queue[T]) confirm(f *Frame, t Tick) {
	q.ledger.Confirm(t, func(_ Tick, k raisedKey, v T) { tell(f, q.row.confirmed, k.by, v) })
}

// refuse cancels what the server did not raise up to t: of a tick's events those
// beyond as many as it says.
func (q *queue[T]) refuse(f *Frame, t Tick, executed func(Tick) int) {
	at, left := Tick(0), 0
	q.ledger.Refuse(t, func(k Tick, r raisedKey) bool {
		if f.World.Owner(r.by) == ecs.Common {
			return true // the server tells each player of his own
		}
		if k != at {
			at, left = k, executed(k)
		}
		left--
		return left >= 0
	}, func(_ Tick, k raisedKey, v T) { tell(f, q.row.cancelled, k.by, v) })
}

func (q *queue[T]) cancel(f *Frame) {
	q.ledger.Clear(func(_ Tick, k raisedKey, v T) { tell(f, q.row.cancelled, k.by, v) })
}

// drain runs the server's handlers on everything raised since the last drain.
func (q *queue[T]) drain(f *Frame) {
	for depth := 0; q.handled < len(q.items); depth++ {
		if depth == maxNesting {
			f.server.stats.EventsNested += uint64(len(q.items) - q.handled)
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

// handle calls one handler; a panic in it is its player's.
func (q *queue[T]) handle(f *Frame, fn func(*Frame, PlayerID, T), it raised[T]) {
	defer f.server.contain(it.owner, q.row.handler)
	fn(f, it.owner, it.value)
}

func (q *queue[T]) forget() { q.items, q.handled = q.items[:0], 0 }

// stageEvents is the stage, after all of the game's own, in which the server
// handles events.
const stageEvents = "foretick.events"

// OnServer has the server call fn for every e raised in a tick, at its end. by
// is the owner of the entity that raised it. access says what fn reads and
// writes, by [ecs.ReadOther] and [ecs.WriteOther].
func (e *Event[T]) OnServer(p *Protocol, fn func(f *Frame, by PlayerID, v T), access ...ecs.Access) {
	first := e != nil && e.id == 0
	row := eventOf(p, e, "OnServer", fn != nil)
	if row == nil {
		return
	}
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
// and once, however often the tick is replayed. by is the local entity. Each
// event told so is later either confirmed or cancelled.
func (e *Event[T]) OnPredicted(p *Protocol, fn func(f *Frame, by ecs.Entity, v T)) {
	if row := eventOf(p, e, "OnPredicted", fn != nil); row != nil {
		row.predicted = append(row.predicted, fn)
	}
}

// OnConfirmed has a client call fn for each predicted e once the server's word
// on its tick agreed with the prediction, or the replay raised it again. An event is
// known by its tick, its entity, and how many the entity raised before it in the tick:
// v is the newest run's, and may be another than OnPredicted was told. f is the tick
// that is being computed; a handler that needs the event's puts it into T.
func (e *Event[T]) OnConfirmed(p *Protocol, fn func(f *Frame, by ecs.Entity, v T)) {
	if row := eventOf(p, e, "OnConfirmed", fn != nil); row != nil {
		row.confirmed = append(row.confirmed, fn)
	}
}

// OnCancelled has a client call fn for each predicted e that a correction undid:
// the tick ran again and did not raise it, or the prediction began anew. f is as in
// [Event.OnConfirmed].
func (e *Event[T]) OnCancelled(p *Protocol, fn func(f *Frame, by ecs.Entity, v T)) {
	if row := eventOf(p, e, "OnCancelled", fn != nil); row != nil {
		row.cancelled = append(row.cancelled, fn)
	}
}
