package campaign

import (
	"encoding/binary"

	"github.com/foretick/foretick/netcode"
)

// word is one kind of message of a rogue: it appends the message to the packet.
type word struct {
	name string
	say  func(r *rogue)
}

// words are the messages of packets. A fuzzer's input depends on their order:
// add new ones at the end.
var words = [rogueWords]word{
	{"command", (*rogue).sayCommand},
	{"hello", (*rogue).sayHello},
	{"strange command", (*rogue).sayStrangeCommand},
	{"strange hello", (*rogue).sayStrangeHello},
	{"request", (*rogue).sayRequest},
	{"fragments", (*rogue).sayFragments},
	{"configuration", (*rogue).sayConfig},
	{"schema request", (*rogue).saySchema},
	{"channel", (*rogue).sayChannel},
	{"events", (*rogue).sayEvents},
	{"close", (*rogue).sayClose},
	{"server's word", (*rogue).sayServers},
	{"unknown", (*rogue).sayUnknown},
	{"broken", (*rogue).sayBroken},
	{"eye", (*rogue).sayEye},
	{"unread", (*rogue).sayUnread},
}

const rogueWords = 16

// The protocol's internal message types.
const (
	typeStream  netcode.MessageType = 1
	typeClose   netcode.MessageType = 2
	typeChannel netcode.MessageType = 3
	typeEvents  netcode.MessageType = 4
)

func (r *rogue) sayHello() { r.hello(r.token) }

// hello sends a hello of the right build, with a token.
func (r *rogue) hello(token [16]byte) { r.helloBy(r.match.hash, token) }

// helloBy sends the hello of a client whose protocol has this hash.
func (r *rogue) helloBy(hash uint64, token [16]byte) {
	h := netcode.Hello{Version: netcode.Version, Protocol: hash, Resume: token}
	r.body = h.Append(r.body[:0])
	r.say(netcode.MessageHello, r.body)
}

// sayHelloOfObserver asks to observe. The server's game refuses some, and panics at others.
func (r *rogue) sayHelloOfObserver() {
	h := netcode.Hello{Version: netcode.Version, Protocol: r.match.hash, Role: netcode.RoleObserve, SnapshotRate: byte(r.dice.n(3) * 5)}
	r.body = h.Append(r.body[:0])
	r.say(netcode.MessageHello, r.body)
}

// anyToken draws a token: none, its own, its own with a flipped bit, another
// rogue's, or any.
func (r *rogue) anyToken() (token [16]byte) {
	switch r.dice.n(6) {
	case 0, 1:
		return token
	case 2:
		token = r.token
		token[r.dice.n(16)] ^= 1 << r.dice.n(8)
	case 3:
		if n := len(r.match.tokens); n > 0 {
			return r.match.tokens[r.dice.n(n)]
		}
	case 4:
		r.dice.appendBytes(token[:0], 16)
	default:
		return r.token
	}
	return token
}

func (r *rogue) sayStrangeHello() {
	h := netcode.Hello{Version: netcode.Version, Protocol: r.match.hash, Resume: r.anyToken()}
	switch r.dice.n(10) {
	case 3:
		h.Role = netcode.Role(r.dice.bits(8))
	case 4:
		h.Role = netcode.RoleObserve
	case 0:
		h.Version = byte(r.dice.bits(8))
	case 1:
		h.Protocol ^= r.dice.long()
	case 2:
		h.SnapshotRate = byte(r.dice.bits(8))
	}
	if r.dice.one(2) {
		h.Architecture = [...]string{"arm64", "wasm", "loong64loong64x", "a", "?"}[r.dice.n(5)]
	}
	if r.dice.one(4) {
		r.data = r.dice.appendBytes(r.data[:0], r.dice.n(netcode.MaxHelloData+1))
		h.Data = r.data
	}
	if r.dice.one(2) {
		for range r.dice.n(netcode.MaxChannels + 1) {
			h.Taken = append(h.Taken, r.dice.number(0))
		}
	}
	r.body = h.Append(r.body[:0])
	r.spoil()
	r.say(netcode.MessageHello, r.body)
}

// spoil sometimes changes the body, so that it may become invalid.
func (r *rogue) spoil() {
	if !r.dice.one(6) {
		return
	}
	switch n := len(r.body); r.dice.n(4) {
	case 0:
		r.body = r.body[:r.dice.n(n+1)]
	case 1:
		r.body = r.dice.appendBytes(r.body, r.dice.n(8))
	default:
		if n > 0 {
			r.body[r.dice.n(n)] = byte(r.dice.bits(8))
		}
	}
}

// command makes a body of one command.
func (r *rogue) command(tick uint32, render uint32) {
	r.commands(1, tick, render)
}

// commands makes a body of n commands, the last one for a tick.
func (r *rogue) commands(n int, tick, render uint32) {
	size := max(int(r.welcome.CommandSize), 1)
	s := netcode.NewCommandSender(size, netcode.CommandConfig{})
	data := make([]byte, size)
	if !r.mute && r.dice.one(2) {
		data = r.dice.appendBytes(data[:0], size)
	}
	for i := range uint32(n) {
		s.Push(netcode.Command{Tick: tick - uint32(n) + 1 + i, Render: render, Data: data})
	}
	r.body = s.Append(r.body[:0], 1000)
}

func (r *rogue) sayCommand() {
	t := r.serverTick()
	r.command(t+1+uint32(r.dice.n(8)), t-uint32(r.dice.n(8)))
	r.say(netcode.MessageCommands, r.body)
}

func (r *rogue) sayStrangeCommand() {
	t := r.serverTick()
	switch r.dice.n(3) {
	case 0: // well formed, for a strange time
		r.command(r.dice.number(t), r.dice.number(t))
	case 1: // many commands, half of the time with a wrong count
		r.commands(1+r.dice.n(64), t+uint32(r.dice.n(64)), t)
		if len(r.body) > 1 && r.dice.one(2) {
			r.body[0] ^= byte(r.dice.bits(8))
			r.body[1] ^= byte(r.dice.bits(1))
		}
	default: // strange bits, for close ticks and far ones, with a base and without
		r.command(r.dice.number(t), t)
		r.body[0] ^= byte(r.dice.bits(3))
		r.body = r.dice.appendBytes(r.body[:min(len(r.body), 3+r.dice.n(8))], 1+r.dice.n(24))
	}
	r.spoil()
	r.say(netcode.MessageCommands, r.body)
}

// entry appends an entry of a stream. marks has 1 for a message's first entry, and 2 for its
// last.
func entry(b []byte, gap uint64, marks byte, kind byte, tick int64, payload []byte) []byte {
	b = binary.AppendUvarint(b, gap<<2|uint64(marks))
	if marks&1 != 0 {
		b = append(b, kind)
		b = binary.AppendUvarint(b, zigzag(tick))
	}
	b = binary.AppendUvarint(b, uint64(len(payload)))
	return append(b, payload...)
}

// sayRequest sends a request of the game, mostly like honest players.
func (r *rogue) sayRequest() {
	kind, payload := r.match.request(r.dice)
	r.data = append(r.data[:0], payload...)
	for i := range r.data {
		if r.dice.one(2) {
			r.data[i] = byte(r.dice.bits(8))
		}
	}
	if r.dice.one(16) {
		kind = byte(r.dice.bits(8))
	}
	if r.dice.one(16) {
		r.data = r.dice.appendBytes(r.data, r.dice.n(256))
	}
	b := binary.LittleEndian.AppendUint16(r.body[:0], r.stream[0])
	r.stream[0]++
	r.body = entry(b, 0, 3, kind, int64(r.serverTick()), r.data[:min(len(r.data), 256)])
	r.say(typeStream, r.body)
}

// sayFragments sends entries that may begin, continue, end, overlap or leave
// gaps.
func (r *rogue) sayFragments() {
	r.body = r.body[:0]
	if channel := r.dice.low(4); channel > 0 {
		r.body = append(r.body, byte(channel))
		r.fragments(channel)
		r.say(typeChannel, r.body)
		return
	}
	r.fragments(0)
	r.say(typeStream, r.body)
}

func (r *rogue) fragments(channel int) {
	id := r.stream[channel]
	if r.dice.one(4) {
		id = r.dice.number16(id)
	}
	b := binary.LittleEndian.AppendUint16(r.body, id)
	next := r.stream[channel]
	for range 1 + r.dice.low(8) {
		gap := uint64(0)
		if r.dice.one(8) {
			gap = r.dice.long()
		}
		size := [...]int{0, 1, 2, 16, 255, 256, 257}[r.dice.n(7)]
		if len(b)+size > 1000 {
			break
		}
		tick := int64(r.serverTick())
		if r.dice.one(8) {
			tick = int64(r.dice.long())
		}
		r.data = r.dice.appendBytes(r.data[:0], size)
		b = entry(b, gap, byte(r.dice.n(4)), byte(r.dice.bits(8)), tick, r.data)
		next += uint16(gap) + 1
	}
	r.body = b
	if !r.dice.one(4) {
		r.stream[channel] = next
	}
	r.spoil()
}

func (r *rogue) sayConfig() {
	r.body = netcode.ClientConfig{SnapshotRate: byte(r.dice.bits(8)), Bytes: r.dice.number(32_000)}.Append(r.body[:0])
	r.spoil()
	r.say(netcode.MessageReady, r.body)
}

// askSchema asks for a schema, like honest clients.
func (r *rogue) askSchema(q netcode.SchemaRequest) {
	r.data = q.Append(r.data[:0])
	b := binary.LittleEndian.AppendUint16(append(r.body[:0], 1), r.stream[1])
	r.stream[1]++
	r.body = entry(b, 0, 3, netcode.KindSchemaRequest, int64(r.serverTick()), r.data)
	r.say(typeChannel, r.body)
}

func (r *rogue) saySchema() {
	q := netcode.SchemaRequest{Name: r.match.schema}
	if r.dice.one(4) {
		q.Hash = r.dice.long()
	}
	if r.dice.one(8) {
		q.Name = ""
	}
	r.data = q.Append(r.data[:0])
	kind := netcode.KindSchemaRequest
	if r.dice.one(8) {
		kind = byte(r.dice.bits(8))
	}
	b := binary.LittleEndian.AppendUint16(append(r.body[:0], 1), r.stream[1])
	r.stream[1]++
	r.body = entry(b, 0, 3, kind, int64(r.serverTick()), r.data)
	r.spoil()
	r.say(typeChannel, r.body)
}

// sayChannel sends arbitrary data on any channel.
func (r *rogue) sayChannel() {
	b := append(r.body[:0], byte(r.dice.n(10)))
	if r.dice.one(8) {
		b[0] = byte(r.dice.bits(8))
	}
	b = binary.LittleEndian.AppendUint16(b, r.dice.number16(0))
	r.body = entry(b, 0, byte(r.dice.n(4)), byte(r.dice.bits(8)), int64(r.dice.number(0)), r.dice.appendBytes(r.data[:0], r.dice.n(16)))
	r.say(typeChannel, r.body)
}

func (r *rogue) sayEvents() {
	b := append(r.body[:0], byte(r.dice.n(10)))
	b = binary.LittleEndian.AppendUint16(b, r.dice.number16(0))
	for range 1 + r.dice.low(8) {
		gap := uint64(0)
		if r.dice.one(8) {
			gap = r.dice.long()
		}
		b = binary.AppendUvarint(b, gap)
		b = append(b, byte(r.dice.bits(8)))
		b = binary.AppendUvarint(b, zigzag(int64(r.dice.number(r.serverTick()))))
		n := r.dice.n(16)
		b = binary.AppendUvarint(b, uint64(n))
		b = r.dice.appendBytes(b, n)
	}
	r.body = b
	r.spoil()
	r.say(typeEvents, r.body)
}

func (r *rogue) sayClose() {
	r.body = binary.LittleEndian.AppendUint16(r.body[:0], r.dice.number16(0))
	r.body = r.dice.appendBytes(r.body, r.dice.n(220))
	r.spoil()
	r.say(typeClose, r.body)
}

// sayServers sends messages that only a server sends.
func (r *rogue) sayServers() {
	r.body = r.body[:0]
	switch r.dice.n(4) {
	case 0:
		w := r.welcome
		w.TickRate, w.SnapshotInterval = 30, 1
		r.body = w.Append(r.body)
		r.say(netcode.MessageWelcome, r.body)
	case 1:
		r.body = netcode.Reject{Code: byte(r.dice.bits(8))}.Append(r.body)
		r.say(netcode.MessageReject, r.body)
	case 2:
		r.body = netcode.SnapshotHeader{Tick: r.dice.number(r.serverTick())}.Append(r.body)
		r.body = r.dice.appendBytes(r.body, r.dice.n(64))
		r.say(netcode.MessageSnapshot, r.body)
	default:
		r.body = netcode.LevelInfo{Epoch: byte(r.dice.bits(8)), Tick: r.dice.number(r.serverTick())}.Append(r.body)
		r.say(netcode.MessageLevel, r.body)
	}
}

func (r *rogue) sayUnknown() {
	r.body = r.dice.appendBytes(r.body[:0], r.dice.low(64))
	r.say(netcode.MessageType(r.dice.bits(8)), r.body)
}

// sayBroken sends a message whose length does not match its body.
func (r *rogue) sayBroken() {
	r.buf = append(r.buf, byte(r.dice.n(24)))
	r.buf = binary.AppendUvarint(r.buf, r.dice.long())
	r.buf = r.dice.appendBytes(r.buf, r.dice.low(32))
}

// sayEye sends where it looks from, as observers do.
func (r *rogue) sayEye() {
	switch r.dice.n(3) {
	case 0:
		r.body = netcode.Eye{Player: uint16(r.dice.bits(16))}.Append(r.body[:0])
	case 1:
		r.body = netcode.Eye{Has: true, X: float32(r.dice.n(2000)) - 1000, Z: 1e30}.Append(r.body[:0])
	default:
		r.body = r.dice.appendBytes(r.body[:0], 12)
	}
	r.spoil()
	r.say(netcode.MessageEye, r.body)
}

// sayUnread reports that some snapshot could not be read.
func (r *rogue) sayUnread() {
	r.body = netcode.Unread{Epoch: byte(r.dice.n(3)), Wire: uint16(r.dice.bits(16))}.Append(r.body[:0])
	r.spoil()
	r.say(netcode.MessageUnread, r.body)
}
