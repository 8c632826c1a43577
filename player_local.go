package foretick

import (
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/transport"
)

// localPlayer is the player of a preview, in the server's own process and in place of a
// connection. Nothing is sent to it.
type localPlayer struct {
	command []byte        // of the next tick, as in memory; nil: a zero one
	claim   lagcomp.Claim // the moment that the frame showed in which it was given
	gone    *transport.DisconnectError

	inbox []localMessage // of the running tick
	bytes []byte         // of them
}

// localMessage is a message to a local player.
type localMessage struct {
	channel, kind uint8
	from, upto    int // in localPlayer.bytes
}

// tell queues a message for the end of the tick.
func (l *localPlayer) tell(channel, kind uint8, payload []byte) {
	from := len(l.bytes)
	l.bytes = append(l.bytes, payload...)
	l.inbox = append(l.inbox, localMessage{channel, kind, from, len(l.bytes)})
}

// knows is Shown for a local player, which knows everything.
func (*localPlayer) knows(net snapshot.NetID) (schema.WireID, Tick, bool) {
	return schema.WireID(net), 0, true
}
