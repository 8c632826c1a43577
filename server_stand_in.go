package foretick

import (
	"unsafe"

	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/prediction"
)

// standIn makes a replacement command: the last one for a while, then the game's decay of
// it, then zero. how is the reason if a command did arrive.
func (s *Server) standIn(p *player, c *layout.Command, how prediction.StandIn) {
	how = s.replacement(p, c, how)
	p.inputs.replace(c, s.sim.frame.Tick, p.told(), how)
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

func (s *Server) decay(p *player, c *layout.Command) {
	defer s.contain(p.owner, "Decay")
	s.p.handlers.decay(p.inputs.last, int(p.inputs.repeated/s.clock.interval))
}
