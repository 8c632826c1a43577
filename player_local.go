package foretick

import (
	"slices"
	"unsafe"

	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/transport"
)

// localPlayer is a player of the server's own process, in place of a connection: the one that
// plays in a preview, or one that is replayed. Nothing is sent to it.
type localPlayer struct {
	command []byte        // of the next tick, as in memory; nil: a zero one
	claim   lagcomp.Claim // the moment that the frame showed in which it was given
	gone    *transport.DisconnectError

	inbox []localMessage // of the running tick
	bytes []byte         // of them

	offset   uint8 // that the replayed command stated
	replayed bool  // its commands were checked and its views judged, in the match they are of
	shown    map[snapshot.NetID]shownSince
}

// shownSince is how a replayed player's client knew an entity.
type shownSince struct {
	wire  schema.WireID
	since Tick
}

// localMessage is a message to a local player.
type localMessage struct {
	channel, kind uint8
	from, upto    int // in localPlayer.bytes
}

// joinLocal adds a player without a connection. Its OnJoin runs in the next tick.
func (s *Server) joinLocal(owner PlayerID, seat *localPlayer) {
	p := &player{owner: owner, local: seat}
	p.session.state = local
	p.outbox.every = 1
	s.sessions.players = append(s.sessions.players, p)
	s.sessions.connections++
	p.session.connection = s.sessions.connections
	s.seat(p, owner)
	p.shooter.Connect()
	s.board.change(p, &s.sessions, &s.stats)
}

// takeLocal takes a local player's command for this tick.
func (s *Server) takeLocal(p *player, c *layout.Command) {
	in, seat := &p.inputs, p.local
	if seat.command == nil {
		clear(unsafe.Slice((*byte)(in.command), c.Size))
	} else {
		layout.CopyBytes(in.command, unsafe.Pointer(unsafe.SliceData(seat.command)), c.Size)
	}
	if !seat.replayed {
		p.shooter.Local(s.sim.frame.Tick, seat.claim)
		if !s.valid(p, c) {
			s.standIn(p, c, prediction.Refused)
			return
		}
	}
	in.took(c, s.sim.frame.Tick)
	in.offset = seat.offset
	p.stats.InputsTaken++
	s.stats.InputsTaken++
}

// tell queues a message for the end of the tick.
func (l *localPlayer) tell(channel, kind uint8, payload []byte) {
	from := len(l.bytes)
	l.bytes = append(l.bytes, payload...)
	l.inbox = append(l.inbox, localMessage{channel, kind, from, len(l.bytes)})
}

// replay puts everything that the network decided in a tick in place, before the tick runs.
func (s *Server) replay(t *probe.Settled) {
	for _, r := range t.Requests {
		if p := s.sessions.player(r.By); p != nil && slices.Contains(t.Left, r.By) {
			p.requests.add(r.Kind, r.Payload) // its last ones are handled first
		}
	}
	for _, left := range t.Left {
		if p := s.sessions.player(left); p != nil {
			s.leave(p, transport.Gone, "replayed")
		}
	}
	for _, who := range t.Joined {
		s.joinLocal(who, &localPlayer{replayed: true})
	}
	for i := range t.Inputs {
		in := &t.Inputs[i]
		p := s.sessions.player(in.Player)
		if p == nil {
			continue
		}
		p.local.command, p.local.offset, p.outbox.every = in.Command, in.Offset, in.Every
		p.local.shown = map[snapshot.NetID]shownSince{}
		for _, known := range in.Shown {
			p.local.shown[snapshot.NetID(known.Net)] = shownSince{known.Wire, known.Since}
		}
		p.shooter.Replay(&in.View)
	}
	for _, m := range t.Moves {
		if p := s.sessions.player(m.Player); p != nil {
			s.sessions.moves = append(s.sessions.moves, move{p, m.Back})
		}
	}
	for _, r := range t.Requests {
		if p := s.sessions.player(r.By); p != nil && !slices.Contains(t.Left, r.By) {
			p.requests.add(r.Kind, r.Payload)
		}
	}
}

// knows is Shown for a local player: the one of a preview knows everything.
func (l *localPlayer) knows(net snapshot.NetID) (schema.WireID, Tick, bool) {
	if !l.replayed {
		return schema.WireID(net), 0, true
	}
	of, ok := l.shown[net]
	return of.wire, of.since, ok
}
