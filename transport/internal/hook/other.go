package hook

import (
	"net/netip"

	"github.com/foretick/foretick/internal/contain"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/refused"
)

// Other calls another function of an endpoint's configuration, for a client. It is safe for concurrent use.
type Other struct {
	Reason string           // reason of the refusals when the function fails
	Text   string           // text of the log line when the function panics
	Log    transport.Logger // nil: standard error

	rarely contain.Rarely
}

// Ask calls the function. A panic in it, or runtime.Goexit, becomes an error, like one that the
// function returns. One failure an hour is logged with its stack.
func (o *Other) Ask(addr netip.AddrPort, fn func() error) (err error) {
	failed := contain.Call(func() { err = fn() })
	if failed != nil {
		report(&o.rarely, o.Log, o.Text, addr, failed)
		return errFailed
	}
	if err != nil {
		return refused.Because(o.Reason, err)
	}
	return nil
}
