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
	if err == nil && s.cfg.AllowSkew {
		_, err = ReadSchema(b)
	}
	if err != nil && s.cfg.AllowSkew {
		return fmt.Errorf("foretick: ServerConfig.AllowSkew needs a schema that can travel: %w", err)
	}
	return nil
}

// skewed tells a peer of another build that it may ask for the schema, and then say
// Hello by that.
func (s *Server) skewed(t time.Duration, p *player, h netcode.Hello) {
	if !p.skewed {
		s.cfg.Logger.Info("another build", "peer", p.peer, "theirs", h.Protocol, "ours", s.p.Hash())
	}
	p.skewed = true
	pk := p.conn.Begin(t)
	p.fates(s)
	pk.Message(netcode.MessageReject, netcode.Reject{Code: rejectSkew, Protocol: s.p.Hash(), Text: "another build of the game: ask for the schema"}.Append(nil))
	s.finish(p, pk, false)
}

// answer answers a request for the schema.
func (s *Server) answer(t time.Duration, p *player, r netcode.Reliable) error {
	if r.Kind != netcode.KindSchemaRequest {
		return netcode.ErrMalformed
	}
	s.stats.SchemasAsked++
	if p.state == greeting && !p.asked {
		p.asked, p.since = true, t // a schema takes its time
	}
	return p.answers.Answer(p.conn, channelSchemas, s.frame.Tick, r.Payload)
}
