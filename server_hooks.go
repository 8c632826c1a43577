package foretick

import "github.com/foretick/foretick/internal/probe"

// serverHooks are called for what passes a server, in order.
type serverHooks struct {
	message []func(probe.MessageSent)
	request []func(probe.RequestTaken)
	call    []func(name string)
}
