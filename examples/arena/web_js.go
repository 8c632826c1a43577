package main

import (
	"context"
	"fmt"
	"io"
)

// serveWeb fails: a program in a browser cannot listen.
func serveWeb(context.Context, options, io.Writer) error {
	return fmt.Errorf("%w: -web serves a page, which a program in a browser cannot: run it natively", errUsage)
}
