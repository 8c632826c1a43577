package inspect

import (
	"fmt"
	"slices"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/inspect/trace"
	"github.com/foretick/foretick/server"
)

// Traced is how far the trace of a player has come, and what both ends recorded.
type Traced struct {
	State string `json:"state"`         // off, asked, armed or refused: see [trace.State]
	Why   string `json:"why,omitempty"` // why the trace was refused
	// First is the first difference of the tables that only a fault in a system explains. Text
	// describes it in one line.
	First *trace.Finding `json:"first,omitempty"`
	Text  string         `json:"text,omitempty"`
	// Tables are the newest ticks, oldest first.
	Tables []trace.Table `json:"tables"`
}

// TraceQuery chooses a trace. The zero TraceQuery is the trace of a client's own entities.
type TraceQuery struct {
	Player   uint16     // the player to trace, on a server; a client traces only its own player
	Entities []EntityID // entities to trace, at most [trace.MaxEntities]; none: the player's own
	After    Tick       // only later ticks
}

// Trace arms the trace of a player, keeps it armed for 30 seconds, and returns what both ends
// recorded. A server asks that player's client for its own values. It does not wait for a
// tick. See package [trace] for who may trace.
func (in *Inspector) Trace(name string, q TraceQuery) (Traced, error) {
	if len(q.Entities) > trace.MaxEntities {
		return Traced{}, fmt.Errorf("inspect: a trace of %d entities: use up to %d, or none for the player's own", len(q.Entities), trace.MaxEntities)
	}
	e, err := in.findEnd(name)
	if err != nil {
		return Traced{}, err
	}
	t, err := e.traceOf(q.Player)
	if err != nil {
		return Traced{}, err
	}
	entities := make([]ecs.Entity, len(q.Entities))
	for i, id := range q.Entities {
		entities[i] = ecs.Entity(id)
	}
	state, why := t.Status()
	if t.Look(entities...); state != trace.Refused { // after a refusal, Look asks again, and this call returns the refusal
		state, why = t.Status()
	}
	out := Traced{State: state.String(), Why: why, Tables: t.Tables()}
	out.Tables = slices.DeleteFunc(out.Tables, func(x trace.Table) bool { return q.After != 0 && int32(x.Tick-q.After) <= 0 })
	if f, ok := trace.First(out.Tables); ok {
		out.First, out.Text = &f, f.String()
	}
	return out, nil
}

// ExportTrace returns what a trace recorded, for flight.Replay.Beside. player is the traced player
// on a server, and is ignored on a client. ExportTrace arms no trace.
func (in *Inspector) ExportTrace(name string, player uint16) ([]byte, error) {
	e, err := in.findEnd(name)
	if err != nil {
		return nil, err
	}
	t, err := e.traceOf(player)
	if err != nil {
		return nil, err
	}
	return t.Export(), nil
}

// traceOf returns the trace of a player.
func (e *end) traceOf(player uint16) (*trace.Trace, error) {
	x, ok := e.collect.(*serverEnd)
	if !ok {
		player = 0
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if t := e.traces[player]; t != nil {
		return t, nil
	}
	if ok && x.s.Player(foretick.PlayerID(player)) == (server.Player{}) { // a trace takes memory, so only players get one
		return nil, fmt.Errorf("inspect: there is no player %d to trace: players.json lists those that play", player)
	}
	if e.traces == nil {
		e.traces = map[uint16]*trace.Trace{}
	}
	if ok {
		e.traces[player] = trace.OfServer(x.s, foretick.PlayerID(player))
	} else {
		e.traces[player] = trace.OfClient(e.collect.(*clientEnd).c)
	}
	return e.traces[player], nil
}
