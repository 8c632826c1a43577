package foretick_test

import (
	"fmt"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/transport/local"
)

// A player hosts a match and plays in it, in one process and one goroutine. In place of nil,
// local.Host takes a listening endpoint by which others come.
func ExampleServer_listenServer() {
	host := local.Host(nil)
	server, err := foretick.NewServer(foretick.ServerConfig{Protocol: (&Walk{}).Protocol(), Transport: host})
	if err != nil {
		panic(err)
	}
	mine := &Walk{}
	client, err := foretick.NewClient(foretick.ClientConfig{
		Protocol: mine.Protocol(), Transport: host.Dial(nil),
		Sample: foretick.Sample(&mine.Move, func(foretick.View) Move { return Move{X: 1} }),
	})
	if err != nil {
		panic(err)
	}
	for start := time.Now(); client.View().State != foretick.Playing && time.Since(start) < 20*time.Second; time.Sleep(time.Second / 120) {
		server.Step(time.Now())
		client.Step(time.Now())
	}
	fmt.Println("the host is", client.View().State)
	_ = client.Close()
	_ = server.Close("")
	// Output: the host is playing
}
