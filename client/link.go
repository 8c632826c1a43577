package client

import (
	"errors"
	"fmt"
	"time"
	"unsafe"

	"github.com/foretick/foretick"
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
	address   string // address is the server's, for logs.
	up        bool   // up is true while the transport is connected.
	conn      *netcode.Conn
	kept      *netcode.Conn  // kept is the lost connection while Resuming: its requests wait.
	allowance game.Allowance // allowance limits requests.
	lastSend  time.Duration
	rejected  *netcode.Reject
	levelled  bool // levelled is true if the packet at hand brought a level.
	// decoding is true while bytes of the server are read: nothing of the game runs then.
	decoding bool
	// newest is the newest snapshot of this connection, in whatever level. 0 means none.
	newest foretick.Tick
	clock  *netcode.Clock
	ticks  tickGuard
	heard  time.Duration // heard is when the newest snapshot came.
	builds builds
	place  place
	level  currentLevel
	wish   wish
	// delivered are the packets that the server received since the newest snapshot.
	delivered []netcode.Seq
	unread    unreadReport
	lost      redialling
	// stood is how long the client had stood still when it woke. It is 0 once a snapshot came
	// since.
	stood time.Duration
	woke  time.Duration
	eye   netcode.Eye // eye is where an observer looks from.
	looks bool        // looks is true if the observer said where it looks from.

	snapshotInterval time.Duration // snapshotInterval is what the server said.

	events  [64]transport.Event
	scratch []byte
}

// wish is what the client asked of the server by Configure.
type wish struct {
	wanted  bool        // there is one to tell
	asked   bool        // it was sent
	granted bool        // the server has it
	from    netcode.Seq // the first packet that carried it
}

func newLink(b *base) link {
	l := link{base: b, endpoint: b.cfg.Transport}
	l.builds.speaks, l.wish.wanted = b.p.Hash, b.cfg.ReceiveRate > 0
	l.restore(b.cfg.ResumeToken)
	return l
}

// leastRate is the lowest rate that congestion control sets. A tick's commands fit into it
// at any tick rate.
func (l *link) leastRate() int { return min(l.cfg.SendRate, max(4000, 100*l.p.TickRate)) }

func (l *link) disconnected(ev *transport.Event) {
	if l.rejected != nil || ev.Code == transport.Mismatch && l.up { // else it never spoke with a server
		e := &ProtocolError{Ours: l.cfg.Protocol.Hash()}
		if l.rejected != nil {
			e.Theirs = l.rejected.Protocol
		}
		l.endConnection(e)
		return
	}
	l.lose(&transport.DisconnectError{Code: ev.Code, Detail: ev.Detail})
}

// who returns the attributes that identify the client in a log line. The address is that of the
// server, as the transport knows it.
func (l *link) who() []any {
	var info transport.Info
	if l.endpoint.Info(l.peer, &info) { // else the endpoint has forgotten it
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

// believes reports whether the server can have reached the tick of a snapshot. A snapshot
// of an impossible tick is not acknowledged, so that the server does not use it as a
// baseline.
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

// fates checks whether the packet with the client's settings arrived, and tells the sender
// of commands how many packets are lost in a row. Commands need no check: they are sent
// repeatedly, and each snapshot has the newest that the server received.
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

// mostDelivered bounds the packets that are listed while no snapshot comes.
const mostDelivered = 256

// precedes reports whether a packet was numbered before another. A distance of half the
// circle counts as before.
func precedes(a, b netcode.Seq) bool { return netcode.Distance(a, b) < 0 }

// sendPackets greets, or sends the newest commands, or at least an acknowledgement.
func (l *link) sendPackets(ticks int, ip *input) {
	if !l.up || l.view.State == Closed {
		return
	}
	interval := time.Second / time.Duration(l.p.TickRate)
	greet := l.view.State == Connecting || l.view.State == Resuming
	if greet {
		interval = helloInterval
	}
	if l.cfg.Observe { // it has nothing to say but acknowledgements
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
		if l.cfg.Observe {
			hello.Role, hello.Data = netcode.RoleObserve, l.cfg.ObserveData
		} else if l.stats.Connections > 0 { // else another process of the player's took them
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

// askConfigure sends the wish of Configure until a packet that carried it was delivered.
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
		return foretick.ErrNotIn
	case l.cfg.Observe:
		return errObserves
	case r.Kind < 0:
		return foretick.ErrNotThere
	case !l.allowance.TakeOne(l.now, game.RequestRate, game.RequestBurst):
		return foretick.ErrTooMany
	}
	l.losses.Sent(r.Name, r.Schema, v)
	l.scratch = r.Schema.Pack(v, l.scratch[:0])
	if q.SendOn(standard.ChannelMain, l.view.Tick, uint8(r.Kind), l.scratch) != nil {
		return foretick.ErrTooMany // the queue is full; longer than it may be nothing declared is
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

// takeOver sends on a new connection everything that the server did not receive on the lost
// one. own is set if the client is back in its own place.
func (l *link) takeOver(own bool, taken uint32) {
	kept := l.kept
	l.kept = nil
	switch {
	case kept == nil:
	case !own:
		l.stats.RequestsDropped += uint64(kept.PendingOn(standard.ChannelMain))
	case errors.Is(l.conn.TakeOver(kept, standard.ChannelMain, int64(taken)), netcode.ErrTaken):
		l.stats.Malformed++
		_ = l.conn.TakeOver(kept, standard.ChannelMain, netcode.Forgotten) // with which it cannot fail
	}
}

func (c *Client) queueRequest(id game.RequestID, v unsafe.Pointer) error {
	return c.link.request(&c.p.Requests[id-1], v)
}
