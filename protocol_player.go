package foretick

import "github.com/foretick/foretick/ecs"

// PlayerID identifies a player while the server holds its place. It is the owner of the
// player's entities. It counts from 1; [ecs.Nobody] is 0. A newcomer gets the
// number that no player has had for the longest time. So the number of a player that left
// goes to another one at once only on a full server.
type PlayerID = ecs.Owner
