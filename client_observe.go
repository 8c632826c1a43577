package foretick

import (
	"fmt"

	"github.com/foretick/foretick/netcode"
)

// errObserves is the error of requests of an observer.
var errObserves = fmt.Errorf("%w: an observer sends no requests", ErrNotIn)

// SetEye sets the position that this client, an observer, looks from: with [Interest] it
// receives the entities near to that position. The server ignores the position if its
// [Grant] has a Player or FollowOnly. Without an eye, an observer receives no entity with a
// position, unless its Grant has Everything. SetEye does nothing for a position that is not
// finite, and for a client that plays: the server sets where a player looks from (see
// [Frame.SetEye]).
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
