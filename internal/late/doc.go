// Package late runs commands that come after their tick in that tick: see server.Config.Late.Window
// and Late.World. A Room keeps the commands of the newest ticks in a ring for each player, and the
// state of those ticks in one of two stores. With Late alone a player's own part of the world
// runs again. With Late.World the whole world does. RATIONALE.md has the reasons.
package late
