//go:build !js

package main

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/foretick/foretick/examples/fighter/play"
	"github.com/foretick/foretick/transport/impair"
)

// serve runs a relay.
func serve(ctx context.Context, o options, out, errs io.Writer) error {
	var page http.Handler
	if o.web != "" {
		page = http.FileServer(http.Dir(o.web))
	}
	endpoint, addr, err := play.Listen(o.relay, page)
	if err != nil {
		return fmt.Errorf("-relay %s: %w", o.relay, err)
	}
	if o.rtt > 0 || o.loss > 0 {
		link := play.Link(o.rtt, o.loss/100)
		endpoint = impair.Wrap(endpoint, link, link, o.seed)
	}
	_, _ = fmt.Fprintf(out, "relay at %s, for browsers at ws://%s/play\n", addr, addr)
	stats, err := play.Relay(ctx, endpoint, errs)
	_, _ = fmt.Fprintln(out, "relay:", stats)
	return err
}
