package server

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/foretick/foretick/internal/standard"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/schema"
)

// schemaQueue sends the protocol's schema to peers that request it.
type schemaQueue struct {
	library netcode.SchemaLibrary
	sim     *simulation
}

// publish puts the protocol's schema into the library. A schema that is too long to send is an error
// only if clients of other builds would need it.
func (c *schemaQueue) publish(p *compiled, otherBuilds bool, log *slog.Logger) error {
	b := p.Parts().Append(nil)
	_, err := c.library.Add(netcode.ProtocolSchema, b)
	if err == nil && otherBuilds {
		_, err = schema.ReadProtocol(b)
	}
	if len(p.Labels) > 0 {
		if _, err := c.library.Add(netcode.LabelSchema, p.Labels.Append(nil)); err != nil {
			log.Warn("tools do not get the labels of fields", "err", err)
		}
	}
	if err != nil && otherBuilds {
		return fmt.Errorf("foretick: server.Config.AllowOtherBuilds needs a schema that can travel: %w", err)
	}
	return nil
}

// answerRequest replies to a request for the schema.
func (c *schemaQueue) answerRequest(p *player, r netcode.Reliable) error {
	if r.Kind != netcode.KindSchemaRequest {
		return netcode.ErrMalformed
	}
	c.sim.stats.SchemasAsked++
	p.schemas.asked = p.schemas.asked || p.session.state == greeting
	return p.schemas.answers.Answer(p.session.conn, standard.ChannelSchemas, c.sim.frame.Tick, r.Payload)
}

// Time limits for a peer that does not play yet, from its connection.
const (
	fetchTime = time.Minute      // to receive what it must read first: 64 kB if half of all packets are lost
	askTime   = 15 * time.Second // until it requests that
)

// fetches reports whether a peer still has time to request the schema, or to receive it, or to receive
// the reason why its protocol is refused. The peer must keep acknowledging packets; a bad connection
// needs that time.
func (c *matchClock) fetches(p *player, t, timeout time.Duration) bool {
	switch {
	case p.session.state == greeting && p.schemas.otherBuilds && !p.schemas.asked:
		return c.lasted(t, p.session.came) < askTime
	case p.session.state == refusing && !p.session.kicked, p.session.state == greeting && p.schemas.asked:
		return p.session.conn.Pending() > 0 && c.lasted(t, p.session.came) < fetchTime && c.lasted(t, t-p.session.conn.Unanswered(t)) < timeout
	}
	return false
}

// playerSchemas has the requests of a client of another build of the game.
type playerSchemas struct {
	otherBuilds bool // the client was told to request the schema
	asked       bool // the client has requested it
	answers     netcode.SchemaAnswers
}
