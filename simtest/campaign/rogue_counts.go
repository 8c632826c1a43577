package campaign

import (
	"fmt"
	"math/bits"
	"strings"
	"time"

	"github.com/foretick/foretick/transport"
)

// RogueCounts counts what rogues did and how it ended.
type RogueCounts struct {
	Lives, Sequences, Actions uint64
	Played                    uint64 // sequences in which the server accepted the rogue
	Connections               uint64
	Packets                   uint64
	Ended                     [32]uint64 // connections ended by the server, by [transport.Code]; the last entry is for all other codes
	// States counts actions by the rogue's state at that time, and Words the
	// messages in packets of arbitrary messages.
	States [rogueStates][rogueActs]uint64
	Words  [rogueWords]uint64

	SchemasAsked uint64 // requests for the schema, as counted by the servers
	OtherBuilds  uint64 // rogues of other builds that the servers accepted
	Observers    uint64 // rogues that the servers accepted as observers

	Guests       uint64        // new honest clients that joined
	SlowestGuest time.Duration // the longest join of an honest client (see Guests), in virtual time
	Behind       time.Duration // the largest age of the newest snapshot at the honest client that stays
	Late         Spread        // how late half ticks came in real time, over sockets while rogues played
	Steps        Spread        // duration of the server's ticks
	Heap         uint64        // largest heap after a batch, where measured
}

// Spread is a histogram of times, by powers of two of a microsecond.
type Spread [32]uint64

func (s *Spread) countDelay(d time.Duration) {
	s[min(bits.Len64(uint64(d.Microseconds())), len(s)-1)]++
}

// Within returns a time that the share q (0 to 1) does not exceed, rounded up to
// a power of two of a microsecond.
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

// Add adds the counts of another life.
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
	c.Observers += o.Observers
	c.Guests += o.Guests
	c.SlowestGuest = max(c.SlowestGuest, o.SlowestGuest)
	c.Behind = max(c.Behind, o.Behind)
	c.Heap = max(c.Heap, o.Heap)
}

// Share returns the share of sequences in which the server accepted the rogue.
func (c *RogueCounts) Share() float64 { return float64(c.Played) / float64(max(c.Sequences, 1)) }

// Undrawn lists the possible pairs of a state and an action that were never
// drawn.
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

// String returns a table of states and actions, and a line of sums.
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
	fmt.Fprintf(&b, "\nother builds: %d let in, %d schemas asked for; %d observers let in", c.OtherBuilds, c.SchemasAsked, c.Observers)
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
