package simtest

import (
	"fmt"
	"strings"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/prediction"
)

// PredictionChecker is a Checker that follows what clients predicted wrong. It must
// watch before the clients join; see [Match.Watch].
type PredictionChecker interface {
	Checker
	// Mispredicted is called for each correction of a client.
	Mispredicted(m *Match, c *foretick.Client, w prediction.Misprediction) error
	// Desynced is called for what a client found that runs its ticks again; see
	// Plan.SyncTest and foretick.ClientConfig.SyncTest.
	Desynced(m *Match, c *foretick.Client, d foretick.Desync) error
}

// Causes checks that no prediction is wrong by the game's own code: a shared system
// that computes something else from the same inputs, on the server or when it runs
// again. Corrections for other causes are counted and are no fault.
type Causes struct {
	// Corrections counts mispredictions by cause.
	Corrections [prediction.Causes]uint64

	found error         // a misprediction by code, whose system is not known yet …
	until time.Duration // … and how long to wait for a client that can name it
}

// namedWithin is how long a misprediction by code waits for a client that runs its ticks
// again, and may find the system.
const namedWithin = 500 * time.Millisecond

// Mispredicted implements [PredictionChecker].
func (k *Causes) Mispredicted(m *Match, c *foretick.Client, w prediction.Misprediction) error {
	k.Corrections[w.Cause]++
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
func (k *Causes) Desynced(_ *Match, c *foretick.Client, d foretick.Desync) error {
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

// Worked implements [Checker]. It fails where clients of a game with predicted
// components never compared a tick with the server's.
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
	line := fmt.Sprintf("causes: corrections: %s; %d ticks compared by those still there", countCauses(k.Corrections), compared)
	if predicted > 0 && compared == 0 {
		return line, fmt.Errorf("of %d predicted ticks none was compared with the server's", predicted)
	}
	return line, nil
}

// countCauses writes how many corrections had each cause: "3 of input, 1 of code".
func countCauses(by [prediction.Causes]uint64) string {
	var parts []string
	for c, n := range by {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d of %v", n, prediction.Cause(c)))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}
