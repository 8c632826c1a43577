package probe

import (
	"time"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/stats"
)

// Tap is called by a server at the end of each tick, and by a client at the end of each Step,
// on the goroutine that computes it.
type Tap struct {
	Call  func(Tapped)
	Clock func() time.Duration // Clock times a client's Steps outside of Run. It may be nil.
}

// Tapped is what an end passes to its tap.
type Tapped struct {
	// Tick is a server's newest tick, or a client's newest predicted one. It is 0 before the first.
	Tick Tick
	// Took is the time of a server's tick, or of a client's Step. It is 0 without a clock outside of Run.
	Took time.Duration
	Late time.Duration // Late is the time from when a server's tick was due to its Step.
}

// Inspected is what both ends show an inspector. Any goroutine may call Tap, SetTap, and the methods whose
// results do not change: Layout, Label, Graph, Systems, Audiences and Counted. Call the others in the tap.
type Inspected interface {
	// Tap returns the tap, nil if there is none.
	Tap() *Tap
	// SetTap sets the tap, nil for none. One that is already called may be called once more.
	SetTap(*Tap)
	// Layout returns the compiled protocol, as this end's build declares it.
	Layout() *layout.Layout
	// Label returns how a field is shown.
	Label(component, field string) schema.Label
	// Graph returns what Protocol.Graph returns.
	Graph() (text, dot string)
	// Systems returns the systems in running order.
	Systems() []ecs.SystemInfo
	// Audiences returns the names of the game's own audiences.
	Audiences() []string
	// Named returns an entity's number on the network and the name of its prefab. A server's
	// is the network id, a client's the number of its connection. It returns false for an
	// entity that is not replicated.
	Named(e ecs.Entity) (net uint32, prefab string, ok bool)
	// CountBytes counts the bytes of snapshots by component and field from now on, or no
	// more: those that a server sends, and those that a client receives.
	CountBytes(on bool)
	// Counted appends the names of what CountBytes counts: component and field, which are
	// empty for bytes of no component.
	Counted(dst [][2]string) [][2]string
	// CountedBytes appends the bytes since CountBytes, in the order of Counted.
	CountedBytes(dst []float64) []float64
}

// InspectedServer is what a server shows an inspector in addition.
type InspectedServer interface {
	Inspected
	// SystemTimes returns the times of the systems, as of the newest tick. Do not change them,
	// and call it in the tap alone.
	SystemTimes() []stats.System
	// Seats appends the players and observers.
	Seats(dst []Seat) []Seat
	// Sight returns what a player receives of an entity, and why. It returns false for a player that does not
	// exist, and for an entity that is not replicated.
	Sight(player ecs.Owner, e ecs.Entity) (Sight, bool)
	// Corrected calls fn with each correction of a client that plays, which the server asks
	// for. Handles in it are those of the server's world, 0 for an entity that it does not have.
	// nil ends it.
	Corrected(fn func(player ecs.Owner, m prediction.Misprediction))
}

// InspectedClient is what a client shows an inspector in addition.
type InspectedClient interface {
	Inspected
	// Explained calls fn with each of the client's corrections. nil ends it.
	Explained(fn func(prediction.Misprediction))
}

// Seat is a player or an observer on the server.
type Seat struct {
	Player   ecs.Owner // Player is 0 for an observer.
	State    string    // State is playing, away, local or observing.
	Team     uint8
	Identity string
	Address  string
	Owns     int // Owns is the number of entities that it owns.
	Hidden   int // Hidden is the number of entities hidden from it by ServerFrame.SetVisible.
	Near     bool
	Eye      [3]float32 // Eye is the eye that the game set. It counts only if Near is true.
}

// Sight is what a player receives of an entity.
type Sight struct {
	Own      bool // Own is true for the player's own entity, and for a shared physics object.
	Hidden   bool // Hidden is true if ServerFrame.SetVisible hides the entity.
	Private  bool // Private is true if each client has its own.
	Interest Interest
	Known    bool // Known is true if a snapshot with the entity was delivered.
	Audience schema.Audience
	Team, Of uint8 // Team is the player's team, and Of is the entity's.
	Plays    bool  // Plays is true if the player is connected and plays.
}

// Interest is what the distances decided.
type Interest struct {
	On           bool // On is true if the game has Interest.
	Placed       bool // Placed is true if the entity has a position.
	Relevant     bool // Relevant is true if the entity was relevant in the newest look.
	Asked        bool // Asked is true if the game's Relevant function decides for the prefab.
	Always       bool // Always is true if the game's Relevant function returned Always.
	Never        bool // Never is true if the game's Relevant function returned Never.
	Eyes         int
	Distance     float32 // Distance is the distance to the nearest eye. It is −1 without an eye.
	Enter, Leave float32
}
