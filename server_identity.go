package foretick

import (
	"bytes"
	"crypto/subtle"
	"maps"
	"slices"
	"time"

	"github.com/foretick/foretick/transport"
)

// ban keeps an identity out.
type ban struct {
	until  time.Time // zero: for good
	detail string
}

func (b ban) over(now time.Time) bool { return !b.until.IsZero() && !now.Before(b.until) }

// banSweep is the time between two looks for bans that are over.
const banSweep = time.Minute

// forgetBans forgets the bans that are over, so that those of identities that never
// come back do not pile up.
func (s *Server) forgetBans(t time.Duration) {
	if t < s.banSweep || len(s.bans) == 0 {
		return
	}
	s.banSweep = t + banSweep
	now := s.start.Add(t)
	maps.DeleteFunc(s.bans, func(_ string, b ban) bool { return b.over(now) })
}

// Identity is who a player is: what the transport's accept hook made of the
// token that the player showed, for example the identity in a connect ticket.
// It is empty for players whom the transport does not know, and for owners that
// are nobody's. It stays known while the player's place is held.
func (s *Server) Identity(player PlayerID) []byte {
	if p := s.player(player); p != nil {
		return slices.Clone(p.named)
	}
	return nil
}

// KickIdentity kicks every player of an identity with [transport.Kicked], those whose
// place is held included, as [Frame.Kick] does: at the end of the tick. It reports
// whether there was one. An empty identity is nobody's.
func (s *Server) KickIdentity(identity []byte, detail string) bool {
	if len(identity) == 0 {
		return false
	}
	found := false
	for _, p := range s.players {
		if bytes.Equal(p.named, identity) {
			found = true
			s.kick(p, transport.Kicked, detail)
		}
	}
	return found
}

// Ban is KickIdentity, and keeps the identity out until a time, by the clock
// that Step is given; the zero time is for good. They are told
// transport.Refused and the detail. A transport that is a
// [transport.BanList] is told, and turns them away before they cost
// anything; behind any other they are dropped when they arrive. It reports
// whether there is such an identity: an empty one is nobody's, so a player
// without an identity can be kicked and not banned. A ban whose time is over is
// forgotten within a minute of Steps. All bans end with the Server: keep a list
// elsewhere and give it to each new one.
func (s *Server) Ban(identity []byte, until time.Time, detail string) bool {
	if len(identity) == 0 {
		return false
	}
	if s.bans == nil {
		s.bans = map[string]ban{}
	}
	s.bans[string(identity)] = ban{until, detail}
	s.KickIdentity(identity, detail)
	s.barred = append(s.barred, barred{slices.Clone(identity), until, detail})
	return true
}

// barred is a ban that the transport is to be told of, once those whom it ends have
// had their last packet.
type barred struct {
	identity []byte
	until    time.Time
	detail   string
}

func (s *Server) bar(b barred) {
	if d, ok := s.endpoint.(transport.BanList); ok && s.bans[string(b.identity)] == (ban{b.until, b.detail}) {
		d.Ban(b.identity, b.until, b.detail)
	}
}

// Unban ends a ban.
func (s *Server) Unban(identity []byte) {
	delete(s.bans, string(identity))
	if d, ok := s.endpoint.(transport.BanList); ok {
		d.Unban(identity)
	}
}

// identified is who a peer is, and whether it is banned, with the ban's text.
func (s *Server) identified(peer transport.PeerID) (identity []byte, text string, banned bool) {
	var info transport.Info
	if !s.endpoint.Info(peer, &info) || len(info.Identity) == 0 {
		return nil, "", false
	}
	b, banned := s.bans[string(info.Identity)]
	if banned && b.over(s.start.Add(s.now)) {
		delete(s.bans, string(info.Identity))
		banned = false
	}
	return slices.Clone(info.Identity), b.detail, banned
}

// resumes tells whether a new connection may have this player's place: it shows
// the place's token; or it is of the same identity, and the place stands empty.
// Another identity never may, whatever it shows.
func (p *player) resumes(by *player, token [16]byte) bool {
	if !bytes.Equal(p.named, by.named) {
		return false
	}
	return p.holds(token) || len(p.named) > 0 && p.state == away
}

// holds tells whether a token is that of the player's place.
func (p *player) holds(token [16]byte) bool {
	return token != [16]byte{} && subtle.ConstantTimeCompare(p.token[:], token[:]) == 1
}
