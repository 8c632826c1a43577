package foretick

import (
	"errors"
	"fmt"
	"hash/fnv"
	"reflect"
	"slices"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/snapshot"
)

// Tick is a step of the simulation, counted from the server's start.
type Tick = uint32

// Limits and defaults of a Protocol.
const (
	DefaultTickRate = 30 // ticks a second
	MinTickRate     = 10
	MaxTickRate     = 128
)

// Tags that the worlds of this package hold; see [ecs.Tags].
const (
	TagServer = "server"
	TagClient = "client"
)

// Protocol is what both ends must agree on: a game's components, prefabs,
// commands, messages and systems, in their order of declaration. Server and
// client build it with the same calls; its hash is compared when they meet.
//
// Declaring goes on after an error; Err reports every fault at once. What is declared
// after Err is an error of the next Err, NewServer or NewClient. A Protocol
// in use by a Server or a Client must not be declared on further, and may then
// be shared by any number of them that run in one goroutine; give each goroutine
// a Protocol of its own, as separate processes have.
type Protocol struct {
	name     string
	version  int
	tickRate int

	types    *ecs.Types
	registry *snapshot.Registry
	schedule *ecs.Schedule[*Frame]

	identity      ecs.Component[NetworkID]
	components    []component // replicated ones, in registry order
	prefabs       []prefab
	common        bool // some prefab is a shared physics object
	spawning      bool // shared systems spawn some kind
	clientOnly    bool // some kind is spawned with the policy ClientOnly
	originAt      int  // registry index of originComponent, behind the components; −1: no prefab needs it
	localAt       int  // and of localComponent
	command       *command
	predictRemote *remotePrediction // nil: others are shown in the past
	events        []eventType
	eventRows     []any // *eventRow[T] of each event
	messages      []messageType
	requests      []requestType
	messageFields int // of all, and of requests: see maxMessageFields
	channels      []channel
	hitboxes      []hitbox
	lives         []life
	tracks        []trackType
	shapes        []lagcomp.Shape
	joins         []func(*Frame, PlayerID)
	leaves        []func(*Frame, PlayerID)
	absents       []func(*Frame, PlayerID)
	returns       []func(*Frame, PlayerID)
	audiences     []string // the game's own
	extrapolates  bool     // some field goes on beyond what is known
	curved        bool     // some field is interpolated by the value before the two, too
	assets        []prefabAsset
	interest      *interest
	relevant      []relevantHook
	teams         bool // some field is for allies or enemies
	levels        []func(*Frame, []byte)
	stages        []string
	systems       []string // names in order of declaration, for the hash
	ordered       []string // those systems as they run

	errs     []error
	spoilt   []ecs.ID      // components with a fault, which nothing else is to complain of
	unmade   []*ecs.Prefab // and prefabs
	apart    bool          // another build's server takes others to be foreseen, and they are not
	foreign  bool          // it is what this build makes of another's: see build_difference.go
	eventsOf []int         // own index of each of the other's events, −1 for an unknown one

	locals          []localComponentType
	unpredicted     []int // registry indices of the components that are not predicted
	unpredictedRefs bool  // some of them hold references
	predictedRefs   bool  // some of the others do
	readUnpredicted []int // registry indices of what shared systems read of their own rows without predicting it

	built bool
	hash  uint64 // once built
	err   error
}

// NetworkID is a component of this package that every replicated entity has. It
// orders hashes and names the entity's prefab.
type NetworkID struct {
	// Net is the network id: on a server the entity's own, which never leaves
	// it; on a client the id that the connection gave it.
	Net uint32
	// Prefab is the index of the entity's prefab in its Protocol.
	Prefab uint16

	maker  uint16 // whose input spawned it, 0 for the server's own
	origin uint32 // what its maker's client calls it; 0: nobody foresaw it
}

// NewProtocol begins a protocol. The name and version of the game are part of
// its hash: two versions do not play together.
func NewProtocol(name string, version int) *Protocol {
	p := &Protocol{name: name, version: version, tickRate: DefaultTickRate}
	p.types = ecs.NewTypes()
	p.registry = snapshot.NewRegistry()
	p.schedule = ecs.NewSchedule[*Frame](p.types)
	p.fault(p.types.Register(&p.identity, ecs.Named("foretick.NetworkID"), ecs.Open(), ecs.Managed(fixManaged)))
	p.named("NewProtocol: the game", name)
	if int(int32(version)) != version {
		p.faultf("NewProtocol: version %d: use −2³¹ to 2³¹−1", version)
	}
	return p
}

// fixManaged is for who spawns or destroys past the server and the prediction.
const fixManaged = "entities of a Protocol's prefabs are made and removed by Frame.Spawn, Frame.SpawnBy and Frame.Destroy, so that all ends learn of it: call those"

// fault notes an error, or each of those that are joined in it.
func (p *Protocol) fault(err error) {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range all.Unwrap() {
			p.fault(err)
		}
	} else if err != nil {
		p.errs = append(p.errs, err)
		if p.built {
			p.err = errors.Join(p.errs...)
		}
	}
}

func (p *Protocol) faultf(format string, args ...any) {
	p.fault(fmt.Errorf("foretick: "+format, args...))
}

// SetTickRate sets the ticks a second; without it a protocol has 30.
func (p *Protocol) SetTickRate(hz int) {
	if p.late("TickRate") {
		return
	}
	if hz < MinTickRate || hz > MaxTickRate {
		p.faultf("TickRate(%d): use %d to %d", hz, MinTickRate, MaxTickRate)
		return
	}
	p.tickRate = hz
}

// CompressionTables makes the protocol's snapshots be coded with tables learned from a
// recorded match (see [ServerConfig].Learn), instead of the built-in ones. They are
// part of the hash.
func (p *Protocol) CompressionTables(b []byte) {
	if !p.late("Tables") {
		p.fault(p.registry.UseTables(b))
	}
}

// TickRate is the ticks a second that this protocol runs at.
func (p *Protocol) TickRate() int { return p.tickRate }

// Module declares a part of a game on a Protocol: its components, prefabs,
// systems.
type Module interface {
	// Declare is called once, by Protocol.Use.
	Declare(p *Protocol)
}

// Use composes a game from features: it lets each module declare its part, in
// order.
func (p *Protocol) Use(modules ...Module) {
	for _, m := range modules {
		if missing(m) {
			p.faultf("Use is given a nil Module: leave it out, or give what declares it")
			continue
		}
		m.Declare(p)
	}
}

// Types is the set of component types behind the protocol, for queries, watches and
// singletons of the game's own. Do not register components with it: declare those that
// stay on one end with [Protocol.LocalComponent], the others with [Protocol.Component].
func (p *Protocol) Types() *ecs.Types { return p.types }

// Stages names the stages that systems may be put in with [ecs.Stage], in their
// order. Without it there is one. A protocol names them once.
func (p *Protocol) Stages(names ...string) {
	switch {
	case p.late("Stages"):
	case p.stages != nil:
		p.faultf("Stages was declared twice: name all stages in one call")
	case len(names) == 0:
		p.faultf("Stages names none: name at least one, or leave the call out")
	default:
		p.stages = names
	}
}

// InOrder has the systems run in the order in which they are declared, stage by stage,
// whatever they read and write. [ecs.Before] and [ecs.After] hold all the same. Without
// it the order follows from what the systems declare: creators of a component before
// its writers, and writers before readers. Server and clients must agree on it: the
// order of the shared systems is part of the hash.
func (p *Protocol) InOrder() {
	if !p.late("InOrder") {
		p.schedule.InOrder()
	}
}

// stageMain is the stage of a game that names none.
const stageMain = "tick"

// Shared declares a system that both ends run: the server for every row, a
// client for its own player's rows, and for those of others that it foresees (see
// [PredictRemote]). access says which components its rows have, and what the system reads
// and writes; see [ecs.Read] and its kin.
//
// What nobody owns, and shared systems write through the world ([ecs.WriteOther]), is
// of the island: a crate that players push, a ball. It is spawned for [ecs.Nobody].
// Every client predicts it beside its own player, runs the shared systems over it, too,
// holds it against each snapshot, and takes it back and replays it with him; there its
// rows say that [ecs.Common] owns them. Without such a write it is drawn in the past,
// as others are.
//
// What a shared system reads of others through the world ([ecs.ReadOther]) is on a
// client as of the newest snapshot, and so of the end of a tick; on the server it is
// what they are at that point of the tick, unless both run for them. So let a system
// that looks at others come before those that move them, and let each body write itself
// alone: then bodies that touch come out alike on both ends, and in whatever order. A
// [ecs.Once] system has no rows to be told apart: on a client its queries meet all that
// is there, and what it writes to what is not predicted lasts for the picture.
func (p *Protocol) Shared(name string, run func(*Frame, ecs.Rows), access ...ecs.Access) {
	if run != nil && slices.ContainsFunc(access, ecs.Access.IsStructural) {
		run = act(run)
	}
	if run != nil && slices.ContainsFunc(access, ecs.Access.IsWriteOther) {
		run = pushing(run)
	}
	p.system(name, run, access)
}

// Server declares a system that only the server runs.
func (p *Protocol) Server(name string, run func(*Frame, ecs.Rows), access ...ecs.Access) {
	p.system(name, run, append(access[:len(access):len(access)], ecs.Tags(TagServer)))
}

// Render declares a system that a client runs once per picture, on what is
// shown, after everything else.
func (p *Protocol) Render(name string, run func(*Frame, ecs.Rows), access ...ecs.Access) {
	p.system(name, run, append(access[:len(access):len(access)], ecs.Tags(TagClient), ecs.Render()))
}

func (p *Protocol) system(name string, run func(*Frame, ecs.Rows), access []ecs.Access) {
	if !p.able(fmt.Sprintf("system %q", name), run != nil) || !p.named("a system", name) {
		return
	}
	p.systems = append(p.systems, name)
	p.schedule.Add(name, run, access...)
}

// OnJoin is called on the server, in the tick after a player was let in. Like Leave,
// Absent and Return it may be given several functions, which are called in order.
func (p *Protocol) OnJoin(fn func(f *Frame, player PlayerID)) { p.hook("Join", &p.joins, fn) }

// OnLeave is called on the server, in the tick after a player was dropped, while
// what the player owned still stands. What it still owns afterwards is
// destroyed.
func (p *Protocol) OnLeave(fn func(f *Frame, player PlayerID)) { p.hook("Leave", &p.leaves, fn) }

// OnDisconnect is called on the server, in the tick after a player's connection was
// lost while its place is held (see ServerConfig.ReconnectWindow): what it owns stays in
// the world, with a zero command.
func (p *Protocol) OnDisconnect(fn func(f *Frame, player PlayerID)) {
	p.hook("Absent", &p.absents, fn)
}

// OnReconnect is called on the server, in the tick after such a player came back.
func (p *Protocol) OnReconnect(fn func(f *Frame, player PlayerID)) { p.hook("Return", &p.returns, fn) }

func (p *Protocol) hook(call string, to *[]func(*Frame, PlayerID), fn func(*Frame, PlayerID)) {
	if p.able(call, fn != nil) {
		*to = append(*to, fn)
	}
}

// Err finishes the declaration and returns everything that is wrong with it,
// joined, or nil: every faulty field of every type, and every system, one by one
// in the order of the calls. It may be called again.
func (p *Protocol) Err() error {
	if p.built {
		return p.err
	}
	p.built = true
	p.registerPrefabs()
	p.registerAssets()
	if len(p.stages) == 0 {
		p.stages = []string{stageMain}
	}
	p.schedule.Stages(append(p.stages[:len(p.stages):len(p.stages)], stageEvents)...)
	p.fault(p.schedule.Build())
	for _, s := range p.schedule.Systems() {
		p.ordered = append(p.ordered, s.Name)
	}
	p.checkSystems()
	p.checkAudiences()
	p.checkInterest()
	p.readUnpredicted = p.unpredictedReads()
	p.findUnpredicted()
	p.checkRegistered()
	p.placeLocals()
	p.findCommon()
	p.checkRemotePrediction()
	p.checkTags()
	p.err = errors.Join(p.errs...)
	p.hash = hashText(p.Describe())
	return p.err
}

// checkRegistered refuses components that were registered past the protocol: a client
// would roll them back with what is predicted, and lose what it keeps in them.
func (p *Protocol) checkRegistered() {
	known := map[ecs.ID]bool{p.identity.ID(): true}
	for i := range p.components {
		known[p.components[i].id] = true
	}
	for _, l := range p.locals {
		known[l.id] = true
	}
	if p.command != nil {
		known[p.command.id] = true
	}
	for _, id := range p.spoilt { // said already
		known[id] = true
	}
	for id := range p.types.Len() {
		if info := p.types.Info(ecs.ID(id)); !known[ecs.ID(id)] {
			p.faultf("component %s was registered with Types().Register: declare it with Protocol.LocalComponent where each end keeps its own, or with Protocol.Component", info.Name)
		}
	}
}

// checkSystems refuses shared systems that read what a client does not have:
// the most unpleasant cause of mispredictions, found before the first tick.
func (p *Protocol) checkSystems() {
	for _, s := range p.schedule.Systems() {
		if !shared(s) {
			continue
		}
		for i, id := range append(append([]ecs.ID{}, s.Reads...), s.OtherReads...) {
			if !p.known(id) && (i >= len(s.Reads) || !p.ofLocalKinds(id)) {
				p.faultf("shared system %q reads %s, which a client does not have: declare it with Component, or make the system Server", s.Name, p.fieldsOf(id))
			}
		}
		if p.command != nil && slices.Contains(s.OtherReads, p.command.id) {
			p.faultf("shared system %q reads %s of other entities, which a client does not have: commands travel to the server alone", s.Name, p.fieldsOf(p.command.id))
		}
		for i, id := range append(append([]ecs.ID{}, s.Writes...), s.OtherWrites...) {
			if c := p.index(id); !slices.Contains(p.spoilt, id) && (c < 0 || !p.components[c].predicted) && (i >= len(s.Writes) || !p.ofLocalKinds(id)) {
				p.faultf("shared system %q writes %s, which is not predicted: declare it with Component(…, Predicted()), or make the system Server", s.Name, p.types.Info(id).Name)
			}
		}
	}
}

// checkTags refuses systems that run nowhere.
func (p *Protocol) checkTags() {
	for _, s := range p.schedule.Systems() {
		on := map[string]bool{}
		for _, tag := range s.Tags {
			if on[tag] = true; tag != TagServer && tag != TagClient {
				p.faultf("system %q has the tag %q, which no world has: use foretick.TagServer or TagClient, or drop it", s.Name, tag)
			}
		}
		switch {
		case on[TagServer] && on[TagClient]:
			p.faultf("system %q has the tags of both ends, and would run on neither: declare it with Server, Render or Shared alone", s.Name)
		case on[TagServer] && s.Render:
			p.faultf("system %q is the server's and a render system, and would never run: declare it with Render", s.Name)
		case s.Render && !on[TagClient]:
			p.faultf("system %q is shared and a render system: declare it with Render", s.Name)
		}
	}
}

// fieldsOf names a component and its first field, as errors do.
func (p *Protocol) fieldsOf(id ecs.ID) string {
	info := p.types.Info(id)
	if len(info.Fields) == 0 {
		return info.Name
	}
	return info.Fields[0].Path
}

// ofLocalKinds tells whether none carry a component that does not travel but what
// a client keeps for itself: there is no other value that it could miss.
func (p *Protocol) ofLocalKinds(id ecs.ID) bool {
	n := 0
	for i := range p.prefabs {
		if k := &p.prefabs[i]; k.ecs.Mask().Has(id) {
			if n++; !k.local() {
				return false
			}
		}
	}
	return n > 0 && p.index(id) < 0
}

// findUnpredicted lists the replicated components that are not predicted.
func (p *Protocol) findUnpredicted() {
	p.unpredicted, p.unpredictedRefs, p.predictedRefs = nil, false, false
	for i := range p.components {
		c := &p.components[i]
		switch {
		case c.unknown:
		case c.predicted:
			p.predictedRefs = p.predictedRefs || len(c.refs) > 0
		default:
			p.unpredicted = append(p.unpredicted, i)
			p.unpredictedRefs = p.unpredictedRefs || len(c.refs) > 0
		}
	}
}

// unpredictedReads lists the replicated, unpredicted components that shared
// systems read of their own rows.
func (p *Protocol) unpredictedReads() []int {
	var out []int
	for i := range p.components {
		read := slices.ContainsFunc(p.schedule.Systems(), func(s ecs.SystemInfo) bool {
			return shared(s) && slices.Contains(s.Reads, p.components[i].id)
		})
		if read && !p.components[i].predicted {
			out = append(out, i)
		}
	}
	return out
}

// shared tells whether both ends run the system.
func shared(s ecs.SystemInfo) bool { return len(s.Tags) == 0 && !s.Render }

// known tells whether a client has the component's value: it is replicated, the
// player's own command, or the identity.
func (p *Protocol) known(id ecs.ID) bool {
	return p.index(id) >= 0 || slices.Contains(p.spoilt, id) || id == p.identity.ID() || (p.command != nil && id == p.command.id)
}

// index is the registry index of an ecs component, −1 when it is not replicated.
func (p *Protocol) index(id ecs.ID) int {
	for i := range p.components {
		if p.components[i].id == id {
			return i
		}
	}
	return -1
}

// Describe lists what the hash covers, a fact a line, in order. Two protocols
// that differ have a first line that differs. It ends the declaration, as Err does.
func (p *Protocol) Describe() string {
	_ = p.Err() // what is declared is complete from here on
	return p.parts().Describe()
}

// Hash is the protocol's identity: two ends play together when it is equal. It ends
// the declaration, as Err does.
func (p *Protocol) Hash() uint64 {
	_ = p.Err()
	return p.hash
}

func hashText(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(s))
	return h.Sum64()
}

// typeName names a Go type in messages and the hash: by its own name, without
// the package, so that two builds of one game agree.
func typeName(t reflect.Type) string {
	if t.Name() != "" {
		return t.Name()
	}
	return t.String()
}
