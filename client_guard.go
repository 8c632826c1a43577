package foretick

import (
	"github.com/foretick/foretick/internal/guard"
	"github.com/foretick/foretick/transport"
)

// decoded ends the reading of the server's bytes. A panic after this call is the game's and
// is not recovered.
func (l *link) decoded() { l.decoding = false }

// guard ends the connection if reading a packet panicked, which should never happen. The
// game continues. A debug build panics again. It must be deferred directly.
func (l *link) guard(packet []byte) {
	if !l.decoding {
		return
	}
	l.decoding = false
	if debugBuild {
		return
	}
	v := recover()
	if v == nil {
		return
	}
	l.stats.CorePanics++
	guard.LogPanic(l.cfg.Logger, v, packet)
	l.endpoint.Disconnect(l.peer, transport.Malformed, "")
	l.end(&transport.DisconnectError{Code: transport.Malformed, Detail: guard.Unreadable})
}

// mostUsed is the share of the world's hard limits that a server's data may use. The rest
// is for one more Step: no message adds more sets than it has bits.
const mostUsed = 0.75

const crowdedDetail = "the server's entities have more combinations of components and owners than a client can hold"

// leaveCrowded ends the connection to a server that filled the world.
func (l *link) leaveCrowded() {
	l.stats.Malformed++
	l.endpoint.Disconnect(l.peer, transport.Malformed, "")
	l.end(&transport.DisconnectError{Code: transport.Malformed, Detail: crowdedDetail})
}
