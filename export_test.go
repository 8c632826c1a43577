package foretick

import "github.com/foretick/foretick/ecs"

// LastTick is the last tick that a server computes, and StartAt has one that has not
// begun begin behind a tick.
const LastTick = lastTick

func (s *Server) StartAt(t Tick) { s.startAt(t) }

// SpawnedBefore has the next entity get the network id behind n, as if so many had been
// spawned.
func (s *Server) SpawnedBefore(n uint32) { s.nextNet = n }

// NetworkID is an entity's network id, and LastNetworkID the last that was given.
func (s *Server) NetworkID(e ecs.Entity) uint32 { return s.p.identity.Get(s.world, e).Net }
func (s *Server) LastNetworkID() uint32         { return s.nextNet }
