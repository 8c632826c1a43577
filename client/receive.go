package client

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/internal/standard"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/transport"
)

var (
	errHeader = errors.New("foretick: malformed snapshot header")
	errTags   = errors.New("foretick: a Welcome with tags that the protocol does not have")
	errLevels = errors.New("foretick: two levels in a packet") // a server writes one per packet, and each level costs work
)

// receive handles everything that the transport received.
func (c *Client) receive() {
	if c.ghosts.overfull {
		c.link.leaveCrowded()
		return
	}
	for {
		n := c.link.endpoint.Recv(c.link.events[:])
		for i := range c.link.events[:n] {
			c.handleEvent(&c.link.events[i])
		}
		if n < len(c.link.events) {
			break
		}
	}
	switch {
	case !c.link.up:
	case c.link.silent():
		c.link.breakOff("the server is silent")
	case c.link.conn.Lapsed():
		c.link.breakOff(game.Lapsed)
	}
}

func (c *Client) handleEvent(ev *transport.Event) {
	switch ev.Kind {
	case transport.Connected:
		var info transport.Info
		mtu := 0
		if c.link.endpoint.Info(ev.Peer, &info) {
			mtu = info.MTU
		}
		c.link.peer, c.link.up = ev.Peer, true
		c.link.conn = netcode.NewConn(netcode.Config{MTU: mtu, Timeout: c.cfg.Timeout, Rate: c.cfg.SendRate, MinRate: c.link.leastRate(), Channels: c.p.NetChannels()})
		c.link.builds.asks, c.link.builds.asked = false, false
		c.link.lastSend = c.now - helloInterval
	case transport.Disconnected:
		c.link.disconnected(ev)
	case transport.Data:
		if c.link.up {
			c.receivePacket(ev.Data)
		}
	}
}

// receivePacket reads one datagram.
func (c *Client) receivePacket(b []byte) {
	c.stats.BytesIn += uint64(len(b))
	c.link.levelled, c.link.decoding = false, true
	defer c.link.guard(b)
	err := c.link.conn.Receive(c.now, b)
	c.link.fates(&c.input)
	if err != nil {
		c.link.decoded()
		return // the connection counted it
	}
	c.link.stood = 0
	for m, ok := c.link.conn.NextMessage(); ok; m, ok = c.link.conn.NextMessage() {
		if err := c.receiveMessage(m); err != nil {
			if errors.Is(err, snapshot.ErrHeavy) {
				c.stats.SnapshotsHeavy++
			} else {
				c.stats.Malformed++
			}
			if m.Type == netcode.MessageSnapshot {
				c.link.conn.Refuse() // a snapshot that was not read must not become a baseline
			}
		}
		c.link.decoding = true
	}
	for r, ok := c.link.conn.NextReliable(); ok; r, ok = c.link.conn.NextReliable() {
		c.link.place.taken[r.Channel]++
		c.reliable(r)
		c.link.decoding = true
	}
	for e, ok := c.link.conn.NextEvent(); ok; e, ok = c.link.conn.NextEvent() {
		c.receiveTold(e.Channel, e.Kind, e.Tick, e.Payload)
		c.link.decoding = true
	}
	c.link.decoded()
}

func (c *Client) receiveMessage(m netcode.Message) error {
	switch m.Type {
	case netcode.MessageWelcome:
		w, err := netcode.ParseWelcome(m.Body)
		if err != nil {
			return err
		}
		if w.Tags>>len(c.p.Tags) != 0 {
			return errTags
		}
		c.link.decoded()
		c.welcome(w)
	case netcode.MessageReject:
		r, err := netcode.ParseReject(m.Body)
		if err != nil {
			return err
		}
		c.link.decoded()
		if r.Code == game.RejectBuildDifference {
			c.otherBuilds(r)
			return nil
		}
		c.link.rejected = &r
		if r.Code != game.RejectMismatch {
			c.link.endConnection(&transport.DisconnectError{Code: transport.Refused, Reason: r.Text})
		}
	case netcode.MessageLevel:
		info, err := netcode.ParseLevelInfo(m.Body)
		if err != nil {
			return err
		}
		c.link.decoded()
		if c.link.levelled {
			return errLevels
		}
		c.link.levelled = true
		if c.link.clock != nil && c.view.State != Resuming {
			c.enterLevel(info)
		}
	case game.MessageTrail:
		if game.DebugBuild {
			return c.timeline.trails.theirs.Parse(m.Body)
		}
	case game.MessageTrace:
		return c.traceMessage(m.Body)
	case game.MessageReport:
		return c.reportMessage(m.Body)
	case game.MessageNote:
		n, err := c.reasons.Arrive(m.Body, c.p.CommandSize())
		if err != nil {
			return err
		}
		ownEvents(c.p, n)
	case netcode.MessageSnapshot:
		return c.snapshot(m.Body)
	}
	return nil
}

// reliable handles a message of the game, or the server's description of a protocol that differs from
// this client's.
func (c *Client) reliable(r netcode.Reliable) {
	if r.Channel == standard.ChannelSchemas {
		if r.Kind != netcode.KindSchemaReply || c.schema(r.Payload) != nil {
			c.stats.Malformed++
		}
		return
	}
	if r.Channel == standard.ChannelMain && r.Kind == game.KindDescribe {
		// The Reject before may have been lost; this message is never lost.
		theirs := string(r.Payload)
		why := newProtocolError(c.cfg.Protocol, theirs)
		if why.Theirs == 0 && c.link.rejected != nil { // the description was cut off
			why.Theirs = c.link.rejected.Protocol
		}
		c.link.endConnection(why)
		return
	}
	if r.Channel == standard.ChannelMain && r.Kind == game.KindRefused {
		if c.refused(r.Payload) != nil {
			c.stats.Malformed++
		}
		return
	}
	c.receiveTold(r.Channel, r.Kind, r.Tick, r.Payload)
}

// receiveTold passes a message to the game.
func (c *Client) receiveTold(channel, kind uint8, tick foretick.Tick, payload []byte) {
	if int(kind) >= len(c.p.Messages) || c.p.Messages[kind].Channel != int(channel) {
		c.stats.Malformed++
		return
	}
	m := &c.p.Messages[kind]
	if m.Own < 0 {
		c.stats.MessagesUnknown++
		return
	}
	if c.p.Handlers.Messages[m.Own](m.Schema, &c.frame, tick, payload) != nil { // it is decoded before the game's handler runs
		c.stats.Malformed++
		return
	}
	c.stats.Messages++
	if !c.p.Reliable(channel) {
		return
	}
	for _, fn := range c.hooks.message {
		fn(probe.MessageReceived{Channel: int(channel), Tick: tick, Kind: kind, Payload: payload})
	}
}

// refused calls OnRefused with the command that was refused.
func (c *Client) refused(payload []byte) error {
	if len(payload) < 4 || len(payload) > 4+game.MaxRefusal {
		return errRefusal
	}
	c.stats.CommandsRefused++
	if c.cfg.OnRefused != nil {
		c.cfg.OnRefused(binary.LittleEndian.Uint32(payload), string(payload[4:]))
	}
	return nil
}

var errRefusal = errors.New("foretick: malformed refusal")

// snapshot applies one snapshot.
func (c *Client) snapshot(body []byte) error {
	noted := c.reasons.Snapshot()
	if c.link.clock == nil || c.view.State == Resuming {
		c.link.conn.Refuse() // there is no Welcome yet: a snapshot that is not read must not become a baseline
		return nil
	}
	h, rest, err := netcode.ParseSnapshotHeader(body)
	if err != nil {
		return err
	}
	if h.Epoch != c.link.level.epoch { // of the level before, or of one that was not announced yet
		if !netcode.Newer(c.link.level.epoch, h.Epoch) {
			c.link.conn.Refuse()
		}
		return nil
	}
	if !h.Bare {
		return errHeader
	}
	if t, ok := c.ghosts.receiver.TickOf(rest); ok && !c.link.believes(t) {
		c.link.decoded()
		return nil
	}
	newest, any := c.ghosts.receiver.Newest()
	t, err := c.ghosts.receiver.Read(rest)
	c.link.decoded()
	if err != nil {
		c.noteUnread(err)
		return err
	}
	c.link.unread.due, c.view.Unread = false, false
	c.link.ticks.noteSnapshot(c.now, t)
	for _, ch := range c.ghosts.receiver.Changes() {
		if ch.What != snapshot.Updated || ch.Transferred || c.ghosts.switched(ch.Ghost) {
			c.timeline.saves.gather()
			break
		}
	}
	if c.input.commands != nil {
		// A tick later than the snapshot is not over yet: its command arrived.
		c.input.commands.Acked(t+h.CommandAck, int32(h.CommandAck) > 0)
	}
	if any && int32(t-newest) <= 0 {
		c.stats.SnapshotsStale++
		c.ghosts.overdue = c.ghosts.overdue || len(c.ghosts.receiver.Changes()) > 0 // it has data that the newer one had put off
		c.timeline.noteMoved()
		if c.hooks.syncTest > 0 {
			c.timeline.tester.othersCame() // it may have the last values of an entity that is gone
		}
		return nil
	}
	if c.hooks.syncTest > 0 && c.ghosts.othersMoved() {
		c.timeline.tester.othersCame()
	}
	c.link.newest = t
	c.stats.Snapshots++
	c.link.heard = c.now
	c.link.clock.SetLoss(c.link.conn.LossIn())
	c.link.clock.Snapshot(c.now, t, h.Early, h.HasEarly, c.link.conn.RTT(), h.Lost)
	if noted {
		c.timeline.agreed.takeNote(t)
	}
	if c.cfg.OnSnapshot != nil {
		c.cfg.OnSnapshot(t)
	}
	c.input.decided = t + h.CommandAck
	c.input.confirm(c.input.answered(t))
	for _, seq := range c.link.delivered {
		c.input.delivered(seq, t)
	}
	c.link.delivered = c.link.delivered[:0]
	c.input.ran(t)
	c.reconcile(t)
	return nil
}

const (
	// unreadEvery is the least time between two reports of snapshots that could not be read.
	unreadEvery = time.Second
	// unreadMany is how many snapshots within unreadWithin have to be unreadable before the client
	// reports it. A forged snapshot makes the next ones unreadable for a round trip, which needs no
	// report. The entity of the last report is reported at once.
	unreadMany   = 5
	unreadWithin = 2 * time.Second
)

// unreadReport is the report of snapshots that the client refused as malformed. The server then sends
// all entities in full, except the one that the report names. Until the report arrives, the server
// sends more snapshots that cannot be read.
type unreadReport struct {
	due   bool          // a report is to be sent
	wire  schema.WireID // the entity at fault; 0: it is not known
	named schema.WireID // the entity of the last report
	count int           // how many snapshots could not be read since from
	from  time.Duration
	said  time.Duration // when the last report was sent
	any   bool          // a report was sent
}

// noteUnread handles the error of a snapshot.
func (c *Client) noteUnread(err error) {
	u := &c.link.unread
	if !errors.Is(err, snapshot.ErrMalformed) {
		return
	}
	c.stats.SnapshotsUnread++
	c.view.Unread = true
	if u.count == 0 || c.now-u.from > unreadWithin {
		u.count, u.from = 0, c.now
	}
	u.count++
	wire := c.ghosts.receiver.Fault()
	again := u.any && wire != 0 && wire == u.named
	if u.due || u.count < unreadMany && !again {
		return
	}
	u.due, u.wire = true, wire
	if u.ready(c.now) {
		c.cfg.Logger.Warn("a snapshot could not be read, the server is told to leave the entity out", append(c.link.who(), "entity", u.wire, "err", err)...)
	}
}

// ready reports whether a report may be sent.
func (u *unreadReport) ready(now time.Duration) bool { return !u.any || now-u.said >= unreadEvery }

// writeUnread puts a due report into a packet.
func (u *unreadReport) writeUnread(l *link, pk *netcode.Packet) {
	if !u.due || !u.ready(l.now) {
		return
	}
	l.scratch = netcode.Unread{Epoch: l.level.epoch, Wire: uint16(u.wire)}.Append(l.scratch[:0])
	if pk.Message(netcode.MessageUnread, l.scratch) {
		u.due, u.any, u.said, u.named, u.count = false, true, l.now, u.wire, 0
	}
}
