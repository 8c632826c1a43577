package stats

import (
	"fmt"
	"time"

	"github.com/foretick/foretick/internal/counts"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
)

// Client counts what a client did since it began, across all its connections. Only
// Connection and Clock are figures of the present connection.
type Client struct {
	Connection     netcode.Stats      // counters of the present connection; a reconnect begins again with 0
	Clock          netcode.ClockStats // buffers, lead and time scale in the newest Step
	Connections    uint64             // times that a server let the client in: the first time and after each lost connection
	Resumed        uint64             // times that the client got its own place back after a lost connection
	BytesOut       uint64             // bytes handed to the transport, this library's headers included
	BytesIn        uint64             // bytes received from the transport
	PredictedTicks uint64             // ticks predicted for the first time, with an entity to predict
	Compared       uint64             // received server ticks that were compared with a prediction
	// Mispredictions counts compared ticks whose newest prediction was wrong in a predicted field, and
	// ticks where another player's action corrected the player's own state.
	Mispredictions uint64
	ByCause        prediction.ByCause // Mispredictions by their prediction.Cause; prints as "server_effect 9"
	// MispredictedTicks counts ticks whose first prediction, the one on the screen, was wrong. They
	// count even if a later run of the tick corrected it before the comparison.
	MispredictedTicks uint64
	// RemotePredicted counts comparisons of another player's predicted entity with a snapshot, one for
	// each entity and snapshot: see PredictRemote.
	RemotePredicted    uint64
	RemoteMispredicted uint64 // comparisons counted in RemotePredicted that found a difference
	// SoftCorrections counts compared ticks that differed within the tolerance (tag tol). The server's
	// values were adopted without running a tick again.
	SoftCorrections uint64
	// JumpsByOwner counts changes of owner, and switches of prediction, that the screen could not slide
	// over: the entity teleported too, or the frame before did not show it.
	JumpsByOwner uint64
	// JumpsByTeleport counts entities of the player that a correction moved at once, because one end
	// teleported them and the other did not.
	JumpsByTeleport uint64
	// JumpsByLimit counts fields that a correction changed at once, because the difference was above
	// client.Config.SmoothLimit.
	JumpsByLimit      uint64
	Resimulated       uint64 // ticks run again after corrections
	HardResets        uint64 // times that the predicted time jumped
	SpawnsPredicted   uint64 // entities of matched prefabs (see Protocol.Spawns) that this client spawned ahead of the server
	SpawnsMatched     uint64 // predicted spawns that became the server's entity
	SpawnsCancelled   uint64 // predicted spawns that were removed, because the server or a replay did not make them
	SpawnsUnpredicted uint64 // entities that the server's shared systems spawned and the client's did not
	InputDelayed      uint64 // frames with a View.InputDelay above 0: inputs acted late
	// ValuesOutside counts ticks of predicted components and commands, and requests, with a number
	// outside the range of its tag, NaN or infinity: see client.Client.Losses.
	ValuesOutside uint64
	// ChangesSwallowed counts changes that rounding to the grid undoes in every tick, checked every
	// 16th tick: see client.Client.Losses.
	ChangesSwallowed uint64
	Stalls           uint64 // times the prediction reached the end of its history and waited for the server
	Snapshots        uint64 // snapshots applied
	SnapshotsStale   uint64 // snapshots received after a newer one
	SnapshotsHeavy   uint64 // snapshots not read, and sent again by the server: they held more than their length allows
	// SnapshotsUnread counts snapshots refused as malformed, which are counted in Malformed too. The
	// client tells the server, which then leaves out the entity at fault.
	SnapshotsUnread uint64
	// SnapshotsFar counts snapshots that were not read because the server cannot have reached their
	// tick, unless its clock or the client's jumped.
	SnapshotsFar    uint64
	Messages        uint64 // messages of the game received
	MessagesUnknown uint64 // messages received that only the server's build of the game has
	Requests        uint64 // requests sent, or queued
	RequestsDropped uint64 // requests lost because the player's place was gone
	// CommandsRefused counts commands that the game's validator refused, as reported by the server. It
	// may leave out some of many.
	CommandsRefused uint64
	Malformed       uint64 // packets or messages that could not be parsed
	// CorePanics counts packets that made the decoder panic, which is a fault of this library. The
	// connection ended with transport.Malformed, and client.Config.Logger has the packet.
	CorePanics       uint64
	InterpolationSum time.Duration // sum over Frames of newest snapshot time − render time; divide by Frames for the mean
	InputDelaySum    time.Duration // sum over Frames of View.InputDelay; divide by Frames for the mean
	LeadSum          time.Duration // sum over Frames of View.Lead; divide by Frames for the mean
	Frames           uint64        // rendered frames that InterpolationSum, InputDelaySum and LeadSum add up
	Confirmed        uint64        // inputs whose effect came back in a snapshot: see Confirm

	confirmedWithin [confirmBuckets]uint32 // confirmedWithin counts confirmed inputs by their milliseconds.
}

// confirmBuckets is the number of one-millisecond buckets for confirmations. The last
// bucket counts all longer ones.
const confirmBuckets = 2000

// CountConfirmed counts a confirmed input, and the time that it took.
func (s *Client) CountConfirmed(took time.Duration) {
	s.confirmedWithin[min(max(int(took/time.Millisecond), 0), confirmBuckets-1)]++
	s.Confirmed++
}

// Add adds the counters of another client. It leaves out Connection and Clock, which are or contain
// estimates.
func (s *Client) Add(other *Client) {
	counts.Add(s, other)
	s.ByCause.Add(other.ByCause)
	s.InterpolationSum += other.InterpolationSum
	s.InputDelaySum += other.InputDelaySum
	s.LeadSum += other.LeadSum
	for ms, n := range other.confirmedWithin {
		s.confirmedWithin[ms] += n
	}
}

// Confirm returns the time within which the share q (0 to 1) of the confirmed inputs came
// back in an applied snapshot, in whole milliseconds. 1 returns the longest time. Times of
// 2 s and more are returned as 1.999 s. Confirm returns 0 while no input is confirmed.
func (s *Client) Confirm(q float64) time.Duration {
	if s.Confirmed == 0 {
		return 0
	}
	var want, sum uint64
	if q > 0 {
		want = min(uint64(min(q, 1)*float64(s.Confirmed)), s.Confirmed-1)
	}
	for ms, n := range s.confirmedWithin {
		sum += uint64(n)
		if sum > want {
			return time.Duration(ms) * time.Millisecond
		}
	}
	return (confirmBuckets - 1) * time.Millisecond
}

// String returns the counters that are not zero as one line for a log. It includes the
// times within which 50 % and 99 % of inputs came back.
func (s Client) String() string {
	line := counts.Line(s)
	if s.Confirmed > 0 {
		line += fmt.Sprintf(", confirmed within %v (half) and %v (99 %%)", s.Confirm(0.5), s.Confirm(0.99))
	}
	return line
}
