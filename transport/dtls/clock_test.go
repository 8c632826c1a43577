package dtls

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// When the clock wraps, after 6.8 years, a handshake still has its time limit.
func TestClockBeginsAnew(t *testing.T) {
	for _, s := range []state{waiting, shaking, greeting} {
		e := newEndpoint(deaf{}, Config{}.withDefaults())
		e.clock.Store(1<<32 - 3)
		p := &peer{state: s, below: 1, until: e.clock.Load() + ticks(e.handshake)}
		e.links[1] = p
		for range ticks(e.handshake) - 1 {
			e.tendOnce(e.clock.Add(1), nil)
			assert.NotEqual(t, over, p.state, "at tick %d", e.clock.Load())
		}
		e.tendOnce(e.clock.Add(1), nil)
		assert.Equal(t, over, p.state)
	}
}
