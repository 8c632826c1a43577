package foretick

import "github.com/foretick/foretick/ecs"

// PlayerID identifies a player while the server holds its place. It is the owner of the
// player's entities. It counts from 1; [ecs.Nobody] is 0. The number may be given to
// another player after the first has left the match.
type PlayerID = ecs.Owner
