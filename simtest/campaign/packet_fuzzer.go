package campaign

import (
	"fmt"
	"runtime"
	"time"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/simtest"
)

// PacketFuzzer feeds a game's server and client with packets that no honest peer
// would send, derived from honest ones (see [Mutator]). For each it checks that
// there is no panic, no hang and little memory use. A run consists of lives: in
// each, a new server and two new clients play a little, and then receive the
// packets.
type PacketFuzzer struct {
	// New returns one end of the game.
	New func() simtest.Player
	// Seed of all lives.
	Seed uint64
	// Clock reads the time, to find slow packets: time.Now in a test. nil: times
	// are not checked.
	Clock func() time.Time
	// Slow is the longest time for a batch of 64 packets. 0 means 10 ms, ten
	// times the limit of one packet.
	Slow time.Duration
	// Shared must be set if other lives run in this process at the same time. Then
	// allocations are not checked, since they cannot be attributed to a batch.
	Shared bool
}

// Weather counts what a fuzzer run did.
type Weather struct {
	Lives     uint64
	Packets   uint64 // mutated packets fed to either end, or only to a server's decoders
	Taken     uint64 // mutated packets that the client's connection accepted whole
	Malformed uint64 // mutated packets that the client's connection refused
	Snapshots uint64 // snapshots that the client nevertheless applied
	Commands  uint64 // commands that a server's decoders read
	Firsts    uint64 // mutated packets sent first on a new connection
	Dropped   uint64 // lives in which the server correctly ended the connection
	MostBytes uint64 // most bytes allocated for a batch of 64 packets
	Slowest   time.Duration
}

// Add adds the counts of another run.
func (w *Weather) Add(o Weather) {
	w.Lives += o.Lives
	w.Packets += o.Packets
	w.Taken += o.Taken
	w.Malformed += o.Malformed
	w.Snapshots += o.Snapshots
	w.Commands += o.Commands
	w.Firsts += o.Firsts
	w.Dropped += o.Dropped
	w.MostBytes = max(w.MostBytes, o.MostBytes)
	w.Slowest = max(w.Slowest, o.Slowest)
}

const (
	fuzzBatch   = 64
	fuzzBatches = 24 // batches in each direction in a life
	fuzzCalm    = 45 // ticks of honest play before the first batch
	// A batch may allocate as much as a single packet may, plus twice its own
	// bytes.
	fuzzAllowance = 64 << 10
)

// Live plays one life. The error says what failed; the same fuzzer and life fail
// again.
func (s *PacketFuzzer) Live(life uint64) (w Weather, err error) {
	defer func() {
		if v := recover(); v != nil {
			stack := make([]byte, 4<<10)
			err = fmt.Errorf("simtest: seed %d, life %d: panic: %v\n%s", s.Seed, life, v, stack[:runtime.Stack(stack, false)])
		}
	}()
	slow := s.Slow
	if slow == 0 {
		slow = 10 * time.Millisecond
	}
	// A busy machine slows some batches, but not the same ones each time. So the life is
	// played again, and the shortest time of each batch counts.
	var least [2 * fuzzBatches]time.Duration
	for try := range 6 {
		var took [2 * fuzzBatches]time.Duration
		if w, err = s.live(life, &took); err != nil {
			return w, err
		}
		w.Slowest = 0
		for i := range took {
			if try > 0 {
				took[i] = min(took[i], least[i])
			}
			w.Slowest = max(w.Slowest, took[i])
		}
		if least = took; w.Slowest <= slow {
			return w, nil
		}
	}
	return w, fmt.Errorf("simtest: seed %d, life %d: a batch takes %v every time", s.Seed, life, w.Slowest)
}

func (s *PacketFuzzer) live(life uint64, took *[2 * fuzzBatches]time.Duration) (Weather, error) {
	var w Weather
	l, err := newLife(s, life)
	if err != nil {
		return w, err
	}
	for range fuzzCalm {
		l.playTick()
	}
	if l.client.View().State != client.Playing {
		return w, fmt.Errorf("simtest: the client is %v after %d ticks of honest play", l.client.View().State, fuzzCalm)
	}
	l.makeDecoders()
	before := l.client.Stats()
	for n := range fuzzBatches {
		for i, up := range []bool{true, false} {
			took[2*n+i] = l.measurePackets(&w, n%8 == 0 && !s.Shared, func() { l.batch(up) })
		}
		if w.MostBytes > fuzzAllowance+2*longest*fuzzBatch {
			return w, fmt.Errorf("simtest: seed %d, life %d, batch %d: %d bytes allocated", s.Seed, life, n, w.MostBytes)
		}
		l.speakFirst()
		l.playTick()
		if l.client.View().State != client.Playing {
			break // the server has ended its connection
		}
	}
	if n := l.server.Stats().CorePanics + l.client.Stats().CorePanics; n > 0 {
		return w, fmt.Errorf("simtest: seed %d, life %d: %d panics in decoding", s.Seed, life, n)
	}
	if l.lost {
		w.Dropped++
	}
	after := l.client.Stats()
	w.Lives++
	w.Packets += uint64(l.fed) + l.firsts
	w.Firsts += l.firsts
	w.Taken += after.Connection.Received - before.Connection.Received
	w.Malformed += after.Connection.Malformed - before.Connection.Malformed
	w.Snapshots += after.Snapshots - before.Snapshots
	w.Commands += l.commands
	return w, nil
}
