package foretick

import (
	"encoding/binary"
	"time"
	"unsafe"

	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/standard"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/transport"
)

// takeCommands gets each player's command for this tick, or its replacement.
func (s *Server) takeCommands() {
	c := s.p.Command
	if c == nil {
		return
	}
	for _, p := range s.sessions.players {
		switch p.session.state {
		case away:
			s.standIn(p, c, prediction.Repeated)
		case playing:
			s.takeCommand(p, c)
		case local:
			s.takeLocal(p, c)
		}
	}
}

func (s *Server) takeCommand(p *player, c *layout.Command) {
	s.observe(p)
	s.late.begin(p, c)
	cmd, ok := p.inputs.buffer.Take(s.sim.frame.Tick)
	switch {
	case !ok:
		s.countMissing(p)
		s.late.miss(p, c)
	case s.unpack(p, c, cmd.Data) != nil:
		p.faults.fault("a command out of range")
		s.countMissing(p)
		s.standIn(p, c, prediction.Refused)
	case !s.valid(p, c):
		s.standIn(p, c, prediction.Refused)
	default:
		p.inputs.took(c, s.sim.frame.Tick)
		p.inputs.offset = cmd.Offset
		p.inputs.render = time.Duration(int32(cmd.Tick-cmd.Render))*s.clock.interval - time.Duration(cmd.Fraction)*s.clock.interval/256
		p.shooter.Take(shot(&cmd), s.sim.frame.Tick, p.session.conn.Jitter())
		p.stats.InputsTaken++
		s.stats.InputsTaken++
		s.late.ran(p, c, settled)
	}
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

func (s *Server) decay(p *player, c *layout.Command) {
	defer s.contain(p.owner, "Decay")
	s.p.handlers.decay(p.inputs.last, int(p.inputs.repeated/s.clock.interval))
}

// countMissing counts a tick whose command did not arrive, once the player has begun to
// send commands.
func (s *Server) countMissing(p *player) {
	if p.inputs.heard {
		p.stats.InputsMissing++
		s.stats.InputsMissing++
	}
}

// standIn makes a replacement command: the last one for a while, then the game's decay of
// it, then zero. how is the reason if a command did arrive.
func (s *Server) standIn(p *player, c *layout.Command, how prediction.StandIn) {
	p.inputs.miss(s.sim.frame.Tick, p.told())
	how = s.replacement(p, c, how)
	p.inputs.replace(c, how)
	s.late.ran(p, c, settled)
}

// replacement puts the command that stands in for a missing one into last, and returns what
// it is.
func (s *Server) replacement(p *player, c *layout.Command, how prediction.StandIn) prediction.StandIn {
	in := &p.inputs
	in.repeated += s.clock.interval
	switch repeat := max(s.cfg.RepeatInput, 0); {
	case in.repeated <= repeat:
	case s.p.handlers.decay != nil && in.repeated <= repeat+max(s.cfg.DecayInput, 0):
		s.decay(p, c)
		c.Schema.ClearMomentary(in.last)
		s.sim.losses.sentBy("(Decay)", c.Name, c.Schema, in.last)
		how = max(how, prediction.Decayed)
	default:
		clear(unsafe.Slice((*byte)(in.last), c.Size))
		how = max(how, prediction.Neutral)
	}
	return how
}

// observe measures the limits of this tick's claims.
func (s *Server) observe(p *player) {
	p.shooter.Observe(s.sim.frame.Tick, p.session.conn.RTT(), p.inputs.early)
}

// fillCommands writes each player's command into its rows.
func (s *Server) fillCommands() {
	c := s.p.Command
	if c == nil {
		return
	}
	for _, rows := range s.sim.commands.All(s.sim.world) {
		base := rows.Column(c.ID)
		p := s.sessions.player(rows.Owner())
		for i := range rows.Len() {
			dst := unsafe.Add(base, uintptr(i)*c.Size)
			if p == nil {
				clear(unsafe.Slice((*byte)(dst), c.Size))
				continue
			}
			layout.CopyBytes(dst, p.inputs.command, c.Size)
		}
	}
}
