package client

import (
	"testing"
	"time"

	"github.com/foretick/foretick"
	"github.com/stretchr/testify/require"
)

// The time until an input is confirmed covers every input, including those that wait while the
// connection is down for longer than the prediction reaches.
func TestInputsOfAnOutageAreCounted(t *testing.T) {
	const rate, history = 30, 32
	b := &base{cfg: Config{History: history}, p: &compiled{}}
	b.p.TickRate = rate
	ip := newInput(b)
	at := func(t foretick.Tick) time.Duration { return time.Duration(t) * time.Second / rate }
	made := func(from, to foretick.Tick) {
		for k := from; k <= to; k++ {
			ip.history.Put(k).sampled = at(k)
		}
	}
	confirms := func(t foretick.Tick, now time.Duration) {
		b.now = now
		ip.confirm(t)
	}
	made(100, 140)
	confirms(100, at(103))
	confirms(101, at(104))
	confirms(101, at(105))
	confirms(99, at(105))
	require.EqualValues(t, 2, b.stats.Confirmed, "each once")
	require.Equal(t, 100*time.Millisecond, b.stats.Confirm(1))

	confirms(160, at(163)) // the connection was down, and the last inputs are those from before it waited
	require.EqualValues(t, 41, b.stats.Confirmed)
	require.Equal(t, 1999*time.Millisecond, b.stats.Confirm(1), "61 ticks are more than 2 s")
	require.InDelta(t, at(163-122).Milliseconds(), b.stats.Confirm(0.5).Milliseconds(), 1, "the middle one")

	made(161, 170)
	confirms(1_000_000, at(1_000_003)) // as after a server was unreachable for hours
	require.EqualValues(t, 41, b.stats.Confirmed, "of ticks that are not kept nothing is known")
}
