package simtest

import (
	"fmt"
	"time"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/prediction"
)

// PredictionChecker is a Checker that follows the mispredictions of clients. It
// must watch before the clients join; see [Match.Watch].
type PredictionChecker interface {
	Checker
	// Mispredicted is called for each correction of a client.
	Mispredicted(m *Match, c *client.Client, w prediction.Misprediction) error
	// Desynced is called for each desync that a client finds when it replays its
	// ticks; see Plan.SyncTest and [Seat].
	Desynced(m *Match, c *client.Client, d Desync) error
}

// Causes checks that the game's own code causes no misprediction: a shared system
// must compute the same from the same inputs, on the server and in a replay.
// Corrections for other causes are counted and allowed, with one exception: code that only
// the server runs may not correct a client too often. If such a system or handler writes a
// predicted field, and that corrects a client in more than a quarter of its ticks, [Plan]
// fails at the match's end. It names the field and, where it is known, the system. Clients
// that compared fewer than 100 ticks with the server's are not judged.
type Causes struct {
	// Corrections counts mispredictions by cause.
	Corrections prediction.ByCause

	pushed pushes

	// found is the first misprediction by code whose system is not known. It is reported at
	// the virtual time until at the latest, or when a client that replays its ticks names the
	// system.
	found error
	until time.Duration
}

// namedWithin is how long a misprediction by code waits for the client that replays
// its ticks and may find the system.
const namedWithin = 500 * time.Millisecond

// Mispredicted implements [PredictionChecker].
func (k *Causes) Mispredicted(m *Match, c *client.Client, w prediction.Misprediction) error {
	k.Corrections.Count(w.Cause, 1)
	k.pushed.countPush(m, c, &w)
	switch {
	case w.Cause != prediction.Code:
	case w.System != "":
		return fmt.Errorf("player %d mispredicted: %s", c.View().Player, w)
	case k.found == nil:
		k.found = fmt.Errorf("player %d mispredicted: %s; a build with -tags foretick_debug may name the system", c.View().Player, w)
		k.until = m.Net.Now() + namedWithin
	}
	return nil
}

// Desynced implements [PredictionChecker].
func (k *Causes) Desynced(_ *Match, c *client.Client, d Desync) error {
	if k.found != nil {
		return fmt.Errorf("player %d: %s\n%w", c.View().Player, d, k.found)
	}
	return fmt.Errorf("player %d: %s", c.View().Player, d)
}

// Tick implements [Checker].
func (k *Causes) Tick(m *Match) error {
	if m.Net.Now() < k.until {
		return nil
	}
	return k.found
}

// Quiet implements [Checker].
func (k *Causes) Quiet(*Match) error { return k.found }

// Worked implements [Checker]. It fails when the game has predicted components but
// no client compared a tick with the server's, and when code that only the server runs
// corrects a client too often: see [Causes].
func (k *Causes) Worked(m *Match) (string, error) {
	if k.found != nil {
		return "", k.found
	}
	compared, predicted := uint64(0), uint64(0)
	for _, c := range m.Clients(nil) {
		st := c.Stats()
		compared += st.Compared
		predicted += st.PredictedTicks
	}
	line := fmt.Sprintf("causes: corrections: %v; %d ticks compared by the remaining clients", k.Corrections, compared)
	if predicted > 0 && compared == 0 {
		return line, fmt.Errorf("of %d predicted ticks none was compared with the server's", predicted)
	}
	return line, k.pushed.worstPush(m.Clients(nil))
}
