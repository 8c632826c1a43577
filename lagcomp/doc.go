// Package lagcomp judges a shot against the world that the shooter saw.
//
// A client shows other players in the past: what it draws left the server half
// a round trip ago and was then held back to interpolate. When it fires, the
// server must look at that same past, or every player has to aim ahead of
// moving targets by his own latency. Valve described the technique as lag
// compensation (Bernier, "Latency Compensating Methods in Client/Server
// In-game Protocol Design and Optimization", 2001); this package does it
// without ever moving the present world.
//
// It has two halves, and neither needs any other package of this module:
//
//   - [History] keeps the hit volumes of each tick. [History.At] answers a
//     [Past], a view of one moment between two ticks, which is queried with
//     [Past.Raycast], [Past.SphereCast], [Past.Overlap], [Past.Nearest] and
//     [Past.Validate]. [Track] does the same for any value of the game's own.
//   - [Judge] decides which moment one player may use. A claim comes off the
//     wire, so it is bounded by what the server itself measured, and a claim
//     outside of the bounds is moved to the nearest allowed moment and counted.
//
// The caller's duties, each tick:
//
//	history.Begin(tick)
//	for _, p := range players {
//		history.Put(p.id, p.owner, p.epoch, p.volumes...)
//	}
//	history.End()
//
// and for each shot that a client's input contains:
//
//	use, reason := judge.Allow(claim, measured)
//	hit, ok := history.At(use.Tick, use.Fraction).Raycast(ray, filter)
//
// Walls that never move are the game's own: cut the ray's Range where it meets
// one, before asking. Doors and lifts that move are put like players, on a
// layer of their own, and are then met where they were.
//
// [History.Rewind] and [History.Invoke] give a check of the game's own the same
// view, [Projectile] takes what flies slowly from the past to the present, and
// [History.Explain] lays a disputed shot open as data.
//
// Coordinates are whatever unit the game uses; a game in two dimensions leaves
// Z zero. Nothing here reads a clock, starts a goroutine or holds a global.
// Recording and querying exclude each other; queries may run in parallel with
// one another. After the first seconds neither allocates.
package lagcomp
