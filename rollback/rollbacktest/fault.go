package rollbacktest

import (
	"fmt"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/rollback"
)

// Fault is why a match failed.
type Fault struct {
	At   time.Duration // At is the virtual time of the match.
	Tick foretick.Tick // Tick is the newest tick that the relay had settled.
	Err  error         // Err is what is wrong.
	// Player is the player that Desync is of.
	Player foretick.PlayerID
	// Desync is what that player was told, if the worlds of two players differ. Its Cause is nil if nobody found it.
	Desync *rollback.Desync
}

// Error implements error.
func (f *Fault) Error() string {
	return fmt.Sprintf("after %v, tick %d: %v", f.At, f.Tick, f.Err)
}

// Unwrap returns Err.
func (f *Fault) Unwrap() error { return f.Err }

// fail ends the match with an error. The first one counts.
func (m *match) fail(format string, args ...any) {
	if m.fault == nil {
		m.fault = &Fault{At: m.net.Now(), Tick: m.relay.Stats().Tick, Err: fmt.Errorf(format, args...)}
	}
}

// differ ends the match with a difference of two worlds.
func (m *match) differ(player foretick.PlayerID, d rollback.Desync) {
	why := "the cause was not found, so try foretick-vet, and other seeds"
	if d.Cause != nil {
		why = d.Cause.String()
	}
	m.fail("the world of player %d is another one than that of player %d, since a tick after %d and up to %d: %s", player, d.Other, d.Agreed, d.Tick, why)
	m.fault.Player, m.fault.Desync = player, &d
}
