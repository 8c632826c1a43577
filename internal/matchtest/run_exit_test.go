package matchtest

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport"
)

// TestGoexitClosesServer: if a function of the game ends the goroutine of Run with Goexit, that is
// counted and logged as a panic, and the server closes. A panic passes on to the caller.
func TestGoexitClosesServer(t *testing.T) {
	costtest.Concurrent(t)
	for way, fail := range map[string]func(){"panic": func() { panic("planted") }, "Goexit": runtime.Goexit} {
		for _, where := range []string{"system", "OnTick", "Do"} {
			t.Run(where+" "+way, func(t *testing.T) {
				in := func(here string) {
					if here == where {
						fail()
					}
				}
				h := newVenue(t, server.Config{OnTick: func(*foretick.ServerFrame) { in("OnTick") }}, func(_ *venue, p *foretick.Protocol) {
					p.Server("fails", func(*foretick.ServerFrame, ecs.Rows) { in("system") }, ecs.Once())
				})
				ctx, stop := context.WithCancel(context.Background())
				defer stop()
				if where == "Do" {
					require.NoError(t, h.srv.Do("fails", func(*foretick.ServerFrame) {
						if way == "panic" {
							stop() // after a panic the server is still open
						}
						in("Do")
					}))
				}
				ended := make(chan any)
				go func() {
					var v any
					defer func() { ended <- v }()
					defer func() { v = recover() }()
					_ = h.srv.Run(ctx)
				}()
				v := <-ended
				contained := where == "Do" && way == "panic"
				if way == "panic" && !contained {
					require.Equal(t, "planted", v)
					require.Zero(t, h.srv.Stats().Panics, "the caller knows")
					require.NoError(t, h.srv.Close("over"))
					return
				}
				require.Nil(t, v)
				require.EqualValues(t, 1, h.srv.Stats().Panics)
				require.ErrorIs(t, h.srv.Close("over"), transport.ErrClosed)
				require.ErrorIs(t, h.listen.Send(1, nil), transport.ErrClosed)
				if way == "Goexit" {
					require.Equal(t, 1, strings.Count(h.log.String(), "the game ended the server's goroutine"))
					require.Contains(t, h.log.String(), "run_exit_test.go")
				}
			})
		}
	}
}
