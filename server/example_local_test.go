package server_test

import (
	"fmt"
	"time"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport/local"
)

// A player hosts a match and plays in it, in one process and one goroutine. In place of nil,
// local.New takes a listening endpoint by which others come.
func ExampleNew_listenServer() {
	host := local.New(nil)
	srv, err := server.New(server.Config{Protocol: (&Walk{}).Protocol(), Transport: host})
	if err != nil {
		panic(err)
	}
	mine := &Walk{}
	cl, err := client.New(client.Config{
		Protocol: mine.Protocol(), Transport: host.Dial(nil),
		Sample: client.Sample(&mine.Move, func(client.View) Move { return Move{X: 1} }),
	})
	if err != nil {
		panic(err)
	}
	for start := time.Now(); cl.View().State != client.Playing && time.Since(start) < 20*time.Second; time.Sleep(time.Second / 120) {
		srv.Step(time.Now())
		cl.Step(time.Now())
	}
	fmt.Println("the host is", cl.View().State)
	_ = cl.Close()
	_ = srv.Close("")
	// Output: the host is playing
}
