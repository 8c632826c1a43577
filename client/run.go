package client

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Run calls Step at a fixed interval (for example time.Second/60) and passes each View to
// draw, which may be nil. It returns an error if interval is not positive. It is for
// clients without a screen. When the context ends, Run closes the client and returns the
// context's error. When the connection ends, it returns the reason ([View].Err).
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
	for {
		v := c.Step(time.Now())
		if draw != nil {
			draw(v)
		}
		if v.State == Closed {
			return v.Err
		}
		select {
		case <-ctx.Done():
			_ = c.Close()
			return ctx.Err()
		case <-ticker.C:
		}
	}
}
