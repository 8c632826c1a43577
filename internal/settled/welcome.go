package settled

import (
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/netcode"
)

// Welcome tells a peer that it is let in.
type Welcome struct {
	Player  ecs.Owner // Player is 0 for an observer.
	Places  uint8     // Places is the most players of the match.
	Resumed bool      // Resumed is true if the peer has its earlier place again.
	World   bool      // World is true if a world comes before the first settled tick.
	// Next is the tick that the settled ticks begin with. Without a world it is the tick after Declaration.Holds,
	// or 1 for a peer whose world has run no tick of this match.
	Next  netcode.Tick
	Match uint64   // Match tells matches apart.
	Token [16]byte // Token is what the player comes back with. It is zero for an observer.
}

const (
	welcomeResumed = 1 << iota
	welcomeWorld
	welcomeFlags
)

// Append appends the message to dst.
func (w *Welcome) Append(dst []byte) []byte {
	flags := byte(0)
	if w.Resumed {
		flags |= welcomeResumed
	}
	if w.World {
		flags |= welcomeWorld
	}
	dst = append(dst, byte(w.Player), w.Places, flags)
	dst = LE.AppendUint32(dst, w.Next)
	dst = LE.AppendUint64(dst, w.Match)
	return append(dst, w.Token[:]...)
}

// ReadWelcome reads what Append wrote. Anything else is netcode.ErrMalformed.
func ReadWelcome(b []byte) (w Welcome, err error) {
	c := Cursor{B: b}
	w.Player, w.Places = ecs.Owner(c.U8()), c.U8()
	flags := c.U8()
	w.Resumed, w.World = flags&welcomeResumed != 0, flags&welcomeWorld != 0
	w.Next, w.Match = c.U32(), c.U64()
	copy(w.Token[:], c.Take(16))
	return w, c.Err(flags < welcomeFlags && w.Next > 0 && w.Places >= 1 && w.Places <= MaxPlaces && w.Player <= ecs.Owner(w.Places))
}

// Presence tells the relay up to which tick the peer has all settled ticks.
type Presence struct {
	Settled netcode.Tick
	None    bool // None is true if the peer waits for a world. Then settled is 0.
}

// Append appends the message to dst.
func (p Presence) Append(dst []byte) []byte {
	dst = LE.AppendUint32(dst, p.Settled)
	if p.None {
		return append(dst, 1)
	}
	return append(dst, 0)
}

// ReadPresence reads what Append wrote. Anything else is netcode.ErrMalformed.
func ReadPresence(b []byte) (p Presence, err error) {
	c := Cursor{B: b}
	p.Settled = c.U32()
	none := c.U8()
	p.None = none == 1
	return p, c.Err(none <= 1 && !(p.None && p.Settled > 0))
}
