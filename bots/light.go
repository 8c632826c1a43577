package bots

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"time"
	"unsafe"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/counts"
	"github.com/foretick/foretick/internal/guard"
	"github.com/foretick/foretick/internal/standard"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/transport"
)

// Game holds the data that all light bots of one game share. New makes one. Several goroutines
// may call Join at the same time.
type Game struct {
	hash     uint64
	rate     int
	tags     int // number of tags of shared systems
	channels []netcode.Channel
	size     int                                                // bytes of a packed command
	fields   []uint8                                            // widths in bits of the numbers in a packed command
	packs    func(bot int) func(dst []byte, tick uint32) []byte // returns a bot's function that packs its commands
}

// New reads a game's protocol for light bots. command fills the command of a tick, which is zero
// before. bot is the number from [Game.Join], so that each bot may do something else. T must be
// the type given to the protocol's Command. The error is the protocol's, or says that T is
// another type.
func New[T any](p *foretick.Protocol, command func(dst *T, bot int, tick uint32)) (*Game, error) {
	if err := p.Err(); err != nil {
		return nil, err
	}
	if command == nil {
		return nil, errors.New("bots: New is given no command function: pass one that leaves the command as it is for bots that stand still")
	}
	all, err := schema.ReadProtocol(p.Schema(nil))
	if err != nil {
		return nil, err
	}
	g := &Game{hash: all.Hash(), rate: all.TickRate, tags: len(all.Tags), channels: make([]netcode.Channel, standard.GameChannels)}
	g.channels[standard.ChannelMain] = netcode.Channel{Reliable: true, Priority: standard.MainPriority}
	g.channels[standard.ChannelSchemas] = netcode.Channel{Reliable: true}
	for _, c := range all.Channels {
		g.channels = append(g.channels, netcode.Channel{Reliable: c.Reliable, Priority: c.Priority})
	}
	own, err := schema.Compile(reflect.TypeFor[T](), schema.Options{})
	if err != nil {
		return nil, err
	}
	if all.Command == nil || all.Command.Name() != own.Name() || all.Command.PackedSize() != own.PackedSize() {
		return nil, fmt.Errorf("bots: %v is not the command of %s: pass a function over the type given to Protocol.Command", reflect.TypeFor[T](), all.Game)
	}
	g.size, g.fields = own.PackedSize(), own.PackedFields()
	g.packs = func(bot int) func(dst []byte, tick uint32) []byte {
		v, zero := new(T), *new(T)
		return func(dst []byte, tick uint32) []byte {
			*v = zero
			command(v, bot, tick)
			return own.Pack(unsafe.Pointer(v), dst)
		}
	}
	return g, nil
}

// Stats counts what one light bot did.
type Stats struct {
	Joins     uint64        // connections that the server accepted
	Resumed   uint64        // connections with which the bot got its place back
	Commands  uint64        // commands made
	Snapshots uint64        // snapshots received
	Received  uint64        // bytes of all packets received
	Sent      uint64        // bytes of all packets sent
	Malformed uint64        // packets and messages that could not be read
	Lead      time.Duration // by how much the newest commands reached the server early
	RTT       time.Duration // round trip of the connection
}

// String returns the counters that are not zero as one line for a log.
func (s Stats) String() string { return counts.Line(s) }

// Light is a player without a world. [Game.Join] makes one. It is not safe for concurrent
// use.
type Light struct {
	// Redial, when set, makes a new endpoint after a lost connection. The bot then reconnects
	// with its token and gets its place back. Step calls Redial.
	Redial func() (transport.Endpoint, error)

	game     *Game
	pack     func(dst []byte, tick uint32) []byte
	endpoint transport.Endpoint
	conn     *netcode.Conn
	peer     transport.PeerID
	commands *netcode.CommandSender
	begun    time.Time
	now      time.Duration
	welcome  netcode.Welcome
	state    state
	since    time.Duration // time of the current dial
	next     time.Duration // time of the next packet
	at       float64       // the bot's clock at atTime, in ticks: the server's clock plus the lead
	atTime   time.Duration
	settles  time.Duration // earliest time of the clock's next jump
	speed    float64       // speed of the server's ticks, as a share of the full speed
	fromTick uint32        // the tick since which the speed is measured
	fromLost uint32        // lost ticks at fromTick, in quarters of a tick
	lost     uint32        // lost ticks in the newest snapshot, in quarters of a tick
	made     uint32        // tick of the newest command
	newest   uint32        // tick of the newest snapshot
	stats    Stats
	err      error
	scratch  []byte
	packed   []byte
	events   [8]transport.Event
}

var errTags = errors.New("bots: a Welcome with tags that the protocol does not have")

type state uint8

const (
	dialling state = iota
	greeting
	playing
	waiting // until it dials again
	over
)

const (
	helloInterval = 100 * time.Millisecond
	redialAfter   = 500 * time.Millisecond
	silence       = 5 * time.Second
)

// Join makes a bot that plays over a dialled endpoint, which it closes in Close. bot may be any
// number, for example the number that [Crowd].Start gets.
func (g *Game) Join(bot int, endpoint transport.Endpoint) (*Light, error) {
	if guard.Missing(endpoint) {
		return nil, errors.New("bots: Join is given a nil endpoint: look at the error of Dial first")
	}
	return &Light{game: g, endpoint: endpoint, pack: g.packs(bot)}, nil
}

// Playing reports whether the server has accepted the bot, and it is still connected.
func (l *Light) Playing() bool { return l.state == playing }

// Stats returns the counters so far.
func (l *Light) Stats() Stats {
	st := l.stats
	if l.conn != nil {
		st.RTT = l.conn.RTT()
	}
	return st
}

// Next returns when Step is due, the zero time before the first Step.
func (l *Light) Next() time.Time {
	if l.begun.IsZero() {
		return time.Time{}
	}
	return l.begun.Add(l.next)
}

// Step reads received packets and sends those that are due at now, which must not go back. The
// error is the reason why the connection ended: a [*transport.DisconnectError]. Further calls
// return it again.
func (l *Light) Step(now time.Time) error {
	if l.begun.IsZero() {
		l.begun = now
	}
	l.now = guard.Elapsed(&l.begun, l.now, now)
	if l.state == over {
		return l.err
	}
	for n := len(l.events); n == len(l.events) && l.state < waiting; {
		n = l.endpoint.Recv(l.events[:])
		for i := range l.events[:n] {
			l.handleEvent(&l.events[i])
		}
	}
	switch {
	case l.state == over:
		return l.err
	case l.state == dialling && l.stats.Joins > 0 && l.now-l.since > silence:
		l.redial()
	case l.state == waiting:
		if l.now >= l.next {
			l.redial()
		}
	case l.state > dialling && l.conn.Silent(l.now) > silence:
		l.lose(transport.Timeout, "the server is silent")
	}
	if (l.state == greeting || l.state == playing) && l.now >= l.next {
		l.sendCommands()
	}
	l.endpoint.Flush()
	if l.now >= l.next && l.state != waiting {
		l.next = l.now + time.Second/time.Duration(l.game.rate)
	}
	return l.err
}

// Vanish loses the connection without notice to the server, as if a cable was pulled. The bot
// then reconnects with Redial.
func (l *Light) Vanish() { l.lose(transport.Timeout, "vanished") }

// Close leaves the match and closes the endpoint.
func (l *Light) Close() error {
	l.endWith(transport.Closed, "")
	return l.endpoint.Close(transport.Closed, "")
}

func (l *Light) endWith(code transport.Code, reason string) {
	if l.state != over {
		l.state, l.err = over, &transport.DisconnectError{Code: code, Reason: reason}
	}
}

// lose ends the connection, and dials again if that can help. After Full the bot waits and dials
// again: its own lost connection may still take the place.
func (l *Light) lose(code transport.Code, reason string) {
	if code == transport.Full && l.Redial != nil && l.stats.Joins > 0 && l.state != playing {
		l.state, l.next = waiting, l.now+redialAfter
		return
	}
	again := code == transport.Timeout || code == transport.Unreachable || code == transport.Gone || code == transport.Restart
	if !again || l.Redial == nil || l.stats.Joins == 0 {
		l.endWith(code, reason)
		return
	}
	l.redial()
}

func (l *Light) redial() {
	_ = l.endpoint.Close(transport.Timeout, "")
	e, err := l.Redial()
	if err != nil {
		l.endWith(transport.Unreachable, err.Error())
		return
	}
	l.endpoint, l.state, l.since, l.next = e, dialling, l.now, l.now+redialAfter
}

func (l *Light) handleEvent(ev *transport.Event) {
	switch ev.Kind {
	case transport.Connected:
		var info transport.Info
		if !l.endpoint.Info(ev.Peer, &info) {
			return
		}
		l.peer, l.state, l.next = ev.Peer, greeting, l.now
		l.conn = netcode.NewConn(netcode.Config{MTU: info.MTU, Channels: l.game.channels})
	case transport.Disconnected:
		l.lose(ev.Code, ev.Reason)
	case transport.Data:
		if l.state == greeting || l.state == playing {
			l.receivePacket(ev.Data)
		}
	}
}

func (l *Light) receivePacket(b []byte) {
	l.stats.Received += uint64(len(b))
	if l.conn.Receive(l.now, b) != nil {
		l.stats.Malformed++
		return
	}
	l.fates()
	for m, ok := l.conn.NextMessage(); ok; m, ok = l.conn.NextMessage() {
		if l.receiveMessage(m) != nil {
			l.stats.Malformed++
		}
	}
	for _, ok := l.conn.NextReliable(); ok; _, ok = l.conn.NextReliable() {
		continue // messages of the game, which a bot without a world does not read
	}
	for _, ok := l.conn.NextEvent(); ok; _, ok = l.conn.NextEvent() {
		continue
	}
}

func (l *Light) fates() {
	for f, ok := l.conn.NextFate(); ok; f, ok = l.conn.NextFate() {
		if l.commands != nil {
			l.commands.Fate(f.Delivered)
		}
	}
}

func (l *Light) receiveMessage(m netcode.Message) error {
	switch m.Type {
	case netcode.MessageWelcome:
		w, err := netcode.ParseWelcome(m.Body)
		if err == nil && w.Tags>>l.game.tags != 0 {
			err = errTags
		}
		if err == nil && l.state == greeting {
			l.enterMatch(w)
		}
		return err
	case netcode.MessageReject:
		r, err := netcode.ParseReject(m.Body)
		if err == nil {
			l.endWith(transport.Mismatch, r.Text)
		}
		return err
	case netcode.MessageSnapshot:
		h, rest, err := netcode.ParseSnapshotHeader(m.Body)
		if err == nil && l.state == playing {
			l.snapshot(h, rest)
		}
		return err
	}
	return nil // levels and notes concern a world, which the bot does not have
}

// enterMatch begins to play.
func (l *Light) enterMatch(w netcode.Welcome) {
	const mostLate = 32 // most ticks that a server accepts late commands
	l.state, l.welcome = playing, w
	l.stats.Joins++
	if w.Resumed {
		l.stats.Resumed++
	}
	rtt := l.conn.RTT()
	l.at, l.atTime = float64(w.Tick)+rtt.Seconds()*float64(l.game.rate)+leadTarget+2, l.now
	l.made, l.newest = uint32(l.at), w.Tick
	l.speed, l.fromTick, l.fromLost, l.lost = 1, w.Tick, 0, 0
	l.commands = netcode.NewCommandSender(l.game.size, netcode.CommandConfig{Late: min(int(w.Late), mostLate), Fields: l.game.fields})
	l.next = l.now
}

// sendCommands makes the commands that are due, and sends them with the acknowledgements.
func (l *Light) sendCommands() {
	interval := time.Second / time.Duration(l.game.rate)
	if l.next += interval; l.state == greeting || l.next < l.now {
		l.next = l.now + min(interval, helloInterval)
	}
	pk := l.conn.Begin(l.now)
	l.fates()
	if l.state == greeting {
		hello := netcode.Hello{Version: netcode.Version, Protocol: l.game.hash, Resume: l.welcome.Resume, Architecture: runtime.GOARCH}
		l.scratch = hello.Append(l.scratch[:0])
		pk.Message(netcode.MessageHello, l.scratch)
		l.next = l.now + helloInterval
	} else {
		l.command()
		if l.scratch = l.commands.Append(l.scratch[:0], pk.Room()); len(l.scratch) > 0 {
			pk.Message(netcode.MessageCommands, l.scratch)
		}
	}
	_, b := pk.Finish()
	if l.endpoint.Send(l.peer, b) == nil {
		l.stats.Sent += uint64(len(b))
	}
}
