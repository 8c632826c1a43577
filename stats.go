package foretick

import (
	"fmt"
	"time"

	"github.com/foretick/foretick/internal/counts"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
)

// ClientStats counts what a client did since it began.
type ClientStats struct {
	Connection         netcode.Stats
	Clock              netcode.ClockStats // buffers, lead and time scale in the newest Step
	Connections        uint64             // times that a server let it in, the first and each after a loss
	Resumed            uint64             // of these, the times that it came back to its own place
	BytesOut           uint64
	BytesIn            uint64
	PredictedTicks     uint64 // ticks predicted for the first time, with an entity to predict
	Compared           uint64 // received server ticks compared with a prediction
	Mispredictions     uint64 // those that differed in a predicted field, or where another player's action corrected the player's own state
	ByCause            [prediction.Causes]uint64
	MispredictedFrames uint64 // ticks whose first prediction differs from the server's state: Mispredictions compares the newest run of a tick
	RemotePredicted    uint64 // other players' entities compared with their prediction, once a snapshot each; see PredictRemote
	RemoteMispredicted uint64 // of these, those that differed
	SoftCorrections    uint64 // those that differed within the tolerance: adopted without running a tick again
	Resimulated        uint64 // ticks run again
	HardResets         uint64 // times predicted time jumped
	SpawnsPredicted    uint64 // entities of matched prefabs spawned ahead of the server
	SpawnsMatched      uint64 // of these that became the server's entity
	SpawnsCancelled    uint64 // of these that the server, or a replay, did not make
	SpawnsUnpredicted  uint64 // entities that the server's shared systems spawned and the client's did not
	InputDelayed       uint64 // of Frames, those with a View.InputDelay above 0: inputs acted late
	ValuesOutside      uint64 // ticks of predicted components and commands, and requests, with a number that its tag's range does not hold, or NaN: see Client.Losses
	ChangesSwallowed   uint64 // changes that rounding to the grid undoes in every tick, checked every 16th tick: see Client.Losses
	Stalls             uint64 // times the prediction reached the end of its history and waited for the server
	Snapshots          uint64 // snapshots applied
	SnapshotsStale     uint64 // received after a newer one
	SnapshotsHeavy     uint64 // not read, and sent again: they held more than their length allows
	SnapshotsFar       uint64 // not read: the server cannot have reached their tick, unless its clock or the client's jumped
	Messages           uint64 // messages of the game received
	MessagesUnknown    uint64 // messages that only the server's build of the game has
	Requests           uint64 // sent, or queued
	RequestsDropped    uint64 // of these, those that were lost because the player's place was gone
	CommandsRefused    uint64 // commands that the game's validator refused, as far as the server told
	Malformed          uint64
	CorePanics         uint64        // packets whose reading panicked, a fault of this package's own: the connection ended with transport.Malformed, and ClientConfig.Logger has the packet
	Interpolation      time.Duration // sum over frames of newest snapshot time − render time
	InputDelay         time.Duration // sum over frames of View.InputDelay
	Lead               time.Duration // sum over frames of View.Lead
	Frames             uint64        // frames that Interpolation, InputDelay and Lead sum over
	Confirmed          uint64        // inputs whose effect came back in a snapshot
	ConfirmedWithin    [confirmBuckets]uint32
}

// confirmBuckets is the number of one-millisecond buckets for confirmations. The last
// bucket counts all longer ones.
const confirmBuckets = 2000

// Confirm returns the time within which the share q (0 to 1) of inputs came back in an
// applied snapshot, to the millisecond. Times of 2 s and more are returned as 2 s.
func (s *ClientStats) Confirm(q float64) time.Duration {
	var want, sum uint64 = uint64(q * float64(s.Confirmed)), 0
	for ms, n := range s.ConfirmedWithin {
		sum += uint64(n)
		if sum > want {
			return time.Duration(ms) * time.Millisecond
		}
	}
	return confirmBuckets * time.Millisecond
}

// String returns the counters that are not zero as one line for a log. It includes the
// causes of mispredictions, and the times within which 50 % and 99 % of inputs came back.
func (s ClientStats) String() string {
	line := counts.Line(s)
	for c, n := range s.ByCause {
		if n > 0 {
			line += fmt.Sprintf(", %d of %v", n, prediction.Cause(c))
		}
	}
	if s.Confirmed > 0 {
		line += fmt.Sprintf(", confirmed within %v (half) and %v (99 %%)", s.Confirm(0.5), s.Confirm(0.99))
	}
	return line
}
