package netcode_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/netcode"
)

// eightChannels are the channels that the standard's decoder of these tests
// expects: 0 to 3 reliable, 4 to 7 not.
var eightChannels = []netcode.Channel{
	{Reliable: true}, {Reliable: true}, {Reliable: true, Priority: 4}, {Reliable: true, Priority: 16},
	{Priority: 8}, {Repeat: 3}, {MaxAge: 50 * ms}, {Priority: 2, Repeat: 2, MaxAge: time.Second},
}

// duo is two Conns on a path whose packets a test may lose, tick by tick.
type duo struct {
	t    *testing.T
	a, b *netcode.Conn
	now  time.Duration
	fill bool // the caller takes all the room it is given
	own  bool // the channels are not eightChannels, which the standard's decoder expects
}

func newDuo(t *testing.T, cfg netcode.Config) *duo {
	return &duo{t: t, a: netcode.NewConn(cfg), b: netcode.NewConn(cfg)}
}

// tick sends a packet each way, and gives what b received.
func (d *duo) tick(lost bool) (reliable []netcode.Reliable, events []netcode.Event) {
	d.now += tick
	p := d.a.Begin(d.now)
	if d.fill {
		require.True(d.t, p.Message(99, make([]byte, p.Room())))
	}
	_, packet := finish(p)
	if _, err := describePacket(packet, 0, 9); !d.own {
		require.NoError(d.t, err, "%x", packet)
	}
	if !lost {
		require.NoError(d.t, d.b.Receive(d.now, packet))
		for e, ok := d.b.NextEvent(); ok; e, ok = d.b.NextEvent() {
			events = append(events, e)
		}
		for r, ok := d.b.NextReliable(); ok; r, ok = d.b.NextReliable() {
			r.Payload = append([]byte(nil), r.Payload...)
			reliable = append(reliable, r)
		}
	}
	_, packet = finish(d.b.Begin(d.now))
	require.NoError(d.t, d.a.Receive(d.now, packet))
	return reliable, events
}

func TestChannelConfigReportsEveryFault(t *testing.T) {
	for name, c := range map[string]struct {
		channels []netcode.Channel
		says     string
	}{
		"nine":            {make([]netcode.Channel, 9), "at most 8"},
		"no stream":       {[]netcode.Channel{{}}, "Channels[0] must be Reliable"},
		"small queue":     {[]netcode.Channel{{Reliable: true, Queue: 100}}, "Channels[0].Queue is 100"},
		"large queue":     {[]netcode.Channel{{Reliable: true}, {Reliable: true, Queue: 1<<20 + 1}}, "Channels[1].Queue"},
		"repeated always": {[]netcode.Channel{{Reliable: true}, {Repeat: 17}}, "Channels[1].Repeat is 17"},
		"negative repeat": {[]netcode.Channel{{Reliable: true}, {Repeat: -1}}, "Channels[1].Repeat is -1"},
		"negative age":    {[]netcode.Channel{{Reliable: true}, {MaxAge: -1}}, "Channels[1].MaxAge"},
	} {
		require.ErrorContains(t, netcode.Config{Channels: c.channels}.Validate(), c.says, name)
	}
	require.NoError(t, netcode.Config{Channels: eightChannels}.Validate())
	mine := []netcode.Channel{{Reliable: true}, {Reliable: true}}
	c := netcode.NewConn(netcode.Config{Channels: mine})
	mine[1].Reliable = false
	require.NoError(t, c.SendOn(1, 1, 1, make([]byte, 1000)), "the caller's slice is its own")
	require.Zero(t, mine[0].Queue)
}

// A channel that is not there, or of the other sort, is refused on either side.
func TestChannelsBothEndsAgreeOn(t *testing.T) {
	plain := netcode.NewConn(netcode.Config{})
	require.ErrorIs(t, plain.SendOn(1, 1, 1, nil), netcode.ErrNoChannel)
	require.Zero(t, plain.PendingOn(1))
	entry, event := []byte{0, 0, 3, 9, 0, 0}, []byte{0, 0, 0, 9, 0, 0}
	message := func(kind, channel byte, body []byte) []byte {
		head := append(binary.AppendUvarint([]byte{kind}, uint64(len(body)+1)), channel)
		return append(head, body...)
	}
	for _, c := range []struct {
		kind, channel byte
		body          []byte
		ok            bool
	}{
		{3, 1, entry, true}, {3, 3, entry, true}, {4, 4, event, true}, {4, 7, event, true},
		{3, 0, entry, false}, {3, 4, entry, false}, {3, 8, entry, false}, {3, 255, entry, false},
		{4, 0, event, false}, {4, 3, event, false}, {4, 8, event, false}, {4, 255, event, false},
		{4, 4, []byte{0, 0}, false}, {4, 4, []byte{0, 0, 1, 9, 0, 0}, false}, {4, 4, []byte{0, 0, 0, 9, 0, 5, 1}, false},
		{4, 4, []byte{0, 0, 0, 9, 0, 0, 0xff, 1, 9, 0, 0}, false}, {3, 1, []byte{0, 0}, false},
		{4, 4, append([]byte{0, 0, 0, 9, 0, 0x80, 2}, make([]byte, 256)...), true},
		{4, 4, append([]byte{0, 0, 0, 9, 0, 0x81, 2}, make([]byte, 257)...), false},
	} {
		name := fmt.Sprintf("type %d channel %d body %x", c.kind, c.channel, c.body)
		packet := bare(0, message(c.kind, c.channel, c.body)...)
		full := netcode.NewConn(netcode.Config{Channels: eightChannels})
		_, standard := describePacket(packet, 0, 9)
		require.Equal(t, c.ok, standard == nil, name)
		if c.ok {
			require.NoError(t, full.Receive(0, packet), name)
		} else {
			require.ErrorIs(t, full.Receive(0, packet), netcode.ErrMalformed, name)
		}
		require.ErrorIs(t, netcode.NewConn(netcode.Config{}).Receive(0, packet), netcode.ErrMalformed, name)
	}
}

// The other channels cost a stream on channel 0 nothing: not a byte differs.
func TestChannelZeroIsTheStreamThatWas(t *testing.T) {
	a, b := netcode.NewConn(netcode.Config{}), netcode.NewConn(netcode.Config{Channels: eightChannels})
	for i := range 200 {
		now := time.Duration(i) * tick
		require.NoError(t, a.SendReliable(netcode.Tick(i), 1, make([]byte, i*7)))
		require.NoError(t, b.SendOn(0, netcode.Tick(i), 1, make([]byte, i*7)))
		_, x := finish(a.Begin(now))
		_, y := finish(b.Begin(now))
		require.Equal(t, x, y)
		if i > 50 {
			break
		}
	}
	require.Equal(t, a.Pending(), b.Pending())
	require.Equal(t, b.Pending(), b.PendingOn(0))
}

func TestALostPacketHoldsUpItsChannelOnly(t *testing.T) {
	d := newDuo(t, netcode.Config{Channels: eightChannels})
	require.NoError(t, d.a.SendOn(1, 1, 7, []byte("lost")))
	d.tick(true)
	require.NoError(t, d.a.SendOn(1, 2, 7, []byte("waits")))
	require.NoError(t, d.a.SendOn(2, 3, 8, []byte("does not")))
	got, _ := d.tick(false)
	require.Equal(t, []netcode.Reliable{{Tick: 3, Kind: 8, Payload: []byte("does not"), Channel: 2}}, got)
	require.Equal(t, 2, d.a.Pending())
	require.Equal(t, 2, d.a.PendingOn(1))
	require.Zero(t, d.a.PendingOn(2))
	for range 30 {
		if got, _ = d.tick(false); len(got) > 0 {
			break
		}
	}
	require.Equal(t, []netcode.Reliable{
		{Tick: 1, Kind: 7, Payload: []byte("lost"), Channel: 1},
		{Tick: 2, Kind: 7, Payload: []byte("waits"), Channel: 1},
	}, got)
}

func TestABrokenChannelLeavesTheOthersWhole(t *testing.T) {
	c := netcode.NewConn(netcode.Config{Channels: eightChannels})
	on := func(channel byte, entry ...byte) []byte {
		return append([]byte{3, byte(len(entry) + 3), channel, 0, 0}, entry...)
	}
	require.NoError(t, c.Receive(0, bare(0, on(1, 2, 1, 'x')...))) // an end without a beginning
	_, ok := c.NextReliable()
	require.False(t, ok)
	require.ErrorIs(t, c.Receive(0, bare(1, on(1, 3, 9, 0, 1, 'x')...)), netcode.ErrMalformed)
	require.NoError(t, c.Receive(0, bare(1, on(2, 3, 9, 0, 1, 'x')...)))
	r, ok := c.NextReliable()
	require.True(t, ok)
	require.EqualValues(t, 2, r.Channel)
}

func TestQueuesAreBoundedEachByItself(t *testing.T) {
	c := netcode.NewConn(netcode.Config{Channels: []netcode.Channel{
		{Reliable: true}, {Reliable: true}, {Reliable: true, Queue: 100 << 10}, {},
	}})
	full := func(channel uint8) (n int) {
		for c.SendOn(channel, 1, 1, make([]byte, 256)) == nil {
			n++
			require.LessOrEqual(t, n, 5000)
		}
		require.ErrorIs(t, c.SendOn(channel, 1, 1, nil), netcode.ErrStreamFull)
		return n
	}
	require.Equal(t, 512, full(1))
	require.Equal(t, 512, full(2))
	require.Equal(t, 1024, full(0))
	require.ErrorIs(t, c.SendOn(1, 1, 1, make([]byte, netcode.MaxReliable+1)), netcode.ErrTooBig)
	require.ErrorIs(t, c.SendOn(3, 1, 1, make([]byte, netcode.MaxEvent+1)), netcode.ErrEventTooBig)
	for range 1000 {
		require.NoError(t, c.SendOn(3, 1, 1, make([]byte, netcode.MaxEvent)))
	}
	s := c.Stats()
	require.EqualValues(t, 1000, s.EventsSent)
	require.EqualValues(t, 1000-64, s.EventsOverflow)
	require.Equal(t, 512+512+1024, c.Pending())
}

// The longest message fits a channel of the smallest queue, both in its memory
// and in the peer's.
func TestLongestMessageOnAnyChannel(t *testing.T) {
	d := newDuo(t, netcode.Config{Channels: eightChannels, FixedRate: true, Rate: 1 << 20})
	big := make([]byte, netcode.MaxReliable)
	for i := range big {
		big[i] = byte(i * 7 >> 3)
	}
	for ch := range uint8(4) {
		require.NoError(t, d.a.SendOn(ch, netcode.Tick(ch), 2, big))
	}
	n := 0
	for i := 0; d.a.Pending() > 0; i++ {
		require.Less(t, i, 2000)
		got, _ := d.tick(i%5 == 0)
		for _, r := range got {
			require.Equal(t, big, r.Payload)
			require.EqualValues(t, r.Channel, r.Tick)
			n++
		}
	}
	require.Equal(t, 4, n)
}

// saturate keeps channels 1 and up full with messages of these sizes, and counts
// the payload bytes that arrive on each.
func saturate(d *duo, ticks int, sizes []int) (bytes []int) {
	bytes = make([]int, len(sizes))
	for range ticks {
		for ch, size := range sizes {
			for size > 0 && d.a.PendingOn(uint8(ch)) < 60 {
				require.NoError(d.t, d.a.SendOn(uint8(ch), 1, 1, make([]byte, size)))
			}
		}
		got, _ := d.tick(false)
		for _, r := range got {
			bytes[r.Channel] += len(r.Payload)
		}
	}
	return bytes
}

func TestPrioritiesAreShares(t *testing.T) {
	costtest.Ratio(t)
	for _, c := range []struct {
		name     string
		priority []uint8
		sizes    []int
		greedy   bool
		rate     int
	}{
		{"four to one", []uint8{4, 1}, []int{200, 200}, false, 32000},
		{"one to four, of other sizes", []uint8{1, 4}, []int{30, 256}, false, 32000},
		{"three", []uint8{8, 4, 1}, []int{100, 256, 60}, false, 32000},
		{"beside a greedy caller", []uint8{3, 1}, []int{100, 256}, true, 32000},
		{"at a low rate", []uint8{3, 1}, []int{60, 256}, true, 6000},
		{"equals", []uint8{0, 0, 0, 0}, []int{10, 256, 1000, 100}, false, 32000},
		{"widest", []uint8{255, 1, 255}, []int{100, 100, 100}, false, 64000},
	} {
		cfg := netcode.Config{FixedRate: true, Rate: c.rate}
		for _, p := range c.priority {
			cfg.Channels = append(cfg.Channels, netcode.Channel{Reliable: true, Priority: p})
		}
		d := newDuo(t, cfg)
		d.fill, d.own = c.greedy, true
		got := saturate(d, 1500, c.sizes)
		sum, total := 0, 0
		for i := range got {
			sum += max(1, int(c.priority[i]))
			total += got[i] + got[i]/c.sizes[i]*5 // cost of a message in addition to its payload
		}
		for i := range got {
			want := float64(total) * float64(max(1, c.priority[i])) / float64(sum)
			t.Logf("%s: priority %d got %.0f%% of its share", c.name, c.priority[i], 100*float64(got[i]+got[i]/c.sizes[i]*5)/want)
			require.InEpsilon(t, want, got[i]+got[i]/c.sizes[i]*5, 0.15, "%s: channel %d", c.name, i)
		}
	}
}

// A small, urgent message goes with the very next packet, even during a
// transfer.
func TestHighPriorityGoesBeforeATransfer(t *testing.T) {
	for _, greedy := range []bool{false, true} {
		d := newDuo(t, netcode.Config{FixedRate: true, Rate: 16000, Channels: []netcode.Channel{
			{Reliable: true}, {Reliable: true, Priority: 16}, {Priority: 16},
		}})
		d.fill, d.own = greedy, true
		require.NoError(t, d.a.SendOn(0, 1, 1, make([]byte, 60000)))
		for i := range 300 {
			want := 0
			if i%3 == 0 && i > 10 {
				want = 1
				require.NoError(t, d.a.SendOn(1, netcode.Tick(i), 1, make([]byte, 20)))
				require.NoError(t, d.a.SendOn(2, netcode.Tick(i), 1, make([]byte, 20)))
			}
			got, events := d.tick(false)
			n := 0
			for _, r := range got {
				if r.Channel == 1 {
					require.EqualValues(t, i, r.Tick)
					n++
				}
			}
			require.Equal(t, want, n, "greedy %v: packet %d, pending %d", greedy, i, d.a.PendingOn(0))
			require.Len(t, events, want)
		}
		require.Greater(t, d.a.Stats().EntriesSent, uint64(150), "and the transfer moves")
	}
}

// A channel that long used what others left does not have to wait that long when
// they want their share, and vice versa.
func TestOldCreditIsForgotten(t *testing.T) {
	for name, c := range map[string]struct {
		first     [2]int // messages of 100 bytes, a packet
		low, high int    // bytes at least, in the second after
	}{
		"the low one had all":  {[2]int{60, 1}, 500, 15000},
		"the high one had all": {[2]int{1, 60}, 500, 15000},
		"neither had any":      {[2]int{0, 0}, 500, 15000},
	} {
		d := newDuo(t, netcode.Config{FixedRate: true, Rate: 20000, Channels: []netcode.Channel{{Reliable: true}, {Reliable: true, Priority: 20}}})
		d.own = true
		bytes := [2]int{}
		run := func(packets int, want [2]int) {
			for range packets {
				for ch, n := range want {
					for range n - d.a.PendingOn(uint8(ch)) {
						require.NoError(t, d.a.SendOn(uint8(ch), 1, 1, make([]byte, 100)))
					}
				}
				got, _ := d.tick(false)
				for _, r := range got {
					bytes[r.Channel] += len(r.Payload)
				}
			}
		}
		run(2000, c.first)
		bytes = [2]int{}
		run(60, [2]int{60, 60})
		t.Logf("%s: %d bytes of the low one, %d of the high one", name, bytes[0], bytes[1])
		require.Greater(t, bytes[0], c.low, name)
		require.Greater(t, bytes[1], c.high, name)
	}
}

// No channel starves: a long entry of the lowest priority is sent next to short
// ones that leave it no room in any single packet.
func TestLongEntryDoesNotStarveBehindShortOnes(t *testing.T) {
	d := newDuo(t, netcode.Config{MTU: netcode.MinMTU, FixedRate: true, Rate: 5000, Channels: []netcode.Channel{
		{Reliable: true}, {Reliable: true, Priority: 20}, {Priority: 20, Repeat: 16},
	}})
	d.fill, d.own = true, true
	require.NoError(t, d.a.SendOn(0, 1, 1, make([]byte, 2560)))
	urgent := 0
	for i := 0; d.a.PendingOn(0) > 0; i++ {
		require.Less(t, i, 3000)
		if d.a.PendingOn(1) < 50 {
			require.NoError(t, d.a.SendOn(1, 1, 1, make([]byte, 20)))
		}
		require.NoError(t, d.a.SendOn(2, 1, 1, make([]byte, 40)))
		got, events := d.tick(false)
		urgent += len(got) + len(events)
	}
	require.Greater(t, urgent, 200, "nor does it take over")
}

// For any channels, sizes, priorities and losses: a reliable message arrives
// once, in its channel's order, unchanged; an event arrives at most once.
func TestChannelsRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		cfg := netcode.Config{Channels: []netcode.Channel{{Reliable: true}}}
		for range rapid.IntRange(0, 7).Draw(rt, "channels") {
			cfg.Channels = append(cfg.Channels, netcode.Channel{
				Reliable: rapid.Bool().Draw(rt, "reliable"), Priority: rapid.Byte().Draw(rt, "priority"),
				Repeat: rapid.IntRange(0, 16).Draw(rt, "repeat"),
			})
		}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		loss := rapid.Float64Range(0, 0.5).Draw(rt, "loss")
		a, b := netcode.NewConn(cfg), netcode.NewConn(cfg)
		var sent, got [netcode.MaxChannels]netcode.Tick
		size := func(ch uint8, n netcode.Tick) int { return int(n*n*37+netcode.Tick(ch)) % 257 }
		late := [][]byte{}
		for now := time.Duration(0); now < 2*time.Second || a.Pending() > 0; now += tick {
			require.Less(rt, now, 120*time.Second)
			for range 3 {
				ch := uint8(rng.IntN(len(cfg.Channels)))
				if now < 2*time.Second {
					require.NoError(rt, a.SendOn(ch, sent[ch], ch, make([]byte, size(ch, sent[ch]))))
					sent[ch]++
				}
			}
			_, packet := finish(a.Begin(now))
			late = append(late, packet)
			if rng.Float64() < 0.2 {
				packet = late[max(0, len(late)-1-rng.IntN(20))] // one of before, perhaps again
			}
			if rng.Float64() >= loss {
				_ = b.Receive(now, packet)
			}
			seen := [netcode.MaxChannels]map[netcode.Tick]bool{}
			for e, ok := b.NextEvent(); ok; e, ok = b.NextEvent() {
				if seen[e.Channel] == nil {
					seen[e.Channel] = map[netcode.Tick]bool{}
				}
				require.False(rt, cfg.Channels[e.Channel].Reliable || seen[e.Channel][e.Tick])
				seen[e.Channel][e.Tick] = true
				require.Less(rt, e.Tick, sent[e.Channel])
				require.Len(rt, e.Payload, size(e.Channel, e.Tick))
				require.Equal(rt, e.Channel, e.Kind)
			}
			for r, ok := b.NextReliable(); ok; r, ok = b.NextReliable() {
				require.True(rt, cfg.Channels[r.Channel].Reliable)
				require.Equal(rt, got[r.Channel], r.Tick)
				require.Len(rt, r.Payload, size(r.Channel, r.Tick))
				require.Equal(rt, r.Channel, r.Kind)
				got[r.Channel]++
			}
			_, packet = finish(b.Begin(now))
			if rng.Float64() >= loss {
				require.NoError(rt, a.Receive(now, packet))
			}
		}
		for ch, c := range cfg.Channels {
			if c.Reliable {
				require.Equal(rt, sent[ch], got[ch])
			}
		}
		require.Zero(rt, a.Stats().Malformed+b.Stats().Malformed+b.Stats().Backlog)
	})
}

// TestAddChannels: an end that learns of channels later uses them as if it had
// known them from the start; what does not validate adds none.
func TestAddChannels(t *testing.T) {
	knows := netcode.NewConn(netcode.Config{Channels: eightChannels})
	learns := netcode.NewConn(netcode.Config{Channels: eightChannels[:2]})
	require.ErrorIs(t, learns.SendOn(4, 1, 1, nil), netcode.ErrNoChannel)
	var e *netcode.ConfigError
	require.ErrorAs(t, learns.AddChannels(make([]netcode.Channel, 7)...), &e)
	require.ErrorIs(t, learns.SendOn(2, 1, 1, nil), netcode.ErrNoChannel)
	require.NoError(t, learns.SendOn(1, 1, 9, []byte("before")))
	require.NoError(t, learns.AddChannels(eightChannels[2:]...))
	require.NoError(t, learns.SendOn(3, 1, 9, []byte("after")))
	require.NoError(t, learns.SendOn(4, 1, 9, []byte("event")))
	require.Equal(t, 2*256, learns.Queued(), "events do not count")
	_, b := learns.Begin(tick).Finish()
	require.NoError(t, knows.Receive(tick, b))
	var got []string
	for r, ok := knows.NextReliable(); ok; r, ok = knows.NextReliable() {
		got = append(got, fmt.Sprint(r.Channel, string(r.Payload)))
	}
	for r, ok := knows.NextEvent(); ok; r, ok = knows.NextEvent() {
		got = append(got, fmt.Sprint(r.Channel, string(r.Payload)))
	}
	require.Equal(t, []string{"1before", "3after", "4event"}, got)
	require.NoError(t, knows.SendOn(3, 1, 9, []byte("back")))
	_, b = knows.Begin(2 * tick).Finish()
	require.NoError(t, learns.Receive(2*tick, b))
	r, ok := learns.NextReliable()
	require.True(t, ok)
	require.EqualValues(t, 3, r.Channel)
	require.Equal(t, []int{0, netcode.QueuedSize(4)}, []int{learns.Queued(), knows.Queued()}, "ours was acknowledged, theirs not yet")
	require.Equal(t, []int{256, 256, 512}, []int{netcode.QueuedSize(0), netcode.QueuedSize(256), netcode.QueuedSize(257)})
}
