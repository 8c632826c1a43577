// Package lagcomp judges a shot against the world that the shooter saw.
//
// A client shows other players in the past. What it draws left the server half a round
// trip ago and was then held back to interpolate. When the player fires, the server must
// look at that same past. Otherwise every player has to aim ahead of moving targets by
// its own latency. Valve described the technique as lag compensation (Bernier, "Latency
// Compensating Methods in Client/Server In-game Protocol Design and Optimization",
// 2001). This package does it without moving the present world.
//
// It has two halves. Neither needs any other package of this module:
//
//   - [History] keeps the hitboxes of each tick. [History.At] returns a [Past], a view of
//     one moment between two ticks. Query it with [Past.Raycast], [Past.SphereCast],
//     [Past.Overlap], [Past.Nearest] and [Past.Validate].
//   - [Judge] decides which moment one player may use. A claim comes off the wire, so the
//     server's own measurements bound it. A claim out of bounds is moved to the nearest
//     allowed moment and counted.
//
// The caller's duties, each tick:
//
//	history.Begin(tick)
//	for _, p := range players {
//		history.Put(p.id, p.owner, p.life, p.hitboxes...)
//	}
//	history.End()
//
// and for each shot in a client's input:
//
//	use, reason := judge.Allow(claim, measured)
//	hit, ok := history.At(use.Tick, use.Fraction).Raycast(ray, filter)
//
// The package does not know walls that never move: before the query, shorten the ray's
// Range to the distance of the nearest wall. Record doors and lifts that move like players,
// on a separate layer. Rays then meet them where they were at that moment.
//
// [Projectile] takes a slow shot from the past to the present. [History.Explain] returns
// the details of a disputed shot as data.
//
// Coordinates are in any unit; a game in two dimensions leaves Z zero. Nothing here reads
// a clock, starts a goroutine or holds a global. Recording must not run at the same time
// as queries. Queries may run in parallel with one another. After the first seconds
// neither allocates.
//
// Compatibility: any minor version may change it, but for the names that docs/COMPATIBILITY.md lists.
package lagcomp
