package server_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
)

// A spectator sees what everybody may see, and takes no player's place. The server decides
// by what the spectator says of itself.
func ExampleConfig_observe() {
	match := simtest.New(1)
	srv, err := match.Serve(server.Config{
		Protocol: (&Walk{}).Protocol(), MaxClients: 1,
		Observe: func(o server.Observer) (server.Grant, error) {
			if string(o.Data) != "the public stream" {
				return server.Public(), errors.New("only the stream may watch")
			}
			return server.Public(), nil // what is public
		},
	})
	if err != nil {
		panic(err)
	}
	for _, cfg := range []client.Config{
		{Protocol: (&Walk{}).Protocol()},
		{Protocol: (&Walk{}).Protocol(), Observe: &client.Observe{Data: []byte("the public stream")}},
		{Protocol: (&Walk{}).Protocol(), Observe: &client.Observe{}},
	} {
		cl, err := match.Join(cfg, far)
		if err != nil {
			panic(err)
		}
		match.Run(match.Net.Now() + 2*time.Second)
		fmt.Println("player", cl.View().Player, cl.View().State, "sees", cl.View().World.Len(), cl.View().Err)
	}
	fmt.Println("players:", len(srv.Players(nil)))
	for _, o := range srv.Observers(nil) {
		fmt.Println("observer", o.ID, o.Grant)
	}
	// Output:
	// player 1 playing sees 1 <nil>
	// player 0 playing sees 1 <nil>
	// player 0 closed sees 0 foretick: disconnected: refused: only the stream may watch
	// players: 1
	// observer 1 public
}
