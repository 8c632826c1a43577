// Package late runs commands that come after their tick in that tick: see server.Config.LateInputs
// and LateWorld. A Room keeps the commands of the newest ticks in a ring for each player, and the
// state of those ticks in one of two stores. With LateInputs alone a player's own part of the world
// runs again. With LateWorld the whole world does. RATIONALE.md has the reasons.
package late
