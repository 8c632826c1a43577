package foretick

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/transport"
)

// watch is an inspector, and a server that speaks by hand.
type watch struct {
	siege
	inspector *Inspector
}

func newWatch(t testing.TB) *watch {
	w := &watch{siege: *newSiege(t, false)}
	var err error
	w.inspector, err = NewInspector(InspectorConfig{Transport: w.wire, Watch: true})
	require.NoError(t, err)
	w.conn = netcode.NewConn(netcode.Config{Channels: w.p.netChannels(), Rate: 1 << 24})
	w.wire.in = append(w.wire.in, transport.Event{Kind: transport.Connected, Peer: 1})
	w.look()
	w.inspector.schema, err = ReadSchema(w.p.Schema(nil))
	require.NoError(t, err)
	w.say(netcode.MessageWelcome, w.welcome().Append(nil))
	w.send()
	require.NotNil(t, w.inspector.recv)
	return w
}

func (w *watch) look() {
	w.now += siegeTick
	_ = w.inspector.Step(time.Unix(0, 0).Add(w.now))
	w.wire.sent = w.wire.sent[:0]
}

// send sends what waits as a packet.
func (w *watch) send() {
	pk := w.conn.Begin(w.now)
	for _, m := range w.packet {
		pk.Press()
		pk.Message(netcode.MessageType(m[0]), m[1:])
	}
	w.packet = w.packet[:0]
	_, b := pk.Finish()
	w.feed(append([]byte(nil), b...))
	w.look()
}

func (w *watch) snapshot(epoch uint8) {
	w.siege.snapshot(w.sender, epoch, w.usual)
	w.send()
}

// TestUnreadSnapshotsAreNotAcknowledged: a snapshot that a client does not read, as the
// Welcome or its level is not there yet, is not acknowledged: the server would take it
// for a baseline. One of a level before is of no use to anybody.
func TestUnreadSnapshotsAreNotAcknowledged(t *testing.T) {
	for _, row := range []struct {
		epoch   uint8
		refused uint64
	}{{0, 0}, {1, 1}, {2, 1}, {127, 1}, {128, 1}, {129, 0}, {255, 0}} {
		s := newSiege(t, false)
		s.play(20)
		before := s.client.conn.Stats().Refused
		newest := s.client.newest
		s.snapshot(s.sender, row.epoch, s.usual)
		s.flush(siegeTick)
		require.Equal(t, row.refused, s.client.conn.Stats().Refused-before, "a client, epoch %d", row.epoch)
		require.Equal(t, row.epoch == 0, s.client.newest != newest)

		w := newWatch(t)
		for range 5 {
			w.snapshot(0)
		}
		require.Len(t, w.inspector.recv.Ghosts(), 4)
		require.Zero(t, w.inspector.conn.Stats().Refused)
		w.snapshot(row.epoch)
		require.Equal(t, row.refused, w.inspector.conn.Stats().Refused, "an inspector, epoch %d", row.epoch)
	}
	s := newSiege(t, false)
	s.up()
	s.snapshot(s.sender, 0, s.usual) // before the Welcome
	s.flush(siegeTick)
	require.EqualValues(t, 1, s.client.conn.Stats().Refused)
	require.Zero(t, s.client.Stats().Malformed)

	w := newWatch(t)
	w.say(netcode.MessageSnapshot, append(w.header(0), 1, 2, 3))
	w.send()
	require.EqualValues(t, 1, w.inspector.Malformed())
	require.EqualValues(t, 1, w.inspector.conn.Stats().Refused, "what cannot be read")
}

// TestSnapshotsHalfTheCircleAway: a snapshot of a tick about half the circle away is
// neither newer nor a baseline, on a client and an inspector; the honest next is read.
func TestSnapshotsHalfTheCircleAway(t *testing.T) {
	const half = 1 << 31
	for _, d := range []Tick{half - 1, half, half + 1, 1<<30 + 1, 1<<32 - 1<<30 - 1} {
		s := newSiege(t, false)
		s.play(20)
		newest, me := s.client.newest, s.tick
		s.tick += d - 1
		s.world() // that has all at that tick
		s.snapshot(s.sender, 0, s.usual)
		s.flush(siegeTick)
		require.Equal(t, newest, s.client.newest, "%d further", d)
		require.EqualValues(t, 1, s.client.conn.Stats().Refused)
		got, _ := s.client.receiver.Newest()
		require.Equal(t, newest, got)
		s.tick = me
		s.world()
		s.sender = s.src.NewSender(siegePlayer, snapshot.SenderConfig{})
		s.snapshot(s.sender, 0, nil) // nothing is there, and it is newer
		s.flush(siegeTick)
		require.Equal(t, newest+1, s.client.newest, "after one %d further", d)

		w := newWatch(t)
		for range 5 {
			w.snapshot(0)
		}
		newest, me = w.tick, w.tick
		w.tick += d - 1
		w.world()
		w.snapshot(0)
		got, _ = w.inspector.recv.Newest()
		require.Equal(t, newest, got, "%d further", d)
		require.EqualValues(t, 1, w.inspector.Malformed())
		w.tick = me
		w.world()
		w.siege.snapshot(w.sender, 0, nil)
		w.send()
		got, _ = w.inspector.recv.Newest()
		require.Equal(t, newest+1, got)
	}
}

// TestInspectedLevelsHalfTheCircleAway is TestLevelsHalfTheCircleAway of an inspector.
func TestInspectedLevelsHalfTheCircleAway(t *testing.T) {
	for _, row := range []struct {
		epoch uint8
		in    bool
	}{{0, false}, {1, true}, {126, true}, {127, true}, {128, false}, {129, false}, {255, false}} {
		w := newWatch(t)
		first := w.inspector.recv
		w.say(netcode.MessageLevel, netcode.LevelInfo{Epoch: row.epoch}.Append(nil))
		w.send()
		require.Equal(t, row.in, first != w.inspector.recv, row)
		require.Equal(t, row.in, row.epoch == w.inspector.epoch && row.epoch != 0, row)
	}
}
