package orchard

import (
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/host"
	"github.com/foretick/foretick/inspect"
	"github.com/foretick/foretick/inspect/web"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport"
)

// MountServer puts a page that shows a server on the game's own mux.
func MountServer(mux *http.ServeMux, srv *server.Server) {
	mux.Handle("/inspect/", web.Server(srv, web.Config{}))
}

// MountBoth shows a server and a client of this process on one page.
func MountBoth(mux *http.ServeMux, srv *server.Server, bot *client.Client) error {
	start := time.Now()
	in := inspect.New(inspect.Config{Clock: func() time.Duration { return time.Since(start) }})
	if err := errors.Join(in.AddServer("match 1", srv), in.AddClient("bot 1", bot)); err != nil {
		return err
	}
	mux.Handle("/inspect/", web.New(in, web.Config{AllowEdit: true}))
	return nil
}

// HostMatches runs matches of the game behind one port, and shows all that run on one page.
func HostMatches(mux *http.ServeMux, at transport.Endpoint, logger *slog.Logger) (*host.Host, error) {
	in := inspect.New(inspect.Config{})
	mux.Handle("/inspect/", web.New(in, web.Config{}))
	logger = slog.New(in.LogHandler(logger.Handler()))
	return host.New(host.Config{
		Transport: at, Logger: logger,
		NewMatch: func(name string, end transport.Endpoint) (host.Match, error) {
			var game Game
			srv, err := server.New(server.Config{Protocol: game.Protocol(), Transport: end, Logger: logger.With("end", name)})
			if err != nil {
				return nil, err
			}
			return srv, in.AddServer(name, srv)
		},
		OnEnd: func(ended host.End) { in.Remove(ended.Match) },
	})
}
