package server_test

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport/sim"
)

// runMatch runs one of a process's matches. A panic in a system ends that match alone:
// its players are told, its endpoint is freed, and nothing of it is used again. Log
// debug.Stack() with the value. What a game's own goroutines do must be recovered there,
// and fatal errors of the runtime (a concurrent map write, no memory) cannot be.
func runMatch(ctx context.Context, srv *server.Server) (err error) {
	defer func() {
		if v := recover(); v != nil {
			_ = srv.Close("the match ended by a fault of the server")
			err = fmt.Errorf("match panicked: %v", v)
		}
	}()
	return srv.Run(ctx)
}

// Two matches in one process: one of them panics, and the other plays on.
func ExampleServer_Run() {
	match := func(falls bool) *server.Server {
		p := foretick.NewProtocol("match", 1)
		p.Server("rules", func(f *foretick.ServerFrame, _ ecs.Rows) {
			if falls && f.Tick == 2 {
				panic("index out of range")
			}
		}, ecs.Once())
		srv, err := server.New(server.Config{Protocol: p, Transport: sim.NewNetwork(1).Listen()})
		if err != nil {
			panic(err)
		}
		return srv
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second/2)
	defer cancel()
	var wait sync.WaitGroup
	results := make([]error, 2)
	for i := range results {
		srv := match(i == 0)
		wait.Go(func() { results[i] = runMatch(ctx, srv) })
	}
	wait.Wait()
	fmt.Println(results[0])
	fmt.Println(results[1])
	// Output:
	// match panicked: index out of range
	// <nil>
}
