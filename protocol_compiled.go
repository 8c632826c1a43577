package foretick

import (
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/standard"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// compiled is a protocol as both ends run it: its layout, and the game's functions. It does
// not change once declared. A client of another build runs a copy with another layout,
// whose rows name the functions by this build's numbers.
type compiled struct {
	layout.Layout
	identity ecs.Component[networkID]
	schedule *ecs.Schedule[*Frame]
	// watchers counts who needs the schedule's hook. nil means that nobody ever did.
	watchers *int
	handlers handlers
	labels   schema.Labels // labels is how tools and logs show fields.

	parent       ecs.Component[parentLink]
	hierarchy    bool // hierarchy is true if parents travel.
	singletons   []singletonType
	singletonRow ecs.Prefab // singletonRow is the prefab of the entity that carries them.
	// drains has, by event, the system that calls its handlers. "" means that none does.
	drains      []string
	description *description
}

// handlers are the game's functions, by this build's numbers.
type handlers struct {
	joins       []func(*Frame, PlayerID)
	leaves      []func(*Frame, PlayerID)
	disconnects []func(*Frame, PlayerID)
	reconnects  []func(*Frame, PlayerID)
	levels      []func(*Frame, []byte)

	check func(f *Frame, player PlayerID, at unsafe.Pointer) error        // check is nil without CheckCommand.
	decay func(at unsafe.Pointer, missing int)                            // decay is nil without Decay.
	guess func(f *Frame, avatar ecs.Entity, ahead int, at unsafe.Pointer) // guess is nil without PredictRemote.

	appearances []appearance

	events       []func() eventQueue
	eventSystems map[string]func(*Frame) // eventSystems has, by name, the systems that call OnServer and OnFinal.

	messages []messageHandler
	requests []requestHandler
	// spawns has a config for each prefab. nil means that shared systems do not spawn it.
	spawns   []*SpawnConfig
	relevant []relevance // relevant has a hook for each prefab. It is nil without one.
	interest *interest   // interest is nil if everybody receives everything.
	hitboxes []func(*HitboxBuilder)
	lives    []func(at unsafe.Pointer) uint32
	shapes   []lagcomp.Shape
}

type (
	messageHandler func(s *schema.Schema, f *Frame, tick Tick, payload []byte) error
	requestHandler func(f *Frame, player PlayerID, payload []byte) error
	relevance      func(f *Frame, player PlayerID, e ecs.Entity) snapshot.Relevance
)

// interest is a protocol's rule for which entities a player receives.
type interest struct {
	comp int
	cfg  snapshot.AreaConfig
	at   func(p unsafe.Pointer) (x, y, z float32)
}

// newQueues makes a world's queues of events.
func (p *compiled) newQueues() []eventQueue {
	var qs []eventQueue
	for _, fresh := range p.handlers.events {
		qs = append(qs, fresh())
	}
	return qs
}

// prefabNamed is the prefab that an identity names, nil for none.
func (p *compiled) prefabNamed(id *networkID) *layout.Prefab {
	if id == nil || int(id.Prefab) >= len(p.Prefabs) {
		return nil
	}
	return &p.Prefabs[id.Prefab]
}

// order ranks rows by network id, which does not depend on the order in which rows were
// made.
func (p *compiled) order(rows ecs.Rows, i int) uint64 {
	if rows.Has(p.identity.ID()) {
		if net := p.identity.Slice(rows)[i].Net; net != 0 {
			return uint64(net)
		}
	}
	return 1<<63 | uint64(rows.Entity(i)) // not replicated, or not yet
}

// forClientOnly reports whether a system may run for entities that clients do not share with
// the server.
func (p *compiled) forClientOnly(s ecs.SystemInfo) bool {
	return slices.ContainsFunc(p.Prefabs, func(k layout.Prefab) bool {
		mask := k.ECS.Mask()
		return k.ClientOnly() && mask.Contains(s.With) && !mask.Overlaps(s.Without)
	})
}

// Numbers and limits of the packets that both ends exchange, in addition to those of
// netcode.
const (
	helloVersion          = netcode.Version
	kindDescribe          = 255 // reliable: the server's protocol, for a peer of another
	rejectMismatch        = 1
	rejectFull            = 2
	rejectVersion         = 3
	rejectBuildDifference = 4 // another build: ask for the schema
	rejectRole            = 5 // neither a player nor an observer, or no observers here

)

// messageNote carries the explanation of a correction: see internal/reason.
const messageNote netcode.MessageType = 64

// kindRefused is the reliable kind that tells a client which of its commands the game
// refused, and why.
const kindRefused = 254

const (
	// maxRefusal bounds the text of a refusal, in bytes.
	maxRefusal = 200
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

// What a game may declare. Each of its types counts towards [ecs.MaxTypes], too.
const (
	mostComponents = 128 // replicated ones, the library's own included, without singletons
	mostSingletons = 128
)

// checkCounts refuses more replicated components or singletons than a game may have, and
// names the number of components by kind.
func (p *Protocol) checkCounts() {
	singles := len(p.compiled.singletons)
	if singles > mostSingletons {
		p.faultf("%d singletons: use up to %d, and merge small ones", singles, mostSingletons)
	}
	var kinds []string
	all := 0
	add := func(n int, what string) {
		if n > 0 {
			all += n
			kinds = append(kinds, fmt.Sprintf("%d %s", n, what))
		}
	}
	own := len(p.compiled.Components) - singles
	if p.compiled.hierarchy {
		own--
	}
	add(own, "registered")
	if p.compiled.hierarchy {
		add(1, "for Hierarchy")
	}
	matched, clientOnly, interpolated := 0, 0, 0
	for i := range p.compiled.Prefabs {
		k := &p.compiled.Prefabs[i]
		if k.Matched() {
			matched = 1
		}
		if k.ClientOnly() {
			clientOnly = 1
		}
		if k.Interpolated {
			interpolated = 1
		}
	}
	add(matched+clientOnly, "for Spawns")
	add(interpolated, "for Interpolated")
	if all > mostComponents {
		p.faultf("%d replicated components (%s): use up to %d, and merge small ones", all, strings.Join(kinds, ", "), mostComponents)
	}
}

// typesFull reports whether there is no room for one more type, and says so once, with the number
// of types by kind.
func (p *Protocol) typesFull() bool {
	if p.compiled.Types.Len() < ecs.MaxTypes {
		return false
	}
	if p.crowded {
		return true
	}
	p.crowded = true
	singles, command := len(p.compiled.singletons), 0
	if p.compiled.Command != nil {
		command = 1
	}
	p.faultf("more than %d types (%d components, %d singletons, %d local components, %d command, and the library's own): use fewer, and merge small ones",
		ecs.MaxTypes, len(p.compiled.Components)-singles, singles, len(p.compiled.Locals), command)
	return true
}

// frameHook passes the start and end of each system to the hooks of the frame that it runs in,
// since all worlds of a protocol share one schedule.
type frameHook struct{}

// Before is called before each system.
func (frameHook) Before(f *Frame, system int) {
	for _, h := range f.in().around {
		h.beforeSystem(f, system)
	}
}

// After is called after each system: the hook that came last before it comes first after it.
func (frameHook) After(f *Frame, system int) {
	around := f.in().around
	for i := len(around) - 1; i >= 0; i-- {
		around[i].afterSystem(f, system)
	}
}

// watch installs the hook for somebody who needs it, or takes it away when nobody does any
// more. Without it a player's systems run on the short way.
func (p *compiled) watch(on bool) {
	if p.watchers == nil {
		p.watchers = new(int)
	}
	if on {
		*p.watchers++
		p.schedule.SetHook(frameHook{})
		return
	}
	if *p.watchers--; *p.watchers == 0 {
		p.schedule.SetHook(nil)
	}
}

// lapsed is why a connection ends after a silence that its numbers do not span.
const lapsed = "silent for longer than packet numbers last: ClientConfig.Redial brings the player back"

// countedLines appends the components and fields of which bytes are counted.
func countedLines(r *schema.Registry, dst [][2]string) [][2]string {
	for _, l := range snapshot.NewProfile(r).Lines() {
		dst = append(dst, [2]string{l.Component, l.Field})
	}
	return dst
}
