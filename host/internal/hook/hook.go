// Package hook has what a host and a lifecycle do with matches and hosts, so that tests can pass their
// own. Users pass a *server.Server and a *host.Host, which may get more methods.
package hook

import (
	"context"
	"time"

	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport"
)

// Match is what a host does with a match. A *server.Server is one.
type Match interface {
	Step(now time.Time)
	Next() time.Time
	Drain(reason string)
	Shutdown(reason string, linger time.Duration) error
	Close(reason string) error
	// Figures may be called by any goroutine, also after the match was closed.
	Figures(dst *stats.Server)
}

// Packages host and lifecycle set these when the program starts. They take any, because those packages
// import this one.
var (
	// NewMatch makes a *host.Config call a test's function in place of its NewMatch.
	NewMatch func(cfg any, newMatch func(name string, end transport.Endpoint) (Match, error))
	// RunLifecycle is lifecycle.Run with a test's host.
	RunLifecycle func(ctx context.Context, host, life, cfg any) error
)
