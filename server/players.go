package server

import (
	"fmt"
	"slices"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/tape"
	"github.com/foretick/foretick/stats"
)

// Player is a player of a match, for code that runs outside of its ticks: an HTTP handler, a timer,
// the answer of a database. By then the player may have left, and its number may be another
// player's. A Player never means that other one: [Server.DoFor] does nothing for a Player that has
// left. It stays the same while a lost player's place is held and when the player comes back to it.
// Inside of a tick the number is enough.
//
// Players can be compared, be keys of a map, and travel to a web page and back. The zero Player is
// nobody.
type Player struct {
	// ID is the player's number, which the frames of this match take.
	ID foretick.PlayerID
	// Session is the ordinal of the player's session among all sessions that the server had, as in
	// stats.Player.SessionNumber. No other player of the match has it.
	Session uint64
}

// Player returns the player that has a number now, or the zero Player if nobody does. A
// hook keeps it for what is answered later. Any goroutine may call it, also while Run runs.
func (s *Server) Player(id foretick.PlayerID) Player {
	if shown, ok := s.board.player(id); ok {
		return Player{id, shown.stats.SessionNumber}
	}
	return Player{}
}

// Players appends the players of the match to dst, in order of arrival. Absent players
// whose place is held are included. Any goroutine may call it, also while Run runs.
func (s *Server) Players(dst []Player) []Player {
	p := s.board.players.Hold()
	if p == nil {
		return dst
	}
	defer p.Release()
	return append(dst, p.Value...)
}

// PlayerStats returns a player's counters as of the end of the newest tick, or as of its newest
// join, loss or return if that is later. It returns false when the player has left. Any goroutine may
// call it, also while Run runs.
func (s *Server) PlayerStats(of Player) (stats.Player, bool) {
	shown, ok := s.board.shownOf(of)
	return shown.stats, ok
}

// Identity returns a player's identity, which the transport's accept hook made of the
// token that the client sent: for example the identity in a connect ticket. It is empty
// for players that the transport does not know, and when the player has left. It
// stays known while the player's place is held. Any goroutine may call it, also while Run runs.
func (s *Server) Identity(of Player) []byte {
	shown, _ := s.board.shownOf(of)
	return slices.Clone(shown.identity)
}

// DoFor queues a function for the end of a tick, as [Server.Do] does, and has its limits and errors. The
// function does not run if the player has left by then. So with it a program kicks, bans, tells or heals the
// player that it means, and nobody else:
//
//	err := srv.DoFor(player, "kick", func(f *foretick.ServerFrame) { f.Kick(player.ID, 0, "cheating") })
//
// For a player that has left already it returns [foretick.ErrNotPlaying].
func (s *Server) DoFor(player Player, name string, fn func(f *foretick.ServerFrame)) error {
	if _, ok := s.board.shownOf(player); !ok {
		return fmt.Errorf("%w: player %d of session %d has left, or never played", foretick.ErrNotPlaying, player.ID, player.Session)
	}
	if fn == nil {
		return s.Do(name, nil)
	}
	return s.Do(name, func(f *foretick.ServerFrame) {
		if s.sessions.playerOf(player) != nil {
			fn(f)
		}
	})
}

// RemeasureLatency measures a player's round trip and drawing delay again for five
// seconds. Growth of the latency then counts from the new values. Call it for players whose
// network has become slower by more than [Config].RewindGrowth allows. Without it their
// claims are clamped and counted. Call it when the player cannot gain from it, such as between
// rounds. It returns false for a player that does not play.
func (s *Server) RemeasureLatency(of Player) bool {
	p := s.sessions.playerOf(of)
	if p == nil {
		return false
	}
	s.tape.outside(tape.Call{Op: tape.Remeasure, Player: uint16(of.ID)})
	return p.shooter.Remeasure()
}

// SetLateInputs switches late inputs of one player on or off, on a server with
// [Config].Late. On, which is the default, means that a late input runs in its own
// tick. It is for comparisons, and for games that decide it by player. Ticks that wait for a late
// input keep its replacement when late inputs are switched off. SetLateInputs returns false for a
// player that does not play, and on a server without Late. It also returns false on a
// server with Late.Share, whose clients would lose the inputs that may be late.
func (s *Server) SetLateInputs(of Player, on bool) bool {
	p := s.sessions.playerOf(of)
	if p == nil {
		return false
	}
	s.tape.outside(tape.Call{Op: tape.LateInputs, Player: uint16(of.ID), Built: on})
	if _, again := s.late.Again(); s.late.Window == 0 || s.cfg.Late.Share > 0 || again {
		return false
	}
	if s.late.SetPrompt(&p.late, !on) && p.outbox.sender != nil {
		p.outbox.sender.Withhold(false)
	}
	return true
}

// playerOf returns a player's data, or nil if it has left.
func (s *sessions) playerOf(of Player) *player {
	if p := s.player(of.ID); p != nil && p.session.number == of.Session {
		return p
	}
	return nil
}
