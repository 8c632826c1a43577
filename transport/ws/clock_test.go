package ws

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// When the clock wraps, after 6.8 years, pending and leaving connections keep their time limits.
func TestClockBeginsAnew(t *testing.T) {
	for _, s := range []state{greeting, leaving, ended} {
		e := &Endpoint{}
		e.init(Config{}.withDefaults())
		e.clock.Store(1<<32 - 3)
		p := newPeer()
		p.state, p.until = s, e.clock.Load()+ticks(e.cfg.Timeout)
		e.conns[p] = struct{}{}
		for range ticks(e.cfg.Timeout) - 1 {
			e.tendOnce(e.clock.Add(1))
			assert.False(t, p.aborted, "at tick %d", e.clock.Load())
		}
		e.tendOnce(e.clock.Add(1))
		assert.True(t, p.aborted)
	}
}
