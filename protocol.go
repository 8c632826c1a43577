package foretick

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/guard"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/rewind"
	"github.com/foretick/foretick/internal/standard"
	"github.com/foretick/foretick/schema"
)

// Tick is the number of a simulation step, counted from the server's start.
type Tick = uint32

// Tags of systems: a system with [ecs.Tags] of TagServer runs on servers only, one with
// TagClient on clients only. [Protocol.Server] and [Protocol.Render] set theirs. Tags of the
// game's own go into server.Config.Tags. Those of shared systems hold for the clients too;
// others go into client.Config.Tags.
const (
	TagServer = layout.TagServer // for systems of servers
	// TagClient is for systems of clients. A system of Shared with it runs in each tick, on clients
	// alone.
	TagClient = layout.TagClient
	// TagRender is for systems of clients, and of servers that draw: see server.Server.Draw.
	TagRender = layout.TagRender
)

// Protocol is the part of a game that both ends must agree on: its components, prefabs,
// commands, messages and systems, in order of declaration. Server and client build it with
// the same calls. Its hash is compared when a client connects.
//
// Declarations continue after an error: Err returns every fault at once. A declaration
// after Err is an error of the next Err, server.New or client.New. Declare nothing more on a
// Protocol that a Server or a Client uses. Any number of them may share it if they run in
// one goroutine. Otherwise make one Protocol for each goroutine.
type Protocol struct {
	compiled compiled // compiled is what both ends run. It is complete after Err.

	assets   []prefabAsset
	relevant []relevantHook
	// along has the prefabs that PredictRemote predicts in addition to avatars.
	along     []*ecs.Prefab
	skipped   []string // skipped has the systems that PredictRemote leaves out.
	stages    []string
	partials  []partialSystem
	systems   []string // systems has the names in order of declaration.
	shared    []*game.SharedSystem
	bodies    []func(*HitboxBuilder) // bodies has the functions that build hitboxes, in order of declaration.
	eventRows []any                  // eventRows has the *game.EventRow[*Frame, T] of each event.
	// drains has the drains of events with OnServer, in the order of the first calls.
	drains []*drain
	// messageFields counts the fields of all messages and requests: see
	// standard.MaxMessageFields.
	messageFields int

	errs    []error
	spoilt  []ecs.ID      // spoilt has components with a fault, which is reported once.
	unmade  []*ecs.Prefab // unmade has prefabs with a fault, which is reported once.
	crowded bool          // crowded is true once the fault of too many types was noted.
	built   bool
	err     error // err is what Err returns once the protocol is built.
}

// NewProtocol makes an empty protocol. The name and version of the game are part of its
// hash: two versions cannot play together.
func NewProtocol(name string, version int) *Protocol {
	p := &Protocol{}
	p.compiled.Name, p.compiled.Version, p.compiled.TickRate = name, version, standard.DefaultTickRate
	p.compiled.Types = ecs.NewTypes()
	p.compiled.Registry = schema.NewRegistry()
	p.compiled.Schedule, p.compiled.Hook = ecs.NewSchedule[*Frame](p.compiled.Types), frameHook{}
	p.compiled.Scheduled = p.compiled.Schedule
	p.compiled.NewBuilder = func(of []layout.Hitbox) rewind.Builder { return &hitboxRunner{of: of, build: p.bodies} }
	p.addFault(p.compiled.Types.Register(&p.compiled.Identity, ecs.Named("foretick.NetworkID"), ecs.Open(), ecs.Managed(fixManaged)))
	p.named("NewProtocol: the game", name)
	if int(int32(version)) != version {
		p.faultf("NewProtocol: version %d: use −2³¹ to 2³¹−1", version)
	}
	return p
}

// fixManaged is the advice for a program that spawns or destroys entities past the server and the
// prediction.
const fixManaged = "entities of a Protocol's prefabs are made and removed by ServerFrame.Spawn, Frame.SpawnBy and Frame.Destroy, so that all ends learn of it: call those"

// addFault notes an error. It notes each part of a joined error separately. nil is no error.
func (p *Protocol) addFault(err error) {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range all.Unwrap() {
			p.addFault(err)
		}
	} else if err != nil {
		p.errs = append(p.errs, err)
		if p.built {
			p.err = errors.Join(p.errs...)
		}
	}
}

// Fail adds errors to those that Err returns, for packages that declare for a game, such as
// bridge. A joined error is added part by part, and nil is no error.
func (p *Protocol) Fail(err error) { p.addFault(err) }

func (p *Protocol) faultf(format string, args ...any) {
	p.addFault(fmt.Errorf("foretick: "+format, args...))
}

// SetTickRate sets the number of ticks a second, 10 to 128. The default is 30.
func (p *Protocol) SetTickRate(hz int) {
	if p.late("SetTickRate") {
		return
	}
	if hz < standard.MinTickRate || hz > standard.MaxTickRate {
		p.faultf("SetTickRate(%d): use %d to %d", hz, standard.MinTickRate, standard.MaxTickRate)
		return
	}
	p.compiled.TickRate = hz
}

// CompressionTables sets the tables that snapshots are compressed with, in place of the
// built-in ones. The tables are trained on a recorded match: see
// server.Config.TrainCompression. They are part of the hash.
func (p *Protocol) CompressionTables(b []byte) {
	if !p.late("CompressionTables") {
		p.addFault(p.compiled.Registry.UseTables(b))
	}
}

// TickRate returns the number of ticks a second.
func (p *Protocol) TickRate() int { return p.compiled.TickRate }

// Use composes a game from modules: it calls Declare of each argument in order. A module declares a
// part of the game, such as its guns: components, prefabs and systems. A module that is passed twice is
// declared twice, which is a fault that Err returns.
func (p *Protocol) Use(modules ...interface{ Declare(p *Protocol) }) {
	for _, m := range modules {
		if guard.Missing(m) {
			p.faultf("Use is given a nil module: leave it out, or give what declares it")
			continue
		}
		m.Declare(p)
	}
}

// Query returns a query of the game's entities, by the components that they have. Make it once, where
// the game declares these, and keep it:
//
//	g.players = p.Query(ecs.With(&g.Pos, &g.Cmd))
//
// It panics with [UsageError] for a component that is not declared yet. [ecs.Query] says how a query is
// used.
func (p *Protocol) Query(terms ...ecs.Term) *ecs.Query {
	return ecs.NewQuery(p.compiled.Types, terms...)
}

// Types returns the protocol's set of component types, for the game's watches and for
// singletons that each end keeps for itself. Do not register components with it. Declare
// components that stay on one end with [Protocol.LocalComponent], and others with
// [Protocol.Component]. [Protocol.Singleton] declares singletons that are sent.
func (p *Protocol) Types() *ecs.Types { return p.compiled.Types }

// Describe lists everything that the hash covers, one fact a line, in a fixed order. To
// find where two protocols differ, compare their lists line by line. Call Describe after all
// declarations, as [Protocol.Err].
func (p *Protocol) Describe() string {
	_ = p.Err() // no declarations after this
	return p.compiled.Parts().Describe()
}

// Hash identifies the protocol: two ends can play together when their hashes are equal.
// Call Hash after all declarations, as [Protocol.Err].
func (p *Protocol) Hash() uint64 {
	_ = p.Err()
	return p.compiled.Hash
}

func itoa(n int) string { return strconv.Itoa(n) }

// late notes a declaration that comes after Err and has no effect. It reports whether it did.
func (p *Protocol) late(what string) bool {
	if !p.built {
		return false
	}
	p.faultf("%s after Err: declare everything before the first call of Err, Hash, Describe, Schema, server.New or client.New", what)
	return true
}

// given notes a fault for a nil handle, and for a declaration that comes too late. It returns false if
// it did.
func (p *Protocol) given(call string, h ecs.Handle) bool {
	if p.late(call) {
		return false
	}
	if guard.Missing(h) {
		p.faultf("%s is given a nil component: pass its address, as in &g.Position", call)
		return false
	}
	return true
}

// givenPrefab is like given, for a prefab.
func (p *Protocol) givenPrefab(call string, k *ecs.Prefab) bool {
	if p.late(call) {
		return false
	}
	if k == nil {
		p.faultf("%s is given a nil prefab: pass its address, as in &g.Player", call)
		return false
	}
	return true
}

// able notes a fault for a missing function, and for a declaration that comes too late. It returns
// false if it did.
func (p *Protocol) able(call string, has bool) bool {
	if p.late(call) {
		return false
	}
	if !has {
		p.faultf("%s has no function: give it one, or leave the call out", call)
	}
	return has
}

// named notes a fault for a name that cannot be sent. It returns false if it did.
func (p *Protocol) named(what, name string) bool {
	switch {
	case name == "":
		p.faultf("%s needs a name", what)
	case len(name) > standard.MaxText:
		p.faultf("%s %.40q…: the name has %d bytes: use up to %d", what, name, len(name), standard.MaxText)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(c rune) bool { return !unicode.IsPrint(c) }):
		p.faultf("%s %q: the name has characters that cannot be printed: use letters, digits and signs", what, name)
	default:
		return true
	}
	return false
}

// PlayerID identifies a player while the server holds its place. It is the owner of the
// player's entities. It counts from 1; [ecs.Nobody] is 0. A newcomer gets the
// number that no player has had for the longest time. So the number of a player that left
// goes to another one at once only on a full server.
type PlayerID = ecs.Owner

// OnJoin calls fn on the server in the tick after a player joined. OnJoin, OnLeave,
// OnDisconnect and OnReconnect may each be called with several functions, which then run
// in order.
func (p *Protocol) OnJoin(fn func(f *ServerFrame, player PlayerID)) {
	p.hook("OnJoin", &p.compiled.Handlers.Joins, fn)
}

// OnLeave calls fn on the server in the tick after a player left, while its entities still exist. The
// player is gone: server.Server.Identity is empty, messages to it fail, and Frame.Rewind is empty.
// After the hooks, the entities that it still owns are destroyed. Give those that must stay to another
// owner in fn.
func (p *Protocol) OnLeave(fn func(f *ServerFrame, player PlayerID)) {
	p.hook("OnLeave", &p.compiled.Handlers.Leaves, fn)
}

// OnDisconnect calls fn on the server in the tick after a player lost its connection, if
// its place is held (see server.Config.ReconnectWindow). Its entities stay in the world.
// Its last command is repeated and decays as when input is missing (server.Config.RepeatInput
// and DecayInput), and then is zero.
func (p *Protocol) OnDisconnect(fn func(f *ServerFrame, player PlayerID)) {
	p.hook("OnDisconnect", &p.compiled.Handlers.Disconnects, fn)
}

// OnReconnect calls fn on the server in the tick after a player came back to the place that
// was held for it: see [Protocol.OnDisconnect].
func (p *Protocol) OnReconnect(fn func(f *ServerFrame, player PlayerID)) {
	p.hook("OnReconnect", &p.compiled.Handlers.Reconnects, fn)
}

// OnLevel calls fn on a client when the client enters a level: the first one, if the
// server named it, and each that follows. data is the data given to server.Server.NextLevel,
// valid during the call. The entities of the level before are gone by then. The new ones
// come with the snapshots that follow.
func (p *Protocol) OnLevel(fn func(f *Frame, data []byte)) {
	if p.able("OnLevel", fn != nil) {
		p.compiled.Handlers.Levels = append(p.compiled.Handlers.Levels, fn)
	}
}

func (p *Protocol) hook(call string, to *[]func(*Frame, PlayerID), fn func(*ServerFrame, PlayerID)) {
	if p.able(call, fn != nil) {
		*to = append(*to, func(f *Frame, player PlayerID) { fn(f.forServer(), player) })
	}
}

// Graph returns the schedule of the protocol's systems, as text and as a graph for
// Graphviz's dot. It shows the stages, the systems in running order, their reads and
// writes, which must run before which, and why. It also shows conflicts. A conflict is two
// systems that touch the same component, at least one writing, and that run in order of
// declaration because nothing else orders them. Resolve it with [ecs.Before] or
// [ecs.After].
//
// A server system has the tag "server", and a render system the tag "render". A shared system
// has neither. Call Graph after all declarations, as [Protocol.Err]. If Err reports faults,
// the order is that of declaration.
func (p *Protocol) Graph() (text, dot string) {
	_ = p.Err()
	text = fmt.Sprintf("%s: %d systems, %d ticks a second\n%s", p.compiled.Name, len(p.systems), p.compiled.TickRate, p.compiled.Schedule)
	return text, p.compiled.Schedule.DOT()
}

// Document returns the protocol as Markdown for people to read: components with their
// fields, ranges, units and named values, prefabs, the command, messages, requests and
// events. Struct tags besides net say how a field is shown: name:"ground speed", unit:"m/s"
// and, for an integer's values from 0, enum:"standing,walking,dead".
//
// Explanations of mispredictions, logs of lost values, [ecs.World.SetValue] and package
// observe use them too: see [schema.Label]. They change nothing that is sent of a field. The
// names of values are in the hash, as both ends must number them alike; names and units are not.
// A server sends them to tools that ask. Call Document after all declarations, as [Protocol.Err].
func (p *Protocol) Document() string {
	_ = p.Err()
	return p.compiled.Parts().Document(p.compiled.Labels)
}

// label notes how the fields of a type are shown.
func (p *Protocol) label(name string, t reflect.Type) {
	if p.compiled.Labels == nil {
		p.compiled.Labels = schema.Labels{}
	}
	if t.Kind() == reflect.Struct {
		p.addFault(p.compiled.Labels.Add(name, t))
	}
}
