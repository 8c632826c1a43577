package server

import (
	"github.com/foretick/foretick/ecs"
)

// LastTick is the last tick that a server computes.
const LastTick = lastTick

// SpawnedBefore has the next entity get the network id behind n, as if so many had been
// spawned.
func (s *Server) SpawnedBefore(n uint32) { s.sim.nets.last = n }

// NetworkID is an entity's network id, and LastNetworkID the last that was given.
func (s *Server) NetworkID(e ecs.Entity) uint32 { return s.p.Identity.Get(s.sim.world, e).Net }
func (s *Server) LastNetworkID() uint32         { return s.sim.nets.last }

// HasEnded reports whether the server has computed its last tick.
func (s *Server) HasEnded() bool { return s.sim.ended() }
