package server

import (
	"context"
	"errors"
	"time"

	"github.com/foretick/foretick/internal/game"
)

// Run calls Step when a tick is due or the transport is ready, until the match ends. Put work
// that must happen during the match into a Server system.
//
// Run returns nil after every end that the program asked for:
//
//   - The context has ended. Run then calls CloseForRestart, so clients that have
//     client.Config.Redial reconnect to the next server. When the match itself is over, call
//     [Server.Shutdown] or [Server.Close] instead.
//   - [Server.Drain] was called, and the last player has left.
//   - [Server.Shutdown], [Server.Close] or [Server.CloseForRestart] was called, from a tick,
//     by [Server.Do] or before Run.
//
// It returns an error for a nil context, the transport's error if closing it failed, and
// [ErrEnded] after the last tick.
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
			return game.Orderly(s.CloseForRestart("the server shuts down"))
		case <-s.endpoint.Ready():
		case <-timer.C:
		}
		stepping = true
		s.Step(time.Now())
		stepping = false
		if s.run.closed {
			return game.Orderly(s.run.broke)
		}
		if s.sim.ended() {
			_ = s.Close(ended)
			return ErrEnded
		}
		timer.Reset(max(time.Until(s.Next()), 0))
	}
}
