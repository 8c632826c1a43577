package simtest

import (
	"fmt"
	"math/bits"
	"strings"
	"time"

	"github.com/foretick/foretick/transport"
)

// RogueCounts counts what rogues did and what became of them.
type RogueCounts struct {
	Lives, Sequences, Actions uint64
	Played                    uint64 // sequences in which the server let the rogue in
	Connections               uint64
	Packets                   uint64
	Ended                     [32]uint64 // connections that the server ended, by [transport.Code]; the last for all others
	// States counts actions by the state in which they were drawn, and Words the
	// messages in packets of any messages.
	States [rogueStates][rogueActs]uint64
	Words  [rogueWords]uint64

	SchemasAsked uint64 // as the servers count
	OtherBuilds  uint64 // that the servers let in

	Guests       uint64        // fresh honest clients that came to play
	SlowestGuest time.Duration // the longest that one took, in virtual time
	Behind       time.Duration // the oldest newest snapshot of the honest client that stayed
	Late         Spread        // how late half ticks began, over sockets while rogues played
	Steps        Spread        // how long the server's ticks took
	Heap         uint64        // the most after a batch, where measured
}

// Spread counts times by powers of two of a microsecond.
type Spread [32]uint64

func (s *Spread) note(d time.Duration) { s[min(bits.Len64(uint64(d.Microseconds())), len(s)-1)]++ }

// Within returns a time that the share q (0 to 1) does not exceed: the next power
// of two of a microsecond.
func (s *Spread) Within(q float64) time.Duration {
	all, sum := uint64(0), uint64(0)
	for _, n := range s {
		all += n
	}
	for i, n := range s {
		if sum += n; n > 0 && float64(sum) >= q*float64(all) {
			return time.Duration(1<<i) * time.Microsecond
		}
	}
	return 0
}

func (c *RogueCounts) ended(code transport.Code) { c.Ended[min(int(code), len(c.Ended)-1)]++ }

// Add sums another life's counts up.
func (c *RogueCounts) Add(o RogueCounts) {
	c.Lives += o.Lives
	c.Sequences += o.Sequences
	c.Actions += o.Actions
	c.Played += o.Played
	c.Connections += o.Connections
	c.Packets += o.Packets
	for i := range o.Ended {
		c.Ended[i] += o.Ended[i]
	}
	for i := range o.States {
		for k := range o.States[i] {
			c.States[i][k] += o.States[i][k]
		}
	}
	for i := range o.Words {
		c.Words[i] += o.Words[i]
	}
	for i := range o.Steps {
		c.Steps[i] += o.Steps[i]
	}
	for i := range o.Late {
		c.Late[i] += o.Late[i]
	}
	c.SchemasAsked += o.SchemasAsked
	c.OtherBuilds += o.OtherBuilds
	c.Guests += o.Guests
	c.SlowestGuest = max(c.SlowestGuest, o.SlowestGuest)
	c.Behind = max(c.Behind, o.Behind)
	c.Heap = max(c.Heap, o.Heap)
}

// Share is the share of sequences in which the server let the rogue in.
func (c *RogueCounts) Share() float64 { return float64(c.Played) / float64(max(c.Sequences, 1)) }

// Undrawn names pairs of a state and an action that were never drawn although
// they can be.
func (c *RogueCounts) Undrawn() (pairs []string) {
	for s := range c.States {
		for a := range acts {
			reconnects := s == int(rogueOut) || s == int(rogueEnded)
			if s == int(rogueDials) || reconnects != (a == actReconnect) && reconnects || c.States[s][a] > 0 {
				continue
			}
			pairs = append(pairs, rogueStateNames[s]+": "+acts[a].name)
		}
	}
	return pairs
}

// String is a table of states and actions, and a line of sums.
func (c RogueCounts) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-15s", "")
	for _, name := range rogueStateNames {
		fmt.Fprintf(&b, "%13s", name)
	}
	for a := range acts {
		fmt.Fprintf(&b, "\n%-15s", acts[a].name)
		for s := range c.States {
			fmt.Fprintf(&b, "%13d", c.States[s][a])
		}
	}
	b.WriteString("\nwords:")
	for w := range words {
		fmt.Fprintf(&b, " %s %d,", words[w].name, c.Words[w])
	}
	b.WriteString("\nended by the server:")
	for code, n := range c.Ended {
		if n > 0 {
			fmt.Fprintf(&b, " %v %d,", transport.Code(code), n)
		}
	}
	fmt.Fprintf(&b, "\nother builds: %d let in, %d schemas asked for", c.OtherBuilds, c.SchemasAsked)
	fmt.Fprintf(&b, "\n%d sequences of %d actions in %d lives: %.1f %% came to play, %d connections, %d packets; %d fresh honest clients, the slowest played after %v; the honest one's newest snapshot was at most %v old",
		c.Sequences, c.Actions, c.Lives, 100*c.Share(), c.Connections, c.Packets, c.Guests, c.SlowestGuest, c.Behind)
	if p99 := c.Late.Within(0.99); p99 > 0 {
		fmt.Fprintf(&b, "; its ticks were at most %v late at p99, %v in all", p99, c.Late.Within(1))
	}
	if p99 := c.Steps.Within(0.99); p99 > 0 {
		fmt.Fprintf(&b, "; a tick took %v at p99, %v at most", p99, c.Steps.Within(1))
	}
	return b.String()
}
