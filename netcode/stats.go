package netcode

import (
	"time"

	"github.com/foretick/foretick/internal/counts"
)

// Stats counts the traffic of a Conn since it was made, with refused packets by
// cause.
type Stats struct {
	Sent, SentBytes         uint64 // datagrams sent, and their bytes
	Received, ReceivedBytes uint64 // datagrams received and accepted, and their bytes
	// Delivered and Lost count datagrams sent whose Fate was decided: acknowledged, or lost. A datagram that
	// the own transport never sent counts as lost too: transport.Stats.SendDropped and Replaced have these.
	// Over WebSocket these are nearly all, because TCP loses nothing.
	Delivered, Lost uint64
	AckedLate       uint64 // datagrams counted in Lost that were acknowledged after all, as when the round trip suddenly grows
	FatesDropped    uint64 // fates that the caller did not fetch in time
	LostIn          uint64 // datagrams of the peer counted as lost: 32 later ones arrived before them, or they were refused; one that arrives after all is subtracted

	Duplicate  uint64 // packets refused: received before
	Stale      uint64 // packets refused: sequence number outside the window
	Checksum   uint64 // packets refused: damaged, or not of this connection
	Malformed  uint64 // packets refused: broken in another way than Checksum
	FalseAcks  uint64 // packets counted in Malformed because they acknowledge a packet that was never sent
	Backlog    uint64 // packets refused: reliable messages not drained
	Refused    uint64 // packets accepted but not acknowledged: see Conn.Refuse
	OutOfOrder uint64 // packets accepted after a later packet

	ReliableSent      uint64 // messages passed to SendReliable, and to SendOn on reliable channels
	ReliableDelivered uint64 // messages counted in ReliableSent that were acknowledged, in order
	ReliableReceived  uint64 // messages that NextReliable returned
	EntriesSent       uint64 // stream entries (whole messages of up to 256 bytes, or fragments of longer ones) sent for the first time
	EntriesResent     uint64 // stream entries sent again
	FragmentsLost     uint64 // stream entries in lost packets, counted for each lost packet
	ReliableResent    uint64 // messages counted in ReliableDelivered with a part that was sent again

	EventsSent      uint64 // events passed to SendOn, on unreliable channels
	EventsCarried   uint64 // events put into a packet, counted once each
	EventsRepeated  uint64 // times that an event was put into a further packet
	EventsStale     uint64 // events never put into a packet: no room within their MaxAge
	EventsOverflow  uint64 // events never put into a packet: too many waited
	EventsLost      uint64 // events in lost packets, counted for each lost packet
	EventsReceived  uint64 // events that NextEvent returned
	EventsDuplicate uint64 // events that NextEvent left out: received before

	Loss         float64       // share of recently sent packets that were lost, 0 to 1
	DeliveryRate int           // bytes/s that the peer acknowledged recently
	Rate         int           // bytes/s in force now
	Congested    uint64        // times the rate was lowered because the path was full
	RTT          time.Duration // smoothed round trip
	Jitter       time.Duration // smoothed mean deviation of the round trip
}

// String returns the counters that are not zero as one line for a log.
func (s Stats) String() string { return counts.Line(s) }
