package foretick

import (
	"reflect"
	"time"

	"github.com/foretick/foretick/internal/reason"
	"github.com/foretick/foretick/internal/tape"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
)

// messageReport carries corrections: the server's question, and the client's reports. A client
// that does not know it skips it.
const messageReport netcode.MessageType = 67

// Limits of reports.
const (
	reportRate, reportBurst = 10, 8 // of a client, a second and at once; further ones wait

	// A server takes more at once, because a network may hold packets back. It drops the rest.
	takenRate, takenBurst = 2 * reportRate, 100
	// Of all its players together.
	takenMost, takenMostBurst = 400, 800
)

// serverReports are what the server's program learns of its clients' corrections.
type serverReports struct {
	listen func(PlayerID, prediction.Misprediction) // nil: nobody asks
	takes  allowance                                // of all players
	index  netIndex
}

// playerReports are the questions to a player's client, and its answers.
type playerReports struct {
	asked      time.Duration // when a question was last due; 0: never
	due        bool          // it is to be sent
	until      time.Duration // until when reports may come
	takes      allowance
	incoming   reason.Incoming
	connection uint64 // whose reports incoming knows
}

// Corrected calls fn with each correction of a client that plays. Handles in it are those of the
// server's world, 0 for an entity that it does not have. nil ends it.
func (in serverInternals) Corrected(fn func(PlayerID, prediction.Misprediction)) {
	in.s.reports.listen = fn
}

// askReports appends whose corrections are to be asked for.
func (s *Server) askReports(looks []tape.Look) []tape.Look {
	if s.reports.listen == nil {
		return looks
	}
	for _, p := range s.sessions.players {
		if p.session.state == playing && p.observing == nil && (p.reports.asked == 0 || s.clock.now-p.reports.asked >= traceRefresh) {
			looks = append(looks, tape.Look{Player: uint16(p.owner), Reports: true})
		}
	}
	return looks
}

// askReport asks a player's client for its corrections.
func (s *Server) askReport(p *player) {
	if p != nil && p.session.state == playing && p.observing == nil {
		p.reports.asked, p.reports.due = s.clock.now, true
	}
}

// write puts the question into a packet to the player.
func (r *playerReports) write(now time.Duration, pk *netcode.Packet) {
	if pk.Message(messageReport, []byte{reason.AskReports}) {
		r.due, r.until = false, now+traceLate
	}
}

// takeReport handles a report of a player's client, in packet b. What came before, or is one too
// many, is dropped.
func (s *Server) takeReport(p *player, body, b []byte) error {
	r, now := &p.reports, s.clock.now
	if p.session.state != playing {
		return nil
	}
	if len(body) > 0 && body[0] == reason.CountsSaid {
		return s.takeCounts(p, body, b)
	}
	if p.observing != nil || now >= r.until {
		return netcode.ErrMalformed // nobody asked for it
	}
	if r.connection != p.session.connection {
		r.connection, r.incoming = p.session.connection, reason.Incoming{}
	}
	if !r.takes.take(now, takenRate, takenBurst) || !s.reports.takes.take(now, takenMost, takenMostBurst) {
		return nil
	}
	var said reason.Report
	err := s.decode(p, b, func() (err error) {
		if said, err = reason.ParseReport(body); err != nil || s.p.Command == nil {
			return err
		}
		for _, c := range [...]struct {
			packed []byte
			value  *any
		}{{said.Input, &said.Wrong.Input}, {said.Executed, &said.Wrong.Executed}} {
			at := reflect.New(s.p.Command.Handle.Type())
			if len(c.packed) > 0 && s.p.Command.Schema.Unpack(c.packed, at.UnsafePointer()) == nil {
				*c.value = at.Elem().Interface()
			}
		}
		return nil
	})
	if err == nil && !p.session.poisoned && r.incoming.Fresh(said.Number) && s.reports.listen != nil {
		s.nameReported(p, &said.Wrong)
		s.reports.listen(p.owner, said.Wrong)
	}
	return err
}

// nameReported puts the server's own handles and labels into what a player's client said.
func (s *Server) nameReported(p *player, m *prediction.Misprediction) {
	m.Entity = s.namedBy(p, m.Entity)
	for i := range m.Differences {
		d := &m.Differences[i]
		label := s.p.labels.Of(d.Component, d.Field)
		d.Entity, d.Label, d.Unit, d.Values = s.namedBy(p, d.Entity), label.Name, label.Unit, label.Values
	}
}
