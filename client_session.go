package foretick

import (
	"errors"
	"time"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/transport"
)

var (
	errHeader = errors.New("foretick: malformed snapshot header")
	errLevels = errors.New("foretick: two levels in a packet") // a server writes one, and a new level is work
)

// receive drains the transport.
func (c *Client) receive() {
	if c.overfull {
		c.leaveCrowded()
		return
	}
	for {
		n := c.endpoint.Recv(c.events[:])
		for i := range c.events[:n] {
			c.handle(&c.events[i])
		}
		if n < len(c.events) {
			break
		}
	}
	if c.up && c.conn.Silent(c.now) > c.cfg.Timeout {
		c.endpoint.Disconnect(c.peer, transport.Timeout, "silent for too long")
		c.lose(&DisconnectError{Code: transport.Timeout, Detail: "the server is silent"})
	}
}

func (c *Client) handle(ev *transport.Event) {
	switch ev.Kind {
	case transport.Connected:
		var info transport.Info
		mtu := 0
		if c.endpoint.Info(ev.Peer, &info) {
			mtu = info.MTU
		}
		c.peer, c.up = ev.Peer, true
		c.conn = netcode.NewConn(netcode.Config{MTU: mtu, Timeout: c.cfg.Timeout, Rate: c.cfg.SendRate, MinRate: c.leastRate(), Channels: c.p.netChannels()})
		c.asksSchema, c.schemaAsked = false, false
		c.lastSend = c.now - helloInterval
	case transport.Disconnected:
		c.disconnected(ev)
	case transport.Data:
		if c.up {
			c.packet(ev.Data)
		}
	}
}

// leastRate is what congestion lowers the rate to at most: a tick's commands fit,
// at any tick rate.
func (c *Client) leastRate() int { return min(c.cfg.SendRate, max(4000, 100*c.p.tickRate)) }

func (c *Client) disconnected(ev *transport.Event) {
	if c.rejected != nil || ev.Code == transport.Mismatch {
		e := &ProtocolError{Ours: c.cfg.Protocol.Hash()}
		if c.rejected != nil {
			e.Theirs = c.rejected.Protocol
		}
		c.end(e)
		return
	}
	c.lose(&DisconnectError{Code: ev.Code, Detail: ev.Detail})
}

// packet takes one datagram in.
func (c *Client) packet(b []byte) {
	c.stats.BytesIn += uint64(len(b))
	c.levelled, c.decoding = false, true
	defer c.guard(b)
	err := c.conn.Receive(c.now, b)
	c.fates()
	if err != nil {
		c.decoded()
		return // counted by the connection
	}
	for m, ok := c.conn.NextMessage(); ok; m, ok = c.conn.NextMessage() {
		if err := c.message(m); err != nil {
			if errors.Is(err, snapshot.ErrHeavy) {
				c.stats.SnapshotsHeavy++
			} else {
				c.stats.Malformed++
			}
			if m.Type == netcode.MessageSnapshot {
				c.conn.Refuse() // what was not read is no baseline
			}
		}
		c.decoding = true
	}
	for r, ok := c.conn.NextReliable(); ok; r, ok = c.conn.NextReliable() {
		c.taken[r.Channel]++
		c.reliable(r)
		c.decoding = true
	}
	for e, ok := c.conn.NextEvent(); ok; e, ok = c.conn.NextEvent() {
		c.told(e.Channel, e.Kind, e.Tick, e.Payload)
		c.decoding = true
	}
	c.decoded()
}

// fates looks for the packet that carried the client's wish. Commands need no
// fate: they are redundant, and the server says in each snapshot up to where it
// has them.
func (c *Client) fates() {
	for f, ok := c.conn.NextFate(); ok; f, ok = c.conn.NextFate() {
		if f.Delivered && c.asked && !c.granted && !precedes(f.Seq, c.askedFrom) {
			c.granted = true
		}
	}
}

// precedes tells whether a packet was numbered before another; what lies half the
// circle away counts as before.
func precedes(a, b netcode.Seq) bool { return netcode.Distance(a, b) < 0 }

func (c *Client) message(m netcode.Message) error {
	switch m.Type {
	case netcode.MessageWelcome:
		w, err := netcode.ParseWelcome(m.Body)
		if err != nil {
			return err
		}
		c.decoded()
		c.welcome(w)
	case netcode.MessageReject:
		r, err := netcode.ParseReject(m.Body)
		if err != nil {
			return err
		}
		c.decoded()
		if r.Code == rejectBuildDifference {
			c.otherBuilds(r)
			return nil
		}
		c.rejected = &r
		if r.Code != rejectMismatch {
			c.end(&DisconnectError{Code: transport.Refused, Detail: r.Text})
		}
	case netcode.MessageLevel:
		info, err := netcode.ParseLevelInfo(m.Body)
		if err != nil {
			return err
		}
		c.decoded()
		if c.levelled {
			return errLevels
		}
		c.levelled = true
		if c.clock != nil && c.view.State != Resuming {
			c.enter(info)
		}
	case messageTrail:
		if debugBuild {
			return c.trail(m.Body)
		}
	case messageNote:
		if err := c.noted.parse(m.Body, c.p.commandSize()); err != nil {
			c.hasNote = false
			return err
		}
		c.p.ownEvents(&c.noted)
		c.hasNote = true // belongs to the snapshot that follows
	case netcode.MessageSnapshot:
		return c.snapshot(m.Body)
	}
	return nil
}

// reliable takes a message of the game's, or the server's description of a
// protocol that is not ours.
func (c *Client) reliable(r netcode.Reliable) {
	if r.Channel == channelSchemas {
		if r.Kind != netcode.KindSchemaReply || c.schema(r.Payload) != nil {
			c.stats.Malformed++
		}
		return
	}
	if r.Channel == channelMain && r.Kind == kindDescribe {
		// The Reject that came before may have been lost; this never is.
		theirs := string(r.Payload)
		c.end(c.cfg.Protocol.against(theirs))
		return
	}
	if r.Channel == channelMain && r.Kind == kindRefused {
		if c.refused(r.Payload) != nil {
			c.stats.Malformed++
		}
		return
	}
	c.told(r.Channel, r.Kind, r.Tick, r.Payload)
}

// told gives a message to the game.
func (c *Client) told(channel, kind uint8, tick Tick, payload []byte) {
	if int(kind) >= len(c.p.messages) || c.p.messages[kind].channel != int(channel) {
		c.stats.Malformed++
		return
	}
	m := &c.p.messages[kind]
	if m.handle == nil {
		c.stats.MessagesUnknown++
		return
	}
	if m.handle(m.schema, &c.frame, tick, payload) != nil { // it is decoded before the game's handler
		c.stats.Malformed++
		return
	}
	c.stats.Messages++
	if c.cfg.OnMessage != nil && c.p.reliable(channel) {
		c.cfg.OnMessage(MessageReceived{Channel: int(channel), Tick: tick, Kind: kind, Payload: payload})
	}
}

func (c *Client) welcome(w netcode.Welcome) {
	again := c.view.State == Resuming
	if c.view.State != Connecting && !again || w.Owner == 0 || w.Owner > limitMaxClients || w.SnapshotInterval == 0 || int(w.TickRate) != c.p.tickRate {
		return
	}
	if again && c.fresh() != nil {
		return // cannot be: the same configuration was accepted before
	}
	own := w.Resumed && w.Resume == c.token && c.token != [16]byte{}
	session := c.session(&w)
	c.takeOver(own, w.Taken)
	if own {
		c.stats.Resumed++
	} else {
		c.taken, c.firstInput = [netcode.MaxChannels]uint32{}, 0
	}
	c.server = w.Server
	c.view.State, c.view.Player, c.token, c.epoch = Syncing, PlayerID(w.Owner), w.Resume, w.Epoch
	c.stats.Connections++
	c.post() // hooks ask
	c.newReceiver()
	c.clock = netcode.NewClock(netcode.ClockConfig{
		TickRate: c.p.tickRate, SnapshotInterval: int(w.SnapshotInterval), History: c.cfg.History,
	})
	c.ticks = newTickGuard(c.p.tickRate, time.Duration(w.SnapshotInterval)*time.Second/time.Duration(c.p.tickRate), c.now, w.Tick)
	c.own = c.world.NewOwnerHistory(c.view.Player, c.cfg.History)
	c.common = c.world.NewOwnerHistory(ecs.Common, c.cfg.History)
	if c.cfg.OnSession != nil {
		c.decoded()
		c.cfg.OnSession(session)
	}
}

// snapshot applies one snapshot.
func (c *Client) snapshot(body []byte) error {
	noted := c.hasNote
	c.hasNote, c.noteTick = false, 0
	if c.clock == nil || c.view.State == Resuming {
		c.conn.Refuse() // the Welcome is not here yet: what is not read is no baseline
		return nil
	}
	h, rest, err := netcode.ParseSnapshotHeader(body)
	if err != nil {
		return err
	}
	if h.Epoch != c.epoch { // of the level before, or of one that was not announced yet
		if !netcode.Newer(c.epoch, h.Epoch) {
			c.conn.Refuse()
		}
		return nil
	}
	if !h.Bare {
		return errHeader
	}
	if t, ok := c.receiver.TickOf(rest); ok && !c.believes(t) {
		c.decoded()
		return nil
	}
	newest, any := c.receiver.Newest()
	t, err := c.receiver.Read(rest)
	c.decoded()
	if err != nil {
		return err
	}
	c.ticks.note(c.now, t)
	for _, ch := range c.receiver.Changes() {
		if ch.What != snapshot.Updated || ch.Transferred {
			c.gather()
			break
		}
	}
	if c.commands != nil {
		c.commands.Acked(t + h.CommandAck)
	}
	if any && int32(t-newest) <= 0 {
		c.stats.SnapshotsStale++
		c.overdue = c.overdue || len(c.receiver.Changes()) > 0 // news of what the newer one put off
		return nil
	}
	c.newest, c.commandAck = t, t+h.CommandAck
	c.stats.Snapshots++
	c.heard = c.now
	c.clock.Snapshot(c.now, t, h.Early, h.HasEarly, c.conn.RTT())
	if noted {
		c.note, c.noted, c.noteTick = c.noted, c.note, t
		c.takeCauses(t)
	}
	if c.cfg.OnSnapshot != nil {
		c.cfg.OnSnapshot(t)
	}
	c.confirm(t)
	c.reconcile(t)
	return nil
}

// believes reports whether the server can have reached the tick of a snapshot. One
// that it cannot have is not acknowledged, so that the server uses it as no baseline.
func (c *Client) believes(t Tick) bool {
	if c.cfg.SnapshotRate > 0 {
		c.ticks.interval = max(c.ticks.interval, time.Second/time.Duration(c.cfg.SnapshotRate))
	}
	if c.ticks.allow(c.now, t) {
		return true
	}
	c.stats.SnapshotsFar++
	c.conn.Refuse()
	return false
}

// confirm measures how long the inputs up to t took to come back.
func (c *Client) confirm(t Tick) {
	if c.confirmed == 0 || t-c.confirmed > uint32(c.cfg.History) {
		c.confirmed = t - 1
	}
	for k := c.confirmed + 1; int32(k-t) <= 0; k++ {
		in := c.inputs.Find(k)
		if in == nil {
			continue
		}
		ms := min(max(int((c.now-in.sampled)/time.Millisecond), 0), confirmBuckets-1)
		c.stats.ConfirmedWithin[ms]++
		c.stats.Confirmed++
	}
	c.confirmed = t
}

// send greets, or sends the newest commands, or at least an acknowledgement.
func (c *Client) send(ticks int) {
	if !c.up || c.view.State == Closed {
		return
	}
	interval := time.Second / time.Duration(c.p.tickRate)
	greet := c.view.State == Connecting || c.view.State == Resuming
	if greet {
		interval = helloInterval
	}
	if ticks == 0 && c.now-c.lastSend < interval {
		return
	}
	c.lastSend = c.now
	if c.asksSchema && !c.schemaAsked {
		c.schemaAsked = c.conn.SendOn(channelSchemas, 0, netcode.KindSchemaRequest, netcode.SchemaRequest{Name: SchemaName}.Append(nil)) == nil
	}
	pk := c.conn.Begin(c.now)
	c.fates()
	asks := c.view.State >= Syncing && !greet && c.ask(pk)
	if greet && c.rejected == nil && !c.asksSchema {
		hello := netcode.Hello{Version: helloVersion, Protocol: c.speaks, Resume: c.token, SnapshotRate: uint8(c.cfg.SnapshotRate)}
		if c.stats.Connections > 0 { // else another process of the player's took them
			hello.Taken = c.taken[:gameChannels+len(c.p.channels)]
		}
		c.scratch = hello.Append(c.scratch[:0])
		pk.Message(netcode.MessageHello, c.scratch)
	}
	if c.commands != nil && c.view.State == Playing {
		c.scratch = c.commands.Append(c.scratch[:0], pk.Room())
		if len(c.scratch) > 0 {
			pk.Message(netcode.MessageCommands, c.scratch)
		}
	}
	seq, b := pk.Finish()
	if asks && !c.asked {
		c.asked, c.askedFrom = true, seq
	}
	if c.endpoint.Send(c.peer, b) == nil {
		c.stats.BytesOut += uint64(len(b))
	}
}
