package foretick

import (
	"bytes"
	"errors"
	"log/slog"
	"time"

	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/transport"
)

// InspectorConfig sets an Inspector up. Transport is required.
type InspectorConfig struct {
	// Transport is a dialled endpoint. The inspector drains it, and closes it in
	// Close.
	Transport transport.Endpoint
	// Watch has the inspector take a player's place once it has the schema, and be
	// sent what that player may see. It gives no commands. false asks for the
	// schema alone.
	Watch bool
	// Timeout is how long a silent server is waited for, 100 ms to 24 h. 0 means 5 s;
	// negative is an error.
	Timeout time.Duration
	// OnMessage, when set, is told of each message of the game's: its schema, the
	// server's tick, and the value of each field, as [snapshot.Schema.Value] gives
	// it.
	OnMessage func(m SchemaMessage, tick Tick, values []any)
	// Logger logs packets whose reading panicked, which ends the connection. nil is
	// silent.
	Logger *slog.Logger
}

// Inspector is a client without the game's types: it asks a server for its schema
// and, if it is to watch, reads snapshots and messages by that. It is for tools:
// an inspector, a recorder, a bot that is written in another language's terms. It
// is not safe for concurrent use.
type Inspector struct {
	cfg    InspectorConfig
	begun  bool
	start  time.Time
	now    time.Duration
	peer   transport.PeerID
	up     bool
	asked  bool
	sent   time.Duration
	conn   *netcode.Conn
	schema *Schema
	raw    []byte
	me     uint16
	epoch  uint8
	recv   *snapshot.Receiver
	err    error

	malformed uint64
	decoding  bool // nothing of the caller's runs
	levelled  bool // by the packet at hand
	events    [16]transport.Event
}

// NewInspector makes an inspector that asks with its first Steps.
func NewInspector(cfg InspectorConfig) (*Inspector, error) {
	if missing(cfg.Transport) {
		return nil, errors.New("foretick: InspectorConfig.Transport is nil: pass a dialled endpoint, for example udp.Dial, and look at its error first")
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = defaultTimeout
	}
	if err := checkTimeout("InspectorConfig.Timeout", cfg.Timeout); err != nil {
		return nil, err
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Inspector{cfg: cfg}, nil
}

// Schema is the server's, nil until it came.
func (i *Inspector) Schema() *Schema { return i.schema }

// SchemaBytes are what Schema was read from: put them at the head of a recording,
// and [ReadSchema] makes sense of what follows. Do not write to them.
func (i *Inspector) SchemaBytes() []byte { return i.raw }

// Receiver holds what was received of the world, by the schema's Registry; nil
// until the inspector was let in to watch. It is a new one for each level.
func (i *Inspector) Receiver() *snapshot.Receiver { return i.recv }

// Player is the player whose place the inspector has; 0 before it has one.
func (i *Inspector) Player() uint16 { return i.me }

// Malformed counts packets and messages that did not parse.
func (i *Inspector) Malformed() uint64 { return i.malformed }

// Step takes in what has arrived and sends what is due at now, which must not go
// back: call it once a tick or more. The error is why the connection ended, a
// [*DisconnectError] or [ErrSchema]; further calls answer it again.
func (i *Inspector) Step(now time.Time) error {
	if !i.begun {
		i.begun, i.start = true, now
	}
	i.now = now.Sub(i.start)
	if i.err != nil {
		return i.err
	}
	for n := len(i.events); n == len(i.events); {
		n = i.cfg.Transport.Recv(i.events[:])
		for k := range i.events[:n] {
			i.handle(&i.events[k])
		}
	}
	if i.up && i.err == nil && i.conn.Silent(i.now) > i.cfg.Timeout {
		i.fail(&DisconnectError{Code: transport.Timeout, Detail: "the server is silent"})
	}
	if i.up && i.err == nil && (i.sent == 0 || i.now-i.sent >= i.interval()) {
		i.send()
	}
	i.cfg.Transport.Flush()
	return i.err
}

// interval is the time between packets.
func (i *Inspector) interval() time.Duration {
	if i.me == 0 {
		return helloInterval
	}
	return time.Second / time.Duration(i.schema.TickRate)
}

// Close leaves and closes the transport.
func (i *Inspector) Close() error {
	i.fail(&DisconnectError{Code: transport.Closed})
	return i.cfg.Transport.Close(transport.Closed, "")
}

// fail ends the connection; the first reason counts.
func (i *Inspector) fail(err error) {
	if i.up {
		i.cfg.Transport.Disconnect(i.peer, transport.Closed, "")
	}
	i.up = false
	if i.err == nil {
		i.err = err
	}
}

func (i *Inspector) handle(ev *transport.Event) {
	switch ev.Kind {
	case transport.Connected:
		var info transport.Info
		mtu := 0
		if i.cfg.Transport.Info(ev.Peer, &info) {
			mtu = info.MTU
		}
		i.peer, i.up = ev.Peer, true
		i.conn = netcode.NewConn(netcode.Config{MTU: mtu, Timeout: i.cfg.Timeout, Channels: (&Protocol{}).netChannels()})
	case transport.Disconnected:
		i.up = false
		i.fail(&DisconnectError{Code: ev.Code, Detail: ev.Detail})
	case transport.Data:
		if i.up {
			i.packet(ev.Data)
		}
	}
}

// guard is the client's: see Client.guard.
func (i *Inspector) guard(packet []byte) {
	if !i.decoding || debugBuild {
		return
	}
	if v := recover(); v != nil {
		i.malformed++
		logCorePanic(i.cfg.Logger, v, packet)
		i.fail(&DisconnectError{Code: transport.Malformed, Detail: coreDetail})
	}
}

func (i *Inspector) packet(b []byte) {
	i.decoding, i.levelled = true, false
	defer i.guard(b)
	if i.conn.Receive(i.now, b) != nil {
		i.malformed++
		return
	}
	for _, ok := i.conn.NextFate(); ok; _, ok = i.conn.NextFate() {
		continue
	}
	for m, ok := i.conn.NextMessage(); ok; m, ok = i.conn.NextMessage() {
		if i.message(m) != nil {
			i.malformed++
			if m.Type == netcode.MessageSnapshot {
				i.conn.Refuse() // what was not read is no baseline
			}
		}
	}
	for r, ok := i.conn.NextReliable(); ok; r, ok = i.conn.NextReliable() {
		if r.Channel == channelSchemas {
			i.reply(r)
			continue
		}
		i.told(r.Channel, r.Kind, r.Tick, r.Payload)
	}
	for e, ok := i.conn.NextEvent(); ok; e, ok = i.conn.NextEvent() {
		i.told(e.Channel, e.Kind, e.Tick, e.Payload)
	}
}

// reply takes the schema in.
func (i *Inspector) reply(r netcode.Reliable) {
	reply, err := netcode.ParseSchemaReply(r.Payload)
	if r.Kind != netcode.KindSchemaReply || err != nil || i.schema != nil {
		i.malformed++
		return
	}
	if !reply.Known {
		i.fail(ErrSchema)
		return
	}
	s, err := ReadSchema(reply.Data)
	if err == nil && i.cfg.Watch {
		var more []netcode.Channel
		for _, c := range s.Channels {
			more = append(more, netcode.Channel{Reliable: c.Reliable, Priority: c.Priority})
		}
		err = i.conn.AddChannels(more...)
	}
	if err != nil {
		i.fail(err)
		return
	}
	i.schema, i.raw = s, bytes.Clone(reply.Data)
}

func (i *Inspector) message(m netcode.Message) error {
	if i.schema == nil || !i.cfg.Watch {
		return nil
	}
	if m.Type == netcode.MessageSnapshot && i.recv == nil {
		i.conn.Refuse()
		return nil
	}
	switch m.Type {
	case netcode.MessageWelcome:
		w, err := netcode.ParseWelcome(m.Body)
		if err != nil || w.Owner == 0 {
			return netcode.ErrMalformed
		}
		if i.me == 0 {
			i.me = w.Owner
			i.enter(w.Epoch)
		}
	case netcode.MessageReject:
		r, err := netcode.ParseReject(m.Body)
		if err != nil {
			return err
		}
		i.fail(&DisconnectError{Code: transport.Refused, Detail: r.Text})
	case netcode.MessageLevel:
		l, err := netcode.ParseLevelInfo(m.Body)
		if err != nil {
			return err
		}
		if i.levelled {
			return errLevels
		}
		i.levelled = true
		if i.recv != nil && netcode.Newer(l.Epoch, i.epoch) {
			i.enter(l.Epoch)
		}
	case netcode.MessageSnapshot:
		h, rest, err := netcode.ParseSnapshotHeader(m.Body)
		if err != nil {
			return err
		}
		switch {
		case h.Epoch == i.epoch:
			_, err = i.recv.Read(rest)
		case !netcode.Newer(i.epoch, h.Epoch):
			i.conn.Refuse()
		}
		return err
	}
	return nil
}

func (i *Inspector) enter(epoch uint8) {
	i.epoch = epoch
	cfg := snapshot.ReceiverConfig{Viewer: i.me, Owners: limitMaxClients}
	if i.recv != nil {
		cfg.After, _ = i.recv.Newest()
	}
	i.recv = snapshot.NewReceiver(i.schema.Registry, cfg)
}

func (i *Inspector) told(channel, kind uint8, tick Tick, payload []byte) {
	if i.schema == nil || int(kind) >= len(i.schema.Messages) || i.schema.Messages[kind].Channel != int(channel) {
		i.malformed++
		return
	}
	m := i.schema.Messages[kind]
	values, err := m.Schema.UnpackValues(payload, nil)
	if err != nil {
		i.malformed++
		return
	}
	if i.cfg.OnMessage != nil {
		i.decoding = false
		i.cfg.OnMessage(m, tick, values)
		i.decoding = true
	}
}

// send asks, greets, or acknowledges.
func (i *Inspector) send() {
	i.sent = i.now
	if !i.asked {
		i.asked = i.conn.SendOn(channelSchemas, 0, netcode.KindSchemaRequest, netcode.SchemaRequest{Name: SchemaName}.Append(nil)) == nil
	}
	pk := i.conn.Begin(i.now)
	for _, ok := i.conn.NextFate(); ok; _, ok = i.conn.NextFate() {
		continue
	}
	if i.cfg.Watch && i.schema != nil && i.me == 0 {
		pk.Message(netcode.MessageHello, netcode.Hello{Version: helloVersion, Protocol: i.schema.Hash()}.Append(nil))
	}
	_, b := pk.Finish()
	// A refused packet is a lost one: what it carried goes again.
	_ = i.cfg.Transport.Send(i.peer, b)
}
