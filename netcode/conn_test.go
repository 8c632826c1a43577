package netcode_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/netcode"
)

const tick = time.Second / 30

// finish closes a packet and copies its bytes, as a network does.
func finish(p *netcode.Packet) (netcode.Seq, []byte) {
	seq, b := p.Finish()
	return seq, append([]byte(nil), b...)
}

func TestMessagesArriveInOrderOfWriting(t *testing.T) {
	a, b := netcode.NewConn(netcode.Config{}), netcode.NewConn(netcode.Config{})
	p := a.Begin(0)
	require.True(t, p.Message(40, []byte("one")))
	require.True(t, p.Message(41, nil))
	require.False(t, p.Message(3, []byte("the protocol's own type")))
	seq, datagram := finish(p)
	require.NoError(t, b.Receive(tick, datagram))
	m, ok := b.NextMessage()
	require.True(t, ok)
	require.Equal(t, netcode.Message{Type: 40, Body: []byte("one"), Seq: seq}, m)
	m, ok = b.NextMessage()
	require.True(t, ok)
	require.Equal(t, netcode.MessageType(41), m.Type)
	require.Empty(t, m.Body)
	_, ok = b.NextMessage()
	require.False(t, ok)
}

func TestAckTellsDeliveryAtOnceAndMeasuresTheRoundTrip(t *testing.T) {
	a, b := netcode.NewConn(netcode.Config{}), netcode.NewConn(netcode.Config{})
	seq, datagram := finish(a.Begin(0))
	require.NoError(t, b.Receive(40*time.Millisecond, datagram))
	_, datagram = finish(b.Begin(60 * time.Millisecond)) // held back for 20 ms
	require.NoError(t, a.Receive(100*time.Millisecond, datagram))
	f, ok := a.NextFate()
	require.True(t, ok)
	require.Equal(t, netcode.Fate{Seq: seq, Delivered: true}, f)
	require.Equal(t, 80*time.Millisecond, a.RTT())
	require.Equal(t, 80*time.Millisecond, a.MeasuredRTT())
	require.Zero(t, b.RTT())
	require.Negative(t, b.MeasuredRTT(), "it knows of no packet of its own that arrived")
}

func TestDuplicateAndDamagedAreRefusedAndCounted(t *testing.T) {
	a, b := netcode.NewConn(netcode.Config{}), netcode.NewConn(netcode.Config{})
	_, datagram := finish(a.Begin(0))
	require.NoError(t, b.Receive(0, datagram))
	require.ErrorIs(t, b.Receive(0, datagram), netcode.ErrDuplicate)
	datagram[len(datagram)-1] ^= 4
	err := b.Receive(0, datagram)
	require.ErrorIs(t, err, netcode.ErrChecksum)
	require.ErrorIs(t, err, netcode.ErrMalformed)
	s := b.Stats()
	require.EqualValues(t, 1, s.Received)
	require.EqualValues(t, 1, s.Duplicate)
	require.EqualValues(t, 1, s.Checksum)
}

func TestReliableMessageLargerThanAPacket(t *testing.T) {
	a, b := netcode.NewConn(netcode.Config{}), netcode.NewConn(netcode.Config{})
	big := make([]byte, netcode.MaxReliable)
	for i := range big {
		big[i] = byte(i * 7 >> 3)
	}
	require.NoError(t, a.SendReliable(5, 1, []byte("small")))
	require.NoError(t, a.SendReliable(6, 2, big))
	require.NoError(t, a.SendReliable(7, 3, nil))
	require.ErrorIs(t, a.SendReliable(8, 3, append(big, 0)), netcode.ErrTooBig)
	require.Equal(t, 3, a.Pending())
	var got []netcode.Reliable
	for now := time.Duration(0); a.Pending() > 0; now += tick {
		require.Less(t, now, 20*time.Second)
		_, d := finish(a.Begin(now))
		require.LessOrEqual(t, len(d), 1200)
		require.NoError(t, b.Receive(now, d))
		for r, ok := b.NextReliable(); ok; r, ok = b.NextReliable() {
			r.Payload = append([]byte(nil), r.Payload...)
			got = append(got, r)
		}
		_, d = finish(b.Begin(now))
		require.NoError(t, a.Receive(now, d))
	}
	require.Len(t, got, 3)
	require.Equal(t, netcode.Reliable{Tick: 5, Kind: 1, Payload: []byte("small")}, got[0])
	require.Equal(t, netcode.Reliable{Tick: 6, Kind: 2, Payload: big}, got[1])
	require.Equal(t, netcode.Tick(7), got[2].Tick)
	require.Empty(t, got[2].Payload)
}

func TestRoomIsExact(t *testing.T) {
	c := netcode.NewConn(netcode.Config{})
	for n := range 400 {
		p := c.Begin(time.Duration(n) * time.Second)
		require.True(t, p.Message(50, make([]byte, 800+n/2)))
		room := p.Room()
		if n%2 == 0 && room > 130 {
			require.True(t, p.Message(50, make([]byte, room-125-n%9)))
			room = p.Room()
		}
		require.False(t, p.Message(51, make([]byte, room+3)))
		require.True(t, p.Message(51, make([]byte, room)), "room %d", room)
		_, d := p.Finish()
		require.LessOrEqual(t, len(d), 1200)
	}
}

func TestSilentCountsFromTheLastAuthenticPacket(t *testing.T) {
	a, b := netcode.NewConn(netcode.Config{}), netcode.NewConn(netcode.Config{})
	require.Zero(t, b.Silent(3*time.Second), "from the first use")
	require.Equal(t, time.Second, b.Silent(4*time.Second))
	_, d := finish(a.Begin(0))
	require.NoError(t, b.Receive(5*time.Second, d))
	require.ErrorIs(t, b.Receive(6*time.Second, d), netcode.ErrDuplicate)
	d[0]++
	require.ErrorIs(t, b.Receive(7*time.Second, d), netcode.ErrChecksum)
	require.Equal(t, 3*time.Second, b.Silent(8*time.Second))
}

// However much waits in the stream, and though half of it must go again, every
// tick has room for a snapshot; and however much the caller sends, the stream
// moves.
func TestStreamAndCallerShareThePacket(t *testing.T) {
	for _, greedy := range []bool{false, true} {
		a, b := netcode.NewConn(netcode.Config{FixedRate: true, Rate: 12000}), netcode.NewConn(netcode.Config{})
		least, now := 1200, time.Duration(0)
		rng := rand.New(rand.NewPCG(1, 9))
		require.NoError(t, a.SendReliable(1, 1, make([]byte, 60000)))
		for a.Pending() > 0 {
			now += tick
			require.Less(t, now, 60*time.Second)
			p := a.Begin(now)
			least = min(least, p.Room())
			n := 100
			if greedy {
				n = p.Room()
			}
			require.True(t, p.Message(50, make([]byte, n)))
			_, d := finish(p)
			if rng.IntN(2) == 0 {
				require.NoError(t, b.Receive(now, d))
			}
			for _, ok := b.NextReliable(); ok; _, ok = b.NextReliable() {
			}
			_, d = finish(b.Begin(now))
			require.NoError(t, a.Receive(now, d))
		}
		t.Logf("greedy %v: 60 kB in %v beside messages, room at least %d", greedy, now.Round(ms), least)
		if greedy {
			require.GreaterOrEqual(t, least, 64)
		} else {
			require.GreaterOrEqual(t, least, 600)
		}
	}
}
