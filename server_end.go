package foretick

import (
	"errors"
	"slices"
	"time"

	"github.com/foretick/foretick/transport"
)

// lastTick is the last tick that a server computes. Ticks have 32 bits: at 128 a second
// they last for 388 days. What clients are ahead by, and 0 for no tick at all, lie
// behind it.
const lastTick Tick = 1<<32 - 1<<12

// ErrEnded is what [Server.Run] returns after the last of 2³² − 4096 ticks: 388 days at
// 128 ticks a second. The players were told, and the match goes on with a new server.
var ErrEnded = errors.New("foretick: the match has reached its last tick: begin another with NewServer")

// ended is what players are told.
const ended = "the match has reached its last tick"

// Ended reports whether the match has reached its last tick: see [ErrEnded]. Step then
// computes no more ticks, and whoever comes is told and refused.
func (s *Server) Ended() bool { return s.frame.Tick >= lastTick }

// end drops every player with the reason.
func (s *Server) end() {
	s.over = true
	s.cfg.Logger.Error(ended, "tick", s.frame.Tick)
	for _, p := range slices.Clone(s.players) {
		if p.state == away {
			s.leave(p, transport.Closed, ended)
		} else {
			s.drop(p, transport.Closed, ended)
		}
	}
}

// startAt has a server that has not begun begin behind tick t.
func (s *Server) startAt(t Tick) {
	s.frame.Tick = t
	s.slipped = -time.Duration(uint64(t) * uint64(time.Second) / uint64(s.p.tickRate))
}
