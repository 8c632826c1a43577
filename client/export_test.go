package client

import (
	"github.com/foretick/foretick/internal/quantise"
	"github.com/foretick/foretick/schema"
)

// RefuseAbove makes the client's decoder refuse values above most in the first field of a component,
// like a decoder that disagrees with the server's encoder.
func (c *Client) RefuseAbove(component string, most int64) {
	for _, s := range c.p.Registry.Plan().Comps {
		if s.Name != component {
			continue
		}
		for a := range quantise.Audience(2) {
			coded := s.Coding(a)
			coded.Codes[0].Hi = most
			for i := range coded.Runs[:min(1, len(coded.Runs))] {
				coded.Runs[i] = coded.Codes[i].RunWord()
			}
		}
	}
}

// ReportUnread makes the client report in its next packet that it could not read an entity, no matter
// when it last did.
func (c *Client) ReportUnread(wire uint16) {
	c.link.unread = unreadReport{due: true, wire: schema.WireID(wire)}
}
