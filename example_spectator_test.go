package foretick_test

import (
	"fmt"
	"time"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
)

// A spectator sees what the server grants, from where a player looks, and takes no place.
func Example_spectator() {
	match := simtest.New(1)
	srv, err := match.Serve(server.Config{Protocol: new(Walk).Protocol(), Observe: func(server.Observer) (server.Grant, error) { return server.Public(), nil }})
	player, bad := match.Join(client.Config{Protocol: new(Walk).Protocol()}, far)
	watcher, worse := match.Join(client.Config{Protocol: new(Walk).Protocol(), Observe: &client.Observe{Follow: 1}}, far)
	if err != nil || bad != nil || worse != nil {
		panic("the match does not begin")
	}
	match.Run(2 * time.Second)
	fmt.Println(player.View().Player, watcher.View().State, watcher.View().World.Len(), srv.Observers(nil)[0].Grant)
	// Output: 1 playing 1 public
}
