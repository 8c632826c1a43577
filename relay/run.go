package relay

import (
	"context"
	"errors"
	"time"

	"github.com/foretick/foretick/internal/game"
)

// Run calls Step when one is due or the transport is ready, until the context ends, or Close or Drain
// has closed the relay. Then it returns nil, or the transport's error if closing it failed. It returns
// an error for a nil context.
func (r *Relay) Run(ctx context.Context) error {
	if ctx == nil {
		return errors.New("foretick: Relay.Run is given a nil context: pass context.Background()")
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for !r.closed {
		select {
		case <-ctx.Done():
			return game.Orderly(r.Close("the relay shuts down"))
		case <-r.endpoint.Ready():
		case <-timer.C:
		}
		r.Step(time.Now())
		timer.Reset(max(time.Until(r.Next()), 0))
	}
	return game.Orderly(r.broke)
}
