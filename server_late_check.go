package foretick

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/tape"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
)

// longestLate is the longest window for late commands.
const longestLate = 500 * time.Millisecond

// lateTicks returns the window for late commands in ticks, 0 for none.
func (c *ServerConfig) lateTicks() Tick {
	if c.LateInputs <= 0 {
		return 0
	}
	rate := time.Duration(c.Protocol.TickRate())
	return Tick((c.LateInputs*rate + time.Second - 1) / time.Second)
}

// toldLateShare is LateShare as a Welcome says it: in 1/256, and not 0 if it is not.
func (c *ServerConfig) toldLateShare() uint8 {
	return uint8(math.Ceil(c.LateShare * 256))
}

// checkLate refuses late commands in a game where one player's part of a tick cannot run
// again alone.
func (c *ServerConfig) checkLate() error {
	var errs []error
	switch {
	case !(c.LateShare >= 0 && c.LateShare <= netcode.MaxLateShare):
		errs = append(errs, fmt.Errorf("foretick: ServerConfig.LateShare is %v: use up to %v, or 0 for none", c.LateShare, netcode.MaxLateShare))
	case c.LateShare > 0 && c.LateInputs == 0:
		errs = append(errs, fmt.Errorf("foretick: ServerConfig.LateShare is %v, and inputs that come late are lost: set LateInputs too, or leave LateShare out", c.LateShare))
	}
	if c.LateWorld && c.LateInputs == 0 {
		errs = append(errs, errors.New("foretick: ServerConfig.LateWorld is set without LateInputs: set it too, or leave LateWorld out"))
	}
	if c.LateInputs == 0 {
		return errors.Join(errs...)
	}
	fault := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("foretick: ServerConfig.LateInputs: "+format, args...))
	}
	p := &c.Protocol.compiled
	if c.LateInputs < 0 || c.LateInputs > longestLate {
		fault("%v: use up to %v, or 0 for none", c.LateInputs, longestLate)
	} else if n := c.lateTicks(); n > prediction.DefaultHistory/2 {
		fault("%v is %d ticks at %d Hz, and clients remember %d: use %v at most", c.LateInputs, n, c.Protocol.TickRate(), prediction.DefaultHistory, prediction.DefaultHistory/2*time.Second/time.Duration(c.Protocol.TickRate()))
	}
	if c.AllowOtherBuilds {
		fault("clients of other builds are not supported: leave AllowOtherBuilds out, or LateInputs")
	}
	if p.Command == nil {
		fault("the protocol has no command: declare one with Protocol.Command, or leave LateInputs out")
	}
	if p.Remote.Predicts && !c.LateWorld {
		fault("other players' clients predict a player with PredictRemote, and would be wrong in every late tick: leave one of the two out")
	}
	for _, k := range p.Prefabs {
		if k.Common && k.ECS != &p.singletonRow && !c.LateWorld {
			fault("prefab %q is a shared physics object, which every client computes with: let a Server system move it, or leave LateInputs out", k.ECS.Name())
		}
	}
	for _, s := range p.schedule.Systems() {
		if c.LateWorld {
			break // whole ticks run again
		}
		if layout.KeepsMatch(s) {
			continue
		}
		if layout.Shared(s) && (len(s.OtherWrites) > 0 || len(s.SingleWrites) > 0) {
			fault("shared system %q writes what is not its own rows (WriteOther, or a singleton), and cannot run again for one player: raise an Event and write in its OnServer handler, or declare a clock of the match ecs.Once with singletons alone", s.Name)
		}
		if layout.Shared(s) && s.Once && len(s.Writes)+len(s.Creates) > 0 {
			fault("shared system %q is declared with ecs.Once, so it has no rows and cannot run again for one player (a system of a bridge is declared so): let it loop over rows, or leave LateInputs out", s.Name)
		}
	}
	for i := range p.Components {
		if k := &p.Components[i]; k.Predicted && k.Varies && !c.LateWorld {
			fault("predicted component %s holds strings or slices: use arrays and numbers, or leave LateInputs out", k.Name)
		}
	}
	return errors.Join(errs...)
}

// setLateInputs is expert.SetLateInputs.
func (s *Server) setLateInputs(player PlayerID, on bool) bool {
	s.outside(tape.Call{Op: tape.LateInputs, Player: uint16(player), Built: on})
	p := s.sessions.player(player)
	if p == nil || s.late.window == 0 || s.cfg.LateShare > 0 || s.late.player != nil {
		return false
	}
	if !on && p.late != nil {
		s.late.block(p)
		s.late.leave(p)
		if p.outbox.sender != nil {
			p.outbox.sender.Withhold(false)
		}
	}
	p.prompt = !on
	return true
}
