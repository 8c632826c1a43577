package expert

import (
	"unsafe"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/stats"
)

// Techniques says which techniques of a client are switched off: see [SetTechniques]. The zero
// value uses them all.
type Techniques struct {
	// NoPrediction draws the local player in the past: see [client.Config].NoPrediction.
	NoPrediction bool
	// NoReconciliation continues the prediction from earlier predictions, and never compares
	// it with the server. Errors of the prediction stay until this is switched off again.
	NoReconciliation bool
	// NoSmoothing shows each correction at once.
	NoSmoothing bool
	// NoInterpolation draws remote players and objects at the newest snapshot, without a
	// buffer. They jump from one snapshot to the next.
	NoInterpolation bool
}

// SetTechniques switches techniques of a client on and off while it runs, from the next Step
// on. It is for pages and tools that show what each of them is for. When prediction or
// reconciliation comes back, the prediction starts over from the newest snapshot. The client
// continues to send commands, so the server sees no difference. An observer predicts nothing,
// whatever is set. SetTechniques returns an error for NoPrediction with
// [client.Config].PartialTicks.
func SetTechniques(c *client.Client, t Techniques) error {
	return c.Internals().SetTechniques(probe.Techniques(t))
}

// Received returns a component's value from the newest snapshot that had it, and the snapshot's
// tick. The value is neither predicted nor interpolated. Debug overlays draw it. Received returns
// false if the server has not sent the entity, or not this component.
func Received[T any](c *client.Client, component *ecs.Component[T], e ecs.Entity) (v T, at foretick.Tick, ok bool) {
	at, ok = c.Internals().ReceivedValue(component.ID(), e, unsafe.Pointer(&v))
	return v, at, ok
}

// BuildDifference returns the difference to the protocol of a server of another build. It
// is nil if both are the same build, or if the client has not joined yet. See
// [server.Config].AllowOtherBuilds.
func BuildDifference(c *client.Client) *schema.BuildDifference {
	return c.Internals().BuildDifference()
}

// ClientLosses appends the losses of the state that a client predicts, and of the commands
// and requests that it sends, as [ServerLosses] does.
func ClientLosses(c *client.Client, dst []stats.Loss) []stats.Loss {
	return c.Internals().Losses(dst)
}
