package foretick

import (
	"time"
	"unsafe"

	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/prediction"
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
		p.inputs.missing(&p.stats, &s.stats)
		s.late.miss(p, c)
	case !s.accept(p, c, s.sim.frame.Tick, cmd.Data):
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

// observe measures the limits of this tick's claims.
func (s *Server) observe(p *player) {
	p.shooter.Observe(s.sim.frame.Tick, p.session.conn.MeasuredRTT(), p.inputs.early)
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
