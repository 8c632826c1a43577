package probe

import (
	"time"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/figures"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/schema"
)

// Tap is called by a server at the end of each tick, and by a client at the end of each Step,
// on the goroutine that computes it.
type Tap struct {
	Call  func(Tapped)
	Clock func() time.Duration // times a client's Steps outside of Run; may be nil
}

// Tapped is what an end passes to its tap.
type Tapped struct {
	Tick Tick          // a server's newest; a client's newest predicted one, 0 before the first
	Took time.Duration // of a server's tick, or of a client's Step; 0 without a clock outside of Run
	Late time.Duration // from the time that a server's tick was due to its Step
}

// Inspected is what both ends tell an inspector. Only Tap and SetTap may be called by any
// goroutine, and what does not change: Layout, Label, Graph, Systems, Audiences and Counted.
// Call the others in the tap.
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

// InspectedServer is what a server tells an inspector besides.
type InspectedServer interface {
	Inspected
	// SystemTimes returns the times of the systems, as of the newest tick. Do not change them,
	// and call it in the tap alone.
	SystemTimes() []figures.System
	// Seats appends the players and observers.
	Seats(dst []Seat) []Seat
	// Sight says what a player receives of an entity, and why. It returns false for a player
	// that does not exist, and for an entity that is not replicated.
	Sight(player ecs.Owner, e ecs.Entity) (Sight, bool)
	// Corrected calls fn with each correction of a client that plays, which the server asks
	// for. Handles in it are those of the server's world, 0 for an entity that it does not have.
	// nil ends it.
	Corrected(fn func(player ecs.Owner, m prediction.Misprediction))
}

// InspectedClient is what a client tells an inspector besides.
type InspectedClient interface {
	Inspected
	// Explained calls fn with each correction too. nil ends it.
	Explained(fn func(prediction.Misprediction))
}

// Seat is a player or an observer on the server.
type Seat struct {
	Player   ecs.Owner // 0 for an observer
	State    string    // playing, away, local or observing
	Team     uint8
	Identity string
	Address  string
	Owns     int // entities
	Hidden   int // entities hidden from it by Frame.SetVisible
	Near     bool
	Eye      [3]float32 // that the game set; without Near it is none
}

// Sight is what a player receives of an entity.
type Sight struct {
	Own      bool // the player's own, or a shared physics object
	Hidden   bool // by Frame.SetVisible
	Private  bool // each client has its own
	Interest Interest
	Known    bool // a snapshot with it was delivered
	Audience schema.Audience
	Team, Of uint8 // of the player, and of the entity
	Plays    bool  // the player is connected and plays
}

// Interest is what the distances decided.
type Interest struct {
	On           bool // the game has Interest
	Placed       bool // the entity has a position
	Relevant     bool // in the newest look
	Asked        bool // the game's Relevant function decides for the prefab …
	Always       bool // … and said Always
	Never        bool // … or Never
	Eyes         int
	Distance     float32 // to the nearest eye; −1 without one
	Enter, Leave float32
}
