package client

import (
	"bytes"
	"log/slog"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/standard"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/transport"
)

// besieged is a game with every kind of data that a server can send to a client.
type besieged struct {
	at     ecs.Component[besiegedAt]
	bag    ecs.Component[besiegedBag]
	cmd    ecs.Component[besiegedKeys]
	body   ecs.Prefab
	crate  ecs.Prefab
	rocket ecs.Prefab
	prop   ecs.Prefab
	say    foretick.Message[besiegedLine]
	buy    foretick.Request[besiegedKeys]
	bang   foretick.Event[besiegedKeys]
	crates *ecs.Query
}

type (
	besiegedAt struct {
		X, Y float32 `net:"min=-512,max=512,step=0.01,lerp"`
		Yaw  float32 `net:"angle,bits=12,lerp"`
	}
	besiegedBag struct {
		Things []besiegedThing `net:"max=12"`
		Name   string          `net:"max=20"`
		With   ecs.Entity
	}
	besiegedThing struct {
		Kind  uint8
		Count uint16 `net:"owner"`
	}
	besiegedLine struct {
		Text string `net:"max=20"`
		List []int8 `net:"max=9"`
	}
	besiegedKeys struct {
		X    int8 `net:"min=-1,max=1"`
		Fire bool `net:"oneshot"`
	}
)

func (g *besieged) protocol(predictRemote bool) *foretick.Protocol {
	p := foretick.NewProtocol("besieged", 1)
	p.Component(&g.at, foretick.Predicted(), foretick.FullPrecision())
	p.Component(&g.bag)
	p.Command(&g.cmd)
	p.Prefab(&g.body, "body", &g.at, &g.bag, &g.cmd)
	p.Prefab(&g.crate, "crate", &g.at)
	p.Prefab(&g.rocket, "rocket", &g.at)
	p.Prefab(&g.prop, "prop", &g.bag)
	p.Spawns(&g.rocket, foretick.SpawnConfig{})
	g.say.OnClient(p, func(*foretick.Frame, foretick.Tick, besiegedLine) {})
	g.buy.Handle(p, func(*foretick.ServerFrame, foretick.PlayerID, besiegedKeys) {})
	p.OnLevel(func(*foretick.Frame, []byte) {})
	p.Shared("drive", func(f *foretick.Frame, rows ecs.Rows) {
		at, cmd := g.at.Slice(rows), g.cmd.Slice(rows)
		for i := 0; i < len(at); i++ {
			at[i].X += float32(cmd[i].X) * 4 * f.DT
			if cmd[i].Fire {
				f.SpawnBy(rows.Entity(i), &g.rocket)
				g.bang.Raise(f, rows.Entity(i), cmd[i])
			}
			for _, crates := range g.crates.All(f.World) {
				for k := range g.at.Slice(crates) {
					g.at.Slice(crates)[k].Y += 0.01
				}
			}
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.at), ecs.Create(&g.at), ecs.ReadOther(&g.at), ecs.WriteOther(&g.at))
	g.bang.OnConfirmed(p, func(*foretick.Frame, foretick.By, besiegedKeys) {})
	if predictRemote {
		foretick.PredictRemote(p, &g.cmd, func(_ *foretick.Frame, _ ecs.Entity, _ int, k *besiegedKeys) { k.X = 1 }, foretick.RemoteConfig{})
	}
	g.crates = p.Query(ecs.With(&g.at), ecs.Without(&g.cmd))
	return p
}

// wire is an endpoint whose packets a test writes and reads itself.
type wire struct {
	in    []transport.Event
	sent  [][]byte
	left  transport.Code // the code with which the client left
	ready chan struct{}
}

func (w *wire) Recv(ev []transport.Event) int {
	n := copy(ev, w.in)
	w.in = w.in[:copy(w.in, w.in[n:])]
	return n
}

func (w *wire) Ready() <-chan struct{} { return w.ready }

func (w *wire) Send(_ transport.PeerID, b []byte) error {
	w.sent = append(w.sent, append([]byte(nil), b...))
	return nil
}

func (w *wire) Flush() {}

func (w *wire) Disconnect(_ transport.PeerID, c transport.Code, _ string) { w.left = c }

func (w *wire) Info(_ transport.PeerID, out *transport.Info) bool {
	*out = transport.Info{MTU: transport.MaxDatagram}
	return true
}

func (w *wire) Close(transport.Code, string) error { return nil }

// siege is a client, and a server whose packets the test writes.
type siege struct {
	t      testing.TB
	p      *foretick.Protocol // the server's protocol
	wire   *wire
	client *Client
	game   *besieged
	conn   *netcode.Conn // the server's end
	peer   transport.PeerID
	now    time.Duration
	packet [][]byte // messages that wait, with the type as their first byte
	src    *snapshot.Source
	sender *snapshot.Sender
	value  besiegedAt
	bag    besiegedBag
	origin game.OriginComponent
	tick   foretick.Tick
}

const siegePlayer = 3

func newSiege(t testing.TB, predictRemote bool) *siege {
	s := &siege{t: t, game: &besieged{}, wire: &wire{}}
	var g besieged
	s.p = g.protocol(predictRemote)
	require.NoError(t, s.p.Err())
	var err error
	s.client, err = New(Config{
		Protocol: s.game.protocol(predictRemote), Transport: s.wire,
		Sample: Sample(&s.game.cmd, func(v View) besiegedKeys { return besiegedKeys{X: 1, Fire: v.Tick%8 == 0} }),
		Redial: func() (transport.Endpoint, error) { return s.wire, nil },
	})
	require.NoError(t, err)
	s.tick = 1000
	s.world()
	return s
}

// world begins the server's state, at s.tick.
func (s *siege) world() {
	s.src = snapshot.NewSource(compiledOf(s.p).Registry, snapshot.SourceConfig{})
	s.sender = s.src.NewSender(siegePlayer, snapshot.SenderConfig{})
}

// up makes the transport's connection.
func (s *siege) up() {
	s.dialled()
	s.step(0)
}

// dialled makes a connection that the client's next step finds.
func (s *siege) dialled() {
	s.conn = netcode.NewConn(netcode.Config{Channels: compiledOf(s.p).NetChannels(), Rate: 1 << 24})
	s.peer++
	s.wire.in = append(s.wire.in, transport.Event{Kind: transport.Connected, Peer: s.peer})
}

func (s *siege) step(d time.Duration) View {
	v := s.clientStep(d)
	s.answers()
	return v
}

func (s *siege) clientStep(d time.Duration) View {
	s.now += d
	return s.client.Step(time.Unix(0, 0).Add(s.now))
}

// answers receives the packets that the client sent.
func (s *siege) answers() {
	for _, b := range s.wire.sent {
		if s.conn != nil {
			_ = s.conn.Receive(s.now, b)
			for _, ok := s.conn.NextReliable(); ok; _, ok = s.conn.NextReliable() {
				continue
			}
		}
	}
	s.wire.sent = s.wire.sent[:0]
}

// say puts a message into the next packet.
func (s *siege) say(t netcode.MessageType, body []byte) {
	s.packet = append(s.packet, append([]byte{byte(t)}, body...))
}

// pack makes a packet of the waiting messages.
func (s *siege) pack() []byte {
	pk := s.conn.Begin(s.now)
	for _, ok := s.conn.NextFate(); ok; _, ok = s.conn.NextFate() {
		continue
	}
	for _, m := range s.packet {
		pk.Press()
		pk.Message(netcode.MessageType(m[0]), m[1:])
	}
	s.packet = s.packet[:0]
	_, b := pk.Finish()
	return append([]byte(nil), b...)
}

// flush sends the waiting messages as one packet, and steps the client.
func (s *siege) flush(d time.Duration) View {
	s.feed(s.pack())
	return s.step(d)
}

func (s *siege) feed(b []byte) {
	s.wire.in = append(s.wire.in, transport.Event{Kind: transport.Data, Peer: s.peer, Data: b})
}

func (s *siege) welcome() netcode.Welcome {
	return netcode.Welcome{Owner: siegePlayer, TickRate: uint8(compiledOf(s.p).TickRate), SnapshotInterval: 1, Tick: s.tick, Resume: [16]byte{1}, CommandSize: uint16(compiledOf(s.p).CommandSize())}
}

// put adds an entity of a kind to the server's state.
func (s *siege) put(id snapshot.NetID, kind int, owner uint16) {
	var at []unsafe.Pointer
	mask := schema.Mask{}
	for c, v := range []unsafe.Pointer{unsafe.Pointer(&s.value), unsafe.Pointer(&s.bag), unsafe.Pointer(&s.origin)} {
		if compiledOf(s.p).Registry.PrefabHas(kind, c) {
			mask = mask.With(c)
			at = append(at, v)
		}
	}
	s.src.Put(id, kind, owner, mask, at, besiegedRefs{})
}

type besiegedRefs struct{}

func (besiegedRefs) Net(uint64) uint32    { return 0 }
func (besiegedRefs) Entity(uint32) uint64 { return 0 }

// The prefabs, by their numbers in the protocol.
const (
	kindBody = iota
	kindCrate
	kindRocket
	kindProp
)

// snapshot writes a snapshot of the next tick with the entities that put adds.
func (s *siege) snapshot(sender *snapshot.Sender, epoch uint8, put func()) {
	s.tick++
	s.src.Begin(s.tick)
	if put != nil {
		put()
	}
	s.src.End()
	var sent snapshot.Sent
	s.say(netcode.MessageSnapshot, sender.Append(s.header(epoch), 1000, &sent))
	sender.Delivered(&sent)
}

func (s *siege) header(epoch uint8) []byte {
	return netcode.SnapshotHeader{Bare: true, Epoch: epoch, HasEarly: true, Early: 512}.Append(nil)
}

const siegeTick = time.Second / standard.DefaultTickRate

// play lets the client in and plays some ticks, with a body of its own and with other entities.
func (s *siege) play(ticks int) {
	s.up()
	s.say(netcode.MessageWelcome, s.welcome().Append(nil))
	for range ticks {
		s.snapshot(s.sender, 0, s.usual)
		s.flush(siegeTick)
	}
	require.Equal(s.t, Playing, s.client.view.State)
}

// usual puts the client's body, another player's body, a crate and a prop.
func (s *siege) usual() {
	s.put(1, kindBody, siegePlayer)
	s.put(2, kindBody, siegePlayer+1)
	s.put(3, kindCrate, snapshot.Everyone)
	s.put(4, kindProp, 0)
}

// eachSiege runs a test with a game that predicts remote players and with one that does not.
func eachSiege(t *testing.T, test func(t *testing.T, s *siege)) {
	for name, predictRemote := range map[string]bool{"plain": false, "foresees": true} {
		t.Run(name, func(t *testing.T) { test(t, newSiege(t, predictRemote)) })
	}
}

// TestForeignOwnMarks: the client refuses a snapshot in which its own entity is not marked as its own,
// and one in which another entity is, from the first snapshot on and later.
func TestForeignOwnMarks(t *testing.T) {
	eachSiege(t, func(t *testing.T, s *siege) {
		for _, viewer := range []uint16{siegePlayer + 1, 0} {
			for _, honest := range []int{0, 1, 20} {
				*s = *newSiege(t, compiledOf(s.p).Remote.Predicts)
				s.up()
				s.say(netcode.MessageWelcome, s.welcome().Append(nil))
				mine := func() { s.put(1, kindCrate, snapshot.Everyone) }
				for range honest {
					s.snapshot(s.sender, 0, mine)
					s.flush(siegeTick)
				}
				before := s.client.Stats()
				s.world()
				s.sender = s.src.NewSender(viewer, snapshot.SenderConfig{})
				s.snapshot(s.sender, 0, nil) // its wire ids differ from those in use
				for i := range 40 {
					s.snapshot(s.sender, 0, func() {
						for id := range snapshot.NetID(8) {
							s.put(10+id, int(id)%2*kindProp, siegePlayer+uint16(id/2)%2)
						}
						if i < 20 {
							mine()
						}
					})
					s.flush(siegeTick)
				}
				require.NotEqual(t, before.Malformed, s.client.Stats().Malformed)
			}
		}
	})
}

// TestOwnersOutOfRange: the client refuses an owner that no server assigns, such as a number that the
// client uses for partitions of its own.
func TestOwnersOutOfRange(t *testing.T) {
	eachSiege(t, func(t *testing.T, s *siege) {
		for _, owner := range []uint16{standard.MaxPlayers, standard.MaxPlayers + 1, uint16(ecs.ClientOnly), uint16(ecs.ClientOnly) - 1, 0x8000} {
			*s = *newSiege(t, compiledOf(s.p).Remote.Predicts)
			s.play(20)
			before := s.client.Stats()
			s.snapshot(s.sender, 0, func() {
				s.usual()
				s.put(100, kindBody, owner)
			})
			s.flush(siegeTick)
			if owner <= standard.MaxPlayers {
				require.Equal(t, before.Malformed, s.client.Stats().Malformed, owner)
			} else {
				require.Equal(t, before.Malformed+1, s.client.Stats().Malformed, owner)
			}
			for range 20 {
				s.snapshot(s.sender, 0, s.usual)
				s.flush(siegeTick)
			}
			require.Equal(t, Playing, s.client.view.State)
		}
	})
}

// TestLevelOfThePast: a new level's snapshots are newer than those of the last level, or refused. The
// client does not predict two thousand million ticks.
func TestLevelOfThePast(t *testing.T) {
	for _, back := range []uint32{1 << 31, 1<<31 - 1, 1<<31 + 1, 1 << 30, 1000, 300, 33} {
		eachSiege(t, func(t *testing.T, s *siege) {
			if back >= 1000 {
				s.tick = 5000 - back // across the end of the tick numbers
				s.tick += back
			}
			s.world()
			s.play(20)
			was, ran := s.tick, s.client.stats.Resimulated
			s.tick -= back
			s.world()
			s.say(netcode.MessageLevel, netcode.LevelInfo{Epoch: 1, Tick: s.tick}.Append(nil))
			begun := time.Now()
			for range 5 {
				s.snapshot(s.sender, 1, s.usual)
				s.flush(siegeTick)
			}
			require.Less(t, time.Since(begun), 10*time.Second)
			require.Equal(t, ran, s.client.stats.Resimulated)
			require.LessOrEqual(t, s.client.stats.PredictedTicks, uint64(100))
			// Then an honest level begins, and is played.
			s.tick = was + 10
			s.world()
			s.say(netcode.MessageLevel, netcode.LevelInfo{Epoch: 2, Tick: s.tick}.Append(nil))
			for range 40 {
				s.snapshot(s.sender, 2, s.usual)
				s.flush(siegeTick)
			}
			require.Equal(t, Playing, s.client.view.State)
			require.True(t, s.client.timeline.predictor.Started())
		})
	}
}

// TestManyLevelsInAPacket: the client enters one of several levels in a packet.
func TestManyLevelsInAPacket(t *testing.T) {
	eachSiege(t, func(t *testing.T, s *siege) {
		s.play(20)
		for i := range 160 {
			s.say(netcode.MessageLevel, netcode.LevelInfo{Epoch: uint8(1 + i%100)}.Append(nil))
		}
		before := s.client.Stats()
		took := allocated(func() { s.flush(0) })
		require.Less(t, took, uint64(64<<10+2*transport.MaxDatagram+8<<10), "and what the harness itself takes")
		require.Equal(t, before.Malformed+159, s.client.Stats().Malformed)
		require.EqualValues(t, 1, s.client.link.level.epoch)
	})
}

// TestLevelsHalfTheCircleAway: the client enters a level if its number is ahead by less than half of
// all numbers. Exactly half is neither ahead nor behind.
func TestLevelsHalfTheCircleAway(t *testing.T) {
	for _, row := range []struct {
		epoch uint8
		in    bool
	}{{0, true}, {1, true}, {2, true}, {126, true}, {127, true}, {128, false}, {129, false}, {200, false}, {255, false}} {
		s := newSiege(t, false)
		s.play(5)
		s.say(netcode.MessageLevel, netcode.LevelInfo{Epoch: row.epoch}.Append(nil))
		s.flush(siegeTick)
		require.Equal(t, row.in, s.client.link.level.entered, row)
		if row.in {
			require.Equal(t, row.epoch, s.client.link.level.epoch, row)
		} else {
			require.Zero(t, s.client.link.level.epoch, row)
		}
	}
}

// TestWishHalfTheCircleAway: a request of Configure counts as granted once a packet with it, or a later
// packet, was delivered.
func TestWishHalfTheCircleAway(t *testing.T) {
	for _, row := range []struct {
		first, seq netcode.Seq
		granted    bool
	}{{10, 9, false}, {10, 10, true}, {10, 11, true}, {10, 10 + 1<<15 - 1, true}, {10, 10 + 1<<15, false}, {10, 10 + 1<<15 + 1, false}, {65530, 4, true}, {4, 65530, false}} {
		require.Equal(t, row.granted, !precedes(row.seq, row.first), row)
	}
}

// TestCorePanic: a panic while a packet is read ends the connection, and is counted and logged with the
// packet. A panic of the game's own is not recovered.
func TestCorePanic(t *testing.T) {
	corePanic(t, "netcode.(*Conn)", func(s *siege) { s.client.link.conn = nil })
	corePanic(t, "snapshot.(*Receiver)", func(s *siege) { s.client.ghosts.receiver = &snapshot.Receiver{} }) // this receiver can read nothing

	s := newSiege(t, false)
	s.client.cfg.OnSnapshot = func(foretick.Tick) { panic("the game's") }
	s.up()
	s.say(netcode.MessageWelcome, s.welcome().Append(nil))
	s.snapshot(s.sender, 0, s.usual)
	require.PanicsWithValue(t, "the game's", func() { s.flush(siegeTick) })
	require.Zero(t, s.client.Stats().CorePanics)
}

// corePanic makes the reading of packets panic, and checks what the client does.
func corePanic(t *testing.T, where string, plant func(s *siege)) {
	s := newSiege(t, false)
	var log bytes.Buffer
	s.client.cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
	s.play(20)
	plant(s)
	s.world()
	s.snapshot(s.sender, 0, s.usual)
	if game.DebugBuild {
		require.Panics(t, func() { s.flush(siegeTick) })
		return
	}
	v := s.flush(siegeTick)
	require.Equal(t, Closed, v.State)
	var why *transport.DisconnectError
	require.ErrorAs(t, v.Err, &why)
	require.Equal(t, transport.Malformed, why.Code)
	require.Equal(t, transport.Malformed, s.wire.left)
	require.EqualValues(t, 1, s.client.Stats().CorePanics)
	require.Regexp(t, "packet=[0-9a-f]{10}", log.String())
	require.Contains(t, log.String(), where)
}
