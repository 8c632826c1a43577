package foretick

import (
	"encoding/binary"

	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/standard"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
)

// accept decodes the command of a tick, which may be earlier than the present one, and asks
// the game to check it.
func (s *Server) accept(p *player, c *layout.Command, t Tick, data []byte) bool {
	if s.unpack(p, c, data) != nil {
		p.faults.fault("a command out of range")
		if t == s.sim.frame.Tick {
			p.inputs.missing(&p.stats, &s.stats)
		}
		return false
	}
	now := s.sim.frame.Tick
	s.sim.frame.Tick = t // the game sees it, and a refusal names it
	ok := s.valid(p, c)
	s.sim.frame.Tick = now
	return ok
}

// unpack decodes a command. It refuses one that cannot be decoded.
func (s *Server) unpack(p *player, c *layout.Command, data []byte) error {
	err := s.decode(p, data, func() error { return c.Schema.Unpack(data, p.inputs.command) })
	if p.session.poisoned {
		s.sessions.kick(p, transport.Malformed, poisonedText)
		return netcode.ErrMalformed
	}
	return err
}

// valid asks the game to check the command that was just unpacked.
func (s *Server) valid(p *player, c *layout.Command) bool {
	if s.p.handlers.check == nil {
		return true
	}
	err := s.validate(p, c)
	if err == nil {
		return !p.session.kicked
	}
	p.stats.InputsRejected++
	s.stats.InputsRejected++
	if p.local == nil && p.session.conn.Pending() >= maxRefusals {
		return false
	}
	why := err.Error()
	s.senders.scratch = binary.LittleEndian.AppendUint32(s.senders.scratch[:0], s.sim.frame.Tick)
	s.senders.scratch = append(s.senders.scratch, why[:min(len(why), maxRefusal)]...)
	_ = s.sendOn(p, standard.ChannelMain, kindRefused, s.senders.scratch) // a full queue is counted there
	return false
}

func (s *Server) validate(p *player, c *layout.Command) error {
	defer s.contain(p.owner, "CheckCommand")
	return s.p.handlers.check(&s.sim.frame, p.owner, p.inputs.command)
}
