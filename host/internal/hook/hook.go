// Package hook lets tests pass hosts of their own to a lifecycle. Users pass a *host.Host, which may get more
// methods.
package hook

import "context"

// RunLifecycle is lifecycle.Run with a test's host. Package lifecycle sets it when the program starts. It takes any,
// because that package imports this one.
var RunLifecycle func(ctx context.Context, host, life, cfg any) error
