package foretick

import "github.com/foretick/foretick/ecs"

// Event is something that happened in a tick: a shot, a jump, a hit. Shared systems raise
// it on both ends. The server's handlers (see [Event.OnServer]) apply its consequences. A
// client's handlers (see [Event.OnPredicted]) play sounds and effects. What cannot be taken
// back, on a server that runs late inputs, belongs into a handler of [Event.OnFinal].
//
// Events are not sent: each end raises its own. So only clients that predict an event see
// it, usually its player's client alone. Other clients see the server's consequences: a
// changed component, or a [Message]. Use an unreliable channel if the message is worth
// nothing later (see [Protocol.Channel]). An event without a handler is dropped. The zero
// value is ready for OnServer or OnPredicted, which register it.
type Event[T any] struct {
	id int // 1 and up; 0 is unregistered
}

// Raise calls the event's handlers. by is the entity that the event happened to, or that
// caused it. On the server they run at the end of the same tick, in the order of the calls.
// On a client they run at once, and not again when the tick is replayed. On a client,
// events raised by a remote player's predicted entity are dropped: see [PredictRemote].
func (e *Event[T]) Raise(f *Frame, by ecs.Entity, v T) {
	if e.id == 0 || e.id > len(f.queues) { // nobody listens
		if debugBuild && f.server != nil {
			f.server.unheard(typeNameOf[T]())
		}
		return
	}
	q, ok := f.queues[e.id-1].(*queue[T])
	if !ok {
		return
	}
	if f.server != nil {
		owner := f.World.Owner(by)
		fate, shown := f.server.raised(by, owner, e.id-1)
		switch it := (raised[T]{by, owner, v}); {
		case len(q.row.server) == 0 || fate == eventPast:
		case fate == eventHappens:
			q.items = append(q.items, it)
		case fate == eventWaits:
			q.held = append(q.held, heldEvent[T]{f.Tick, it})
		}
		q.lasting(f, raised[T]{by, owner, v})
		if shown {
			q.waiting = append(q.waiting, shownLater[T]{f.Tick, by, v})
		}
		return
	}
	if f.partial || f.blind {
		return // the whole tick raises it
	}
	if f.World.Owner(by) == ecs.ClientOnly {
		if !f.client.again(f.Tick) { // it is never rolled back, and neither is what it raises
			tell(f, q.row.predicted, by, v)
			tell(f, q.row.confirmed, by, v)
		}
		return
	}
	if f.client.anothers(by) {
		return // the server sends its result
	}
	if q.ledger.Raise(raisedKey{by, q.ordinal(by)}, v) {
		if !q.waits {
			tell(f, q.row.predicted, by, v)
		}
	}
}
