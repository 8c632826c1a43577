package foretick

import (
	"reflect"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
)

// Event is something that happened in a tick: a shot, a jump, a hit. Shared systems raise
// it on both ends. The server's handlers (see [Event.OnServer]) apply its consequences. A
// client's handlers (see [Event.OnPredicted]) play sounds and effects. On a server
// that runs late inputs, actions that cannot be undone belong into a handler of [Event.OnFinal].
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
	s := f.in()
	if e.id == 0 || e.id > len(s.Queues) { // nobody listens
		if game.DebugBuild {
			s.Handlers.Unheard(game.TypeNameOf[T]())
		}
		return
	}
	q, ok := s.Queues[e.id-1].(*game.Queue[*Frame, T])
	if !ok {
		return
	}
	owner := s.World.Owner(by)
	fate := s.End.Raised(by, owner, e.id-1)
	shared := f.run.Shared
	f.run.Shared = nil // the running system does not count for what handlers do
	q.Raise(s, f, fate, game.By{Entity: by, Player: owner, Tick: f.Tick}, v)
	f.run.Shared = shared
}

// eventOf returns the event's row, and makes it on the first call.
func eventOf[T any](p *Protocol, e *Event[T], call string, has bool) *game.EventRow[*Frame, T] {
	if e == nil {
		p.faultf("%s is called on a nil Event: use a field of the game, as in g.Shot.%s", call, call)
		return nil
	}
	if !p.able(call+" of event "+game.TypeNameOf[T](), has) {
		return nil
	}
	if e.id == 0 {
		row := &game.EventRow[*Frame, T]{Handler: p.eventName(game.TypeNameOf[T]())}
		p.compiled.Events = append(p.compiled.Events, game.TypeNameOf[T]())
		p.compiled.Handlers.Events = append(p.compiled.Handlers.Events, func() game.EventQueue[*Frame] { return &game.Queue[*Frame, T]{Row: row} })
		p.eventRows = append(p.eventRows, row)
		e.id = len(p.compiled.Events)
	}
	var row *game.EventRow[*Frame, T]
	if e.id <= len(p.eventRows) {
		row, _ = p.eventRows[e.id-1].(*game.EventRow[*Frame, T])
	}
	if row == nil {
		p.faultf("an Event of %s was registered with another Protocol before: build a new game value for each Protocol", game.TypeNameOf[T]())
	}
	return row
}

// eventName returns the name of an event's handlers in reports: its type, and a number if several
// events share the type.
func (p *Protocol) eventName(of string) string {
	n := 1
	for _, other := range p.compiled.Events {
		if other == of {
			n++
		}
	}
	if n > 1 {
		return "event " + of + " " + itoa(n)
	}
	return "event " + of
}

// stageEvents is the stage in which the server handles events. It follows all stages of the
// game.
const stageEvents = "foretick.events"

// stageFinal is the stage in which the server handles events that became final.
const stageFinal = "foretick.final"

// By says which entity raised an event, and when.
type By struct {
	// Entity is the entity that [Event.Raise] was given. It may be gone when a handler runs.
	Entity ecs.Entity
	// Player is the entity's owner when it raised the event. It is [ecs.Nobody] if nobody owned it.
	Player PlayerID
	// Tick is the event's own tick. It is before Frame.Tick where a handler runs later.
	Tick Tick
}

// OnServer adds a handler that the server calls at the end of a tick for every e raised in
// it. access declares the reads and writes of fn, with [ecs.ReadOther] and [ecs.WriteOther].
func (e *Event[T]) OnServer(p *Protocol, fn func(f *ServerFrame, by By, v T), access ...ecs.Access) {
	row := eventOf(p, e, "OnServer", fn != nil)
	if row == nil {
		return
	}
	row.Server = append(row.Server, onServer(fn))
	p.drainOf(e.id-1, row.Handler).addAccess(access)
}

// OnFinal adds a handler that the server calls once an event is certain: no late input can undo its
// tick. Use it for what is permanent, such as a write to a database. Without server.Config.Late
// every event is certain at once, and so is one of a server system or handler. With it, an event of a
// player's tick is certain when no command of that player is missing up to there. The server calls fn at
// the end of a tick, after the handlers of [Event.OnServer].
//
// With server.Config.Late.World an event is certain when no player's command is missing, and fn may run
// again for the same event, with f.Replay true, after its changes to the world were undone: return then
// if you write outside of the world.
//
// f is the tick being computed, and by.Tick the event's own. Only v is certain: other values that fn
// reads may still change, so put what it needs into T. Events that fn raises are handled in the next
// tick. access declares the reads and writes of fn, with [ecs.ReadOther] and [ecs.WriteOther]. A new
// level and the end of a match make every event certain, also those that handlers raise then.
func (e *Event[T]) OnFinal(p *Protocol, fn func(f *ServerFrame, by By, v T), access ...ecs.Access) {
	row := eventOf(p, e, "OnFinal", fn != nil)
	if row == nil {
		return
	}
	row.Final = append(row.Final, onServer(fn))
	index, handler, name := e.id-1, len(row.Final)-1, row.Handler+", final"
	if handler > 0 {
		name += " " + itoa(handler+1)
	}
	all := append(access[:len(access):len(access)], ecs.Tags(TagServer), ecs.Once(), ecs.Stage(stageFinal))
	p.handleEvents(name, func(f *Frame) { f.in().Queues[index].Finish(f.in(), f, f.Tick, handler) }, all)
}

// onServer wraps a server's handler.
func onServer[T any](fn func(*ServerFrame, By, T)) func(*Frame, game.By, T) {
	return func(f *Frame, by game.By, v T) { fn(f.forServer(), By(by), v) }
}

// onScreen wraps a client's handler.
func onScreen[T any](fn func(*Frame, By, T)) game.ScreenHandler[*Frame, T] {
	return game.ScreenHandler[*Frame, T]{
		Call: func(f *Frame, by game.By, v T) { fn(f, By(by), v) },
		At:   reflect.ValueOf(fn).Pointer(),
	}
}

// drain is the system that calls an event's OnServer handlers. One system calls them all, because
// handlers may raise the event again. So it declares the access of every handler.
type drain struct {
	event  int // index in the protocol's events
	name   string
	access []ecs.Access
}

func (d *drain) addAccess(access []ecs.Access) { d.access = append(d.access, access...) }

// drainOf returns an event's drain, and makes it on the first call.
func (p *Protocol) drainOf(event int, name string) *drain {
	for _, d := range p.drains {
		if d.event == event {
			return d
		}
	}
	d := &drain{event: event, name: name}
	p.drains = append(p.drains, d)
	return d
}

// declareDrains declares the systems that call the handlers of OnServer.
func (p *Protocol) declareDrains() {
	p.compiled.Drains = make([]string, len(p.compiled.Events))
	for _, d := range p.drains {
		p.compiled.Drains[d.event] = d.name
		d.addAccess([]ecs.Access{ecs.Tags(TagServer), ecs.Once(), ecs.Stage(stageEvents)})
		p.handleEvents(d.name, func(f *Frame) { f.in().Queues[d.event].Drain(f.in(), f) }, d.access)
	}
}

// handleEvents declares a system that calls handlers of events. A server also calls it outside of
// ticks, when a level or the match ends.
func (p *Protocol) handleEvents(name string, handle func(*Frame), access []ecs.Access) {
	h := &p.compiled.Handlers
	if h.EventSystems == nil {
		h.EventSystems = map[string]func(*Frame){}
	}
	h.EventSystems[name] = handle
	p.system(name, func(f *Frame, _ ecs.Rows) { handle(f) }, access)
}

// OnPredicted adds a handler that a client calls when its own prediction raises e. fn is
// called at once, and only once, however often the tick is replayed. by.Entity is the local
// entity. Each such event is later either confirmed or cancelled.
func (e *Event[T]) OnPredicted(p *Protocol, fn func(f *Frame, by By, v T)) {
	if row := eventOf(p, e, "OnPredicted", fn != nil); row != nil {
		row.Predicted = append(row.Predicted, onScreen(fn))
	}
}

// OnConfirmed adds a handler that a client calls once for each predicted event that is
// confirmed. That is when the first snapshot of its tick, or of a later one, has arrived,
// no replay undid the event, and the server did not report that its own tick did not raise
// it. An event is identified by its tick, its entity, and its number among those that the
// entity raised in the tick. v is the value of the newest run, and may differ from the
// value that OnPredicted received. f is the tick being computed, and by.Tick the event's own.
func (e *Event[T]) OnConfirmed(p *Protocol, fn func(f *Frame, by By, v T)) {
	if row := eventOf(p, e, "OnConfirmed", fn != nil); row != nil {
		row.Confirmed = append(row.Confirmed, onScreen(fn))
	}
}

// OnCancelled adds a handler that a client calls for each predicted event that a correction
// undid: the tick ran again and did not raise it, the server reported that it did not raise
// it, or the prediction was reset. f is the tick being computed, as in [Event.OnConfirmed].
func (e *Event[T]) OnCancelled(p *Protocol, fn func(f *Frame, by By, v T)) {
	if row := eventOf(p, e, "OnCancelled", fn != nil); row != nil {
		row.Cancelled = append(row.Cancelled, onScreen(fn))
	}
}
