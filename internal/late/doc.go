// Package late runs commands that come after their tick in that tick: see ServerConfig.LateInputs
// and LateWorld. A Room keeps what the newest ticks ran with in a ring for each player, and has two
// stores behind the rings. With LateInputs alone a player's own part of the world runs again, and
// with LateWorld the whole world does. RATIONALE.md tells why it is done in this way.
package late
