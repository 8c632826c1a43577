package server

import (
	"github.com/foretick/foretick/ecs"
)

// LastTick is the last tick that a server computes.
const LastTick = lastTick

// SpawnedBefore gives the next entity the network id after n, as if n entities had been spawned before.
func (s *Server) SpawnedBefore(n uint32) { s.sim.nets.last = n }

// NetworkID returns an entity's network id, and LastNetworkID the last one that was given.
func (s *Server) NetworkID(e ecs.Entity) uint32 { return s.p.Identity.Get(s.sim.world, e).Net }
func (s *Server) LastNetworkID() uint32         { return s.sim.nets.last }

// HasEnded reports whether the server has computed its last tick.
func (s *Server) HasEnded() bool { return s.sim.ended() }
