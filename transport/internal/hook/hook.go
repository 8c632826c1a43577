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

var errFailed = refused.Because("panic", &transport.CloseError{Code: transport.Refused, Detail: "the server failed at deciding on this client"})

// Accept is an endpoint's accept hook. Calls must be made one at a time.
type Accept struct {
	Fn  func(addr netip.AddrPort, token []byte) (identity []byte, err error)
	Log transport.Logger // nil: standard error

	rarely contain.Rarely
}

// Ask calls the hook. A panic in it, or runtime.Goexit, refuses the client; one an hour is
// logged with its stack.
func (a *Accept) Ask(addr netip.AddrPort, token []byte) (identity []byte, err error, panicked bool) {
	failed := contain.Call(func() { identity, err = a.Fn(addr, token) })
	if failed == nil {
		return identity, err, false
	}
	if skipped, due := a.rarely.Due(time.Now()); due {
		const text = "panic in the accept hook: the client was refused"
		if a.Log == nil {
			fmt.Fprintf(os.Stderr, "%s: %v\naddress %v, skipped %d\n%s\n", text, failed.Value, addr, skipped, failed.Stack)
		} else {
			a.Log.Error(text, "value", failed.Value, "address", addr, "skipped", skipped, "stack", string(failed.Stack))
		}
	}
	return nil, errFailed, true
}
