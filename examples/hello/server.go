package main

import (
	"context"

	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport"
)

// serve runs a server until ctx ends, and then until its last player has left.
func serve(ctx context.Context, net transport.Endpoint) error {
	srv, err := server.New(server.Config{Protocol: new(Game).Protocol(), Transport: net})
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { srv.Drain("this server closes") })
	return srv.Run(context.Background())
}
