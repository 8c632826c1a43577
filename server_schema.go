package foretick

import (
	"fmt"
	"time"

	"github.com/foretick/foretick/netcode"
)

// publish puts the protocol's schema into the library for peers that ask. One that
// is too long to travel is a fault only where clients would need it.
func (s *Server) publish() error {
	b := s.p.Schema(nil)
	_, err := s.library.Add(SchemaName, b)
	if err == nil && s.cfg.AllowOtherBuilds {
		_, err = ReadSchema(b)
	}
	if err != nil && s.cfg.AllowOtherBuilds {
		return fmt.Errorf("foretick: ServerConfig.AllowOtherBuilds needs a schema that can travel: %w", err)
	}
	return nil
}

// otherBuilds tells a peer of another build that it may ask for the schema, and then say
// Hello by that.
func (s *Server) otherBuilds(t time.Duration, p *player, h netcode.Hello) {
	if !p.otherBuilds {
		s.cfg.Logger.Info("another build", append(s.who(p), "theirs", h.Protocol, "ours", s.p.Hash())...)
	}
	p.otherBuilds = true
	pk := p.conn.Begin(t)
	p.fates(s)
	pk.Message(netcode.MessageReject, netcode.Reject{Code: rejectBuildDifference, Protocol: s.p.Hash(), Text: "another build of the game: ask for the schema"}.Append(nil))
	s.finish(p, pk, false)
}

// How long a peer that does not play yet may take, from its arrival on …
const (
	fetchTime = time.Minute      // for what it must read first: 64 kB where half of all packets are lost
	askTime   = 15 * time.Second // until it asks for that
)

// fetching reports whether a peer is about to ask for the schema, or is being sent that
// or why its own protocol is refused, and goes on to acknowledge packets: a bad line
// needs its time.
func (s *Server) fetching(p *player, t time.Duration) bool {
	switch {
	case p.state == greeting && p.otherBuilds && !p.asked:
		return t-p.came < askTime
	case p.state == refusing, p.state == greeting && p.asked:
		return p.conn.Pending() > 0 && t-p.came < fetchTime && p.conn.Unanswered(t) < s.cfg.Timeout
	}
	return false
}

// answer answers a request for the schema.
func (s *Server) answer(t time.Duration, p *player, r netcode.Reliable) error {
	if r.Kind != netcode.KindSchemaRequest {
		return netcode.ErrMalformed
	}
	s.stats.SchemasAsked++
	p.asked = p.asked || p.state == greeting
	return p.answers.Answer(p.conn, channelSchemas, s.frame.Tick, r.Payload)
}
