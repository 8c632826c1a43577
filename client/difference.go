package client

import (
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"

	"errors"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/schema"
)

// difference collects how two builds differ, while the protocol of one is bound to that of the other.
type difference schema.BuildDifference

// newProtocolError returns how a server's protocol, given by its description, differs from this one.
func newProtocolError(p *foretick.Protocol, theirs string) *ProtocolError {
	ours, e := p.Describe(), &ProtocolError{Ours: p.Hash()}
	if text, cut := strings.CutSuffix(theirs, game.CutMark); cut { // compare no more lines of ours than were received of theirs
		e.OurLine, e.TheirLine = firstDifference(firstLines(ours, strings.Count(text, "\n")), text)
		return e
	}
	if !strings.Contains(theirs, "\n"+game.HashMark) { // with hashes of lines, the text is not what was hashed
		e.Theirs = game.HashText(theirs)
	}
	e.OurLine, e.TheirLine = firstDifference(ours, theirs)
	return e
}

// bindProtocol makes the protocol for a server of another build. It has this build's components,
// prefabs, command, messages and requests, matched by name, in the server's order.
func bindProtocol(p *compiled, s *schema.Protocol, d *difference) *compiled {
	q := *p
	q.OtherBuild, q.Common, q.Registry = true, true, s.Registry
	q.Hash = 0
	at := d.bindComponents(&q.Layout, &p.Layout, s)
	d.bindPrefabs(&q.Layout, &p.Layout, s)
	d.bindCommand(&q.Layout, &p.Layout, s)
	d.bindMessages(&q.Layout, &p.Layout, s)
	d.bindRequests(&q.Layout, &p.Layout, s)
	q.Hitboxes, q.Lives, q.Tracks = nil, nil, nil
	for _, v := range p.Hitboxes {
		own := v.Components
		v.Components = nil
		for _, i := range own {
			if at[i] >= 0 {
				v.Components = append(v.Components, at[i])
			}
		}
		if len(v.Components) == len(own) {
			q.Hitboxes = append(q.Hitboxes, v)
		}
	}
	for _, l := range p.Lives {
		if l.Component = at[l.Component]; l.Component >= 0 {
			q.Lives = append(q.Lives, l)
		}
	}
	for _, t := range p.Tracks {
		if t.Component = at[t.Component]; t.Component >= 0 {
			q.Tracks = append(q.Tracks, t)
		}
	}
	q.Tags, d.Missing, d.Unknown = s.Tags, without(d.Missing, p.Tags, s.Tags), without(d.Unknown, s.Tags, p.Tags)
	bindRemotePrediction(&q.Layout, s)
	q.FindUnpredictedReads(p.Schedule.Systems())
	q.FindWrittenForOthers(p.Schedule.Systems())
	q.FindFromOthers(p.Schedule.Systems())
	q.FindUnpredicted()
	q.EventsOf = match(s.Events, p.Events)
	return &q
}

// match returns, for each of theirs, its index in ours. The n-th of a name matches the n-th with the
// same name. −1 means that there is none.
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

// bindComponents returns the server's index of each of p's components. It is −1 for a component that
// the server does not have.
func (d *difference) bindComponents(q, p *layout.Layout, s *schema.Protocol) []int {
	at := make([]int, len(p.Components))
	for i := range at {
		at[i] = -1
	}
	q.Components = make([]layout.Component, s.Registry.Components())
	q.Origins, q.Curved = layout.Origins{Matched: -1, ClientOnly: -1, Interpolated: -1}, false
	for i := range q.Components {
		theirs := s.Registry.Schema(i)
		k := slices.IndexFunc(p.Components, func(c layout.Component) bool { return c.Name == theirs.Name() })
		if k < 0 {
			q.Components[i] = layout.Component{ID: layout.UnknownComponent, Name: theirs.Name(), Schema: theirs, Unknown: true, Singleton: -1}
			switch theirs.Name() {
			case game.OriginName:
				q.Origins.Matched = i
			case game.LocalName:
				q.Origins.ClientOnly = i
			case game.InterpolatedName:
				q.Origins.Interpolated = i
			default:
				d.Unknown = append(d.Unknown, "component "+theirs.Name())
			}
			continue
		}
		at[k] = i
		c := p.Components[k]
		c.Schema = d.bindSchema(c.Schema, theirs)
		c.Predicted = c.Predicted && theirs.Predicted()
		c.Tolerant = c.Schema.Tolerant()
		c.Interpolate(theirs)
		q.Curved = q.Curved || c.Curved
		q.Components[i] = c
	}
	for k := range at {
		if at[k] < 0 {
			d.Missing = append(d.Missing, "component "+p.Components[k].Name)
		}
	}
	return at
}

// bindSchema matches one schema and notes the differences.
func (d *difference) bindSchema(own, theirs *schema.Schema) *schema.Schema {
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

// without appends those of tags that others does not have.
func without(dst, tags, others []string) []string {
	for _, tag := range tags {
		if !slices.Contains(others, tag) {
			dst = append(dst, "tag "+tag)
		}
	}
	return dst
}

func (d *difference) bindPrefabs(q, p *layout.Layout, s *schema.Protocol) {
	found := make([]bool, len(p.Prefabs))
	q.Prefabs = make([]layout.Prefab, s.Registry.Prefabs())
	for i := range q.Prefabs {
		name := s.Registry.PrefabName(i)
		k := slices.IndexFunc(p.Prefabs, func(k layout.Prefab) bool { return k.ECS.Name() == name })
		if k < 0 {
			d.Unknown = append(d.Unknown, "prefab "+name)
			continue
		}
		q.Prefabs[i], found[k] = p.Prefabs[k], true
		bindSpawn(q, i)
	}
	for k := range found {
		if !found[k] {
			d.Missing = append(d.Missing, "prefab "+p.Prefabs[k].ECS.Name())
		}
	}
}

// bindSpawn sets how spawns of a prefab of this build are predicted with a server of another build.
func bindSpawn(q *layout.Layout, i int) {
	k := &q.Prefabs[i]
	has := func(comp int) bool { return comp >= 0 && q.Registry.PrefabHas(i, comp) }
	k.Interpolated = has(q.Origins.Interpolated)
	switch {
	case k.Spawn == layout.NotSpawned:
	case has(q.Origins.ClientOnly):
		k.Spawn, q.ClientOnly = layout.SpawnedForClient, true
	case has(q.Origins.Matched):
		k.Spawn = layout.SpawnMatched
	}
}

// bindRemotePrediction lets other players be predicted only if both builds predict the same prefabs.
// The server judges shots at predicted entities for another moment than shots at others.
func bindRemotePrediction(p *layout.Layout, s *schema.Protocol) {
	same := s.PredictsRemote && p.Remote.Predicts && p.Command != nil
	for i := range p.Prefabs {
		k := &p.Prefabs[i]
		same = same && (k.ECS == nil || k.RemotePredicted == slices.Contains(s.RemotePredicted, s.Registry.PrefabName(i)))
	}
	if same {
		return
	}
	p.Remote.Predicts, p.Remote.Missing = false, s.PredictsRemote
	for i := range p.Prefabs {
		p.Prefabs[i].RemotePredicted = false
	}
}

func (d *difference) bindCommand(q, p *layout.Layout, s *schema.Protocol) {
	q.Command = nil
	switch {
	case p.Command == nil && s.Command != nil:
		d.Unknown = append(d.Unknown, "command "+s.Command.Name())
	case p.Command != nil && s.Command == nil:
		d.Missing = append(d.Missing, "command "+p.Command.Schema.Name())
	case p.Command != nil:
		c := *p.Command
		c.Schema = d.bindSchema(c.Schema, s.Command)
		q.Command = &c
	}
}

func (d *difference) bindMessages(q, p *layout.Layout, s *schema.Protocol) {
	var ours, theirs []string
	for i := range p.Messages {
		ours = append(ours, p.Messages[i].Name)
	}
	for i := range s.Messages {
		theirs = append(theirs, s.Messages[i].Schema.Name())
	}
	q.Messages = make([]layout.Message, len(theirs))
	found := make([]bool, len(ours))
	for i, k := range match(theirs, ours) {
		if k < 0 {
			q.Messages[i] = layout.Message{Name: theirs[i], Channel: s.Messages[i].Channel, Own: -1}
			d.Unknown = append(d.Unknown, "message "+theirs[i])
			continue
		}
		m := p.Messages[k]
		m.Schema, m.Channel, found[k] = d.bindSchema(m.Schema, s.Messages[i].Schema), s.Messages[i].Channel, true
		q.Messages[i] = m
	}
	for k := range found {
		if !found[k] {
			d.Missing = append(d.Missing, "message "+ours[k])
		}
	}
}

// compareValues notes fields whose values have other names on the server, with both lists.
func (d *difference) compareValues(ours, theirs schema.Labels) {
	for _, path := range slices.Sorted(maps.Keys(ours)) {
		a, b := ours[path].Values, theirs[path].Values
		if b != nil && !slices.Equal(a, b) {
			d.Changed = append(d.Changed, fmt.Sprintf("%s (%s here, %s on the server)", path, strings.Join(a, ","), strings.Join(b, ",")))
		}
	}
}

// bindRequests keeps this build's order, because Send uses this build's index of a request.
func (d *difference) bindRequests(q, p *layout.Layout, s *schema.Protocol) {
	var ours, theirs []string
	q.Requests = slices.Clone(p.Requests)
	for i := range q.Requests {
		ours = append(ours, q.Requests[i].Name)
		q.Requests[i].Kind = -1
	}
	for i := range s.Requests {
		theirs = append(theirs, s.Requests[i].Name())
	}
	for i, k := range match(theirs, ours) {
		if k < 0 {
			d.Unknown = append(d.Unknown, "request "+theirs[i])
			continue
		}
		r := &q.Requests[k]
		r.Kind, r.Schema = i, d.bindSchema(r.Schema, s.Requests[i])
	}
	for k := range ours {
		if q.Requests[k].Kind < 0 {
			d.Missing = append(d.Missing, "request "+ours[k])
		}
	}
}

// ProtocolError says that a client's protocol differs from the server's. The client finds it
// in [View].Err, and [Client.Run] returns it. It unwraps to [net.ErrClosed].
type ProtocolError struct {
	// Ours and Theirs are the hashes of the two protocols.
	Ours, Theirs uint64
	// OurLine and TheirLine are the first lines of the two descriptions that differ. If only one end
	// has the part that a line names, the line of the other end is empty. Both are empty when the
	// server's description did not arrive. If a description is longer than 64 kB, its last lines are
	// sent as hashes: TheirLine then names the line before them.
	OurLine, TheirLine string
}

// Error names the first difference.
func (e *ProtocolError) Error() string {
	if e.OurLine == "" && e.TheirLine == "" {
		return fmt.Sprintf("foretick: the server speaks another protocol (ours %016x, theirs %016x)", e.Ours, e.Theirs)
	}
	what := fmt.Sprintf("the first difference is %q here and %q on the server", e.OurLine, e.TheirLine)
	switch {
	case e.OurLine == "":
		what = fmt.Sprintf("the server has %q, which this build lacks", e.TheirLine)
	case e.TheirLine == "":
		what = fmt.Sprintf("this build has %q, which the server lacks", e.OurLine)
	}
	return "foretick: the server speaks another protocol: " + what + ": build both from the same source. " +
		"With server.Config.AllowOtherBuilds builds may differ, but not in name, version, tick rate or channels"
}

// firstDifference returns the first line in which two descriptions differ. If only one of them has a
// line there that the other has nowhere, the other line is "".
func firstDifference(ours, theirs string) (a, b string) {
	x, y := strings.Split(ours, "\n"), strings.Split(theirs, "\n")
	for i := 0; i < len(x) || i < len(y); i++ {
		a, b = "", ""
		if i < len(x) {
			a = x[i]
		}
		if i < len(y) {
			b = y[i]
		}
		if sameLine(a, b) {
			continue
		}
		sums := i < len(x) && strings.HasPrefix(x[max(len(x)-2, 0)], "schema ") // the last line differs with any other
		here := sums && i == len(y)-2 || slices.ContainsFunc(x, func(line string) bool { return sameLine(line, b) })
		there := sums && i == len(x)-2 || slices.ContainsFunc(y, func(line string) bool { return sameLine(a, line) })
		if strings.HasPrefix(b, game.HashMark) { // only the line's hash was received
			b = "(something)"
			if i > 0 {
				b = fmt.Sprintf("(something after %s)", x[i-1])
			}
		}
		switch {
		case there && !here:
			return "", b
		case here && !there:
			return a, ""
		}
		return a, b
	}
	return "", ""
}

// sameLine reports whether a line of ours equals a line of the server's, which may be a hash.
func sameLine(ours, theirs string) bool {
	return ours == theirs || strings.HasPrefix(theirs, game.HashMark) && game.HashLine(ours) == theirs
}

// firstLines returns the first n lines of a text.
func firstLines(text string, n int) string {
	at := 0
	for range n {
		next := strings.IndexByte(text[at:], '\n')
		if next < 0 {
			return text
		}
		at += next + 1
	}
	return text[:at]
}

// Unwrap returns net.ErrClosed.
func (e *ProtocolError) Unwrap() error { return net.ErrClosed }

// builds is the state of playing with a server of another build of the game.
type builds struct {
	// speaks is the hash of the protocol that is used: this build's, or the server's.
	speaks     uint64
	offered    uint64      // the hash of the server's protocol, whose schema the server offers
	difference *difference // the differences to the server's protocol
	// asks is true if the client wants the server's schema. asked is true once it was requested on this
	// connection.
	asks, asked bool
}

// otherBuilds notes that the server would accept a client of another build.
func (c *Client) otherBuilds(r netcode.Reject) {
	if c.view.State != Connecting && c.view.State != Resuming || c.link.builds.speaks == r.Protocol {
		return
	}
	if r.Protocol == c.cfg.Protocol.Hash() { // the server was updated to this build
		c.adopt(c.build, nil, r.Protocol)
		return
	}
	c.link.builds.asks, c.link.builds.offered = true, r.Protocol
}

// BuildDifference returns the difference to the protocol of a server of another build. It
// is nil if both are the same build, or if the client has not joined yet. See
// server.Config.AllowOtherBuilds.
func (c *Client) BuildDifference() *schema.BuildDifference {
	return (*schema.BuildDifference)(c.link.builds.difference)
}

// adopt switches to another protocol.
func (c *Client) adopt(p *compiled, to *difference, hash uint64) {
	c.p, c.link.builds.difference, c.link.builds.speaks, c.link.builds.asks = p, to, hash, false
	c.losses.Facts = &p.Facts
	c.ghosts.hitboxes = p.NewHitboxes()
	c.ghosts.findOthers(p)
	if err := c.fresh(); err != nil {
		c.link.endConnection(err) // it cannot happen: the same configuration was accepted before
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
		c.link.endConnection(err)
		return err
	}
	if !reply.Known {
		c.link.endConnection(&ProtocolError{Ours: c.cfg.Protocol.Hash(), Theirs: c.link.builds.offered})
		return nil
	}
	s, err := schema.ReadProtocol(reply.Data)
	if err == nil && s.Hash() != c.link.builds.offered {
		err = fmt.Errorf("%w: it is not that of the server's protocol", schema.ErrMalformed)
	}
	if err != nil {
		c.link.endConnection(err)
		return err
	}
	own := c.build
	if s.Game != own.Name || s.Version != own.Version || s.TickRate != own.TickRate || !slices.Equal(s.Channels, own.Parts().Channels) {
		c.link.endConnection(newProtocolError(c.cfg.Protocol, s.Describe()))
		return nil
	}
	differs := &difference{Schema: s}
	bound := bindProtocol(own, s, differs)
	differs.compareValues(own.Parts().Values, s.Values)
	c.link.decoded()
	c.adopt(bound, differs, c.link.builds.offered)
	return nil
}
