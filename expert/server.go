package expert

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/stats"
)

// ServerLosses appends the fields, also of messages, whose values were clamped to the tag's
// range, or whose changes rounding undid. They are in the order of discovery, 256 at most.
// ValuesOutside and ChangesSwallowed of [stats.Server] are the totals. A debug build also
// names the system that wrote each field.
func ServerLosses(s *server.Server, dst []stats.Loss) []stats.Loss {
	return s.Internals().Losses(dst)
}

// Traffic returns the bytes sent to and received from all clients since the server began,
// by component and field. It returns nil unless [server.Config].Profile is set. The
// bytes of a vector are counted at its first field. Commands are sent as differences from one
// another, so their bytes are divided among the fields by size.
func Traffic(s *server.Server) []stats.Traffic { return s.Internals().Traffic() }

// SetLateInputs switches late inputs of one player on or off, on a server with
// [server.Config].LateInputs. On, which is the default, means that a late input runs in its own
// tick. It is for comparisons, and for games that decide it by player. Ticks that wait for a late
// input keep its replacement when late inputs are switched off. SetLateInputs returns false for a
// player that does not play, and on a server without LateInputs. It also returns false on a
// server with LateShare, whose clients would lose the inputs that may be late.
func SetLateInputs(s *server.Server, player foretick.PlayerID, on bool) bool {
	return s.Internals().SetLateInputs(player, on)
}

// RemeasureLatency measures a player's round trip and drawing delay again for five
// seconds. Growth of the latency then counts from the new values. Call it for players whose
// network has become slower by more than [server.Config].RewindGrowth allows. Without it their
// claims are clamped and counted. Call it when the player cannot gain from it, such as between
// rounds. It returns false for a player that does not play.
func RemeasureLatency(s *server.Server, player foretick.PlayerID) bool {
	return s.Internals().RemeasureLatency(player)
}
