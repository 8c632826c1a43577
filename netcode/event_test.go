package netcode_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/netcode"
)

// ticks are those of the events, in the order received.
func ticks(events []netcode.Event) (ticks []netcode.Tick) {
	for _, e := range events {
		ticks = append(ticks, e.Tick)
	}
	return ticks
}

func TestEventGoesOnce(t *testing.T) {
	d := newDuo(t, netcode.Config{Channels: eightChannels})
	require.NoError(t, d.a.SendOn(4, 100, 3, []byte("bang")))
	require.NoError(t, d.a.SendOn(4, 99, 3, nil))
	require.Zero(t, d.a.Pending(), "nobody waits for an event")
	_, got := d.tick(false)
	require.Len(t, got, 2)
	require.Equal(t, []byte("bang"), got[0].Payload)
	require.Equal(t, netcode.Event{Channel: 4, Tick: 99, Kind: 3, Payload: []byte{}}, got[1])
	for range 20 {
		_, got = d.tick(false)
		require.Empty(t, got)
	}
	require.NoError(t, d.a.SendOn(4, 101, 3, nil))
	d.tick(true)
	for range 20 {
		_, got = d.tick(false)
		require.Empty(t, got, "what is lost stays lost")
	}
	s := d.a.Stats()
	require.Equal(t, [3]uint64{3, 3, 0}, [3]uint64{s.EventsSent, s.EventsCarried, s.EventsRepeated})
	require.EqualValues(t, 2, d.b.Stats().EventsReceived)
}

// A repeated event survives the loss of all but one of its packets. It is
// returned once, and no longer repeated once it is known to have arrived.
func TestEventRepeats(t *testing.T) {
	for repeat := 1; repeat <= 5; repeat++ {
		for lost := range 6 {
			cfg := netcode.Config{Channels: []netcode.Channel{{Reliable: true}, {Repeat: repeat}}}
			d := newDuo(t, cfg)
			d.own = true
			require.NoError(t, d.a.SendOn(1, 7, 1, []byte("x")))
			n := 0
			for i := range 20 {
				_, got := d.tick(i < lost)
				n += len(got)
			}
			want := 0
			if lost < repeat {
				want = 1
			}
			require.Equal(t, want, n, "repeat %d, lost %d", repeat, lost)
			s := d.a.Stats()
			require.EqualValues(t, min(lost+1, repeat), s.EventsCarried+s.EventsRepeated, "acked at once")
		}
	}
	// Without acks an event goes out as often as configured, and the receiver recognises the duplicates.
	a, b := netcode.NewConn(netcode.Config{Channels: eightChannels}), netcode.NewConn(netcode.Config{Channels: eightChannels})
	var got []netcode.Tick
	for i := range 10 {
		if i < 2 {
			require.NoError(t, a.SendOn(5, netcode.Tick(i), 1, nil))
		}
		_, p := finish(a.Begin(time.Duration(i) * tick))
		require.NoError(t, b.Receive(0, p))
		for e, ok := b.NextEvent(); ok; e, ok = b.NextEvent() {
			got = append(got, e.Tick)
		}
	}
	require.Equal(t, []netcode.Tick{0, 1}, got)
	require.EqualValues(t, 4, b.Stats().EventsDuplicate)
}

// An event that finds no room is dropped when it is stale, the oldest first, and counted.
func TestEventIsDroppedWhenStaleOrOverBudget(t *testing.T) {
	d := newDuo(t, netcode.Config{Channels: []netcode.Channel{{Reliable: true}, {MaxAge: 100 * ms}}, Rate: 3000, MinRate: 3000, FixedRate: true})
	d.fill, d.own = true, true
	got, oldest := 0, netcode.Tick(0)
	const n = 600
	for i := range netcode.Tick(n) {
		require.NoError(t, d.a.SendOn(1, i, 1, make([]byte, 200)))
		_, events := d.tick(false)
		for _, e := range events {
			oldest = max(oldest, i-e.Tick)
			got++
		}
	}
	for range 10 {
		_, events := d.tick(false)
		got += len(events)
	}
	s := d.a.Stats()
	require.LessOrEqual(t, oldest, netcode.Tick(4), "100 ms, from the packet after SendOn")
	require.Greater(t, got, n/20)
	require.EqualValues(t, got, s.EventsCarried)
	require.EqualValues(t, n, s.EventsCarried+s.EventsStale+s.EventsOverflow)
	require.Greater(t, s.EventsStale, uint64(n/2))

	// Nobody begins a packet: the newest 64 remain.
	d = newDuo(t, netcode.Config{Channels: eightChannels})
	for i := range netcode.Tick(100) {
		require.NoError(t, d.a.SendOn(4, i, 1, nil))
	}
	_, events := d.tick(false)
	require.Len(t, events, 64)
	require.EqualValues(t, 36, events[0].Tick)
	require.EqualValues(t, 36, d.a.Stats().EventsOverflow)
}

// Late packets bring their events late, duplicates bring none, and numbers wrap.
func TestEventsAcrossTheWrapOutOfOrder(t *testing.T) {
	a, b := netcode.NewConn(netcode.Config{Channels: eightChannels}), netcode.NewConn(netcode.Config{Channels: eightChannels})
	var held [][]byte
	taken := make(map[netcode.Tick]bool)
	next := netcode.Tick(0)
	for i := range 7000 {
		now := time.Duration(i) * tick
		for range 20 {
			require.NoError(t, a.SendOn(5, next, 1, nil))
			next++
		}
		_, p := finish(a.Begin(now))
		held = append(held, p)
		if i%5 == 4 {
			for k := range held {
				require.NoError(t, b.Receive(now, held[len(held)-1-k]))
				for e, ok := b.NextEvent(); ok; e, ok = b.NextEvent() {
					require.False(t, taken[e.Tick])
					taken[e.Tick] = true
				}
			}
			held = held[:0]
		}
	}
	require.Greater(t, next, netcode.Tick(2<<16))
	require.Len(t, taken, int(next))
}

func TestForgedEventNumberLosesNoOther(t *testing.T) {
	c := netcode.NewConn(netcode.Config{Channels: eightChannels})
	on := func(number uint16) []byte { return []byte{4, 7, 4, byte(number), byte(number >> 8), 0, 9, 0, 0} }
	for seq, number := range []uint16{0, 1, 30000, 2, 3, 65535, 4} {
		require.NoError(t, c.Receive(0, bare(uint16(seq), on(number)...)))
		_, ok := c.NextEvent()
		require.True(t, ok, "event %d", number)
	}
}

func TestEventsNotFetchedAreGone(t *testing.T) {
	a, b := netcode.NewConn(netcode.Config{Channels: eightChannels}), netcode.NewConn(netcode.Config{Channels: eightChannels})
	for i := range netcode.Tick(4) {
		require.NoError(t, a.SendOn(4, i, 1, nil))
		require.NoError(t, a.SendOn(4, i, 2, nil))
		p := a.Begin(time.Duration(i) * tick)
		require.True(t, p.Message(77, []byte{byte(i)}))
		_, d := finish(p)
		require.NoError(t, b.Receive(0, d))
	}
	e, ok := b.NextEvent()
	require.True(t, ok)
	require.Equal(t, []netcode.Tick{3}, ticks([]netcode.Event{e}))
	m, ok := b.NextMessage()
	require.True(t, ok, "messages and events are read each by themselves")
	require.Equal(t, []byte{3}, m.Body)
	require.ErrorIs(t, b.Receive(0, []byte{1}), netcode.ErrMalformed)
	_, ok = b.NextEvent()
	require.False(t, ok, "another datagram has come")
}
