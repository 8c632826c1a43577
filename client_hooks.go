package foretick

import (
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/prediction"
)

// clientHooks are called for what passes a client, in order.
type clientHooks struct {
	message  []func(probe.MessageReceived)
	request  []func(probe.RequestSent)
	desync   func(probe.Desync)
	syncTest int // ticks that are run again after each tick

	explained bool                           // an inspector replaced OnMisprediction …
	explain   func(prediction.Misprediction) // … which was this
}
