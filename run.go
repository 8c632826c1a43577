package foretick

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/foretick/foretick/transport"
)

// Run calls Step when a tick is due or the transport is ready, until the
// context ends. It then closes the server by CloseForRestart and returns the context's
// error: clients that have [ClientConfig.Redial] come back to the server that follows.
// Call [Server.Close] where the match itself is over. Run returns
// [transport.ErrClosed] once a tick has closed the server, and [ErrEnded] after the
// last tick. What is to be done meanwhile belongs in a Server system.
//
// A panic in a system is not contained, because the match's state can no longer be
// relied on: it leaves Run. A process with several matches recovers around each Run,
// logs the stack, and closes that server.
func (s *Server) Run(ctx context.Context) error {
	if ctx == nil {
		return errors.New("foretick: Server.Run is given a nil context: pass context.Background()")
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			_ = s.CloseForRestart("the server shuts down")
			return ctx.Err()
		case <-s.endpoint.Ready():
		case <-timer.C:
		}
		s.Step(time.Now())
		if s.closed {
			return transport.ErrClosed
		}
		if s.Ended() {
			_ = s.Close(ended)
			return ErrEnded
		}
		timer.Reset(max(time.Until(s.Next()), 0))
	}
}

// Run calls Step once in so much time, that of a picture (time.Second / 60, say),
// for clients without a screen, and gives each view to draw, which may be nil. It
// ends with the context's error or the reason of the disconnection.
func (c *Client) Run(ctx context.Context, pictures time.Duration, draw func(View)) error {
	if ctx == nil {
		return errors.New("foretick: Client.Run is given a nil context: pass context.Background()")
	}
	if pictures <= 0 {
		return fmt.Errorf("foretick: Client.Run every %v: use the time of a picture, for example time.Second / 60", pictures)
	}
	ticker := time.NewTicker(pictures)
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
