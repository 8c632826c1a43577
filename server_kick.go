package foretick

import (
	"time"
	"unicode/utf8"

	"github.com/foretick/foretick/transport"
)

// maxKickText bounds what a kicked player is told, in bytes.
const maxKickText = 120

// Kick removes a player from the match. The player's client is told code and text:
// code is [transport.Kicked] (0 means that) or a code of the game's own, from
// [transport.FirstUserCode] on; text is cut to 120 bytes at a rune. It reports
// whether there is such a player; on a client it does nothing and returns false.
//
// It may be called from anywhere in a tick, handlers of the very player included.
// The player leaves at the tick's end, before a level that [Server.NextLevel] asked
// for: until then it is there as before, and what was sent to it goes out in a last
// packet. OnLeave hooks run in the next tick. Of several calls for one player the
// first counts. No place is held for who was kicked.
func (f *Frame) Kick(player PlayerID, code transport.Code, text string) bool {
	return f.server != nil && f.server.Kick(player, code, text)
}

// Ban kicks a player with [transport.Kicked] and keeps its identity out until a time,
// as [Server.Ban] does; the zero time means for ever. It reports whether the player
// has an identity: one without is kicked, and may come back.
func (f *Frame) Ban(player PlayerID, until time.Time, text string) bool {
	if f.server == nil {
		return false
	}
	p := f.server.player(player)
	if p == nil {
		return false
	}
	f.server.kick(p, transport.Kicked, text)
	return f.server.Ban(p.named, until, text)
}

// Kick is [Frame.Kick] for code outside of systems and handlers. Called between
// Steps, it takes effect at the end of the next tick.
func (s *Server) Kick(player PlayerID, code transport.Code, text string) bool {
	p := s.player(player)
	if p == nil {
		return false
	}
	if code != transport.None && code != transport.Kicked && code < transport.FirstUserCode {
		s.cfg.Logger.Error("Kick with a code that is not a game's: use transport.Kicked, or transport.FirstUserCode and up; kicked as Kicked", append(s.who(p), "code", code)...)
		code = transport.Kicked
	}
	if code == transport.None {
		code = transport.Kicked
	}
	s.kick(p, code, text)
	return true
}

// kick marks a player, who leaves at the end of the tick.
func (s *Server) kick(p *player, code transport.Code, text string) {
	if p.kicked {
		return
	}
	p.kicked, p.kickCode, p.kickText = true, code, cutText(text, maxKickText)
	s.kicks = append(s.kicks, p)
}

// dropKicked ends the places of those who were kicked since the last tick. Leaving
// calls no handler, so nobody is added meanwhile.
func (s *Server) dropKicked() {
	for _, p := range s.kicks {
		switch {
		case p.over: // left by itself
		case p.state == away:
			s.giveUp(p, p.kickCode, p.kickText)
		default:
			s.remember(p.token, p.kickCode, p.kickText)
			s.drop(p, p.kickCode, p.kickText)
		}
	}
	clear(s.kicks)
	s.kicks = s.kicks[:0]
	for _, b := range s.barred {
		s.bar(b)
	}
	clear(s.barred)
	s.barred = s.barred[:0]
}

// cutText cuts a text to so many bytes, between two runes.
func cutText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
