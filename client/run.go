package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/foretick/foretick/internal/game"
)

// Run calls Step at a fixed interval (for example time.Second/60) and passes each View to
// draw, which may be nil. It is for clients without a screen.
//
// Run returns nil after an end that the program asked for: the context has ended, which makes
// Run close the client, or [Client.Close] was called, from draw, a handler or before Run.
//
// It returns [View].Err if the connection was refused or lost, or if the server ended it, for
// example with a kick or because the match is over. Before that draw gets a View whose State is
// [Closed]. Run also returns an error for a nil context, for an interval that is not positive,
// and if closing the transport failed. Each of these ends closes the transport: Close need not be called.
func (c *Client) Run(ctx context.Context, interval time.Duration, draw func(View)) error {
	if ctx == nil {
		return errors.New("foretick: Client.Run is given a nil context: pass context.Background()")
	}
	if interval <= 0 {
		return fmt.Errorf("foretick: Client.Run every %v: use the time of a rendered frame, for example time.Second / 60", interval)
	}
	start := time.Now()
	c.inspected.clock = func() time.Duration { return time.Since(start) }
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for ctx.Err() == nil {
		v := c.Step(time.Now())
		lost := v.State == Closed && !c.closed
		if draw != nil {
			draw(v)
		}
		switch {
		case lost && ctx.Err() == nil: // else the server's end and the context's came together
			_ = c.Close() // its error would hide why the connection ended
			return v.Err
		case c.closed && !lost:
			return game.Orderly(c.broke)
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
	return game.Orderly(c.Close())
}
