package netcode

import (
	"time"

	"github.com/foretick/foretick/internal/counts"
)

// Stats counts the traffic of a Conn since it was made, with refused packets by
// cause.
type Stats struct {
	Sent, SentBytes         uint64 // datagrams out
	Received, ReceivedBytes uint64 // datagrams in, accepted
	Delivered, Lost         uint64 // fates reported
	AckedLate               uint64 // of Lost, acknowledged later: the round trip got longer
	FatesDropped            uint64 // fates that the caller did not fetch in time
	LostIn                  uint64 // datagrams of the peer that did not come, or were refused, while 32 later ones came; one that still comes is subtracted

	Duplicate  uint64 // refused: received before
	Stale      uint64 // refused: sequence number outside the window
	Checksum   uint64 // refused: damaged or not of this connection
	Malformed  uint64 // refused: broken in any other way
	FalseAcks  uint64 // of Malformed: acknowledged a packet that was never sent
	Backlog    uint64 // refused: reliable messages not drained
	Refused    uint64 // accepted but not acknowledged: see Conn.Refuse
	OutOfOrder uint64 // accepted after a later packet

	ReliableSent      uint64 // messages passed to SendReliable, and to SendOn on reliable channels
	ReliableDelivered uint64 // of those, acknowledged, in order
	ReliableReceived  uint64 // messages that NextReliable returned
	EntriesSent       uint64 // stream entries (fragments), first time
	EntriesResent     uint64 // stream entries sent again
	FragmentsLost     uint64 // stream entries in packets that were lost, each time: messages of up to 256 bytes, or pieces of longer ones
	ReliableResent    uint64 // of those delivered, messages with a part that was sent again

	EventsSent      uint64 // events passed to SendOn, on unreliable channels
	EventsCarried   uint64 // of those, put into a packet
	EventsRepeated  uint64 // put into another packet again
	EventsStale     uint64 // never put into a packet: no room within their MaxAge
	EventsOverflow  uint64 // never put into a packet: too many waited
	EventsLost      uint64 // in packets that were lost, each time
	EventsReceived  uint64 // events that NextEvent returned
	EventsDuplicate uint64 // refused by NextEvent: received before

	Loss      float64       // share of recently sent packets that were lost, 0 to 1
	Bandwidth int           // bytes/s that the peer acknowledged recently
	Rate      int           // bytes/s in force now
	Congested uint64        // times the rate was lowered because the path was full
	RTT       time.Duration // smoothed round trip
	Jitter    time.Duration // smoothed mean deviation of the round trip
}

// String returns the counters that are not zero as one line for a log.
func (s Stats) String() string { return counts.Line(s) }
