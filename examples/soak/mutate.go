package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/foretick/foretick/simtest/campaign"
)

// mutate feeds both ends with packets derived from real ones. Several workers play one life each at a
// time.
func mutate(ctx context.Context, o options, out io.Writer) error {
	s := campaign.PacketFuzzer{New: NewPlayer, Seed: o.seed, Clock: time.Now}
	var (
		all     campaign.Weather
		first   error
		mu      sync.Mutex
		life    atomic.Uint64
		workers sync.WaitGroup
		started = time.Now()
		told    = started
	)
	done := func(w campaign.Weather, err error) bool {
		mu.Lock()
		defer mu.Unlock()
		all.Add(w)
		if first == nil {
			first = err
		}
		if time.Since(told) > time.Minute {
			told = time.Now()
			fmt.Fprintf(out, "%d mutations in %v\n", all.Packets, time.Since(started).Round(time.Second))
		}
		return first != nil || all.Packets >= o.mutate || ctx.Err() != nil
	}
	for all.Packets < o.mutate/20 && !done(s.Live(life.Add(1))) { // one life at a time at first, so that allocations can be attributed
		continue
	}
	s.Shared = o.workers > 1
	for range o.workers {
		workers.Go(func() {
			for !done(s.Live(life.Add(1))) {
				continue
			}
		})
	}
	workers.Wait()
	took := time.Since(started)
	if o.json {
		if err := json.NewEncoder(out).Encode(all); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "%d mutations over %d lives in %v (%.0f a second): %d accepted and %d refused by the client, %d snapshots and %d commands of them used; a batch of 64 took %v at most, and %d bytes\n",
		all.Packets, all.Lives, took.Round(time.Millisecond), float64(all.Packets)/took.Seconds(), all.Taken, all.Malformed, all.Snapshots, all.Commands, all.Slowest, all.MostBytes)
	switch {
	case first != nil:
		return first
	case ctx.Err() != nil:
		return ctx.Err()
	case all.Taken == 0 || all.Malformed == 0 || all.Snapshots == 0 || all.Commands == 0:
		return fmt.Errorf("the mutations reached nothing: %+v", all)
	}
	return nil
}
