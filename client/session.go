package client

import (
	"encoding/binary"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/standard"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/transport"
)

// SessionKind is whether a client got its old place or a new one.
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
	// Kind is whether the client got its old place or a new one.
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
	server uint64 // the server's number
	// hold is how long the server holds the place. It is 0 if nothing longer than resumeTime is known.
	hold  time.Duration
	taken [netcode.MaxChannels]uint32 // how many reliable messages the session had, for each channel
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

// restore uses a configured token.
func (l *link) restore(token []byte) {
	if len(token) == resumeTokenSize {
		l.place.server = binary.LittleEndian.Uint64(token)
		copy(l.place.token[:], token[8:])
	}
}

// session returns the session that a Welcome begins.
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
	if c.view.State != Connecting && !again || w.Owner == 0 && c.cfg.Observe == nil || w.Owner > standard.MaxPlayers || w.SnapshotInterval == 0 || int(w.TickRate) != c.p.TickRate {
		return
	}
	if again && c.fresh() != nil {
		return // it cannot happen: the same configuration was accepted before
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
	c.post() // hooks may ask for the counts
	c.ghosts.newReceiver(c.link.newest)
	c.ghosts.interval = foretick.Tick(w.SnapshotInterval)
	c.link.clock = netcode.NewClock(netcode.ClockConfig{
		TickRate: c.p.TickRate, SnapshotInterval: int(w.SnapshotInterval), History: c.cfg.History,
		Delay: c.cfg.delayTicks(), Reach: c.cfg.DelayAbove.Seconds() * float64(c.p.TickRate),
		LateShare: max(min(float64(w.LateShare)/256, netcode.MaxLateShare), c.cfg.LateShare), SnapshotLateShare: c.cfg.LateShare,
		SnapshotBuffer: c.cfg.SnapshotBuffer,
	})
	c.link.snapshotInterval = time.Duration(w.SnapshotInterval) * time.Second / time.Duration(c.p.TickRate)
	c.link.ticks = newTickGuard(c.p.TickRate, c.link.snapshotInterval, c.now, w.Tick)
	c.timeline.saves.beginSession()
	if c.cfg.OnSession != nil {
		c.link.decoded()
		c.cfg.OnSession(session)
	}
}

// logSession logs that the server let the client in. The code and text describe a place that is gone.
func (c *Client) logSession(s *Session) {
	c.cfg.Logger.Info("joined", append(c.link.who(), "kind", s.Kind.String(), "code", s.Code, "why", s.Text)...)
}
