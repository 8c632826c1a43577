package foretick

import (
	"encoding/hex"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/foretick/foretick/transport"
)

// coreDetail is why a connection ends whose packet could not be read for a fault of
// this package's own.
const coreDetail = "a packet of the server's could not be read: a fault of Foretick's own"

// decoded says that what follows is no reading of the server's bytes any more: a
// panic from here on is the game's, and goes on.
func (c *Client) decoded() { c.decoding = false }

// guard ends the connection where reading a packet panicked, which it never should:
// the game around it goes on. A debug build panics on. It must be deferred directly.
func (c *Client) guard(packet []byte) {
	if !c.decoding {
		return
	}
	c.decoding = false
	if debugBuild {
		return
	}
	v := recover()
	if v == nil {
		return
	}
	c.stats.CorePanics++
	logCorePanic(c.cfg.Logger, v, packet)
	c.endpoint.Disconnect(c.peer, transport.Malformed, "")
	c.end(&DisconnectError{Code: transport.Malformed, Detail: coreDetail})
}

// logCorePanic writes down what is needed to mend it.
func logCorePanic(l *slog.Logger, v any, packet []byte) {
	l.Error("panic while reading a packet", "value", fmt.Sprint(v), "packet", hex.EncodeToString(packet), "stack", string(debug.Stack()))
}
