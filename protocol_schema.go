package foretick

import (
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/standard"
	"github.com/foretick/foretick/schema"
)

// Schema appends a description of the protocol to dst and returns it, for tools that read
// packets or recordings without the game's types. docs/STANDARD.md has its form, and
// [schema.ReadProtocol] reads it. Schema ends the declaration, as Err does.
func (p *Protocol) Schema(dst []byte) []byte {
	_ = p.Err()
	return p.compiled.parts().Append(dst)
}

// parts are what the schema says.
func (p *compiled) parts() *schema.Protocol {
	s := &schema.Protocol{Game: p.Name, Version: p.Version, TickRate: p.TickRate, Registry: p.Registry}
	for i, c := range p.NetChannels()[standard.GameChannels:] {
		s.Channels = append(s.Channels, schema.Channel{Name: p.Channels[i].Name, Reliable: c.Reliable, Priority: max(c.Priority, 1)})
	}
	if p.Command != nil {
		s.Command = p.Command.Schema
	}
	for i := range p.Messages {
		s.Messages = append(s.Messages, schema.Message{Channel: p.Messages[i].Channel, Schema: p.Messages[i].Schema})
	}
	for i := range p.Requests {
		s.Requests = append(s.Requests, p.Requests[i].Schema)
	}
	s.Events = append(s.Events, p.Events...)
	for _, sys := range p.schedule.Systems() {
		if layout.Shared(sys) {
			s.Shared = append(s.Shared, sys.Name)
			if len(p.Tags) > 0 {
				s.SharedTags = append(s.SharedTags, p.TagBits(sys.Tags))
			}
		}
	}
	s.Tags = append(s.Tags, p.Tags...)
	s.PredictsRemote = p.Remote.Predicts
	for i := range p.Prefabs {
		if p.Prefabs[i].RemotePredicted {
			s.RemotePredicted = append(s.RemotePredicted, p.Prefabs[i].ECS.Name())
		}
	}
	return s
}
