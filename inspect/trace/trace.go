package trace

import (
	"encoding/binary"
	"errors"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/internal/trace"
	"github.com/foretick/foretick/server"
)

// Bounds of a trace.
const (
	MaxEntities = trace.MaxEntities // most entities of a trace
	Ticks       = trace.RingTicks   // number of ticks that each end keeps
)

// State is how far a trace has come: [Off], [Asked], [Armed] or [Refused].
type State = trace.State

// The states of a trace.
const (
	Off     = trace.Off   // not armed: never looked at, stopped, or not looked at for 30 seconds
	Asked   = trace.Asked // the trace begins with the next tick, or waits for the server
	Armed   = trace.Armed // this end records
	Refused = trace.No    // the server refused the trace; see Trace.Status
)

// Trace is the trace of one player, seen from one end. Any goroutine may use it.
type Trace struct{ port *trace.Port }

// OfClient returns the trace of the client's own player.
func OfClient(c *client.Client) *Trace { return &Trace{probe.OfClient(c).Trace()} }

// OfServer returns the trace of a player, from the server. [Trace.Look] then makes the server
// record the player's entities, and asks the client for its own values. A recorder of the match
// records these requests. On the server of a replay, OfServer does the same as OfReplay.
func OfServer(s *server.Server, player foretick.PlayerID) *Trace {
	return &Trace{probe.OfServer(s).Trace(player, false)}
}

// OfReplay returns the trace of a player of a server that replays a recorded match. [Trace.Look]
// then makes the server record, but asks no client. So the packets stay those of the match, even
// if an operator of the match traced the same player. [Trace.Import] adds what the client recorded.
func OfReplay(s *server.Server, player foretick.PlayerID) *Trace {
	return &Trace{probe.OfServer(s).Trace(player, true)}
}

// Look arms the trace from the next tick on, or keeps it armed for another 30 seconds.
// entities belong to this end's world, and at most [MaxEntities] of them are traced. The
// player must own and predict them. Without entities, the trace holds the player's own ones.
func (t *Trace) Look(entities ...ecs.Entity) {
	handles := make([]uint64, len(entities))
	for i, e := range entities {
		handles[i] = uint64(e)
	}
	t.port.Look(handles)
}

// Stop ends the trace. What was recorded stays.
func (t *Trace) Stop() { t.port.Unlook() }

// Status returns the state. why is the reason if the other end sends nothing, and empty otherwise.
func (t *Trace) Status() (s State, why string) { return t.port.Status() }

// Tables compares what both ends recorded, oldest tick first. It includes ticks that only one
// end recorded. Tables keeps an armed trace armed.
func (t *Trace) Tables() []Table {
	t.port.Keep()
	return tables(t.port.Layout, t.port.Client.Records(), t.port.Server.Records())
}

// tables compares the records of two ends, which are in the order of their ticks.
func tables(l *trace.Layout, cl, srv [][]byte) []Table {
	var out []Table
	for len(cl) > 0 || len(srv) > 0 {
		var ours, theirs *trace.Replay
		k := oldest(cl, srv)
		if len(cl) > 0 && trace.TickOf(cl[0]) == k {
			ours, cl = decode(l, cl[0]), cl[1:]
		}
		if len(srv) > 0 && trace.TickOf(srv[0]) == k {
			theirs, srv = decode(l, srv[0]), srv[1:]
		}
		out = append(out, compare(l, ours, theirs))
	}
	return out
}

// oldest returns the oldest tick of two lists, of which one may be empty.
func oldest(a, b [][]byte) Tick {
	switch {
	case len(a) == 0:
		return trace.TickOf(b[0])
	case len(b) == 0 || int32(trace.TickOf(a[0])-trace.TickOf(b[0])) < 0:
		return trace.TickOf(a[0])
	}
	return trace.TickOf(b[0])
}

func decode(l *trace.Layout, b []byte) *trace.Replay {
	r, err := trace.NewReplay(l, b)
	if err != nil {
		return nil // cannot happen: records were checked before
	}
	return r
}

// exported is the beginning of an export.
const exported = "foretick trace 1\n"

// Export returns what both ends recorded, for [Trace.Import] on a server that runs the match
// again.
func (t *Trace) Export() []byte {
	b := []byte(exported)
	for i, ring := range []*trace.Ring{&t.port.Client, &t.port.Server} {
		for _, record := range ring.Records() {
			b = append(binary.AppendUvarint(append(b, byte(i)), uint64(len(record))), record...)
		}
	}
	return b
}

// ErrExport is returned for bytes that are no export of this protocol.
var ErrExport = errors.New("trace: these bytes are no export of a trace of this protocol: use what Trace.Export returned on a build of the same protocol")

// Import adds the client's records of an export. Use it on the trace of [OfReplay], to compare the
// replayed server with the client that played. The error is [ErrExport].
func (t *Trace) Import(b []byte) error {
	if len(b) < len(exported) || string(b[:len(exported)]) != exported {
		return ErrExport
	}
	for b = b[len(exported):]; len(b) > 0; {
		n, k := binary.Uvarint(b[1:])
		if k <= 0 || b[0] > 1 || n > trace.MaxRecord || uint64(len(b)-1-k) < n {
			return ErrExport
		}
		record := b[1+k:][:n]
		if t.port.Layout.Check(record) != nil {
			return ErrExport
		}
		if b[0] == 0 {
			t.port.Client.Put(record)
		}
		b = b[1+k+int(n):]
	}
	return nil
}
