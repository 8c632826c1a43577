package campaign

import (
	"github.com/foretick/foretick/stats"
)

// AddStats adds the counters of a client, o, to s. The connection's counters and the clock's
// figures are not added, since they are or contain estimates.
func AddStats(s, o *stats.Client) {
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
	s.MispredictedTicks += o.MispredictedTicks
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
	s.SnapshotsUnread += o.SnapshotsUnread
	s.SnapshotsFar += o.SnapshotsFar
	s.Messages += o.Messages
	s.MessagesUnknown += o.MessagesUnknown
	s.Requests += o.Requests
	s.RequestsDropped += o.RequestsDropped
	s.CommandsRefused += o.CommandsRefused
	s.Malformed += o.Malformed
	s.CorePanics += o.CorePanics
	s.InterpolationSum += o.InterpolationSum
	s.InputDelaySum += o.InputDelaySum
	s.LeadSum += o.LeadSum
	s.Frames += o.Frames
	s.Confirmed += o.Confirmed
	for i := range s.ConfirmedWithin {
		s.ConfirmedWithin[i] += o.ConfirmedWithin[i]
	}
}
