package server

import (
	"bytes"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/tape"
	"github.com/foretick/foretick/transport"
)

// maxKickText limits the text sent to a kicked player, in bytes.
const maxKickText = 120

// kicks removes players for the game.
type kicks struct {
	sessions  *sessions
	admission *admission
	logs      *peerLog
	tape      *recording
}

// KickPlayer implements ServerFrame.Kick.
func (k *kicks) KickPlayer(player foretick.PlayerID, code transport.Code, reason string) bool {
	k.tape.outside(tape.Call{Op: tape.Kick, Player: uint16(player), Number: uint64(code), Text: reason})
	p := k.sessions.player(player)
	if p == nil {
		return false
	}
	if code != transport.None && code != transport.Kicked && code < transport.FirstUserCode {
		k.logs.Logger.Error("Kick with a code that is not a game's: use transport.Kicked, or transport.FirstUserCode and up; kicked as Kicked", append(p.who(), "code", code)...)
		code = transport.Kicked
	}
	if code == transport.None {
		code = transport.Kicked
	}
	k.sessions.kick(p, code, reason)
	return true
}

// BanPlayer implements ServerFrame.Ban.
func (k *kicks) BanPlayer(player foretick.PlayerID, until time.Time, reason string) bool {
	k.tape.outside(tape.Call{Op: tape.BanPlayer, Player: uint16(player), Until: until, Text: reason})
	p := k.sessions.player(player)
	if p == nil {
		return false
	}
	k.sessions.kick(p, transport.Kicked, reason)
	return k.banIdentity(p.session.identity, until, reason)
}

// kick marks a player, which leaves at the end of the tick.
func (s *sessions) kick(p *player, code transport.Code, reason string) {
	if p.session.kicked {
		return
	}
	p.session.kicked, p.session.kickCode, p.session.kickText = true, code, cutText(reason, maxKickText)
	s.kicks = append(s.kicks, p)
}

// KickIdentity kicks every player of an identity with [transport.Kicked], as [foretick.ServerFrame.Kick]
// does: at the end of the tick. Absent players whose place is held are included. It
// reports whether there was one. An empty identity matches no player.
func (s *Server) KickIdentity(identity []byte, reason string) bool {
	s.tape.outside(tape.Call{Op: tape.KickIdentity, Data: identity, Text: reason})
	return s.sessions.kickIdentity(identity, reason)
}

// kickIdentity kicks every player of an identity. It reports whether there was one.
func (s *sessions) kickIdentity(identity []byte, reason string) bool {
	if len(identity) == 0 {
		return false
	}
	found := false
	for _, p := range s.players {
		if bytes.Equal(p.session.identity, identity) {
			found = true
			s.kick(p, transport.Kicked, reason)
		}
	}
	return found
}

// Ban calls KickIdentity, and keeps the identity out until a time of the clock that Step
// is given. The zero time means forever. Banned clients receive [transport.Refused] and
// the reason. A transport that is a [transport.BanList] gets the ban, and refuses them
// before they cost anything. With any other transport the server drops them when they
// arrive.
//
// Ban returns false for an empty identity: a player without an identity can be kicked, but
// not banned. An expired ban is removed within a minute of Steps. All bans end with the
// Server: keep a list elsewhere and pass it to each new one.
func (s *Server) Ban(identity []byte, until time.Time, reason string) bool {
	s.tape.outside(tape.Call{Op: tape.Ban, Data: identity, Until: until, Text: reason})
	return s.kicks.banIdentity(identity, until, reason)
}

// banIdentity bans an identity and kicks its players.
func (k *kicks) banIdentity(identity []byte, until time.Time, reason string) bool {
	if len(identity) == 0 {
		return false
	}
	k.admission.ban(identity, until, reason)
	k.sessions.kickIdentity(identity, reason)
	return true
}

// Unban lets an identity in again that [Server.Ban] or [foretick.ServerFrame.Ban] keeps out. Without such a
// ban it does nothing.
func (s *Server) Unban(identity []byte) {
	s.tape.outside(tape.Call{Op: tape.Unban, Data: identity})
	s.admission.unban(identity)
}
