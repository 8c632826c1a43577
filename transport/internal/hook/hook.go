// Package hook calls the accept hooks of transports. Strangers choose the bytes that a hook
// reads, so a panic in it must not stop the transport.
package hook

import (
	"fmt"
	"net/netip"
	"os"
	"time"

	"github.com/foretick/foretick/internal/contain"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/refused"
)

var errFailed = refused.Because("panic", &transport.DisconnectError{Code: transport.Refused, Reason: "the server failed at deciding on this client"})

// Accept is an endpoint's accept hook. Calls must be made one at a time.
type Accept struct {
	Fn  transport.Accept
	Log transport.Logger // nil: standard error

	rarely contain.Rarely
}

// Ask calls the hook. A panic in it, or runtime.Goexit, refuses the client. One failure an hour is
// logged with its stack.
func (a *Accept) Ask(addr netip.AddrPort, token []byte) (identity []byte, err error, panicked bool) {
	failed := contain.Call(func() { identity, err = a.Fn(addr, token) })
	if failed == nil {
		return identity, err, false
	}
	report(&a.rarely, a.Log, "panic in the accept hook: the client was refused", addr, failed)
	return nil, errFailed, true
}

// report logs at most one failure an hour.
func report(rarely *contain.Rarely, log transport.Logger, text string, addr netip.AddrPort, failed *contain.Failure) {
	if skipped, due := rarely.Due(time.Now()); due {
		Line(log, text, "value", failed.Value, "address", addr, "skipped", skipped, "stack", string(failed.Stack))
	}
}

// Line logs a line, or writes it to standard error if log is nil.
func Line(log transport.Logger, text string, args ...any) {
	if log != nil {
		log.Error(text, args...)
		return
	}
	for i := 0; i+1 < len(args); i += 2 {
		text += fmt.Sprintf("\n%v: %v", args[i], args[i+1])
	}
	fmt.Fprintln(os.Stderr, text)
}
