package play

import (
	"time"

	"github.com/foretick/foretick/transport/sim"
)

// Link returns one of the four links between two players and their relay. rtt is the round trip between the
// players, and loss the share of datagrams that are lost on the way from one to the other.
func Link(rtt time.Duration, loss float64) sim.Link {
	return sim.Link{Latency: rtt / 4, Loss: loss / 2, InOrder: true}
}
