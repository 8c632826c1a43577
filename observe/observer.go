package observe

import (
	"runtime"
	"time"

	"github.com/foretick/foretick/internal/guard"
	"github.com/foretick/foretick/internal/standard"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/transport"
)

// Tick is the number of a simulation step, counted from the server's start.
type Tick = uint32

// helloInterval is the time between packets until the server lets the observer in.
const helloInterval = 100 * time.Millisecond

// Observer is a client without the game's Go types. See the package's documentation.
type Observer struct {
	cfg    Config
	begun  bool
	start  time.Time
	now    time.Duration
	peer   transport.PeerID
	up     bool
	asked  bool
	sent   time.Duration
	conn   *netcode.Conn
	schema *schema.Protocol
	raw    []byte
	labels schema.Labels
	called bool   // the labels were requested
	in     bool   // the server accepted the observer
	of     uint16 // the player whose view the observer has
	eye    netcode.Eye
	looks  bool // SetEye or Follow was called
	unread unread
	every  time.Duration
	epoch  uint8
	recv   *snapshot.Receiver
	err    error

	malformed uint64
	decoding  bool // a packet is being read, and no function of the caller runs
	levelled  bool // the current packet had a level
	scratch   [12]byte
	events    [16]transport.Event
}

// New makes an observer. Its first Steps request the schema. The error lists every fault of
// the configuration.
func New(cfg Config) (*Observer, error) {
	if err := cfg.checkConfig(); err != nil {
		return nil, err
	}
	return &Observer{cfg: cfg}, nil
}

// Schema returns the server's schema, nil until it arrives.
func (o *Observer) Schema() *schema.Protocol { return o.schema }

// SchemaBytes returns the bytes that Schema was read from. Put them at the head of a
// recording, so that [schema.ReadProtocol] can read it later. Do not write to them.
func (o *Observer) SchemaBytes() []byte { return o.raw }

// Labels returns the units and the names of fields and values for display, as the server
// sent them. It is nil before they arrive, and if the game has none. Pass it to
// [schema.Protocol.Document] for a document of the game.
func (o *Observer) Labels() schema.Labels { return o.labels }

// Receiver returns the received state of the world, for tools that need more than
// [Observer.Entities]: values by tick, interpolation, hashes. It is nil until the server
// accepts the observer, and each level has a new one.
func (o *Observer) Receiver() *snapshot.Receiver { return o.recv }

// Tick returns the tick of the newest snapshot, 0 before the first.
func (o *Observer) Tick() Tick {
	if o.recv == nil {
		return 0
	}
	t, _ := o.recv.Newest()
	return t
}

// Player returns the player whose view the server granted. It returns 0 if the server
// granted another view, or has not accepted the observer yet.
func (o *Observer) Player() uint16 { return o.of }

// SetEye makes the observer look from a position: in a game with Interest it then receives
// the entities near to it. The server may ignore it. Without an eye, an observer that was
// not granted everything receives no entity with a position. SetEye does nothing for a
// position that is not finite.
func (o *Observer) SetEye(x, y, z float32) {
	if x-x == 0 && y-y == 0 && z-z == 0 { // x−x is NaN unless x is finite
		o.looks, o.eye = true, netcode.Eye{Has: true, X: x, Y: y, Z: z}
	}
}

// Follow makes the observer look from where a player looks, as it moves. 0 means nobody.
func (o *Observer) Follow(player uint16) { o.looks, o.eye = true, netcode.Eye{Player: player} }

// Connection returns the figures of the connection, such as round trip and packet loss. It
// is zero before the transport is up.
func (o *Observer) Connection() netcode.Stats {
	if o.conn == nil {
		return netcode.Stats{}
	}
	return o.conn.Stats()
}

// Malformed returns the number of packets and messages that could not be parsed.
func (o *Observer) Malformed() uint64 { return o.malformed }

// Step reads all received packets and sends those that are due at now. now must not go
// back. Call Step at least once a tick. The error is the reason why the connection ended: a
// [*transport.DisconnectError] or [schema.ErrMalformed]. Further calls return it again.
func (o *Observer) Step(now time.Time) error {
	if !o.begun {
		o.begun, o.start = true, now
	}
	o.now = guard.Elapsed(&o.start, o.now, now)
	if o.err != nil {
		return o.err
	}
	for n := len(o.events); n == len(o.events); {
		n = o.cfg.Transport.Recv(o.events[:])
		for k := range o.events[:n] {
			o.handleEvent(&o.events[k])
		}
	}
	if o.up && o.err == nil && (o.conn.Silent(o.now) > o.cfg.Timeout || o.conn.Lapsed()) {
		o.failWith(&transport.DisconnectError{Code: transport.Timeout, Reason: "the server is silent"})
	}
	if o.up && o.err == nil && !o.conn.Paused(o.now) && (o.sent == 0 || o.now-o.sent >= o.interval()) {
		o.sendPacket()
	}
	o.cfg.Transport.Flush()
	return o.err
}

// interval returns the time between packets.
func (o *Observer) interval() time.Duration {
	if !o.in {
		return helloInterval
	}
	return o.every
}

// Close leaves the match and closes the transport.
func (o *Observer) Close() error {
	o.failWith(&transport.DisconnectError{Code: transport.Closed})
	return o.cfg.Transport.Close(transport.Closed, "")
}

// failWith ends the connection; the first reason counts.
func (o *Observer) failWith(err error) {
	if o.up {
		o.cfg.Transport.Disconnect(o.peer, transport.Closed, "")
	}
	o.up = false
	if o.err == nil {
		o.err = err
	}
}

func (o *Observer) handleEvent(ev *transport.Event) {
	switch ev.Kind {
	case transport.Connected:
		var info transport.Info
		mtu := 0
		if o.cfg.Transport.Info(ev.Peer, &info) {
			mtu = info.MTU
		}
		o.peer, o.up = ev.Peer, true
		o.conn = netcode.NewConn(netcode.Config{MTU: mtu, Timeout: o.cfg.Timeout, Channels: standardChannels()})
	case transport.Disconnected:
		o.up = false
		o.failWith(&transport.DisconnectError{Code: ev.Code, Reason: ev.Reason})
	case transport.Data:
		if o.up {
			o.receivePacket(ev.Data)
		}
	}
}

// sendPacket sends a packet with the requests, the hello and the reports that are due. It also
// acknowledges received packets.
func (o *Observer) sendPacket() {
	o.sent = o.now
	if !o.asked {
		o.asked = o.conn.SendOn(standard.ChannelSchemas, 0, netcode.KindSchemaRequest, netcode.SchemaRequest{Name: netcode.ProtocolSchema}.Append(nil)) == nil
	}
	if o.schema != nil && !o.called {
		o.called = o.conn.SendOn(standard.ChannelSchemas, 0, netcode.KindSchemaRequest, netcode.SchemaRequest{Name: netcode.LabelSchema}.Append(nil)) == nil
	}
	pk := o.conn.Begin(o.now)
	for _, ok := o.conn.NextFate(); ok; _, ok = o.conn.NextFate() {
		continue
	}
	if !o.cfg.SchemaOnly && o.schema != nil && !o.in {
		hello := netcode.Hello{
			Version: netcode.Version, Protocol: o.schema.Hash(), SnapshotRate: uint8(o.cfg.SnapshotRate),
			Role: netcode.RoleObserve, Architecture: runtime.GOARCH, Data: o.cfg.Data,
		}
		pk.Message(netcode.MessageHello, hello.Append(nil))
	}
	if o.in && o.looks {
		pk.Message(netcode.MessageEye, o.eye.Append(o.scratch[:0]))
	}
	if o.in {
		o.unread.writeReport(pk, o.epoch, o.now)
	}
	_, b := pk.Finish()
	// A packet that the transport refuses counts as lost: its content is sent again.
	_ = o.cfg.Transport.Send(o.peer, b)
}

// standardChannels returns the channels that every connection has.
func standardChannels() []netcode.Channel {
	all := make([]netcode.Channel, standard.GameChannels)
	all[standard.ChannelMain] = netcode.Channel{Reliable: true, Priority: standard.MainPriority}
	all[standard.ChannelSchemas] = netcode.Channel{Reliable: true}
	return all
}
