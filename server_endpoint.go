package foretick

import (
	"time"

	"github.com/foretick/foretick/figures"
	"github.com/foretick/foretick/transport"
)

// endpointCounts are the counters of the server's own endpoint. They tell of peers that the
// endpoint refused, which the server never saw. A match of a host has none.
type endpointCounts struct {
	of    transport.Counted // nil: it counts nothing
	newly []transport.Count
	told  []transport.Count // as of the newest line about refusals
	shown []figures.Count
	next  time.Duration // when to read them again
}

// readEvery is the time between two readings.
const readEvery = time.Second

func newEndpointCounts(e transport.Endpoint) (c endpointCounts) {
	c.of, _ = transport.As[transport.Counted](e)
	return c
}

// read reads the counters once a second, and logs refusals once a minute at most.
func (c *endpointCounts) read(s *Server) {
	if c.of == nil || s.clock.now < c.next {
		return
	}
	c.next = s.clock.now + readEvery
	c.newly = c.of.AppendCounts(c.newly[:0])
	c.shown = c.shown[:0]
	for _, n := range c.newly {
		c.shown = append(c.shown, figures.Count(n))
	}
	refusals := transport.RefusedLine(c.told, c.newly)
	if refusals == "" {
		return
	}
	if _, due := s.logs.limits.allow("refused by the endpoint", s.clock.now); due {
		s.cfg.Logger.Warn(refusals)
		c.told = append(c.told[:0], c.newly...)
	}
}
