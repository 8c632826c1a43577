package stats

import (
	"iter"
	"slices"
	"time"

	"github.com/foretick/foretick/internal/counts"
	"github.com/foretick/foretick/prediction"
)

// Server has all that one server counts, or the sum of several. Counters count since the server began.
// Gauges are as of its newest tick.
type Server struct {
	Counters

	// TickTime counts the durations of ticks, from reading their commands to sending their packets. It
	// is empty without a clock: see server.Config.Clock. The newest tick is not counted yet.
	TickTime Histogram
	// Lateness counts the delays of ticks: from when they are due to when they begin.
	Lateness Histogram

	Players   int // gauge: connected players
	Held      int // gauge: absent players whose place is held
	Waiting   int // gauge: connections that have not joined
	Observing int // gauge: connected observers

	QueuedBytes int // gauge: bytes of reliable messages that wait for players, in all
	QueuedMost  int // gauge: the most bytes of reliable messages that wait for one player

	Refusals ByRefusal // refused peers, by Refusal: Refused is their sum

	Rewinds        uint64 // render times claimed by players' commands
	RewindsClamped uint64 // claims counted in Rewinds that were replaced by the nearest allowed moment

	// Causes counts the ticks of each player with an event that the player's client could not predict.
	// The server knows the causes Input, ServerEffect and RemoteInput by itself. Not every such tick is
	// corrected.
	Causes prediction.ByCause
	// Corrections counts the corrections of predictions that clients reported, by cause. Clients
	// report every ten seconds. For each player at most one correction a tick is counted, whatever its
	// client reports.
	Corrections prediction.ByCause

	// RTT counts round trips to players: the smoothed round trip of each player, every ten seconds.
	RTT Histogram
	// LossIn and LossOut count the shares of lost packets, from players and to players: each player's
	// share in the last ten seconds, every ten seconds.
	LossIn, LossOut Shares

	// Systems has the systems in the order of running. Structural changes that are made after a
	// system's end are not part of its time.
	Systems []System

	// Endpoint has the counters of the server's own endpoint, read once a second. It is empty for a
	// match of a host, whose endpoint is in Host.Endpoint. Sums leave it out.
	Endpoint []Count
}

// System has the times of one system.
type System struct {
	Name  string
	Runs  uint64        // ticks that the system ran in
	Total time.Duration // time of all runs together; 0 without a clock
	Last  time.Duration // time of the newest run; in a sum, the longest of them
	Max   time.Duration // time of the longest run
}

// Refusal is why a peer was refused.
type Refusal uint8

// The reasons.
const (
	RefusedFull         Refusal = iota // every place is taken
	RefusedBanned                      // the peer's identity is banned
	RefusedTooOften                    // connections of the peer's address come and go too often
	RefusedWaiting                     // too many connections of the peer's address do not play yet
	RefusedProtocol                    // the peer has another protocol or version
	RefusedDraining                    // the server drains or ends
	RefusedObservers                   // there are enough observers, the peer may not observe, or it asks for an unknown role
	RefusedCombinations                // the world has hardly any room for further combinations of owner and components
	RefusedTwice                       // a player with the peer's identity already plays
	refusals
)

var refusalNames = [refusals]string{"full", "banned", "too_often", "waiting", "protocol", "draining", "observers", "combinations", "twice"}

// String returns the reason's name in metrics, such as "too_often".
func (r Refusal) String() string {
	if r < refusals {
		return refusalNames[r]
	}
	return "unknown"
}

// ByRefusal counts by Refusal. The zero value has counted nothing.
type ByRefusal struct{ n [refusals]uint64 }

// Of returns how many peers were refused for r.
func (b ByRefusal) Of(r Refusal) uint64 { return counts.Of(b.n[:], r) }

// All returns the count of each reason, in their order, zeros included.
func (b ByRefusal) All() iter.Seq2[Refusal, uint64] { return counts.All[Refusal](b.n[:]) }

// Count adds n to the count of r.
func (b *ByRefusal) Count(r Refusal, n uint64) { b.n[r] += n }

// String returns the counts that are not zero, such as "full 3, banned 1", or "none".
func (b ByRefusal) String() string { return counts.Named[Refusal](b.n[:]) }

// Copy sets s to a copy of other. It uses the memory of s.Systems and s.Endpoint.
func (s *Server) Copy(other *Server) {
	systems, endpoint := append(s.Systems[:0], other.Systems...), append(s.Endpoint[:0], other.Endpoint...)
	*s = *other
	s.Systems, s.Endpoint = systems, endpoint
}

// Add adds the figures of another server, gauges included. QueuedMost becomes the larger one.
// Systems are added by name.
func (s *Server) Add(other *Server) {
	s.Players += other.Players
	s.Held += other.Held
	s.Waiting += other.Waiting
	s.Observing += other.Observing
	s.QueuedBytes += other.QueuedBytes
	s.QueuedMost = max(s.QueuedMost, other.QueuedMost)
	s.AddCounters(other)
}

// AddCounters is Add without the gauges. It is for servers that have ended.
func (s *Server) AddCounters(other *Server) {
	s.TickTime.Add(&other.TickTime)
	s.Lateness.Add(&other.Lateness)
	s.RTT.Add(&other.RTT)
	s.LossIn.Add(&other.LossIn)
	s.LossOut.Add(&other.LossOut)
	s.Counters.Add(&other.Counters)
	s.Rewinds += other.Rewinds
	s.RewindsClamped += other.RewindsClamped
	for r, n := range other.Refusals.n {
		s.Refusals.n[r] += n
	}
	s.Causes.Add(other.Causes)
	s.Corrections.Add(other.Corrections)
	for i := range other.Systems {
		s.addSystem(&other.Systems[i], i)
	}
}

// addSystem adds a system's times. Most servers have the system at the same index.
func (s *Server) addSystem(other *System, at int) {
	if at >= len(s.Systems) || s.Systems[at].Name != other.Name {
		at = slices.IndexFunc(s.Systems, func(x System) bool { return x.Name == other.Name })
	}
	if at < 0 {
		s.Systems = append(s.Systems, *other)
		return
	}
	x := &s.Systems[at]
	x.Runs += other.Runs
	x.Total += other.Total
	x.Last = max(x.Last, other.Last)
	x.Max = max(x.Max, other.Max)
}
