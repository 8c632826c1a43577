package foretick

import (
	"fmt"
	"time"

	"github.com/foretick/foretick/internal/standard"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/schema"
)

// publish puts the protocol's schema into the library for peers that ask for it. A schema
// that is too long to send is a fault only if clients would need it.
func (s *Server) publish() error {
	b := s.p.parts().Append(nil)
	_, err := s.library.Add(netcode.ProtocolSchema, b)
	if err == nil && s.cfg.AllowOtherBuilds {
		_, err = schema.ReadProtocol(b)
	}
	if len(s.p.labels) > 0 {
		if _, err := s.library.Add(netcode.LabelSchema, s.p.labels.Append(nil)); err != nil {
			s.cfg.Logger.Warn("tools do not get the labels of fields", "err", err)
		}
	}
	if err != nil && s.cfg.AllowOtherBuilds {
		return fmt.Errorf("foretick: ServerConfig.AllowOtherBuilds needs a schema that can travel: %w", err)
	}
	return nil
}

// otherBuilds tells a peer of another build that it may ask for the schema and then send a
// Hello for it.
func (s *Server) otherBuilds(t time.Duration, p *player, h netcode.Hello) {
	if !p.schemas.otherBuilds {
		s.cfg.Logger.Info("another build", append(p.who(), "theirs", h.Protocol, "ours", s.p.Hash)...)
	}
	p.schemas.otherBuilds = true
	pk := p.session.conn.Begin(t)
	p.fates(s.clock.now)
	pk.Message(netcode.MessageReject, netcode.Reject{Code: rejectBuildDifference, Protocol: s.p.Hash, Text: "another build of the game: ask for the schema"}.Append(nil))
	s.finish(p, pk)
}

// Time limits for a peer that does not play yet, from its arrival.
const (
	fetchTime = time.Minute      // for what it must read first: 64 kB where half of all packets are lost
	askTime   = 15 * time.Second // until it asks for that
)

// fetching reports whether a peer is about to ask for the schema, or is receiving it, or
// receives the reason why its protocol is refused. The peer must keep acknowledging
// packets: a bad connection needs its time.
func (s *Server) fetching(p *player, t time.Duration) bool {
	switch {
	case p.session.state == greeting && p.schemas.otherBuilds && !p.schemas.asked:
		return s.clock.lasted(t, p.session.came) < askTime
	case p.session.state == refusing && !p.session.kicked, p.session.state == greeting && p.schemas.asked:
		return p.session.conn.Pending() > 0 && s.clock.lasted(t, p.session.came) < fetchTime && s.clock.lasted(t, t-p.session.conn.Unanswered(t)) < s.cfg.Timeout
	}
	return false
}

// answer answers a request for the schema.
func (s *Server) answer(t time.Duration, p *player, r netcode.Reliable) error {
	if r.Kind != netcode.KindSchemaRequest {
		return netcode.ErrMalformed
	}
	s.stats.SchemasAsked++
	p.schemas.asked = p.schemas.asked || p.session.state == greeting
	return p.schemas.answers.Answer(p.session.conn, standard.ChannelSchemas, s.sim.frame.Tick, r.Payload)
}
