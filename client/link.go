package client

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
	"unsafe"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/guard"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/internal/standard"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/schema"
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

// builds is the state of playing with a server of another build of the game.
type builds struct {
	// speaks is the hash of the protocol that is spoken: ours, or the server's.
	speaks     uint64
	offered    uint64      // offered is the hash of the server's protocol, whose schema may be had.
	difference *difference // difference is what differs from the server's protocol.
	// asks is true if the client wants the server's schema. asked is true once it asked on this
	// connection.
	asks, asked bool
}

// currentLevel is the level that the client is in.
type currentLevel struct {
	epoch   uint8
	entered bool // its information arrived
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

const (
	redialFirst = 250 * time.Millisecond // from an attempt that failed to the next …
	redialMost  = time.Second            // … twice as long each time, up to this …
	redialPlay  = 4                      // … give or take a part in so many
	dialSilent  = time.Second            // that a dial may be unanswered at first, and six round trips
	resumeTime  = 30 * time.Second       // of Steps for which it tries, unless the server holds places for longer
	resumeStep  = time.Second            // that a Step counts for at most
)

var errNoEndpoint = errors.New("foretick: client.Config.Redial returned neither an endpoint nor an error: return one of them")

// redialling is the state of reconnecting after a lost connection.
type redialling struct {
	ran      time.Duration // ran is how long Steps ran since the connection was lost.
	by       error
	begun    time.Duration // begun is the start of the last attempt.
	next     time.Duration // next is when the next attempt is due.
	wait     time.Duration // wait is the time between a failed attempt and the next.
	patience time.Duration // patience is how long an attempt may go unanswered.
}

// comesBack reports whether the client may try another connection after this reason.
func (l *link) comesBack(code transport.Code) bool {
	switch code {
	case transport.Timeout, transport.Unreachable, transport.Gone, transport.Restart:
		return true
	case transport.Closed: // of a dial: the endpoint of a server that shuts down, with its port still open
		return l.view.State == Resuming && !l.up
	case transport.Full: // by what is left of the lost connection, perhaps
		return l.view.State == Resuming
	}
	return false
}

// lose ends the connection. Unless one end wanted that, the client tries another.
func (l *link) lose(why *transport.DisconnectError) {
	if !l.comesBack(why.Code) || l.cfg.Redial == nil || l.place.token == [16]byte{} && !l.cfg.Observe || l.stats.Connections == 0 {
		l.endConnection(why)
		return
	}
	if l.view.State == Resuming {
		if why.Code == transport.Full {
			l.lost.by = why
		}
		l.up = false
		l.lost.next = max(l.now, l.lost.begun+l.redialWait())
		return
	}
	l.cfg.Logger.Info("connection lost", append(l.who(), "code", why.Code, "detail", why.Detail)...)
	l.kept = l.conn
	l.view.State, l.up = Resuming, false
	l.lost = redialling{by: why, next: l.now, wait: redialFirst, patience: dialSilent + 6*l.conn.RTT()}
}

// notePassed takes the time that passed between two Steps, and the time that counts. A Step after a
// pause is one in which the client looks, so the server's silence counts from there, and hardly
// any of the pause is time in which it tried to come back.
func (l *link) notePassed(passed, counts time.Duration) {
	l.lost.ran += min(counts, resumeStep)
	if l.stood == 0 && passed > l.cfg.Timeout/2 {
		l.stood, l.woke = passed, l.now
	}
}

// silent reports whether the server is silent for too long. One that had reason to drop the
// client meanwhile gets a shorter time, if there is another way to it.
func (l *link) silent() bool {
	silence, most := l.conn.Silent(l.now), l.cfg.Timeout
	if l.stood > 0 {
		silence = min(silence, l.now-l.woke)
		if l.stood > most && l.cfg.Redial != nil {
			most = min(most, dialSilent+6*l.conn.RTT())
		}
	}
	return silence > most
}

// breakOff ends a connection that is of no more use, as if it had been lost.
func (l *link) breakOff(why string) {
	l.endpoint.Disconnect(l.peer, transport.Timeout, "silent for too long")
	l.lose(&transport.DisconnectError{Code: transport.Timeout, Detail: why})
}

// redialWait returns the time from one attempt to the next. It varies, so that not all
// clients of a lost server come back at once.
func (l *link) redialWait() time.Duration {
	wait := l.lost.wait
	l.lost.wait = min(2*wait, redialMost)
	var b [8]byte
	if _, err := io.ReadFull(l.cfg.Random, b[:]); err != nil {
		return wait
	}
	share := float64(binary.LittleEndian.Uint64(b[:])>>11) / (1 << 53) // 0 to 1
	return wait + time.Duration((2*share-1)*float64(wait/redialPlay))
}

// redial makes new connections until one is up or the time is over. A dial without an
// answer is given up sooner than a connection: the transport may ask less and less often,
// while the server is already back. Each dial gets more time than the last, in case the
// path became longer.
func (l *link) redial() {
	if l.up {
		return
	}
	if l.lost.ran > max(resumeTime, l.place.hold) {
		l.endConnection(l.lost.by)
		return
	}
	if l.now < l.lost.next {
		return
	}
	_ = l.endpoint.Close(transport.Timeout, "")
	e, err := l.cfg.Redial()
	l.lost.begun = l.now
	if err == nil && guard.Missing(e) {
		if err = errNoEndpoint; l.lost.by != err {
			l.lost.by = err
			l.cfg.Logger.Error("cannot reconnect", append(l.who(), "err", err)...)
		}
	}
	if err != nil {
		l.lost.next = l.now + l.redialWait()
		return
	}
	l.endpoint = e
	l.lost.next = l.now + l.lost.patience
	l.lost.patience = max(l.lost.patience, min(2*l.lost.patience, l.cfg.Timeout))
}

// SessionKind says whether a client got its old place or a new one.
type SessionKind uint8

const (
	// SessionJoined: a new player without an earlier place.
	SessionJoined SessionKind = iota
	// SessionResumed: the player has the place that it had before.
	SessionResumed
	// SessionNewServer: a new player, because the server was restarted. The new server has
	// no data that the client sent to the old one (a name, a team).
	SessionNewServer
	// SessionPlaceGone: a new player, because the server gave the old place up.
	// Session.Code and Text say why, if the server still knows.
	SessionPlaceGone
)

// String returns "joined", "resumed", "new server" or "place gone".
func (k SessionKind) String() string {
	return [...]string{"joined", "resumed", "new server", "place gone"}[k&3]
}

// Session is the argument of [Config.OnSession].
type Session struct {
	// Kind says whether the client got its old place or a new one.
	Kind SessionKind
	// Code and Text say why the place is gone. They are set with SessionPlaceGone only:
	// [transport.Timeout] after too long an absence, [transport.Full] when another player
	// took the place on a full server, or the code and text of a kick. The code is
	// [transport.None] when the server no longer knows.
	Code transport.Code
	Text string // why the place is gone, in words: see Code
}

// place holds the data with which the client reconnects to its place on the server.
type place struct {
	token  [16]byte
	server uint64 // server is the server's number.
	// hold is how long the server holds the place. 0 means that it is not known to be longer than
	// resumeTime.
	hold  time.Duration
	taken [netcode.MaxChannels]uint32 // taken counts the reliable messages in the session, for each channel.
}

// resumeTokenSize is a server's number and the token of a place there.
const resumeTokenSize = 8 + 16

// ResumeToken returns the token with which another process of the same player takes its
// place: pass it to [Config.ResumeToken]. It is nil before the server first lets the
// client in, unless Config.ResumeToken gave one. It changes when the client gets a new
// place. The slice is a copy. The token is a secret: anyone with the token can take the
// place.
func (c *Client) ResumeToken() []byte {
	if c.link.place.token == [16]byte{} {
		return nil
	}
	return append(binary.LittleEndian.AppendUint64(nil, c.link.place.server), c.link.place.token[:]...)
}

// restore takes a configured token.
func (l *link) restore(token []byte) {
	if len(token) == resumeTokenSize {
		l.place.server = binary.LittleEndian.Uint64(token)
		copy(l.place.token[:], token[8:])
	}
}

// session is what a Welcome makes of the client.
func (l *link) session(w *netcode.Welcome) Session {
	switch {
	case w.Resumed:
		return Session{Kind: SessionResumed}
	case l.place.token == [16]byte{}:
		return Session{Kind: SessionJoined}
	case w.Server != l.place.server:
		return Session{Kind: SessionNewServer}
	}
	return Session{Kind: SessionPlaceGone, Code: transport.Code(w.Code), Text: w.Text}
}

func (c *Client) welcome(w netcode.Welcome) {
	again := c.view.State == Resuming
	if c.view.State != Connecting && !again || w.Owner == 0 && !c.cfg.Observe || w.Owner > standard.MaxPlayers || w.SnapshotInterval == 0 || int(w.TickRate) != c.p.TickRate {
		return
	}
	if again && c.fresh() != nil {
		return // cannot be: the same configuration was accepted before
	}
	own := w.Resumed && w.Resume == c.link.place.token && c.link.place.token != [16]byte{}
	session := c.link.session(&w)
	c.link.takeOver(own, w.Taken)
	if own {
		c.stats.Resumed++
	} else {
		c.link.place.taken, c.input.first = [netcode.MaxChannels]uint32{}, 0
	}
	if c.input.late = min(int(w.Late), prediction.DefaultHistory); c.input.late > 0 { // servers refuse half of it
		c.input.newCommands()
	}
	c.world.SetTags(c.worldTags(w.Tags)...)
	c.link.place.hold = time.Duration(w.Hold) * time.Second
	c.link.place.server, c.serverArchitecture = w.Server, w.Architecture
	c.view.State, c.view.Player, c.link.place.token, c.link.level.epoch = Syncing, foretick.PlayerID(w.Owner), w.Resume, w.Epoch
	c.stats.Connections++
	c.counts.beginCounts(&c.base)
	c.logSession(&session)
	c.post() // hooks ask
	c.ghosts.newReceiver(c.link.newest)
	c.ghosts.interval = foretick.Tick(w.SnapshotInterval)
	c.link.clock = netcode.NewClock(netcode.ClockConfig{
		TickRate: c.p.TickRate, SnapshotInterval: int(w.SnapshotInterval), History: c.cfg.History,
		Delay: c.cfg.delayTicks(), Reach: c.cfg.DelayAbove.Seconds() * float64(c.p.TickRate),
		LateShare: max(min(float64(w.LateShare)/256, netcode.MaxLateShare), c.cfg.LateShare), SnapshotLateShare: c.cfg.LateShare,
	})
	c.link.snapshotInterval = time.Duration(w.SnapshotInterval) * time.Second / time.Duration(c.p.TickRate)
	c.link.ticks = newTickGuard(c.p.TickRate, c.link.snapshotInterval, c.now, w.Tick)
	c.timeline.saves.beginSession()
	if c.cfg.OnSession != nil {
		c.link.decoded()
		c.cfg.OnSession(session)
	}
}

// logSession logs that the server let the client in. The code and text are of a place that is
// gone.
func (c *Client) logSession(s *Session) {
	c.cfg.Logger.Info("joined", append(c.link.who(), "kind", s.Kind.String(), "code", s.Code, "why", s.Text)...)
}

// enterLevel takes a client into a level.
func (c *Client) enterLevel(info netcode.LevelInfo) {
	if info.Epoch == c.link.level.epoch && c.link.level.entered || info.Epoch != c.link.level.epoch && !netcode.Newer(info.Epoch, c.link.level.epoch) {
		return // told again, or by a packet of the level before that others overtook
	}
	if info.Epoch != c.link.level.epoch && c.clearLevel() != nil {
		return // cannot be: the same configuration was accepted before
	}
	c.link.level.epoch, c.link.level.entered = info.Epoch, true
	c.frame.Tick = info.Tick
	for _, fn := range c.p.Handlers.Levels {
		fn(&c.frame, info.Data)
	}
}

// otherBuilds notes that the server would let another build in.
func (c *Client) otherBuilds(r netcode.Reject) {
	if c.view.State != Connecting && c.view.State != Resuming || c.link.builds.speaks == r.Protocol {
		return
	}
	if r.Protocol == c.cfg.Protocol.Hash() { // the server was brought up to this build
		c.adopt(c.build, nil, r.Protocol)
		return
	}
	c.link.builds.asks, c.link.builds.offered = true, r.Protocol
}

// adopt switches to another protocol.
func (c *Client) adopt(p *compiled, to *difference, hash uint64) {
	c.p, c.link.builds.difference, c.link.builds.speaks, c.link.builds.asks = p, to, hash, false
	c.losses.Facts = &p.Facts
	c.ghosts.hitboxes = p.NewHitboxes()
	c.ghosts.findOthers(p)
	if err := c.fresh(); err != nil {
		c.link.endConnection(err) // cannot be: the same configuration was accepted before
	}
}

var errUnasked = errors.New("foretick: a schema that was not asked for")

// schema reads the server's schema and switches to its protocol.
func (c *Client) schema(payload []byte) error {
	if !c.link.builds.asks {
		return errUnasked
	}
	reply, err := netcode.ParseSchemaReply(payload)
	if err != nil {
		c.link.endConnection(err)
		return err
	}
	if !reply.Known {
		c.link.endConnection(&ProtocolError{Ours: c.cfg.Protocol.Hash(), Theirs: c.link.builds.offered})
		return nil
	}
	s, err := schema.ReadProtocol(reply.Data)
	if err == nil && s.Hash() != c.link.builds.offered {
		err = fmt.Errorf("%w: it is not that of the server's protocol", schema.ErrMalformed)
	}
	if err != nil {
		c.link.endConnection(err)
		return err
	}
	own := c.build
	if s.Game != own.Name || s.Version != own.Version || s.TickRate != own.TickRate || !slices.Equal(s.Channels, own.Parts().Channels) {
		c.link.endConnection(newProtocolError(c.cfg.Protocol, s.Describe()))
		return nil
	}
	differs := &difference{Schema: s}
	bound := bindProtocol(own, s, differs)
	c.link.decoded()
	c.adopt(bound, differs, c.link.builds.offered)
	return nil
}

func (c *Client) queueRequest(id game.RequestID, v unsafe.Pointer) error {
	return c.link.request(&c.p.Requests[id-1], v)
}
