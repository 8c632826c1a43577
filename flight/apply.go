package flight

import (
	"fmt"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/internal/tape"
	"github.com/foretick/foretick/transport"
)

// function returns a replacement for a recorded function of Server.Do: the one that Game.Call
// returns, or else one that repeats the recorded calls of the server.
func (r *Replay) function(name string, of int, calls []tape.Call) func(*foretick.ServerFrame) {
	if r.game.Call != nil {
		if fn := r.game.Call(name); fn != nil {
			return fn
		}
	}
	return func(*foretick.ServerFrame) {
		for _, c := range calls {
			if c.Of == of {
				r.applyCall(c)
			}
		}
	}
}

// applyCall repeats a recorded call. If the call fails on this server, the replay ends with an error.
func (r *Replay) applyCall(c tape.Call) {
	r.deck.applying = true
	defer func() {
		r.deck.applying = false
		if v := recover(); v != nil && r.err == nil {
			r.err = fmt.Errorf("flight: after tick %d the tape calls %v, which fails here: %v", r.srv.Tick(), c.Op, v)
		}
	}()
	s, player := r.srv, foretick.PlayerID(c.Player)
	switch c.Op {
	case tape.Kick:
		s.Frame().Kick(player, transport.Code(c.Number), c.Text)
	case tape.BanPlayer:
		s.Frame().Ban(player, c.Until, c.Text)
	case tape.KickIdentity:
		s.KickIdentity(c.Data, c.Text)
	case tape.Ban:
		s.Ban(c.Data, c.Until, c.Text)
	case tape.Unban:
		s.Unban(c.Data)
	case tape.Level:
		var build func(*foretick.ServerFrame)
		if c.Built && r.game.Level != nil {
			build = r.game.Level(c.Data)
		}
		_ = s.NextLevel(c.Data, build) // the recorded call may have failed, too
	case tape.Drain:
		s.Drain(c.Text)
	case tape.Shutdown:
		_ = s.Shutdown(c.Text, c.Time)
	case tape.Close:
		if transport.Code(c.Number) == transport.Restart {
			_ = s.CloseForRestart(c.Text)
		} else {
			_ = s.Close(c.Text)
		}
	case tape.LateInputs:
		s.SetLateInputs(s.Player(player), c.Built)
	case tape.Remeasure:
		s.RemeasureLatency(s.Player(player))
	case tape.KickObservers:
		probe.OfServer(s).KickObservers(c.Text, c.Data)
	case tape.Architecture:
		probe.OfServer(s).SetArchitecture(c.Text)
	case tape.Draw:
		s.Draw(c.Time)
	}
}
