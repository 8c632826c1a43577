package client

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/standard"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/observe"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/transport"
)

// watch is an observer, and a server whose packets the test writes.
type watch struct {
	siege
	observer *observe.Observer
}

func newWatch(t testing.TB) *watch {
	w := &watch{siege: *newSiege(t, false)}
	var err error
	w.observer, err = observe.New(observe.Config{Transport: w.wire})
	require.NoError(t, err)
	w.conn = netcode.NewConn(netcode.Config{Channels: compiledOf(w.p).NetChannels(), Rate: 1 << 24})
	w.wire.in = append(w.wire.in, transport.Event{Kind: transport.Connected, Peer: 1})
	w.look()
	data := w.p.Schema(nil)
	require.NoError(t, w.conn.SendOn(standard.ChannelSchemas, 0, netcode.KindSchemaReply, netcode.SchemaReply{Known: true, Hash: netcode.SchemaHash(data), Data: data}.Append(nil)))
	for w.observer.Schema() == nil {
		w.send()
	}
	w.say(netcode.MessageWelcome, w.welcome().Append(nil))
	w.send()
	require.NotNil(t, w.observer.Receiver())
	return w
}

func (w *watch) look() {
	w.now += siegeTick
	_ = w.observer.Step(time.Unix(0, 0).Add(w.now))
	w.wire.sent = w.wire.sent[:0]
}

// send sends the waiting messages as a packet.
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

// TestUnreadSnapshotsAreNotAcknowledged: if a client does not read a snapshot because it has no Welcome
// or level yet, it does not acknowledge the snapshot. The server would use it as a baseline. A snapshot
// of an earlier level is of no use to either end.
func TestUnreadSnapshotsAreNotAcknowledged(t *testing.T) {
	for _, row := range []struct {
		epoch   uint8
		refused uint64
	}{{0, 0}, {1, 1}, {2, 1}, {127, 1}, {128, 1}, {129, 0}, {255, 0}} {
		s := newSiege(t, false)
		s.play(20)
		before := s.client.link.conn.Stats().Refused
		newest := s.client.link.newest
		s.snapshot(s.sender, row.epoch, s.usual)
		s.flush(siegeTick)
		require.Equal(t, row.refused, s.client.link.conn.Stats().Refused-before, "a client, epoch %d", row.epoch)
		require.Equal(t, row.epoch == 0, s.client.link.newest != newest)

		w := newWatch(t)
		for range 5 {
			w.snapshot(0)
		}
		require.Len(t, w.observer.Receiver().Ghosts(), 4)
		require.Zero(t, w.observer.Connection().Refused)
		w.snapshot(row.epoch)
		require.Equal(t, row.refused, w.observer.Connection().Refused, "an observer, epoch %d", row.epoch)
	}
	s := newSiege(t, false)
	s.up()
	s.snapshot(s.sender, 0, s.usual) // before the Welcome
	s.flush(siegeTick)
	require.EqualValues(t, 1, s.client.link.conn.Stats().Refused)
	require.Zero(t, s.client.Stats().Malformed)

	w := newWatch(t)
	w.say(netcode.MessageSnapshot, append(w.header(0), 1, 2, 3))
	w.send()
	require.EqualValues(t, 1, w.observer.Malformed())
	require.EqualValues(t, 1, w.observer.Connection().Refused, "what cannot be read")
}

// TestSnapshotsHalfTheCircleAway: the tick of a snapshot differs by about half of all numbers. The
// snapshot is then neither newer nor a baseline, for a client and an observer, and the next honest one
// is read.
func TestSnapshotsHalfTheCircleAway(t *testing.T) {
	const half = 1 << 31
	for _, d := range []foretick.Tick{half - 1, half, half + 1, 1<<30 + 1, 1<<32 - 1<<30 - 1} {
		s := newSiege(t, false)
		s.play(20)
		newest, me := s.client.link.newest, s.tick
		s.tick += d - 1
		s.world() // it has all entities at that tick
		s.snapshot(s.sender, 0, s.usual)
		s.flush(siegeTick)
		require.Equal(t, newest, s.client.link.newest, "%d further", d)
		require.EqualValues(t, 1, s.client.link.conn.Stats().Refused)
		got, _ := s.client.ghosts.receiver.Newest()
		require.Equal(t, newest, got)
		s.tick = me
		s.world()
		s.sender = s.src.NewSender(siegePlayer, snapshot.SenderConfig{})
		s.snapshot(s.sender, 0, nil) // it is newer, and has no entities
		s.flush(siegeTick)
		require.Equal(t, newest+1, s.client.link.newest, "after one %d further", d)

		w := newWatch(t)
		for range 5 {
			w.snapshot(0)
		}
		newest, me = w.tick, w.tick
		w.tick += d - 1
		w.world()
		w.snapshot(0)
		got, _ = w.observer.Receiver().Newest()
		require.Equal(t, newest, got, "%d further", d)
		require.EqualValues(t, 1, w.observer.Malformed())
		w.tick = me
		w.world()
		w.siege.snapshot(w.sender, 0, nil)
		w.send()
		got, _ = w.observer.Receiver().Newest()
		require.Equal(t, newest+1, got)
	}
}

// TestObservedLevelsHalfTheCircleAway is TestLevelsHalfTheCircleAway for an observer.
func TestObservedLevelsHalfTheCircleAway(t *testing.T) {
	for _, row := range []struct {
		epoch uint8
		in    bool
	}{{0, false}, {1, true}, {126, true}, {127, true}, {128, false}, {129, false}, {255, false}} {
		w := newWatch(t)
		first := w.observer.Receiver()
		w.say(netcode.MessageLevel, netcode.LevelInfo{Epoch: row.epoch}.Append(nil))
		w.send()
		require.Equal(t, row.in, first != w.observer.Receiver(), row)
	}
}

// TestObserverContainsDecoding: a panic while a snapshot is read ends an observer's connection and
// nothing else. TestCorePanic shows the same for a client.
func TestObserverContainsDecoding(t *testing.T) {
	if game.DebugBuild {
		return
	}
	w := newWatch(t)
	w.snapshot(0)
	require.Zero(t, w.observer.Malformed())
	*w.observer.Receiver() = snapshot.Receiver{} // this receiver can read nothing
	w.world()
	w.snapshot(0)
	var why *transport.DisconnectError
	require.ErrorAs(t, w.observer.Step(time.Unix(1000, 0)), &why)
	require.Equal(t, transport.Malformed, why.Code)
}
