package simtest_test

import (
	"encoding/binary"
	"time"

	"github.com/foretick/foretick/internal/packettest"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
)

// rogue speaks the protocol by hand, so it can break its rules. It joins like
// an honest client; then its hooks choose what it sends.
type rogue struct {
	endpoint transport.Endpoint
	conn     *netcode.Conn
	peer     transport.PeerID
	hash     uint64
	welcome  netcode.Welcome
	since    time.Duration // time at which the Welcome came
	newest   netcode.Tick  // estimate of the server's tick
	gone     *transport.Event
	goneAt   time.Duration
	events   [64]transport.Event

	// commands, when set, returns the bodies of the command messages of a packet.
	// Otherwise the rogue sends an honest command.
	commands func(c *rogue) [][]byte
	// add, when set, adds messages to a packet.
	add func(p *netcode.Packet)
	// mangle, when set, changes a packet before its checksum is set. The packet begins with its flags.
	mangle func(c *rogue, b []byte) []byte
	// deaf, when set, reports whether to drop a packet unread.
	deaf   func(b []byte) bool
	resume [16]byte // resume token in the rogue's hello
	taken  []uint32 // counts of received messages in the rogue's hello
	// times is how many packets the rogue sends at each step; 0 means 1.
	times int
}

// stepRogue handles incoming packets and sends.
func (c *rogue) stepRogue(now time.Duration) {
	for n := c.endpoint.Recv(c.events[:]); n > 0; n = c.endpoint.Recv(c.events[:]) {
		for _, ev := range c.events[:n] {
			switch ev.Kind {
			case transport.Connected:
				c.peer, c.conn = ev.Peer, netcode.NewConn(netcode.Config{MTU: 1180})
			case transport.Disconnected:
				if c.gone == nil {
					ev.Data = nil
					c.gone, c.goneAt = &ev, now
				}
			case transport.Data:
				c.readPacket(now, ev.Data)
			}
		}
	}
	if c.conn == nil || c.gone != nil {
		return
	}
	for range max(c.times, 1) {
		c.sendPacket(now)
	}
}

func (c *rogue) joined() bool { return c.welcome.Owner != 0 }

func (c *rogue) readPacket(now time.Duration, b []byte) {
	if c.joined() && c.deaf != nil && c.deaf(b) {
		return
	}
	if c.conn.Receive(now, b) != nil {
		return
	}
	for m, ok := c.conn.NextMessage(); ok; m, ok = c.conn.NextMessage() {
		if w, err := netcode.ParseWelcome(m.Body); m.Type == netcode.MessageWelcome && err == nil {
			c.welcome, c.since = w, now
		}
	}
	for _, ok := c.conn.NextReliable(); ok; _, ok = c.conn.NextReliable() {
	}
}

func (c *rogue) sendPacket(now time.Duration) {
	c.newest = c.welcome.Tick + netcode.Tick((now-c.since).Seconds()*float64(c.welcome.TickRate))
	pk := c.conn.Begin(now)
	switch {
	case !c.joined():
		pk.Message(netcode.MessageHello, netcode.Hello{Version: netcode.Version, Protocol: c.hash, Resume: c.resume, Taken: c.taken}.Append(nil))
	case c.commands != nil:
		for _, body := range c.commands(c) {
			pk.Message(netcode.MessageCommands, body)
		}
	default:
		pk.Message(netcode.MessageCommands, c.body(c.newest+6, 1, make([]byte, c.welcome.CommandSize)))
	}
	if c.joined() && c.add != nil {
		c.add(pk)
	}
	_, b := pk.Finish()
	out := append([]byte{}, b...)
	if c.joined() && c.mangle != nil {
		out = c.mangle(c, out)
	}
	_ = c.endpoint.Send(c.peer, out)
	c.endpoint.Flush()
}

// body returns a message body with commands for n ticks up to newest.
func (c *rogue) body(newest netcode.Tick, n int, data []byte) []byte {
	s := netcode.NewCommandSender(int(c.welcome.CommandSize), netcode.CommandConfig{Redundancy: 64})
	for i := range netcode.Tick(n) {
		s.Push(netcode.Command{Tick: newest - netcode.Tick(n) + 1 + i, Render: c.newest, Data: data})
	}
	return s.Append(nil, 1000)
}

// withAck rewrites the acknowledgement of a packet; nil leaves it out.
func withAck(b []byte, to func(ack uint16) uint16) []byte {
	if b[4]&0x10 == 0 {
		return b
	}
	if to != nil {
		binary.LittleEndian.PutUint16(b[7:], to(binary.LittleEndian.Uint16(b[7:])))
		return packettest.Seal(b)
	}
	_, ack, messages := packettest.Fields(b)
	out := append(append([]byte{}, b[:7]...), messages...)
	out[4] = ack[0] &^ 0x1f
	return packettest.Seal(out)
}
