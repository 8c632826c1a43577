package foretick_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/simtest"
)

// A spectator sees what everybody may see, and takes no player's place. The server decides
// by what the spectator says of itself.
func ExampleServerConfig_observe() {
	match := simtest.New(1)
	server, err := match.Serve(foretick.ServerConfig{
		Protocol: (&Walk{}).Protocol(), MaxClients: 1,
		Observe: func(o foretick.Observer) (foretick.Grant, error) {
			if string(o.Data) != "the public stream" {
				return foretick.Grant{}, errors.New("only the stream may watch")
			}
			return foretick.Grant{}, nil // what is public
		},
	})
	if err != nil {
		panic(err)
	}
	for _, cfg := range []foretick.ClientConfig{
		{Protocol: (&Walk{}).Protocol()},
		{Protocol: (&Walk{}).Protocol(), Observe: true, ObserveData: []byte("the public stream")},
		{Protocol: (&Walk{}).Protocol(), Observe: true},
	} {
		client, err := match.Join(cfg, far)
		if err != nil {
			panic(err)
		}
		match.Run(match.Net.Now() + 2*time.Second)
		fmt.Println("player", client.View().Player, client.View().State, "sees", client.View().World.Len(), client.View().Err)
	}
	fmt.Println("players:", len(server.Players(nil)))
	// Output:
	// player 1 playing sees 1 <nil>
	// player 0 playing sees 1 <nil>
	// player 0 closed sees 0 foretick: disconnected: refused: only the stream may watch
	// players: 1
}
