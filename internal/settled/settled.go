// Package settled has what a relay and its peers tell each other: settled ticks, and the messages around them.
// docs/STANDARD-rollback.md describes their bytes.
package settled

import (
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/netcode"
)

// Tick is what the relay decided for one tick. It never changes, and it is the same for
// every peer.
type Tick struct {
	Tick netcode.Tick
	// Inputs has one input for each player that is in the match in this tick, ascending by player.
	// Who joins in this tick has one, who leaves in it has none.
	Inputs []Input
	// Changes has who joins and who leaves in this tick, before its inputs count, ascending by
	// player. A player that leaves and another one that takes its place never share a tick.
	Changes []RosterChange
}

// Input is the input of one player.
type Input struct {
	Player  ecs.Owner
	Command []byte // Command is packed by the command's schema, and always as long as it says.
	StandIn bool   // StandIn is true if the relay did not have the player's own input in time.
}

// RosterChange is a player that joins or leaves.
type RosterChange struct {
	Player ecs.Owner
	Joined bool   // Joined is false if the player leaves.
	Person uint64 // Person tells two people in the same place apart: the hash of the player's token.
}
