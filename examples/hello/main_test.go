package main

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/transport"
)

// Two players meet on a real server: each moves, and sees the other move.
func TestTwoPlayersSeeEachOther(t *testing.T) {
	ctx, stop := context.WithTimeout(context.Background(), 20*time.Second)
	defer stop()
	const addr = "127.0.0.1:17777"
	done := make(chan error, 3)
	go func() { done <- run(ctx, true, addr, nil) }()
	seen := make(chan string, 1024)
	for range 2 {
		go func() {
			say := func(line string) {
				select {
				case seen <- line:
				default:
				}
			}
			err := run(ctx, false, addr, say)
			for unreachable(err) { // the server is not listening yet
				err = run(ctx, false, addr, say)
			}
			done <- err
		}()
	}
	where := map[string]map[string]bool{}
	for len(where["1"]) < 10 || len(where["2"]) < 10 {
		select {
		case line := <-seen:
			player, at, ok := strings.Cut(line[strings.Index(line, "player ")+7:], " at ")
			require.True(t, ok, line)
			if where[player] == nil {
				where[player] = map[string]bool{}
			}
			where[player][at] = true
		case err := <-done:
			require.NoError(t, err)
		case <-ctx.Done():
			require.Fail(t, "the players did not see each other move", "%v", where)
		}
	}
	stop()
	for range 3 {
		err := <-done // the server may take its leave of a client before the client stops itself
		require.True(t, errors.Is(err, context.Canceled) || errors.Is(err, net.ErrClosed), "%v", err)
	}
}

func unreachable(err error) bool {
	var d *foretick.DisconnectError
	return errors.As(err, &d) && d.Code == transport.Unreachable
}
