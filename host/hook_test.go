package host

import (
	"context"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
	"github.com/foretick/foretick/transport/ticket"
)

// failures are the ways in which a function of the game does not return.
var failures = map[string]func(){"panic": func() { panic("of the game") }, "Goexit": runtime.Goexit}

// A function of the Config that fails for one peer or match refuses that one, is counted, and is
// logged with its stack once an hour. The host and all other matches go on.
func TestHooksThatFail(t *testing.T) {
	for way, fail := range failures {
		for _, fn := range []string{"Match", "Kind", "OnEnd"} {
			t.Run(fn+" "+way, func(t *testing.T) {
				boom := func(what string, of string) {
					if fn == what && strings.HasPrefix(of, "odd") {
						fail()
					}
				}
				w := newTown(t, Config{OnDemand: true, Match: func(info *transport.Info) (string, []byte, error) {
					name, identity, _ := ticket.SplitIdentity(info.Identity)
					boom("Match", name)
					return name, identity, nil
				}, Kind: func(name string) string {
					boom("Kind", name)
					return "match"
				}}, server.Config{})
				told := 0
				w.host.cfg.OnEnd = func(e End) {
					told++
					boom("OnEnd", e.Match)
				}
				for _, m := range []string{"even", "odd1", "odd2", "odd3"} {
					w.games[m] = &game{each: func(f *foretick.Frame) {
						if f.Tick == 30 && m != "even" {
							panic("ends the match")
						}
					}}
					w.join(m, "one")
				}
				w.run(4 * time.Second)
				require.EqualValues(t, 3, w.host.Stats().HookPanics)
				require.Equal(t, 1, strings.Count(w.log.String(), "panic in a function of host.Config"))
				require.Contains(t, w.log.String(), "function="+fn)
				require.Contains(t, w.log.String(), "hook_test.go")
				require.NoError(t, w.errs[w.bots[0]])
				require.Equal(t, []string{"even"}, w.host.Matches(nil))
				if fn == "OnEnd" {
					require.Equal(t, 3, told)
				} else {
					require.EqualValues(t, 3, w.host.Stats().Refused)
					require.Error(t, w.errs[w.bots[1]])
				}
				if fn == "Kind" {
					require.Error(t, w.host.Allocate("odd4"))
				}
			})
		}
	}
}

// A match whose code ends its worker's goroutine, in NewMatch, Step or Close, ends as if it had
// panicked. The worker's other matches go on, and Run ends.
func TestGoexitEndsOneMatch(t *testing.T) {
	var log lockedBuffer
	steps := make(chan string, 1000)
	ends := make(chan End, 10)
	exit := func(name, what string) {
		if strings.Contains(name, what) {
			runtime.Goexit()
		}
	}
	h, err := New(Config{Transport: sim.NewNetwork(1).Listen(), Workers: 1, Logger: slog.New(slog.NewTextHandler(&log, nil)),
		OnEnd: func(e End) { ends <- e },
		NewMatch: func(name string, end transport.Endpoint) (Match, error) {
			exit(name, "NewMatch")
			return &exiting{slow{step: func() {
				select {
				case steps <- name:
				default:
				}
				exit(name, "Step")
			}, end: end}, func() { exit(name, "Close") }}, nil
		}})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- h.Run(ctx) }()
	for _, name := range []string{"a", "NewMatch", "b", "Step", "c", "StepClose"} {
		require.NoError(t, h.Allocate(name))
	}
	for range 3 {
		e := <-ends
		require.Contains(t, "NewMatch StepClose", e.Match)
		require.NotNil(t, e.Panic)
	}
	for seen := map[string]int{}; seen["a"] < 5 || seen["b"] < 5 || seen["c"] < 5; {
		seen[<-steps]++
	}
	require.Equal(t, []string{"a", "b", "c"}, h.Matches(nil))
	require.EqualValues(t, 3, h.Stats().Panicked)
	stop()
	require.NoError(t, <-ran)
}

// exiting is a server whose Close first calls a function of the test.
type exiting struct {
	slow
	closing func()
}

func (e *exiting) Close(d string) error {
	e.closing()
	return e.slow.Close(d)
}
