package foretick

import (
	"fmt"
	"runtime"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/prediction"
)

// untrackedReads counts, in debug builds, the corrections whose cause is that shared systems
// read a component of the player's own entities which is not predicted.
type untrackedReads map[string]int

// untrackedOften is the number of corrections after which a component is logged. Components
// that change now and then, such as a new weapon's, cost a correction each and may be meant.
const untrackedOften = 10

// note logs a component when it has been the cause often, once. It logs a warning and no
// error, since the game works.
func (u *untrackedReads) note(m *prediction.Misprediction, warn func(text string, args ...any)) {
	if m.Cause != prediction.Untracked || m.OfOther || m.Player != 0 || m.Read == "" {
		return
	}
	if *u == nil {
		*u = untrackedReads{}
	}
	if (*u)[m.Read]++; (*u)[m.Read] == untrackedOften {
		warn(cautionText, "caution", fmt.Sprintf("%d corrections of %s.%s and others have one reason: %s", untrackedOften, m.Component, m.Field, m.Why()))
	}
}

// predictedSum digests what this client predicts, for debug builds. Singletons are left out.
func (tl *timeline) predictedSum() uint32 {
	var sum uint32
	for _, g := range tl.ghosts.ours {
		if id := tl.p.identity.Find(tl.world, ecs.Entity(g.Data)); id != nil {
			sum += tl.p.entityHash(tl.world, ecs.Entity(g.Data), id.Net, nil)
		}
	}
	return sum
}

// refuseWrite panics because a client's handler of an event wrote predicted state.
func refuseWrite(event string, handler uintptr) {
	file, line := runtime.FuncForPC(handler).FileLine(handler)
	misuse("the handler of event %s at %s:%d writes predicted state. On a client it runs once, and not when the tick runs again, so a correction takes the write back: write it in the system that raises the event, or in the event's OnServer handler", event, file, line)
}
