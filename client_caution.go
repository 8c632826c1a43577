package foretick

import (
	"fmt"

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
