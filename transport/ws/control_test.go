package ws

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/foretick/foretick/transport"
)

// At any pace, no more messages are allowed than the rate and the saved allowance permit, and no honest
// message is refused.
func TestAllowance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.IntRange(1, 1000).Draw(t, "rate")
		now := rapid.SampledFrom([]uint32{1, 1000, 1<<32 - 10}).Draw(t, "start")
		var a allowance
		passed, ticks := 0, 0
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			step := rapid.SampledFrom([]int{0, 0, 0, 1, 1, 2, 100}).Draw(t, "step")
			now += uint32(step)
			ticks += step
			for range rapid.IntRange(0, 3*rate).Draw(t, "messages") {
				if a.takeMessage(now, rate) {
					passed++
				}
			}
			require.LessOrEqual(t, passed, rate*saved+(rate*ticks)/ticksASecond)
		}
	})
	for _, rate := range []int{1, 20, 100} { // the permitted number, in bursts of one second's messages
		var a allowance
		for second := range uint32(100) {
			for range rate {
				require.True(t, a.takeMessage(7+second*ticksASecond, rate))
			}
		}
		for range rate {
			require.True(t, a.takeMessage(7+99*ticksASecond, rate), "what was saved")
		}
		require.False(t, a.takeMessage(7+99*ticksASecond, rate))
	}
}

// One keep-alive too many ends the connection in each state in which keep-alives count. In the others
// nothing happens.
func TestTooManyControlMessages(t *testing.T) {
	for _, s := range []state{greeting, open, leaving, ended, over} {
		e := &Endpoint{}
		e.init(Config{ControlRate: 1}.withDefaults())
		p := newPeer()
		p.state = s
		if s == open {
			p.id = e.peers.Add(p)
			p.q = e.in.Add(p.id, true)
		}
		passed := 0
		for range 100 {
			if e.pinged(p) {
				passed++
			}
		}
		var ev [4]transport.Event
		n := e.Recv(ev[:])
		if s > open {
			assert.Zero(t, passed)
			assert.Equal(t, s, p.state)
			assert.Zero(t, e.Counters().Flooded)
			assert.Zero(t, n)
			continue
		}
		assert.Equal(t, saved, passed)
		assert.Equal(t, leaving, p.state)
		assert.EqualValues(t, 1, e.Counters().Flooded)
		if s == open {
			require.Equal(t, 2, n)
			assert.Equal(t, transport.Protocol, ev[1].Code)
		}
	}
}
