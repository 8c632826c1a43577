package netcode

import (
	"time"

	"github.com/foretick/foretick/internal/counts"
)

// Stats counts what went in and out of a Conn, by cause, since it was made.
type Stats struct {
	Sent, SentBytes         uint64 // datagrams out
	Received, ReceivedBytes uint64 // datagrams in, accepted
	Delivered, Lost         uint64 // fates told
	AckedLate               uint64 // of Lost, acknowledged after all: the round trip became longer
	FatesDropped            uint64 // fates nobody fetched in time

	Duplicate  uint64 // refused: received before
	Stale      uint64 // refused: sequence number outside the window
	Checksum   uint64 // refused: damaged or not of this connection
	Malformed  uint64 // refused: broken in any other way
	FalseAcks  uint64 // among Malformed: acknowledged what was never sent
	Backlog    uint64 // refused: reliable messages not drained
	Refused    uint64 // accepted, and not acknowledged: see Conn.Refuse
	OutOfOrder uint64 // accepted, though a later packet came before

	ReliableSent      uint64 // messages given to SendReliable, and to SendOn on reliable channels
	ReliableDelivered uint64 // of those, acknowledged, in order
	ReliableReceived  uint64 // messages that NextReliable gave
	EntriesSent       uint64 // stream entries (fragments), first time
	EntriesResent     uint64 // stream entries sent again
	ReliableResent    uint64 // of those delivered, messages of which any part was sent again

	EventsSent      uint64 // events given to SendOn, on unreliable channels
	EventsCarried   uint64 // of those, put into a packet
	EventsRepeated  uint64 // put into a further packet
	EventsStale     uint64 // never put into one: no room within their MaxAge
	EventsOverflow  uint64 // never put into one: too many waited
	EventsReceived  uint64 // events that NextEvent gave
	EventsDuplicate uint64 // refused by NextEvent: received before

	Loss      float64       // share of packets sent lately that were lost, 0 to 1
	Bandwidth int           // bytes/s the peer acknowledged lately
	Rate      int           // bytes/s in force now
	Congested uint64        // times the rate was lowered because the path was full
	RTT       time.Duration // smoothed round trip
	Jitter    time.Duration // smoothed mean deviation of it
}

// String returns the counters that are not zero as one line for a log.
func (s Stats) String() string { return counts.Line(s) }
