// Package probe lets package simtest read a server and a client: digests,
// the values of an entity on each end, and every message and request that passes.
package probe

import (
	"io"
	"time"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/rewind"
	"github.com/foretick/foretick/internal/trace"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/transport"
)

// Tick is the number of a simulation step.
type Tick = uint32

// These bound a player's late commands. On average, one tick in LateShare runs one. At once, a player may have
// as many as LateDeep times the ticks of server.Config.Late.Window.
const (
	LateShare = 5
	LateDeep  = 2
)

// The ends set these when the program starts. They take any, because the ends import this package.
var (
	// OfServer returns the inside of a *server.Server.
	OfServer func(s any) Server
	// OfClient returns the inside of a *client.Client.
	OfClient func(c any) Client
)

// Server is the inside of a server. Call its methods between Steps.
type Server interface {
	InspectedServer
	// Hash returns the digest of the world. Equal worlds have equal digests, whatever the
	// order of their rows.
	Hash() uint64
	// ScreenHash returns the digest of the state last sent to a player: the part of the
	// newest tick that the player may receive. It is zero for a player that does not
	// exist, and when no snapshot of that tick was sent.
	ScreenHash(player ecs.Owner) ScreenHash
	// Commanded reports whether a player owns an entity with the command now, or the game has
	// no command.
	Commanded() bool
	// Activity adds what the newest tick had to a.
	Activity(a *Activity)
	// Recorder returns server.Config.Recorder.
	Recorder() io.WriterTo
	// Queued returns the bytes of reliable messages that wait for a player now; 0 for a
	// player that does not exist.
	Queued(player ecs.Owner) int
	// Interval returns the length of a tick.
	Interval() time.Duration
	// LateTicks returns server.Config.Late.Window in ticks, rounded up; 0 for none.
	LateTicks() int
	// MaxRewind returns server.Config.MaxRewind, or its default.
	MaxRewind() time.Duration
	// Peer returns the transport's name for a player's connection, 0 for a player that is
	// absent or does not exist.
	Peer(player ecs.Owner) transport.PeerID
	// Verdict returns how a player's newest claim was judged; zero for a player that does
	// not exist.
	Verdict(player ecs.Owner) rewind.Verdict
	// Entities lists the replicated entities as they concern a player, in the order of
	// their network ids. It returns false for a player that does not play.
	Entities(player ecs.Owner) ([]ServerEntity, bool)
	// Words returns what a player may see of an entity's component, nil if it has none.
	Words(e *ServerEntity, comp int) []int32
	// Wire returns a player's number for a network id, 0 for an entity that it does not
	// receive.
	Wire(player ecs.Owner, net uint32) schema.WireID
	// OnMessage calls fn for each reliable message that is queued for a player.
	OnMessage(fn func(MessageSent))
	// OnRequest calls fn for each request of a player before its handler.
	OnRequest(fn func(RequestTaken))
	// OnPanic calls fn for each panic in a function of the game. A panic in fn leaves Step, which
	// one in server.Config.OnPanic does not.
	OnPanic(fn func(Panicked))
	// StateHash is Hash without the keys of predicted spawns, which a match without clients
	// does not have.
	StateHash() uint64
	// OnCall calls fn before each function that was passed to Server.Do, with its name.
	OnCall(fn func(name string))
	// OnSystem calls fn before and after each system, also where a shared system runs again
	// for a late input. It returns a function that ends the calls.
	OnSystem(fn func(SystemRun)) (stop func())
	// Edit sets a field by its path at the end of the next tick, as a function of Server.Do
	// would, and a recorder can record it. With ecs.None the path is that of a singleton.
	// done, which may be nil, is called with what SetValue returns.
	Edit(e ecs.Entity, path string, value any, done func(error)) error
	// Replicated lists the replicated entities in the order of their network ids.
	Replicated() []ServerEntity
	// SyncTest makes the server run the newest ticks again before each tick, as it does for a
	// late input, and calls found with each tick whose result differs. Call it before the
	// first Step. It returns an error for a server without server.Config.Late.Window.
	SyncTest(ticks int, found func(Desync)) error
	// Trace returns the port of a player's trace. If aside is true, or in a replay, no packet carries the
	// trace's records. Any goroutine may call it.
	Trace(player ecs.Owner, aside bool) *trace.Port
	// KickObservers kicks the observers with the places in a tape's call.
	KickObservers(reason string, places []byte)
	// StartAt makes a tick the newest of a server before its first Step. The match then begins
	// with the tick after it, for tests.
	StartAt(t Tick)
	// SetArchitecture sets the architecture that the server reports to clients. Package
	// simtest sets it, so that packets are the same on every machine.
	SetArchitecture(name string)
}

// Activity is what happened in the ticks of a match, over all its server processes. The zero
// value is ready to use.
type Activity struct {
	// Command has the command's fields. Used.Ever is set after a tick with a value other than zero.
	Command []Used
	// Systems has the systems. Used.Ever is set after a tick with a row for the system, and from the start for a
	// system that takes no rows.
	Systems []Used
	// Changed is set once a replicated value changed, an entity came or went, or a message or
	// a request was sent, in a tick in which no player came or went.
	Changed bool

	Infos  []ecs.SystemInfo // Infos are Systems as the schedule describes them.
	Known  bool             // Known is true if Newest is of the same server process. Clear it for another.
	Newest ActivityDigest   // Newest has the hashes of the newest tick, until Changed.
}

// Used is a part of the protocol that a match may use.
type Used struct {
	Name string
	Ever bool
}

// ActivityDigest has hashes of a tick's players, and of its replicated entities with their
// values, and the number of messages and requests until then.
type ActivityDigest struct {
	Players, Values, Messages uint64
}

// SystemRun is the beginning or the end of a system's run.
type SystemRun struct {
	Tick   Tick
	System string
	Shared bool      // Shared is true if both ends run the system.
	Again  ecs.Owner // Again is the player of the late input that the system runs again for, or nobody.
	After  bool
}

// Client is the inside of a client. Call its methods between Steps.
type Client interface {
	InspectedClient
	// Hash returns the digest of the world, drawn values included.
	Hash() uint64
	// ScreenHash returns the digest of the newest snapshot, before any prediction. Fields
	// is 0 if the snapshot left something out for lack of room: then nothing can be
	// compared.
	ScreenHash() ScreenHash
	// Newest returns the tick of the newest snapshot; 0 before the first.
	Newest() Tick
	// Count returns how many replicated entities the client has.
	Count() int
	// Entity returns what the client has for a number of the connection.
	Entity(wire schema.WireID) ClientEntity
	// Wire returns the connection's number of a local entity, 0 if it has none.
	Wire(local ecs.Entity) schema.WireID
	// Components returns the number of components in the server's order.
	Components() int
	// Compare calls visit for each field of a component that a viewer of the audience
	// receives and the client knows, with the words of both ends on one grid. It reports
	// whether both ends or neither have the component. known is false for a component
	// that only the server's build has.
	Compare(wire schema.WireID, comp int, theirs []int32, a schema.Audience, visit func(Field)) (name string, known, both bool)
	// OnMessage calls fn for each reliable message of the game that arrives.
	OnMessage(fn func(MessageReceived))
	// OnRequest calls fn for each request that is queued for the server.
	OnRequest(fn func(RequestSent))
	// SampleWhile makes the client read its player's input only while wanted returns true,
	// and send zero commands otherwise. It does nothing for a client without a Sampler.
	SampleWhile(wanted func() bool)
	// OnSample calls fn with each command that the client's Sampler made, which fn may change,
	// and the tick of the frame that the screen showed. It does nothing without a Sampler.
	OnSample(fn func(shown Tick, command unsafe.Pointer))
	// Trace returns the port of the client's trace. Any goroutine may call it.
	Trace() *trace.Port
	// SetArchitecture sets the architecture that the client reports to the server. Call it
	// before the first Step.
	SetArchitecture(name string)
	// SyncTest makes the client run the newest ticks again after each tick, and calls
	// found with each tick whose result differs. Call it before the first Step. It
	// returns an error if the history is too short.
	SyncTest(ticks int, found func(Desync)) error
}

// ScreenHash is a digest of the state sent to one player, by the ids of its connection.
type ScreenHash struct {
	Tick   Tick
	Digest uint64
	// Fields is the number of fields that the digest covers. 0 means that there is nothing to compare.
	Fields int
}

// ServerEntity is an entity as the server has it for one player.
type ServerEntity struct {
	Entity   ecs.Entity
	Net      uint32
	Wire     schema.WireID // Wire is 0 if the player was not sent the entity.
	Prefab   string
	Own      bool // Own is true if the player predicts the entity.
	Hidden   bool // Hidden is true if the entity is hidden from the player.
	Audience schema.Audience
}

// ClientEntity is what a client has of an entity of the server.
type ClientEntity struct {
	Known bool // Known is true if a snapshot had the entity.
	Alien bool // Alien is true if this build does not have the entity's prefab.
	Alive bool // Alive is true if the entity is in the world.
	Own   bool
	// Told is the newest tick of which the client has the value. 0 means that none is remembered.
	Told Tick
}

// Field is a field on both ends.
type Field struct {
	Name string
	// Ref is true for a reference: Ours is then the connection's number, and Theirs the network id.
	Ref          bool
	Ours, Theirs []int32
	Singleton    bool // Singleton is true if the component is a singleton.
	// Value returns the value of words such as Ours, as schema.Schema.Value does.
	Value func([]int32) any
}

// MessageSent is a reliable message that the server queued for a player.
type MessageSent struct {
	To      ecs.Owner
	Session uint64
	Channel int
	Tick    Tick
	Kind    uint8
	Payload []byte
}

// MessageReceived is a reliable message that reached a client.
type MessageReceived struct {
	Channel int
	Tick    Tick
	Kind    uint8
	Payload []byte
}

// RequestSent is a request that a client queued.
type RequestSent struct {
	Kind    uint8
	Payload []byte
}

// RequestTaken is a request that the server is about to handle.
type RequestTaken struct {
	By      ecs.Owner
	Session uint64
	Kind    uint8
	Payload []byte
}

// Panicked is a panic in a function of the game, as server.Panic.
type Panicked struct {
	Player  ecs.Owner
	Handler string
	Value   any
	Stack   []byte
}

// Kinds of a Desync.
const (
	Impure      = 1 + iota // the same tick gave another result
	RenderWrote            // a render system wrote a predicted component
	NotANumber             // a predicted field became NaN or infinite
)

// Desync is a fault that a sync test found.
type Desync struct {
	Kind         int
	Tick         Tick
	Entity       ecs.Entity
	Component    string
	Field        string
	First, Again float64
	System       string
}
