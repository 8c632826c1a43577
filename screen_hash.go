package foretick

import (
	"time"

	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/transport"
)

// ScreenHash is a digest of what one player is shown, by the ids of its connection
// and without what its audience may not have. Server.ScreenHash and Client.ScreenHash of
// one tick are equal, or something went wrong on the way.
type ScreenHash struct {
	Tick   Tick
	Digest uint64
	Fields int // how many fields the digest covers; 0: there is nothing to compare
}

// ScreenHash is what the server last sent towards a player: the state of its newest
// tick, as far as it may know it. Call it between Steps. It is the zero value
// for a player that is not there, and when no snapshot of that tick was sent.
func (s *Server) ScreenHash(player PlayerID) ScreenHash {
	p := s.player(player)
	if p == nil || p.state != playing || p.sender == nil || s.frame.Tick%p.every != 0 {
		return ScreenHash{}
	}
	out := ScreenHash{Tick: s.frame.Tick}
	out.Digest, out.Fields = p.sender.Hash()
	return out
}

// ScreenHash is what the newest snapshot holds, before any prediction. Fields is 0
// when something in it was postponed for want of room: then nothing can be
// compared.
func (c *Client) ScreenHash() ScreenHash {
	t, ok := c.receiver.Newest()
	if !ok || c.view.State < Syncing || c.view.State == Resuming || c.view.State == Closed {
		return ScreenHash{}
	}
	out := ScreenHash{Tick: t}
	out.Digest, out.Fields = c.receiver.Hash(t)
	return out
}

// Newest is the tick of the newest snapshot; 0 before the first.
func (c *Client) Newest() Tick {
	t, _ := c.receiver.Newest()
	return t
}

// Peer is the connection of a player, by the transport's name for it; 0 for a
// player who is away or not there.
func (s *Server) Peer(player PlayerID) transport.PeerID {
	if p := s.player(player); p != nil {
		return p.peer
	}
	return 0
}

// MessageSent is a reliable message that the server queued for a player.
type MessageSent struct {
	To PlayerID
	// Session numbers the stays of players on this server, from joining to leaving,
	// whatever connections are lost and replaced meanwhile; a message is delivered
	// exactly once, in the order of its channel, while its session lasts.
	Session uint64
	Channel int
	Tick    Tick
	Kind    uint8
	Payload []byte // valid during the call
}

// RequestSent is a request that a client queued.
type RequestSent struct {
	Kind    uint8  // as the server counts them
	Payload []byte // valid during the call
}

// RequestTaken is a player's request that the server is about to handle.
type RequestTaken struct {
	By PlayerID
	// Session is the player's stay; see MessageSent. While it lasts, each request is
	// handled exactly once, in order.
	Session uint64
	Kind    uint8
	Payload []byte // valid during the call
}

// MessageReceived is a reliable message that reached a client.
type MessageReceived struct {
	Channel int
	Tick    Tick // of the server, when it sent
	Kind    uint8
	Payload []byte // valid during the call
}

// Judged is how a player's newest claim was judged, and by what.
type Judged struct {
	At       Tick             // the tick that executed; 0: none was judged yet
	Asked    lagcomp.Claim    // as the client said
	Used     lagcomp.Claim    // as it was granted
	Reason   lagcomp.Reason   // why the two differ
	Measured lagcomp.Measured // what the server knew
	RTT      time.Duration    // the round trip believed
}

// Interval is the length of a tick.
func (s *Server) Interval() time.Duration { return s.interval }
