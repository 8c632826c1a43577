package foretick

import "github.com/foretick/foretick/ecs"

// PlayerID names a player for as long as the server holds its place: the owner of
// the player's entities. It counts from 1; [ecs.Nobody] is 0. The number may be given
// to another player once the first has left for good.
type PlayerID = ecs.Owner
