package host

import (
	"time"

	"github.com/foretick/foretick/internal/published"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport"
)

// counted holds the counters of the host's endpoint. They count the peers that the endpoint refused,
// which no match ever saw. Only the goroutine of Run or Step uses it; copyTo may be called by any
// goroutine.
type counted struct {
	of    transport.Counted // the endpoint's counters; nil if it has none
	newly []transport.Count // the newest reading
	// told is the reading that the newest log line about refusals was made from.
	told  []transport.Count
	next  time.Time                     // when to read the counters again
	line  time.Time                     // no line about refusals is logged before this time
	shown published.Cell[[]stats.Count] // the newest reading, for copyTo
}

// readEvery is the time between two readings.
const readEvery = time.Second

// readCounters reads the counters once a second, and logs refusals once a minute at most.
func (c *counted) readCounters(h *Host, now time.Time) {
	if c.of == nil || now.Before(c.next) {
		return
	}
	c.next = now.Add(readEvery)
	c.newly = c.of.AppendCounts(c.newly[:0])
	to := c.shown.Draft()
	*to = (*to)[:0]
	for _, n := range c.newly {
		*to = append(*to, stats.Count(n))
	}
	c.shown.Publish()
	if now.Before(c.line) {
		return
	}
	if line := transport.RefusedLine(c.told, c.newly); line != "" {
		h.cfg.Logger.Warn(line)
		c.told, c.line = append(c.told[:0], c.newly...), now.Add(logEvery)
	}
}

// copyTo copies the newest reading into the memory of dst.
func (c *counted) copyTo(dst []stats.Count) []stats.Count {
	dst = dst[:0]
	if p := c.shown.Hold(); p != nil {
		dst = append(dst, p.Value...)
		p.Release()
	}
	return dst
}
