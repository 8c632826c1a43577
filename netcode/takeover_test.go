package netcode_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/netcode"
)

// reliables gives messages of all lengths, numbered for each channel.
type reliables struct {
	rng  *rand.Rand
	next [4]uint32
}

func (r *reliables) message(channel uint8) []byte {
	n := 4 + r.rng.IntN(900)
	if r.rng.IntN(30) == 0 {
		n = netcode.MaxReliable - r.rng.IntN(20000)
	}
	b := make([]byte, n)
	binary.LittleEndian.PutUint32(b, r.next[channel])
	for i := 4; i < n; i++ {
		b[i] = byte(i) * byte(r.next[channel]+1)
	}
	r.next[channel]++
	return b
}

// check checks a message and returns its number.
func (r *reliables) check(t require.TestingT, b []byte) uint32 {
	n := binary.LittleEndian.Uint32(b)
	for i := 4; i < len(b); i++ {
		if b[i] != byte(i)*byte(n+1) {
			require.Fail(t, "another's fragment", "message %d, byte %d", n, i)
		}
	}
	return n
}

// Connections are lost, at any time, and others take over from them: every message
// comes once, in its channel's order, whatever was acknowledged.
func TestMessagesSurviveTheirConnection(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		msgs := &reliables{rng: rng}
		cfg := netcode.Config{Rate: 1 << 20, Channels: eightChannels}
		d := newDuo(t, cfg)
		var taken [4]uint32
		channels := []uint8{0, 1, 3}
		tick := func(loss float64) {
			got, _ := d.tick(rng.Float64() < loss)
			for _, r := range got {
				require.Equal(t, taken[r.Channel], msgs.check(t, r.Payload), "channel %d, seed %d", r.Channel, seed)
				taken[r.Channel]++
			}
		}
		for range 1 + rng.IntN(4) {
			for range rng.IntN(50) {
				c := channels[rng.IntN(3)]
				if b := msgs.message(c); d.a.SendOn(c, 7, c, b) != nil {
					msgs.next[c]-- // full
				}
				tick(0.3)
			}
			old := d.a
			d.a, d.b = netcode.NewConn(cfg), netcode.NewConn(cfg)
			for c := range uint8(4) {
				require.NoError(t, d.a.TakeOver(old, c, int64(taken[c])))
				require.LessOrEqual(t, d.a.PendingOn(c), old.PendingOn(c))
			}
			require.LessOrEqual(t, d.a.Queued(), old.Queued())
		}
		for range 2000 {
			if d.a.Pending() == 0 {
				break
			}
			tick(0.2)
		}
		for _, c := range channels {
			require.Equal(t, msgs.next[c], taken[c], "channel %d, seed %d", c, seed)
		}
	}
}

// Acknowledgements that never came make no message come twice.
func TestTakeOverByThePeersCount(t *testing.T) {
	cfg := netcode.Config{Channels: eightChannels}
	send := func() (a, b *netcode.Conn) {
		a, b = netcode.NewConn(cfg), netcode.NewConn(cfg)
		for i := range 6 {
			require.NoError(t, a.SendOn(1, netcode.Tick(i), uint8(i), []byte{byte(i)}))
		}
		_, p := finish(a.Begin(tick))
		require.NoError(t, b.Receive(tick, p))
		return a, b
	}
	kinds := func(a *netcode.Conn) (out []uint8) {
		b := netcode.NewConn(cfg)
		_, p := finish(a.Begin(tick))
		require.NoError(t, b.Receive(tick, p))
		for r, ok := b.NextReliable(); ok; r, ok = b.NextReliable() {
			require.EqualValues(t, r.Tick, r.Kind)
			require.Equal(t, []byte{r.Kind}, r.Payload)
			out = append(out, r.Kind)
		}
		return out
	}
	for _, c := range []struct {
		taken int64
		acked bool
		want  []uint8
		err   error
	}{
		{taken: 4, want: []uint8{4, 5}},
		{taken: 0, want: []uint8{0, 1, 2, 3, 4, 5}},
		{taken: 6},
		{taken: 7, err: netcode.ErrTaken},
		{taken: 1<<32 - 1, err: netcode.ErrTaken},
		{taken: -2, err: netcode.ErrTaken},
		{taken: netcode.Forgotten, want: []uint8{0, 1, 2, 3, 4, 5}},
		{acked: true, taken: 6},
		{acked: true, taken: 5, err: netcode.ErrTaken},
		{acked: true, taken: netcode.Forgotten},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			a, b := send()
			if c.acked {
				_, p := finish(b.Begin(2 * tick))
				require.NoError(t, a.Receive(2*tick, p))
				require.Zero(t, a.Pending())
			}
			n := netcode.NewConn(cfg)
			require.Equal(t, c.err, n.TakeOver(a, 1, c.taken))
			require.Equal(t, len(c.want), n.Pending())
			require.Equal(t, c.want, kinds(n))
			if c.err != nil || c.taken == netcode.Forgotten {
				return
			}
			// Another connection takes over next: the count continues.
			again := netcode.NewConn(cfg)
			require.NoError(t, again.TakeOver(n, 1, 6))
			require.Zero(t, again.Pending())
			if c.taken > 0 {
				require.Equal(t, netcode.ErrTaken, netcode.NewConn(cfg).TakeOver(n, 1, c.taken-1))
			}
		})
	}
	a, _ := send()
	used := netcode.NewConn(cfg)
	require.NoError(t, used.SendOn(1, 1, 1, nil))
	require.Equal(t, netcode.ErrNotNew, used.TakeOver(a, 1, 0))
	require.Equal(t, netcode.ErrNoChannel, used.TakeOver(a, 4, 0), "it is not reliable")
	require.Equal(t, netcode.ErrNoChannel, used.TakeOver(a, 8, 0))
	require.Equal(t, netcode.ErrNoChannel, netcode.NewConn(netcode.Config{}).TakeOver(a, 1, 0))
}

// A peer that knows nothing of the connections before counts from 0, as the server does.
func TestTakeOverByAPeerThatForgot(t *testing.T) {
	cfg := netcode.Config{}
	a, b := netcode.NewConn(cfg), netcode.NewConn(cfg)
	exchange := func(a, b *netcode.Conn) (kinds []uint8) {
		_, p := finish(a.Begin(tick * 3))
		require.NoError(t, b.Receive(tick*3, p))
		for r, ok := b.NextReliable(); ok; r, ok = b.NextReliable() {
			kinds = append(kinds, r.Kind)
		}
		return kinds
	}
	require.NoError(t, a.SendReliable(1, 0, nil))
	require.Equal(t, []uint8{0}, exchange(a, b))
	_, p := finish(b.Begin(tick * 4))
	require.NoError(t, a.Receive(tick*4, p))
	for i := uint8(1); i < 5; i++ {
		require.NoError(t, a.SendReliable(1, i, nil))
	}
	second, forgetful := netcode.NewConn(cfg), netcode.NewConn(cfg)
	require.NoError(t, second.TakeOver(a, 0, netcode.Forgotten))
	require.Equal(t, []uint8{1, 2, 3, 4}, exchange(second, forgetful))
	require.NoError(t, second.SendReliable(1, 5, nil))
	third := netcode.NewConn(cfg)
	require.NoError(t, third.TakeOver(second, 0, 4))
	require.Equal(t, []uint8{5}, exchange(third, netcode.NewConn(cfg)))
}

// A long message that has partly arrived is kept whole, and is sent again from the
// start.
func TestTakeOverOfALongMessage(t *testing.T) {
	cfg := netcode.Config{Rate: 1 << 20, Channels: []netcode.Channel{{Reliable: true}, {Reliable: true, Queue: 64 << 10}}}
	d := newDuo(t, cfg)
	d.own = true
	long := make([]byte, netcode.MaxReliable)
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range long {
		long[i] = byte(rng.Uint32())
	}
	require.NoError(t, d.a.SendOn(1, 1, 1, long))
	for range 20 {
		got, _ := d.tick(false)
		require.Empty(t, got)
	}
	require.Greater(t, d.a.Stats().EntriesSent, uint64(40))
	require.ErrorIs(t, d.a.SendOn(1, 1, 2, []byte{2}), netcode.ErrStreamFull)
	require.Equal(t, 64<<10, d.a.Queued())
	old := d.a
	d.a, d.b = netcode.NewConn(cfg), netcode.NewConn(cfg)
	require.NoError(t, d.a.TakeOver(old, 1, 0))
	for range 300 {
		if got, _ := d.tick(false); len(got) > 0 {
			require.Len(t, got, 1)
			require.Equal(t, long, got[0].Payload)
			require.NoError(t, d.a.SendOn(1, 1, 2, []byte{2}))
			return
		}
	}
	t.Fatal("it never came")
}
