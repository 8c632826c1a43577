// Package tape defines what a server passes to its recorder. Package flight has the recorder, and the player of
// tapes, which takes a recorder's place in a replay.
package tape

import (
	"io"
	"time"

	"github.com/foretick/foretick/transport"
)

// SinkOf returns the sink of what server.Config.Recorder has, and nil if that is no recorder. Package
// flight sets it when the program starts. It takes any, because flight imports this package.
var SinkOf = func(recorder any) Sink { return nil }

// Sink receives everything that a server depends on from outside, in order. It runs in the server's goroutine,
// and keeps nothing that it is given. In a replay it gives the server what the tape has.
type Sink interface {
	// Begin is called by server.New. It returns what the server uses in place of its endpoint
	// and its source of randomness.
	Begin(h Head, e transport.Endpoint, random io.Reader) (transport.Endpoint, io.Reader, error)
	// Step is called at the beginning of a Step. hash returns the hash of the world.
	Step(now time.Time, hash func() uint64)
	// Stepped is called at the end of a Step, even if the Step panicked.
	Stepped()
	// Panicked is called after Stepped if a system panicked in a tick.
	Panicked(tick uint32, value any, stack []byte)
	// Tick is called at the end of a tick, with the hash of the world.
	Tick(tick uint32, hash uint64)
	// Outside is a call from outside, between Steps or by a function of Do. Other calls
	// during a Step are the game's own, and are not recorded.
	Outside(c Call)
	// Queued is called at the end of each tick with the functions that wait for it. If
	// replaced is true, the server runs those returned in their place.
	Queued(tick uint32, waiting []Queued) (run []Queued, replaced bool)
	// Value is a value of the game's own from outside. If replaced is true, the server takes
	// the one returned in its place.
	Value(b []byte) (value []byte, replaced bool)
	// Observed returns what an observer may see. ask returns the game's decision.
	Observed(ask func() Grant) Grant
	// Touched is called when the program takes the world or the frame.
	Touched()
	// Replays reports whether the server runs a recorded match again.
	Replays() bool
	// Looked takes the requests of the server's own program for players' traces, at the beginning of a tick. It
	// returns those that the server carries out. A replay calls it in each tick.
	Looked(asked []Look) []Look
	// Report is called when something goes wrong while the match goes on.
	Report(reason string)
	// Closed is called when the server is closed.
	Closed()
}

// Keeper is an endpoint of a server whose caller outlives a panic of the server, and runs other servers too.
// None of these may wait for a disk.
type Keeper interface {
	// Aside runs a function that may wait, before the program ends.
	Aside(wait func())
}

// Head describes a server: its protocol, its config and its build.
type Head struct {
	Protocol uint64    // Protocol is the hash of the protocol.
	Describe string    // Describe is the protocol's description.
	Settings []Setting // Settings are the fields of the config.
	Debug    bool      // Debug is true for a build with the tag foretick_debug.
}

// Setting is a field of a config as text.
type Setting struct{ Name, Value string }

// Op is a call from outside.
type Op uint8

// The calls.
const (
	Kick Op = iota + 1
	BanPlayer
	KickIdentity
	Ban
	Unban
	Level
	Drain
	Shutdown
	Close
	LateInputs
	Remeasure
	KickObservers
	Draw
	Architecture
)

// String returns the method's name.
func (o Op) String() string {
	names := [...]string{"?", "ServerFrame.Kick", "ServerFrame.Ban", "KickIdentity", "Ban", "Unban", "NextLevel", "Drain", "Shutdown", "Close", "SetLateInputs", "RemeasureLatency", "KickObservers", "Draw", "SetArchitecture"}
	if int(o) < len(names) {
		return names[o]
	}
	return names[0]
}

// Call is a call from outside with its arguments.
type Call struct {
	Op     Op
	Player uint16
	Number uint64 // Number is a code.
	Time   time.Duration
	Until  time.Time
	Queued bool // Queued is true if a function of Do made the call.
	Of     int  // Of is which of the tick's functions made the call, if Queued is true.
	// Built is true if a level has a function that builds it. For LateInputs it is what was set.
	Built bool
	Text  string
	Data  []byte
}

// Queued is a function that waits for the end of a tick.
type Queued struct {
	Name string
	Edit *Edit // Edit is nil for any other function, which no tape holds.
	Own  int   // Own is the place among the functions that wait. −1 means that it is none of them.
	Run  any   // Run is a func(*foretick.ServerFrame), for a function that is none of those that wait.
}

// Edit sets a field by its path.
type Edit struct {
	Entity uint64 // Entity is 0 for a singleton.
	Path   string
	Value  any // Value is a bool, int64, uint64, float64 or string.
}

// Look is what the server's own program asks of a player's trace, and of its corrections.
type Look struct {
	Player   uint16
	Looked   bool     // Looked is true if somebody looks, for the next 30 seconds.
	Stop     bool     // Stop is true if nobody looks any more.
	Reports  bool     // Reports is true if the client's corrections are asked for.
	Renamed  bool     // Renamed is true if Entities are others than before.
	Entities []uint64 // Entities are handles of the world. Empty means the player's own.
}

// Grant is the result of server.Config.Observe.
type Grant struct {
	Team                   uint8
	Player                 uint16
	Everything, FollowOnly bool
	Refused                bool
	Text                   string // Text is the reason for a refusal.
}
