package foretick

import (
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/plan"
	"github.com/foretick/foretick/schema"
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

// RefuseAbove has the client's decoder refuse values above most in the first field of a
// component, as one that disagrees with the server's encoder would.
func (c *Client) RefuseAbove(component string, most int64) {
	for _, s := range c.p.Registry.Plan().Comps {
		if s.Name != component {
			continue
		}
		for a := range plan.Audience(2) {
			coded := s.Coding(a)
			coded.Codes[0].Hi = most
			for i := range coded.Runs[:min(1, len(coded.Runs))] {
				coded.Runs[i] = coded.Codes[i].RunWord()
			}
		}
	}
}

// ReportUnread has the client report in its next packet that it could not read an entity,
// whenever it last did.
func (c *Client) ReportUnread(wire uint16) {
	c.link.unread = clientUnread{due: true, wire: schema.WireID(wire)}
}
