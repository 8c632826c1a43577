package game

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/rewind"
	"github.com/foretick/foretick/internal/standard"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// Facts is the part of a protocol that needs no frame: its layout, and other data that both ends share.
// It does not change after the protocol is compiled. A client of another build runs a copy with another
// layout, whose rows refer to functions by this build's numbers.
type Facts struct {
	layout.Layout
	Identity  ecs.Component[NetworkID]
	Scheduled interface{ Systems() []ecs.SystemInfo } // Scheduled is the schedule.
	Labels    schema.Labels                           // Labels says how tools and logs show fields.

	Parent       ecs.Component[parentLink]
	HasParents   bool // HasParents is true if parents are sent.
	Singletons   []SingletonType
	SingletonRow ecs.Prefab // SingletonRow is the prefab of the entity that carries the singletons.
	// Drains has, by event, the system that calls its handlers. "" means that none does.
	Drains      []string
	Description *Description

	Audiences []string // Audiences are the audiences that the game declared.
	Deaf      []string // Deaf are the messages without a handler.
	Mute      []string // Mute are the requests without a handler.

	Interest   *Interest                               // Interest is nil if everybody receives everything.
	Decay      func(at unsafe.Pointer, missing int)    // Decay changes a repeated command. It is nil if the game has none.
	NewBuilder func(of []layout.Hitbox) rewind.Builder // NewBuilder makes the builder of hitboxes.
	LifeOf     []func(at unsafe.Pointer) uint32        // LifeOf has a function for each LifeID.
	Shapes     []lagcomp.Shape
}

// Interest is a protocol's rule for which entities a player receives.
type Interest struct {
	Component int
	Area      snapshot.AreaConfig
	At        func(p unsafe.Pointer) (x, y, z float32)
}

// PrefabNamed returns the prefab that an identity names, or nil.
func (p *Facts) PrefabNamed(id *NetworkID) *layout.Prefab {
	if id == nil || int(id.Prefab) >= len(p.Prefabs) {
		return nil
	}
	return &p.Prefabs[id.Prefab]
}

// Order returns the rank of a row: its network id, which does not depend on the order in which rows
// were made.
func (p *Facts) Order(rows ecs.Rows, i int) uint64 {
	if rows.Has(p.Identity.ID()) {
		if net := p.Identity.Slice(rows)[i].Net; net != 0 {
			return uint64(net)
		}
	}
	return 1<<63 | uint64(rows.Entity(i)) // not replicated, or has no network id yet
}

// ForClientOnly reports whether a system may run for entities that exist on clients only.
func (p *Facts) ForClientOnly(s ecs.SystemInfo) bool {
	return slices.ContainsFunc(p.Prefabs, func(k layout.Prefab) bool {
		mask := k.ECS.Mask()
		return k.ClientOnly() && mask.Contains(s.With) && !mask.Overlaps(s.Without)
	})
}

// Numbers and limits of the packets that both ends exchange, in addition to those of netcode.
const (
	HelloVersion          = netcode.Version
	KindDescribe          = 255 // reliable: the server's protocol, for a peer with another one
	RejectMismatch        = 1
	rejectFull            = 2
	RejectVersion         = 3
	RejectBuildDifference = 4 // the peer is of another build: it asks for the schema
	RejectRole            = 5 // the peer asked for an unknown role, or the server takes no observers
)

// MessageNote carries the explanation of a correction: see internal/cause.
const MessageNote netcode.MessageType = 64

// KindRefused is the reliable kind that tells a client which of its commands the game
// refused, and why.
const KindRefused = 254

// MaxRefusal bounds the text of a refusal, in bytes.
const MaxRefusal = 200

// Parts returns the protocol's schema.
func (p *Facts) Parts() *schema.Protocol {
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
	for _, sys := range p.Scheduled.Systems() {
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
	s.Values = p.sentValues(s)
	return s
}

// sentValues returns the names of the values of those fields that are sent.
func (p *Facts) sentValues(s *schema.Protocol) (out schema.Labels) {
	sent := slices.Concat(s.Registry.Schemas, s.Requests)
	if s.Command != nil {
		sent = append(sent, s.Command)
	}
	for _, m := range s.Messages {
		sent = append(sent, m.Schema)
	}
	for path, label := range p.Labels {
		only := schema.Labels{path: {Values: label.Values}}
		if label.Values == nil || !slices.ContainsFunc(sent, func(x *schema.Schema) bool {
			return slices.ContainsFunc(x.Fields(), func(f schema.Field) bool { return only.Of(x.Name(), f.Name).Values != nil })
		}) {
			continue
		}
		if out == nil {
			out = schema.Labels{}
		}
		out[path] = only[path]
	}
	return out
}

// Lapsed is the text for a connection that ends after a silence too long for its packet numbers.
const Lapsed = "silent for longer than packet numbers last: client.Config.Redial brings the player back"

// CountedLines appends the components and fields whose bytes are counted.
func CountedLines(r *schema.Registry, dst [][2]string) [][2]string {
	for _, l := range snapshot.NewProfile(r).Lines() {
		dst = append(dst, [2]string{l.Component, l.Field})
	}
	return dst
}

// RewindGame returns the properties of the game that lag compensation needs.
func (p *Facts) RewindGame() rewind.Game {
	g := rewind.Game{
		TickRate: p.TickRate, Shapes: p.Shapes, Curved: p.Curved, Ahead: p.Common || p.Remote.Predicts,
		NewBuilder: func() rewind.Builder { return p.NewBuilder(p.Hitboxes) },
	}
	for i := range p.Components {
		c := &p.Components[i]
		of := rewind.Component{Schema: c.Schema, Predicted: c.Predicted, Lerped: c.Lerped}
		if !c.Unknown {
			of.Type = c.Handle.Type()
		}
		g.Components = append(g.Components, of)
	}
	for _, h := range p.Hitboxes {
		g.Hitboxes = append(g.Hitboxes, rewind.Declaration{Components: h.Components})
	}
	for _, l := range p.Lives {
		g.Lives = append(g.Lives, rewind.Life{Component: l.Component, Of: p.LifeOf[l.Own]})
	}
	for _, t := range p.Tracks {
		g.Tracked.Set(t.Component)
	}
	for i := range p.Prefabs {
		k := &p.Prefabs[i]
		g.Prefabs = append(g.Prefabs, rewind.Prefab{Common: k.Common, RemotePredicted: k.RemotePredicted})
	}
	return g
}

// labelled appends a field's label and unit to the arguments of a log line.
func (p *Facts) labelled(line []any, component, field string) []any {
	l := p.Labels.Of(component, field)
	if l.Name != "" {
		line = append(line, "shown", l.Name)
	}
	if l.Unit != "" {
		line = append(line, "unit", l.Unit)
	}
	return line
}

// Predicts reports whether a client predicts a table's rows: a player's rows, and shared
// physics objects.
func (p *Facts) Predicts(rows ecs.Rows) bool {
	return rows.Owner() != ecs.Nobody || p.Common && p.holdsCommon(rows)
}

// holdsCommon reports whether a table holds shared physics objects, which every client predicts.
func (p *Facts) holdsCommon(rows ecs.Rows) bool {
	return slices.ContainsFunc(p.Identity.Slice(rows), func(id NetworkID) bool { return p.Prefabs[id.Prefab].Common })
}

// Between returns the knots of a predicted component between two consecutive ticks. from may be nil.
func (p *Facts) Between(from, to []int32, fraction float32) schema.Knots {
	return schema.Between(schema.Keyframe{}, schema.Keyframe{Words: from}, schema.Keyframe{Tick: 1, Words: to}, fraction, float32(p.TickRate))
}

// SharedSystem returns the name of the i-th system that both ends run.
func (p *Facts) SharedSystem(i int) string {
	for _, s := range p.Scheduled.Systems() {
		if layout.Shared(s) {
			if i == 0 {
				return s.Name
			}
			i--
		}
	}
	return ""
}

// ParentIndex returns the index of the component that holds an entity's parent, or −1 without
// Protocol.Hierarchy.
func (p *Facts) ParentIndex() int {
	if !p.HasParents {
		return -1
	}
	return p.Index(p.Parent.ID())
}

// PhysicsObject returns the first prefab of shared physics objects, or nil if the game has none. It
// skips the prefab that carries the singletons, which is marked like one.
func (p *Facts) PhysicsObject() *ecs.Prefab {
	for _, k := range p.Prefabs {
		if k.Common && k.ECS != &p.SingletonRow {
			return k.ECS
		}
	}
	return nil
}

// NewHitboxes makes the builder of hitboxes for a world's entities.
func (p *Facts) NewHitboxes() *rewind.Hitboxes {
	g := p.RewindGame()
	return rewind.NewHitboxes(&g)
}

// CheckRequests returns an error if a request has no handler. Servers call it.
func (p *Facts) CheckRequests() error {
	if len(p.Mute) > 0 {
		return fmt.Errorf("foretick: request %s has no function on the server: give Handle one", p.Mute[0])
	}
	return nil
}

// CheckMessages returns an error if a message has no handler. Clients call it.
func (p *Facts) CheckMessages() error {
	if len(p.Deaf) > 0 {
		return fmt.Errorf("foretick: message %s has no function on the client: give OnClient one", p.Deaf[0])
	}
	return nil
}

// CheckConfigTags returns an error for tags of a config that no system has, because a typing mistake
// would only switch systems off. It also returns one for a client's tags of shared systems: the server
// decides which of those a match has.
func (p *Facts) CheckConfigTags(config string, tags []string) error {
	var errs []error
	fault := func(format string, args ...any) { errs = append(errs, fmt.Errorf("foretick: "+format, args...)) }
	for _, tag := range tags {
		used, shared := false, ""
		for _, s := range p.Scheduled.Systems() {
			if slices.Contains(s.Tags, tag) {
				used = true
				if layout.Shared(s) {
					shared = s.Name
				}
			}
		}
		switch {
		case tag == layout.TagServer || tag == layout.TagClient:
			fault("%s.Tags has %q, which this package gives each end: leave it out", config, tag)
		case !used && tag != layout.TagRender:
			fault("%s.Tags has %q, and no system has that tag: declare one with ecs.Tags(%q), or leave it out", config, tag, tag)
		case shared != "" && config == ConfigOfClient:
			fault("%s.Tags has %q, a tag of shared system %q, which both ends run alike: put it into server.Config.Tags, and the server tells its clients", config, tag, shared)
		}
	}
	return errors.Join(errs...)
}

// Names of the configs in their errors.
const (
	ConfigOfServer = "server.Config"
	ConfigOfClient = "client.Config"
)
