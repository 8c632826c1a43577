package campaign

import (
	"fmt"
	"runtime"
	"time"

	"github.com/foretick/foretick/simtest"
)

// Rogues plays whole servers against peers that know the packet format and break every
// rule. A grammar draws their actions: hellos with right, wrong and no tokens,
// acknowledgements, commands, requests, fragments, schemas and closes. They come in any
// order and with extreme values, on connections that come, vanish and return. Honest
// clients play at the same time. Live returns an error when the server panics, leaks a
// player's place, an entity or memory, or keeps an honest client out.
type Rogues struct {
	// New returns one end of the game. nil means simtest's own game, whose handlers
	// kick, ban, panic and change the level at any time.
	New func() simtest.Player
	// Seed of all lives.
	Seed uint64
	// Together is the number of rogues that play at the same time. 0 means 24.
	Together int
	// Sequences is the number of sequences in a life, of 50 to 200 actions each. 0
	// means 4096.
	Sequences int
	// Clock reads the time, to measure the server's steps. nil: they are not measured.
	Clock func() time.Time
	// Over returns the network of a life, for example over real sockets. nil means a
	// simulated network, whose lives are reproducible.
	Over func() (RogueNet, error)
	// Shared must be set if other lives run in this process at the same time. Then Live
	// does not measure the heap.
	Shared bool
	// OnHeap, if set, is called after each batch of sequences, a quarter of a life. All
	// rogues are gone then, and bytes is the live heap. Live does not call it with Shared.
	OnHeap func(batch int, bytes uint64)
	// Leak makes Live itself keep that many bytes of each sequence, to show that its check
	// of the heap finds them.
	Leak int

	// weigh, if set, measures each step of the server. step returns the number of
	// bytes and of connections that arrived for it.
	weigh func(step func() (bytes, connections int)) error
}

const (
	roguesTogether = 24
	rogueSequences = 4096
	rogueBatches   = 4                // batches in a life, each followed by a check for leaks
	overSockets    = 1024             // a shorter life over sockets has one batch, since each batch ends with a long wait
	rogueTimeout   = 2 * time.Second  // the server's timeout for silence
	rogueHold      = 3 * time.Second  // the server's ReconnectWindow
	rogueSettles   = 40 * time.Second // 10 s until the last rogue is gone, and 17 s until its address is no longer limited
	guestLimit     = 3 * time.Second  // time for a new honest client to start playing
	behindLimit    = time.Second      // largest age of an honest client's newest snapshot
	placesSpare    = 8
	tokensKept     = 64
)

// Live plays one life. The error says what failed; the same Rogues and life fail
// again.
func (r *Rogues) Live(life uint64) (counts RogueCounts, err error) {
	var net RogueNet = newSimNet(r.Seed + life)
	if r.Over != nil {
		if net, err = r.Over(); err != nil {
			return counts, err
		}
	}
	counts, err = r.play(net, newDice(r.Seed, life), (*rogueMatch).live)
	net.Close()
	if err != nil {
		err = fmt.Errorf("simtest: rogues of seed %d, life %d: %w", r.Seed, life, err)
	}
	return counts, err
}

// scripted is the number of rogues that follow a script.
const scripted = 3

// Act makes three rogues follow the bytes of a script, on their own server without an
// honest client. It is meant for fuzzers: the first byte configures the server, and
// each later byte chooses an action, a value or a pause.
func (r *Rogues) Act(script []byte) (RogueCounts, error) {
	cfg := *r
	cfg.Together, cfg.Shared = scripted, true
	counts, err := cfg.play(newSimNet(1), &dice{bytes: script}, (*rogueMatch).act)
	if err != nil {
		err = fmt.Errorf("simtest: rogues by %d bytes: %w", len(script), err)
	}
	return counts, err
}

// play creates a match and calls do with it.
func (r *Rogues) play(net RogueNet, dice *dice, do func(*rogueMatch) error) (counts RogueCounts, err error) {
	var d *rogueMatch
	defer func() {
		if v := recover(); v != nil {
			stack := make([]byte, 8<<10)
			err = fmt.Errorf("panic: %v\n%s", v, stack[:runtime.Stack(stack, false)])
		}
		if d != nil {
			counts = d.counts
			st := d.server.Stats()
			counts.SchemasAsked, counts.OtherBuilds = st.SchemasAsked, st.OtherBuilds
		}
	}()
	if d, err = newRogueMatch(r, net, dice); err != nil {
		return counts, err
	}
	return counts, do(d)
}

func (r *Rogues) together() int {
	if r.Together == 0 {
		return roguesTogether
	}
	return r.Together
}
