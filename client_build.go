package foretick

import (
	"errors"
	"fmt"
	"slices"

	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/schema"
)

// otherBuilds notes that the server would let another build in.
func (c *Client) otherBuilds(r netcode.Reject) {
	if c.view.State != Connecting && c.view.State != Resuming || c.link.builds.speaks == r.Protocol {
		return
	}
	if r.Protocol == c.cfg.Protocol.Hash() { // the server was brought up to this build
		c.adopt(&c.cfg.Protocol.compiled, nil, r.Protocol)
		return
	}
	c.link.builds.asks, c.link.builds.offered = true, r.Protocol
}

// adopt switches to another protocol.
func (c *Client) adopt(p *compiled, to *difference, hash uint64) {
	c.p, c.link.builds.difference, c.link.builds.speaks, c.link.builds.asks = p, to, hash, false
	c.losses.p = p
	c.ghosts.hitboxes = p.newHitboxes()
	c.ghosts.findOthers(p)
	if err := c.fresh(); err != nil {
		c.link.end(err) // cannot be: the same configuration was accepted before
	}
}

var errUnasked = errors.New("foretick: a schema that was not asked for")

// schema reads the server's schema and switches to its protocol.
func (c *Client) schema(payload []byte) error {
	if !c.link.builds.asks {
		return errUnasked
	}
	reply, err := netcode.ParseSchemaReply(payload)
	if err != nil {
		c.link.end(err)
		return err
	}
	if !reply.Known {
		c.link.end(&ProtocolError{Ours: c.cfg.Protocol.Hash(), Theirs: c.link.builds.offered})
		return nil
	}
	s, err := schema.ReadProtocol(reply.Data)
	if err == nil && s.Hash() != c.link.builds.offered {
		err = fmt.Errorf("%w: it is not that of the server's protocol", schema.ErrMalformed)
	}
	if err != nil {
		c.link.end(err)
		return err
	}
	own := &c.cfg.Protocol.compiled
	if s.Game != own.Name || s.Version != own.Version || s.TickRate != own.TickRate || !slices.Equal(s.Channels, own.parts().Channels) {
		c.link.end(c.cfg.Protocol.against(s.Describe()))
		return nil
	}
	differs := &difference{Schema: s}
	bound := own.bind(s, differs)
	c.link.decoded()
	c.adopt(bound, differs, c.link.builds.offered)
	return nil
}

// known returns the part of a predicted component's words that this build knows, valid
// until the next call.
func (tl *timeline) known(comp *layout.Component, words []int32) []int32 {
	if !tl.p.OtherBuild || len(words) == 0 {
		return words
	}
	out := tl.zeroes(comp.Schema.Words())
	comp.Schema.Known(words, schema.GridSim, out)
	return out
}
