package client

import (
	"errors"
	"fmt"
	"time"
	"unsafe"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/internal/standard"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
)

// link is the connection to the server and its settings.
type link struct {
	*base

	endpoint  transport.Endpoint
	peer      transport.PeerID
	address   string // the server's address, for logs
	up        bool   // the transport is connected
	conn      *netcode.Conn
	kept      *netcode.Conn  // the lost connection while Resuming: its requests wait
	allowance game.Allowance // limits requests
	lastSend  time.Duration
	rejected  *netcode.Reject
	levelled  bool // the current packet had a level
	// decoding is true while bytes of the server are read. Nothing of the game runs then.
	decoding bool
	// newest is the newest snapshot of this connection, in any level. It is 0 if there is none.
	newest foretick.Tick
	clock  *netcode.Clock
	ticks  tickGuard
	heard  time.Duration // when the newest snapshot arrived
	builds builds
	place  place
	level  currentLevel
	wish   wish
	// delivered has the packets that the server received since the newest snapshot.
	delivered []netcode.Seq
	unread    unreadReport
	lost      redialling
	// stood is for how long the client had been suspended when it woke. It is 0 once a snapshot has
	// arrived since.
	stood time.Duration
	woke  time.Duration
	eye   netcode.Eye // where an observer looks from
	looks bool        // the observer has set where it looks from

	snapshotInterval time.Duration // as the server reported

	events  [64]transport.Event
	scratch []byte
}

// wish has the settings that the client requests from the server.
type wish struct {
	wanted  bool        // there are settings to request
	asked   bool        // the request was sent
	granted bool        // the server has received it
	from    netcode.Seq // the first packet with it
}

func newLink(b *base) link {
	l := link{base: b, endpoint: b.cfg.Transport}
	l.builds.speaks, l.wish.wanted = b.p.Hash, b.cfg.ReceiveRate > 0
	l.restore(b.cfg.ResumeToken)
	if o := b.cfg.Observe; o != nil && o.Follow != ecs.Nobody {
		l.looks, l.eye = true, netcode.Eye{Player: uint16(o.Follow)}
	}
	return l
}

// leastRate returns the lowest rate that congestion control sets. A tick's commands fit into it at any
// tick rate.
func (l *link) leastRate() int { return min(l.cfg.SendRate, max(4000, 100*l.p.TickRate)) }

func (l *link) disconnected(ev *transport.Event) {
	if l.rejected != nil || ev.Code == transport.Mismatch && l.up { // otherwise it never exchanged packets with a server
		e := &ProtocolError{Ours: l.cfg.Protocol.Hash()}
		if l.rejected != nil {
			e.Theirs = l.rejected.Protocol
		}
		l.endConnection(e)
		return
	}
	l.lose(&transport.DisconnectError{Code: ev.Code, Reason: ev.Reason})
}

// who returns the attributes that identify the client in a log line. The address is the server's, as
// the transport knows it.
func (l *link) who() []any {
	var info transport.Info
	if l.endpoint.Info(l.peer, &info) { // otherwise the endpoint has forgotten the peer
		l.address = info.Addr
	}
	return []any{"player", l.view.Player, "connection", l.stats.Connections, "address", l.address}
}

func (l *link) endConnection(err error) {
	if l.view.State != Closed {
		l.view.State, l.view.Err, l.up = Closed, err, false
		l.cfg.Logger.Info("connection ended", append(l.who(), "err", err)...)
	}
}

// believes reports whether the server can have reached the tick of a snapshot. A snapshot of an
// impossible tick is not acknowledged, so that the server does not use it as a baseline.
func (l *link) believes(t foretick.Tick) bool {
	if l.cfg.SnapshotRate > 0 {
		l.ticks.interval = max(l.ticks.interval, time.Second/time.Duration(l.cfg.SnapshotRate))
	}
	if l.ticks.allow(l.now, t) {
		return true
	}
	l.stats.SnapshotsFar++
	l.conn.Refuse()
	return false
}

// fates checks whether the packet with the client's settings has arrived, and passes the fates of
// packets to the sender of commands. Commands need no such check: they are sent repeatedly, and each
// snapshot names the newest one that the server received.
func (l *link) fates(ip *input) {
	for f, ok := l.conn.NextFate(); ok; f, ok = l.conn.NextFate() {
		if ip.commands != nil {
			ip.commands.Fate(f.Delivered)
		}
		if !f.Delivered {
			ip.lost(f.Seq)
		}
		if f.Delivered && len(l.delivered) < mostDelivered {
			l.delivered = append(l.delivered, f.Seq)
		}
		if f.Delivered && l.wish.asked && !l.wish.granted && !precedes(f.Seq, l.wish.from) {
			l.wish.granted = true
		}
	}
}

// mostDelivered is how many packets are listed at most while no snapshot arrives.
const mostDelivered = 256

// precedes reports whether a packet was numbered before another one. A distance of half of all numbers
// counts as before.
func precedes(a, b netcode.Seq) bool { return netcode.Distance(a, b) < 0 }

// sendPackets sends a hello, or the newest commands, or at least an acknowledgement.
func (l *link) sendPackets(ticks int, ip *input) {
	if !l.up || l.view.State == Closed {
		return
	}
	interval := time.Second / time.Duration(l.p.TickRate)
	greet := l.view.State == Connecting || l.view.State == Resuming
	if greet {
		interval = helloInterval
	}
	if l.cfg.Observe != nil { // an observer sends little else than acknowledgements
		interval, ticks = max(interval, l.snapshotInterval), 0
	}
	if ticks == 0 && l.now-l.lastSend < interval || l.conn.Paused(l.now) {
		return
	}
	l.lastSend = l.now
	if l.builds.asks && !l.builds.asked {
		l.builds.asked = l.conn.SendOn(standard.ChannelSchemas, 0, netcode.KindSchemaRequest, netcode.SchemaRequest{Name: netcode.ProtocolSchema}.Append(nil)) == nil
	}
	pk := l.conn.Begin(l.now)
	l.fates(ip)
	asks := l.view.State >= Syncing && !greet && l.askConfigure(pk)
	if greet && l.rejected == nil && !l.builds.asks {
		hello := netcode.Hello{Version: game.HelloVersion, Protocol: l.builds.speaks, Resume: l.place.token, SnapshotRate: uint8(l.cfg.SnapshotRate), Architecture: l.architecture}
		if l.cfg.Observe != nil {
			hello.Role, hello.Data = netcode.RoleObserve, l.cfg.Observe.Data
		} else if l.stats.Connections > 0 { // otherwise another process of the player received them
			hello.Taken = l.place.taken[:standard.GameChannels+len(l.p.Channels)]
		}
		l.scratch = hello.Append(l.scratch[:0])
		pk.Message(netcode.MessageHello, l.scratch)
	}
	if l.looks && l.view.State >= Syncing && !greet {
		l.scratch = l.eye.Append(l.scratch[:0])
		pk.Message(netcode.MessageEye, l.scratch)
	}
	carries := false
	if ip.commands != nil && l.view.State == Playing {
		l.scratch = ip.commands.Append(l.scratch[:0], pk.Room())
		if carries = len(l.scratch) > 0; carries {
			pk.Message(netcode.MessageCommands, l.scratch)
		}
	}
	if l.tracer.armed || l.tracer.stop {
		if l.view.State == Playing {
			l.tracer.writeTrace(l, pk, l.newest)
		}
	}
	if l.view.State >= Syncing && !greet {
		l.unread.writeUnread(l, pk)
	}
	if l.reports.until > 0 && l.view.State == Playing {
		l.reports.writeReport(l.now, pk)
	}
	if l.view.State == Playing {
		l.counts.writeCounts(l, pk)
	}
	seq, b := pk.Finish()
	ip.sent = seq
	if carries {
		oldest, _ := ip.commands.Oldest()
		ip.sending(seq, oldest)
	}
	if asks && !l.wish.asked {
		l.wish.asked, l.wish.from = true, seq
	}
	if l.endpoint.Send(l.peer, b) == nil {
		l.stats.BytesOut += uint64(len(b))
	}
}

// askConfigure asks for the rates of Configure until a packet with the request was delivered.
func (l *link) askConfigure(pk *netcode.Packet) bool {
	if !l.wish.wanted || l.wish.granted {
		return false
	}
	wish := netcode.ClientConfig{SnapshotRate: uint8(l.cfg.SnapshotRate), Bytes: uint32(l.cfg.ReceiveRate)}
	l.scratch = wish.Append(l.scratch[:0])
	return pk.Message(netcode.MessageReady, l.scratch)
}

// Configure asks the server to send at most snapshotRate snapshots and receiveRate bytes a
// second from now on. 0 leaves either to the server, which raises a receiveRate below 2000
// to 2000. Use it where a player shares its connection with others. It returns an error for
// negative numbers, above 255 snapshots, and above 2³⁰ bytes.
func (c *Client) Configure(snapshotRate, receiveRate int) error {
	if snapshotRate < 0 || snapshotRate > 255 || receiveRate < 0 || receiveRate > 1<<30 {
		return fmt.Errorf("foretick: Configure(%d, %d): use 0 to 255 snapshots and up to 2³⁰ bytes a second", snapshotRate, receiveRate)
	}
	c.cfg.SnapshotRate, c.cfg.ReceiveRate = snapshotRate, receiveRate
	c.link.wish.wanted, c.link.wish.asked, c.link.wish.granted = true, false, false
	return nil
}

// request queues a request for the server.
func (l *link) request(r *layout.Request, v unsafe.Pointer) error {
	q := l.queue()
	switch {
	case q == nil || l.view.State < Syncing || l.view.State == Closed:
		return foretick.ErrNotPlaying
	case l.cfg.Observe != nil:
		return errObserves
	case r.Kind < 0:
		return foretick.ErrUnknownRequest
	case !l.allowance.TakeOne(l.now, game.RequestRate, game.RequestBurst):
		return foretick.ErrTooManyRequests
	}
	l.losses.Sent(r.Name, r.Schema, v)
	l.scratch = r.Schema.Pack(v, l.scratch[:0])
	if q.SendOn(standard.ChannelMain, l.view.Tick, uint8(r.Kind), l.scratch) != nil { // the queue is full: nothing that is declared is longer than it may be
		return foretick.ErrTooManyRequests // the queue is full; longer than it may be nothing declared is
	}
	l.stats.Requests++
	for _, fn := range l.hooks.request {
		fn(probe.RequestSent{Kind: uint8(r.Kind), Payload: l.scratch})
	}
	return nil
}

// queue returns the connection in which requests wait: the current one, or the lost one.
func (l *link) queue() *netcode.Conn {
	if l.kept != nil {
		return l.kept
	}
	return l.conn
}

// takeOver sends on a new connection everything that the server did not receive on the lost one. own is
// true if the client has its old place back.
func (l *link) takeOver(own bool, taken uint32) {
	kept := l.kept
	l.kept = nil
	switch {
	case kept == nil:
	case !own:
		l.stats.RequestsDropped += uint64(kept.PendingOn(standard.ChannelMain))
	case errors.Is(l.conn.TakeOver(kept, standard.ChannelMain, int64(taken)), netcode.ErrTaken):
		l.stats.Malformed++
		_ = l.conn.TakeOver(kept, standard.ChannelMain, netcode.Forgotten) // which cannot fail with it
	}
}

func (c *Client) queueRequest(id game.RequestID, v unsafe.Pointer) error {
	return c.link.request(&c.p.Requests[id-1], v)
}
