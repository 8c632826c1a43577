package orchard

import (
	"errors"
	"net/http"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/inspect"
	"github.com/foretick/foretick/inspect/web"
)

// MountServer puts a page that shows a server on the game's own mux.
func MountServer(mux *http.ServeMux, server *foretick.Server) {
	mux.Handle("/inspect/", web.Server(server, web.Config{}))
}

// MountBoth shows a server and a client of this process on one page.
func MountBoth(mux *http.ServeMux, server *foretick.Server, bot *foretick.Client) error {
	start := time.Now()
	in := inspect.New(inspect.Config{Clock: func() time.Duration { return time.Since(start) }})
	if err := errors.Join(in.AddServer("match 1", server), in.AddClient("bot 1", bot)); err != nil {
		return err
	}
	mux.Handle("/inspect/", web.New(in, web.Config{AllowEdit: true}))
	return nil
}
