package server

import (
	"context"
	"errors"
	"time"

	"github.com/foretick/foretick/transport"
)

// Run calls Step when a tick is due or the transport is ready, until the context ends. It
// then closes the server with CloseForRestart and returns the context's error. Clients that
// have client.Config.Redial reconnect to the next server. Call [Server.Close] instead when
// the match itself is over. Run returns [transport.ErrClosed] if a tick has closed the
// server, and [ErrEnded] after the last tick. Put work that must happen during the match
// into a Server system.
//
// Run does not recover a panic in a system, because the match's state can no longer be
// trusted. A process with several matches recovers around each Run, logs the stack, and
// closes that server. A function of the game that calls runtime.Goexit, as testing's FailNow does,
// ends the goroutine of Run: Run then counts and logs it as a panic, and closes the server.
func (s *Server) Run(ctx context.Context) error {
	if ctx == nil {
		return errors.New("foretick: Server.Run is given a nil context: pass context.Background()")
	}
	if s.times.clock == nil {
		start := time.Now()
		s.times.clock = func() time.Duration { return time.Since(start) }
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	stepping := false
	defer s.closeAfterExit(&stepping)
	for {
		select {
		case <-ctx.Done():
			_ = s.CloseForRestart("the server shuts down")
			return ctx.Err()
		case <-s.endpoint.Ready():
		case <-timer.C:
		}
		stepping = true
		s.Step(time.Now())
		stepping = false
		if s.run.closed {
			return transport.ErrClosed
		}
		if s.sim.ended() {
			_ = s.Close(ended)
			return ErrEnded
		}
		timer.Reset(max(time.Until(s.Next()), 0))
	}
}
