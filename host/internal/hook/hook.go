// Package hook lets tests give a lifecycle something else than a *host.Host. Users give it a *host.Host, which may
// get more methods.
package hook

import "context"

// RunLifecycle is lifecycle.Run with a test's host. Package lifecycle sets it when the program starts. It takes any,
// because that package imports this one.
var RunLifecycle func(ctx context.Context, host, life, cfg any) error
