package rollback

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/netcode"
)

// settledTick is what the relay decided for one tick. It never changes, and it is the same for
// every peer.
type settledTick struct {
	tick netcode.Tick
	// inputs has one input for each player that is in the match in this tick, ascending by player.
	// Who joins in this tick has one, who leaves in it has none.
	inputs []settledInput
	// changes has who joins and who leaves in this tick, before its inputs count, ascending by
	// player. A player that leaves and another one that takes its place never share a tick.
	changes []rosterChange
}

// settledInput is the input of one player.
type settledInput struct {
	player  foretick.PlayerID
	command []byte // command is packed by the command's schema, and always as long as it says.
	standIn bool   // standIn is true if the relay did not have the player's own input in time.
}

// rosterChange is a player that joins or leaves.
type rosterChange struct {
	player foretick.PlayerID
	joined bool   // joined is false if the player leaves.
	person uint64 // person tells two people in the same place apart: the hash of the player's token.
}
