package foretick

import "github.com/foretick/foretick/ecs"

// LastTick is the last tick that a server computes, and StartAt has one that has not
// begun begin behind a tick.
const LastTick = lastTick

func (s *Server) StartAt(t Tick) {
	s.sim.frame.Tick = t
	s.clock.startAfter(t)
}

// SpawnedBefore has the next entity get the network id behind n, as if so many had been
// spawned.
func (s *Server) SpawnedBefore(n uint32) { s.sim.nets.last = n }

// networkID is an entity's network id, and LastNetworkID the last that was given.
func (s *Server) NetworkID(e ecs.Entity) uint32 { return s.p.identity.Get(s.sim.world, e).Net }
func (s *Server) LastNetworkID() uint32         { return s.sim.nets.last }

// HasEnded reports whether the server has computed its last tick.
func (s *Server) HasEnded() bool { return s.ended() }
