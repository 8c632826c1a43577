package foretick

import (
	"errors"
	"fmt"
	"slices"

	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/snapshot"
)

// BuildDifference is how a client's protocol differs from that of the server, a build of the
// same game, that it plays with; see [Client.BuildDifference].
//
// What has one name is matched: components and messages have that of their Go
// type, without its package, so that to rename one is to replace it; prefabs have
// the one that they were declared with, and commands need none.
type BuildDifference struct {
	// Schema is the server's.
	Schema *Schema
	// Missing names what only this client has: components, fields, prefabs, the
	// command, messages and requests. Fields of entities keep what their prefab is
	// born with here, and what is missing of a command or a request is not sent.
	Missing []string
	// Unknown names what only the server has. It is received, and passed over.
	Unknown []string
	// Changed names the fields of both that differ in type, range, step or
	// audience. Values are converted, to the nearest that the other type holds.
	Changed []string
}

// BuildDifference is what differs from the protocol of a server of another build; nil where
// both are one build, or the client was not let in yet. See
// [ServerConfig.AllowOtherBuilds].
func (c *Client) BuildDifference() *BuildDifference { return c.buildDifference }

// against is why a server's protocol, by its description, is not this one.
func (p *Protocol) against(theirs string) *ProtocolError {
	e := &ProtocolError{Ours: p.Hash(), Theirs: hashText(theirs)}
	e.OurLine, e.TheirLine = firstDifference(p.Describe(), theirs)
	return e
}

// otherBuilds notes that the server would let another build in.
func (c *Client) otherBuilds(r netcode.Reject) {
	if c.view.State != Connecting && c.view.State != Resuming || c.speaks == r.Protocol {
		return
	}
	if r.Protocol == c.cfg.Protocol.Hash() { // the server was brought up to this build
		c.adopt(c.cfg.Protocol, nil, r.Protocol)
		return
	}
	c.asksSchema, c.offered = true, r.Protocol
}

// adopt goes over to another way of speaking.
func (c *Client) adopt(p *Protocol, buildDifference *BuildDifference, hash uint64) {
	c.p, c.buildDifference, c.speaks, c.asksSchema = p, buildDifference, hash, false
	c.bodies, c.others = newBodies(p), p.othersRead()
	if err := c.fresh(); err != nil {
		c.end(err) // cannot be: the same configuration was accepted before
	}
}

var errUnasked = errors.New("foretick: a schema that was not asked for")

// schema takes the server's schema in and begins to speak its protocol.
func (c *Client) schema(payload []byte) error {
	if !c.asksSchema {
		return errUnasked
	}
	reply, err := netcode.ParseSchemaReply(payload)
	if err != nil {
		c.end(err)
		return err
	}
	if !reply.Known {
		c.end(&ProtocolError{Ours: c.cfg.Protocol.Hash(), Theirs: c.offered})
		return nil
	}
	s, err := ReadSchema(reply.Data)
	if err == nil && s.Hash() != c.offered {
		err = fmt.Errorf("%w: it is not that of the server's protocol", ErrSchema)
	}
	if err != nil {
		c.end(err)
		return err
	}
	own := c.cfg.Protocol
	if s.Game != own.name || s.Version != own.version || s.TickRate != own.tickRate || !slices.Equal(s.Channels, own.parts().Channels) {
		c.end(own.against(s.Describe()))
		return nil
	}
	buildDifference := &BuildDifference{Schema: s}
	bound := own.bind(s, buildDifference)
	c.decoded()
	c.adopt(bound, buildDifference, c.offered)
	return nil
}

// unknownComponent is the id of a component that this build has not: no world does.
const unknownComponent = 255

// bind makes the protocol by which this build's components, prefabs, command, messages
// and requests travel as a server of another build has them: matched by name, in the
// server's order.
func (p *Protocol) bind(s *Schema, d *BuildDifference) *Protocol {
	q := *p
	q.foreign, q.common, q.registry = true, true, s.Registry
	q.hash = 0
	at := d.bindComponents(&q, p, s)
	d.bindPrefabs(&q, p, s)
	d.bindCommand(&q, p, s)
	d.bindMessages(&q, p, s)
	d.bindRequests(&q, p, s)
	q.hitboxes, q.lives, q.tracks = nil, nil, nil
	for _, v := range p.hitboxes {
		own := v.comps
		v.comps, v.mask = nil, 0
		for _, i := range own {
			if at[i] >= 0 {
				v.comps, v.mask = append(v.comps, at[i]), v.mask|1<<at[i]
			}
		}
		if len(v.comps) == len(own) {
			q.hitboxes = append(q.hitboxes, v)
		}
	}
	for _, l := range p.lives {
		if l.comp = at[l.comp]; l.comp >= 0 {
			q.lives = append(q.lives, l)
		}
	}
	for _, t := range p.tracks {
		if t.comp = at[t.comp]; t.comp >= 0 {
			q.tracks = append(q.tracks, t)
		}
	}
	q.bindRemotePrediction(s)
	q.readUnpredicted = q.unpredictedReads()
	q.findUnpredicted()
	names := make([]string, len(p.events))
	for i := range p.events {
		names[i] = p.events[i].name
	}
	q.eventsOf = match(s.Events, names)
	return &q
}

// match finds for each of theirs its place among ours: the n-th of a name is the
// n-th of that name. −1 where there is none.
func match(theirs, ours []string) []int {
	taken := make([]bool, len(ours))
	out := make([]int, len(theirs))
	for i, name := range theirs {
		out[i] = -1
		for k := range ours {
			if !taken[k] && ours[k] == name {
				out[i], taken[k] = k, true
				break
			}
		}
	}
	return out
}

// bindComponents answers the server's index of each of p's components, −1 for one
// that it has not.
func (d *BuildDifference) bindComponents(q, p *Protocol, s *Schema) []int {
	at := make([]int, len(p.components))
	for i := range at {
		at[i] = -1
	}
	q.components = make([]component, s.Registry.Components())
	q.originAt, q.localAt, q.curved = -1, -1, false
	for i := range q.components {
		theirs := s.Registry.Schema(i)
		k := slices.IndexFunc(p.components, func(c component) bool { return c.name == theirs.Name() })
		if k < 0 {
			q.components[i] = component{id: unknownComponent, name: theirs.Name(), schema: theirs, unknown: true}
			switch theirs.Name() {
			case originName:
				q.originAt = i
			case localName:
				q.localAt = i
			default:
				d.Unknown = append(d.Unknown, "component "+theirs.Name())
			}
			continue
		}
		at[k] = i
		c := p.components[k]
		c.schema = d.bind(c.schema, theirs)
		c.predicted = c.predicted && theirs.Predicted()
		c.tolerant = c.schema.Tolerant()
		c.moves(theirs)
		q.curved = q.curved || c.curved
		q.components[i] = c
	}
	for k := range at {
		if at[k] < 0 {
			d.Missing = append(d.Missing, "component "+p.components[k].name)
		}
	}
	return at
}

// bind matches one schema and notes what differs.
func (d *BuildDifference) bind(own, theirs *snapshot.Schema) *snapshot.Schema {
	s, diff := theirs.Bind(own)
	for _, x := range []struct {
		to   *[]string
		from []string
	}{{&d.Missing, diff.Missing}, {&d.Unknown, diff.Unknown}, {&d.Changed, diff.Changed}} {
		for _, f := range x.from {
			*x.to = append(*x.to, own.Name()+"."+f)
		}
	}
	return s
}

func (d *BuildDifference) bindPrefabs(q, p *Protocol, s *Schema) {
	found := make([]bool, len(p.prefabs))
	q.prefabs = make([]prefab, s.Registry.Prefabs())
	for i := range q.prefabs {
		name := s.Registry.PrefabName(i)
		k := slices.IndexFunc(p.prefabs, func(k prefab) bool { return k.ecs.Name() == name })
		if k < 0 {
			d.Unknown = append(d.Unknown, "prefab "+name)
			continue
		}
		q.prefabs[i], found[k] = p.prefabs[k], true
		q.bindSpawns(i)
	}
	for k := range found {
		if !found[k] {
			d.Missing = append(d.Missing, "prefab "+p.prefabs[k].ecs.Name())
		}
	}
}

// bindRemotePrediction lets others be foreseen where both builds foresee the same: a server
// judges shots at what is foreseen by another moment.
func (p *Protocol) bindRemotePrediction(s *Schema) {
	same := s.PredictsRemote && p.predictRemote != nil && p.command != nil
	for i := range p.prefabs {
		k := &p.prefabs[i]
		same = same && (k.ecs == nil || k.remotePredicted == slices.Contains(s.RemotePredicted, s.Registry.PrefabName(i)))
	}
	if same {
		return
	}
	p.predictRemote, p.apart = nil, s.PredictsRemote
	for i := range p.prefabs {
		p.prefabs[i].remotePredicted = false
	}
}

func (d *BuildDifference) bindCommand(q, p *Protocol, s *Schema) {
	q.command = nil
	switch {
	case p.command == nil && s.Command != nil:
		d.Unknown = append(d.Unknown, "command "+s.Command.Name())
	case p.command != nil && s.Command == nil:
		d.Missing = append(d.Missing, "command "+p.command.schema.Name())
	case p.command != nil:
		c := *p.command
		c.schema = d.bind(c.schema, s.Command)
		q.command = &c
	}
}

func (d *BuildDifference) bindMessages(q, p *Protocol, s *Schema) {
	var ours, theirs []string
	for i := range p.messages {
		ours = append(ours, p.messages[i].name)
	}
	for i := range s.Messages {
		theirs = append(theirs, s.Messages[i].Schema.Name())
	}
	q.messages = make([]messageType, len(theirs))
	found := make([]bool, len(ours))
	for i, k := range match(theirs, ours) {
		if k < 0 {
			q.messages[i] = messageType{name: theirs[i], channel: s.Messages[i].Channel}
			d.Unknown = append(d.Unknown, "message "+theirs[i])
			continue
		}
		m := p.messages[k]
		m.schema, m.channel, found[k] = d.bind(m.schema, s.Messages[i].Schema), s.Messages[i].Channel, true
		q.messages[i] = m
	}
	for k := range found {
		if !found[k] {
			d.Missing = append(d.Missing, "message "+ours[k])
		}
	}
}

// bindRequests keeps this build's order: Send finds a request by it.
func (d *BuildDifference) bindRequests(q, p *Protocol, s *Schema) {
	var ours, theirs []string
	q.requests = slices.Clone(p.requests)
	for i := range q.requests {
		ours = append(ours, q.requests[i].name)
		q.requests[i].kind = -1
	}
	for i := range s.Requests {
		theirs = append(theirs, s.Requests[i].Name())
	}
	for i, k := range match(theirs, ours) {
		if k < 0 {
			d.Unknown = append(d.Unknown, "request "+theirs[i])
			continue
		}
		r := &q.requests[k]
		r.kind, r.schema = i, d.bind(r.schema, s.Requests[i])
	}
	for k := range ours {
		if q.requests[k].kind < 0 {
			d.Missing = append(d.Missing, "request "+ours[k])
		}
	}
}

// known is what this build knows of a predicted component's words, until the next
// call.
func (c *Client) known(comp *component, words []int32) []int32 {
	if !c.p.foreign || words == nil {
		return words
	}
	out := c.zeroes(comp.schema.Words())
	comp.schema.Known(words, snapshot.GridSim, out)
	return out
}

// ownEvents turns a note's events, which another build numbered, into this one's.
func (p *Protocol) ownEvents(n *note) {
	if !p.foreign {
		return
	}
	own := n.raised[:0]
	for _, e := range n.raised {
		if int(e.event) < len(p.eventsOf) && p.eventsOf[e.event] >= 0 {
			own = append(own, noteEvent{e.age, uint32(p.eventsOf[e.event])})
		}
	}
	n.raised = own
}
