package foretick

import (
	"fmt"

	"github.com/foretick/foretick/netcode"
)

// errObserves is the error of requests of an observer.
var errObserves = fmt.Errorf("%w: an observer sends no requests", ErrNotIn)

// SetEye makes an observer look from a position: with [Interest] it receives what is near.
// The server ignores it if it granted a player's view, or only to follow players. Without
// an eye, an observer that was not granted everything receives no entity with a position.
// SetEye does nothing for a position that is not finite, and for a client that plays: a
// player's eye is the server's (see [Frame.SetEye]).
func (c *Client) SetEye(x, y, z float32) {
	if c.cfg.Observe && x-x == 0 && y-y == 0 && z-z == 0 { // of what is not finite the difference is NaN
		c.link.looks, c.link.eye = true, netcode.Eye{Has: true, X: x, Y: y, Z: z}
	}
}

// Follow makes an observer look from where a player looks, as it moves. 0 means nobody. It
// does nothing for a client that plays.
func (c *Client) Follow(player PlayerID) {
	if c.cfg.Observe {
		c.link.looks, c.link.eye = true, netcode.Eye{Player: uint16(player)}
	}
}
