package foretick

import (
	"fmt"
	"time"

	"github.com/foretick/foretick/internal/counts"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
)

// ServerStats counts what a server did since it began.
type ServerStats struct {
	Ticks            uint64 // ticks computed
	Slips            uint64 // times it gave up time after a stall
	BytesOut         uint64 // handed to the transport, this library's headers included
	BytesIn          uint64 // received from it
	PacketsOut       uint64
	PacketsIn        uint64
	PacketsRefused   uint64 // the transport would not take them
	InputsMissing    uint64 // ticks for which a connected player's command was not there
	InputsTaken      uint64 // ticks for which it was
	InputsRejected   uint64 // ticks for which it was there and the game's validator refused it
	MessagesSent     uint64 // reliable messages, counted per recipient
	MessagesRefused  uint64 // reliable messages that a full queue refused
	MessagesResent   uint64 // times a reliable message travelled again
	Requests         uint64 // of players, handled
	ViewsOfNobody    uint64 // times Frame.Rewind or RewindBehind was asked for who does not play, which misses everything: see Frame.Present
	Malformed        uint64 // packets or messages that did not parse
	Joined, Left     uint64 // players
	Resumed          uint64 // times a player came back to its place
	Panics           uint64 // in handlers for one player, who was dropped for it
	CorePanics       uint64 // in decoding what a peer sent, which was dropped for it: a fault of this library's; please report it
	PlacesTaken      uint64 // places of absent players that newcomers took on a full server
	EventsNested     uint64 // events that handlers of the same event raised too deep
	Offenders        uint64 // peers dropped for what no honest client does
	Refused          uint64 // peers turned away: full, or of another protocol
	Overflowed       uint64 // players dropped because they did not take their messages
	OtherBuilds      uint64 // players of other builds let in
	SchemasAsked     uint64 // requests for the schema
	ValuesCut        uint64 // ticks of entities with a string or slice too long for its tag, or a string that is no UTF-8
	ValuesOutside    uint64 // ticks of components, and messages, with a number that its tag's range does not hold, or NaN: see Server.Losses
	ChangesSwallowed uint64 // changes that rounding to the grid takes back in every tick, of every 16th tick: see Server.Losses
}

// PlayerStats counts one player's share, on the server.
type PlayerStats struct {
	BytesOut, BytesIn     uint64
	PacketsOut, PacketsIn uint64
	InputsMissing         uint64
	InputsTaken           uint64
	InputsRejected        uint64             // commands that the game's validator refused
	InputsLate            uint64             // commands that came after their tick
	InputsDuplicate       uint64             // commands received again: redundancy brings them
	InputsReplaced        uint64             // commands received anew for a tick yet to come: the client's clock was set back
	InputsFar             uint64             // commands for too far in the future, refused
	InputsMalformed       uint64             // command messages that did not parse
	Requests              uint64             // of the player's, handled
	Clamped               uint64             // claims of a render time that were not granted as made
	Claims                lagcomp.JudgeStats // why, and how they were judged
	Judged                Judged             // the newest of them
	RTT                   time.Duration      // round trip as the server measures it; 0 while away
	Connection            uint64             // number of its connection, of all that the server had
	Session               uint64             // number of its stay, of all that the server had: see MessageSent
}

// String returns the counters that are not zero as one line for a log.
func (s ServerStats) String() string { return counts.Line(s) }

// String returns the counters that are not zero as one line for a log, with the round
// trip and why claims were clamped.
func (s PlayerStats) String() string { return counts.Line(s) }

// ClientStats counts what a client did since it began.
type ClientStats struct {
	Connection         netcode.Stats
	Connections        uint64 // times that a server let it in, the first and each after a loss
	Resumed            uint64 // of these, the times that it came back to its own place
	BytesOut           uint64
	BytesIn            uint64
	PredictedTicks     uint64 // ticks predicted for the first time, with an entity to predict
	Compared           uint64 // received server ticks held against a prediction
	Mispredictions     uint64 // those that differed in a predicted field, or brought a correction of the player's own for what others did
	ByCause            [prediction.Causes]uint64
	MispredictedFrames uint64 // ticks whose first prediction differs from the server's state: Mispredictions compares the newest run of a tick
	RemotePredicted    uint64 // others' entities held against what was foreseen, once a snapshot each; see PredictRemote
	RemoteMispredicted uint64 // of these, those that differed
	SoftCorrections    uint64 // those that differed within the tolerance: adopted without running anything again
	Resimulated        uint64 // ticks run again
	HardResets         uint64 // times predicted time jumped
	SpawnsPredicted    uint64 // entities of matched prefabs spawned ahead of the server
	SpawnsMatched      uint64 // of these that the server's took over from
	SpawnsCancelled    uint64 // and that the server, or a replay, did not make
	SpawnsUnpredicted  uint64 // entities that the server's shared systems spawned and the client's had not
	InputDelayed       uint64 // of Pictures, those with a View.InputDelay above 0: the history was too short, and inputs acted late
	ValuesOutside      uint64 // ticks of predicted components and commands, and requests, with a number that its tag's range does not hold, or NaN: see Client.Losses
	ChangesSwallowed   uint64 // changes that rounding to the grid takes back in every tick, of every 16th tick: see Client.Losses
	Stalls             uint64 // times the prediction reached the end of its history and waited for the server
	Snapshots          uint64 // snapshots applied
	SnapshotsStale     uint64 // received after a newer one
	SnapshotsHeavy     uint64 // not read, and sent again: they brought more at once than their length allows
	SnapshotsFar       uint64 // not read: the server cannot have reached their tick, unless its clock or the client's jumped
	Messages           uint64 // messages of the game's received
	MessagesUnknown    uint64 // messages that only the server's build of the game has
	Requests           uint64 // sent, or queued
	RequestsDropped    uint64 // of these, those that were lost with a place that was not there to come back to
	CommandsRefused    uint64 // commands that the game's validator refused, as far as the server told
	Malformed          uint64
	CorePanics         uint64        // packets whose reading panicked, a fault of this package's own: the connection ended with transport.Malformed, and ClientConfig.Logger has the packet
	Interpolation      time.Duration // sum over pictures of newest snapshot time − render time
	Frames             uint64        // pictures that Interpolation sums over
	Confirmed          uint64        // inputs whose effect came back in a snapshot
	ConfirmedWithin    [confirmBuckets]uint32
}

// confirmBuckets counts confirmations by milliseconds, the last bucket all
// longer ones.
const confirmBuckets = 2000

// Confirm is the time within which the share q (0 to 1) of inputs came back in
// an applied snapshot, to the millisecond.
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

// String returns the counters that are not zero as one line for a log, with the causes
// of mispredictions, and the time in which half and 99 % of inputs came back.
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

// Add sums another client's counts into s. The connection's, which hold
// estimates as well, are left alone.
func (s *ClientStats) Add(o *ClientStats) {
	s.Connections += o.Connections
	s.Resumed += o.Resumed
	s.BytesOut += o.BytesOut
	s.BytesIn += o.BytesIn
	s.PredictedTicks += o.PredictedTicks
	s.Compared += o.Compared
	s.Mispredictions += o.Mispredictions
	s.SpawnsPredicted += o.SpawnsPredicted
	s.SpawnsMatched += o.SpawnsMatched
	s.SpawnsCancelled += o.SpawnsCancelled
	s.SpawnsUnpredicted += o.SpawnsUnpredicted
	for i := range s.ByCause {
		s.ByCause[i] += o.ByCause[i]
	}
	s.MispredictedFrames += o.MispredictedFrames
	s.SoftCorrections += o.SoftCorrections
	s.RemotePredicted += o.RemotePredicted
	s.RemoteMispredicted += o.RemoteMispredicted
	s.Resimulated += o.Resimulated
	s.HardResets += o.HardResets
	s.InputDelayed += o.InputDelayed
	s.ValuesOutside += o.ValuesOutside
	s.ChangesSwallowed += o.ChangesSwallowed
	s.Stalls += o.Stalls
	s.Snapshots += o.Snapshots
	s.SnapshotsStale += o.SnapshotsStale
	s.SnapshotsHeavy += o.SnapshotsHeavy
	s.SnapshotsFar += o.SnapshotsFar
	s.Messages += o.Messages
	s.MessagesUnknown += o.MessagesUnknown
	s.Requests += o.Requests
	s.RequestsDropped += o.RequestsDropped
	s.CommandsRefused += o.CommandsRefused
	s.Malformed += o.Malformed
	s.CorePanics += o.CorePanics
	s.Interpolation += o.Interpolation
	s.Frames += o.Frames
	s.Confirmed += o.Confirmed
	for i := range s.ConfirmedWithin {
		s.ConfirmedWithin[i] += o.ConfirmedWithin[i]
	}
}
