package foretick

import (
	"errors"
	"fmt"
	"hash/fnv"
	"reflect"
	"strconv"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/guard"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/standard"
	"github.com/foretick/foretick/schema"
)

// Tick is the number of a simulation step, counted from the server's start.
type Tick = uint32

// Tags of systems: a system with [ecs.Tags] of TagServer runs on servers only, one with
// TagClient on clients only. [Protocol.Server] and [Protocol.Render] set theirs. Tags of the
// game's own go into [ServerConfig].Tags. Those of shared systems hold for the clients too;
// others go into [ClientConfig].Tags.
const (
	TagServer = layout.TagServer // on servers
	TagClient = layout.TagClient // on clients; a system of Shared with it runs in each tick on clients alone
	TagRender = "render"         // on clients, and on servers that ask for it: see Server.Draw
)

// Protocol is the part of a game that both ends must agree on: its components, prefabs,
// commands, messages and systems, in order of declaration. Server and client build it with
// the same calls. Its hash is compared when a client connects.
//
// Declarations continue after an error: Err returns every fault at once. A declaration
// after Err is an error of the next Err, NewServer or NewClient. Declare nothing more on a
// Protocol that a Server or a Client uses. Any number of them may share it if they run in
// one goroutine. Otherwise make one Protocol for each goroutine.
type Protocol struct {
	compiled compiled // what both ends run; complete after Err

	audiences     []string // the game's own
	assets        []prefabAsset
	relevant      []relevantHook
	along         []*ecs.Prefab // that PredictRemote names besides avatars
	skipped       []string      // systems that PredictRemote leaves out
	stages        []string
	partials      []partialSystem
	systems       []string // names in order of declaration
	shared        []*sharedSystem
	eventRows     []any    // *eventRow[T] of each event
	drains        []*drain // of the events with OnServer, in the order of their first one
	messageFields int      // of all, and of requests: see standard.MaxMessageFields
	deaf          []string // messages without a handler
	mute          []string // requests without one

	errs    []error
	spoilt  []ecs.ID      // components with a fault, which is reported once
	unmade  []*ecs.Prefab // and prefabs
	crowded bool          // it was said that there are too many types
	built   bool
	err     error // once built
}

// NewProtocol makes an empty protocol. The name and version of the game are part of its
// hash: two versions cannot play together.
func NewProtocol(name string, version int) *Protocol {
	p := &Protocol{}
	p.compiled.Name, p.compiled.Version, p.compiled.TickRate = name, version, standard.DefaultTickRate
	p.compiled.Types = ecs.NewTypes()
	p.compiled.Registry = schema.NewRegistry()
	p.compiled.schedule = ecs.NewSchedule[*Frame](p.compiled.Types)
	p.fault(p.compiled.Types.Register(&p.compiled.identity, ecs.Named("foretick.NetworkID"), ecs.Open(), ecs.Managed(fixManaged)))
	p.named("NewProtocol: the game", name)
	if int(int32(version)) != version {
		p.faultf("NewProtocol: version %d: use −2³¹ to 2³¹−1", version)
	}
	return p
}

// fixManaged is the remedy for spawning or destroying without the server and the
// prediction.
const fixManaged = "entities of a Protocol's prefabs are made and removed by Frame.Spawn, Frame.SpawnBy and Frame.Destroy, so that all ends learn of it: call those"

// fault notes an error. It notes each part of a joined error separately.
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

// Fail adds errors to those that Err returns, for packages that declare for a game, such as
// bridge. A joined error is added part by part, and nil is no error.
func (p *Protocol) Fail(err error) { p.fault(err) }

func (p *Protocol) faultf(format string, args ...any) {
	p.fault(fmt.Errorf("foretick: "+format, args...))
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
// [ServerConfig].TrainCompression. They are part of the hash.
func (p *Protocol) CompressionTables(b []byte) {
	if !p.late("CompressionTables") {
		p.fault(p.compiled.Registry.UseTables(b))
	}
}

// TickRate returns the number of ticks a second.
func (p *Protocol) TickRate() int { return p.compiled.TickRate }

// Use composes a game from modules: it calls Declare of each argument in order. A module
// declares a part of the game, such as its guns: components, prefabs and systems. A module
// that is given twice is declared twice, which Err refuses.
func (p *Protocol) Use(modules ...interface{ Declare(p *Protocol) }) {
	for _, m := range modules {
		if guard.Missing(m) {
			p.faultf("Use is given a nil module: leave it out, or give what declares it")
			continue
		}
		m.Declare(p)
	}
}

// Types returns the protocol's set of component types, for the game's queries, watches and
// singletons that each end keeps for itself. Do not register components with it. Declare
// components that stay on one end with [Protocol.LocalComponent], and others with
// [Protocol.Component]. [Protocol.Singleton] declares singletons that are sent.
func (p *Protocol) Types() *ecs.Types { return p.compiled.Types }

// Describe lists everything that the hash covers, one fact a line, in order. Two protocols
// that differ have a first line that differs. Describe ends the declaration, as Err does.
func (p *Protocol) Describe() string {
	_ = p.Err() // no declarations after this
	return p.compiled.parts().Describe()
}

// Hash identifies the protocol: two ends can play together when their hashes are equal.
// Hash ends the declaration, as Err does.
func (p *Protocol) Hash() uint64 {
	_ = p.Err()
	return p.compiled.Hash
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

func typeNameOf[T any]() string { return typeName(reflect.TypeFor[T]()) }

func itoa(n int) string { return strconv.Itoa(n) }
