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
	command []byte // command is the next tick's, as in memory. nil means a zero one.
	// claim is the moment that the frame showed in which the command was given.
	claim lagcomp.Claim
	gone  *transport.DisconnectError

	inbox []localMessage // inbox has the messages of the running tick.
	bytes []byte         // bytes has the data of inbox.
}

// localMessage is a message to a local player.
type localMessage struct {
	channel, kind uint8
	from, upto    int // The data is localPlayer.bytes from from up to upto.
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
