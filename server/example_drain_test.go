package server_test

import (
	"fmt"
	"time"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
)

// A process is told to end while a match runs. Its server keeps the player and refuses a
// newcomer. It closes when the player has left.
func ExampleServer_Drain() {
	match := simtest.New(1)
	srv, err := match.Serve(server.Config{Protocol: new(Walk).Protocol()})
	if err != nil {
		panic(err)
	}
	player, err := match.Join(client.Config{Protocol: new(Walk).Protocol()}, far)
	if err != nil {
		panic(err)
	}
	match.Run(time.Second)
	srv.Drain("this server is being replaced") // from the goroutine that waits for SIGTERM
	newcomer, err := match.Join(client.Config{Protocol: new(Walk).Protocol()}, far)
	if err != nil {
		panic(err)
	}
	match.Run(2 * time.Second)
	fmt.Println("the player:", player.View().State)
	fmt.Println("the newcomer:", newcomer.View().Err)
	_ = player.Close()
	match.Run(3 * time.Second)
	fmt.Println("the server:", srv.Close("")) // it has closed itself: Run has returned nil
	// Output:
	// the player: playing
	// the newcomer: foretick: disconnected: refused: this server is being replaced
	// the server: transport: endpoint closed
}
