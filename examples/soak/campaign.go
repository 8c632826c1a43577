package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/foretick/foretick/simtest"
)

// playCampaign plays many matches, several at a time. Each match runs in one
// goroutine and is independent of the others, so its trace depends only on its
// seed.
func playCampaign(ctx context.Context, o options, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	seeds := make(chan uint64)
	go func() {
		defer close(seeds)
		for i := range uint64(o.seeds) {
			select {
			case seeds <- o.seed + i:
			case <-ctx.Done():
				return
			}
		}
	}()
	c := &tally{out: out, json: o.json, started: time.Now()}
	var all sync.WaitGroup
	for range min(o.workers, o.seeds) {
		all.Go(func() {
			for seed := range seeds {
				began := time.Now()
				outcome, err := guarded(o.match(), seed, &result{})
				if c.note(outcome, err, time.Since(began)) != nil {
					stop()
				}
			}
		})
	}
	all.Wait()
	return c.end(o)
}

// tally adds up matches as they end.
type tally struct {
	mu      sync.Mutex
	out     io.Writer
	json    bool
	started time.Time
	played  time.Duration
	busy    time.Duration
	matches int
	sum     simtest.Outcome
	err     error
	failed  uint64 // the seed that failed
}

func (t *tally) note(o simtest.Outcome, err error, took time.Duration) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		if t.err == nil {
			t.err, t.failed = fmt.Errorf("seed %d: %w", o.Seed, err), o.Seed
		}
		return t.err
	}
	t.matches++
	t.played += o.Played
	t.busy += took
	t.sum.Packets += o.Packets
	t.sum.Snapshots += o.Snapshots
	t.sum.Mended += o.Mended
	t.sum.Kills += o.Kills
	t.sum.Leaves += o.Leaves
	if t.json {
		return json.NewEncoder(t.out).Encode(lineOf(o, took))
	}
	_, err = fmt.Fprintf(t.out, "%.0fx %v\n", o.Played.Seconds()/took.Seconds(), o)
	return err
}

// end prints the totals, and the command that replays a failed seed.
func (t *tally) end(o options) error {
	if t.err != nil {
		return fmt.Errorf("%w\nto play it again: go run ./examples/soak%s -seed %d", t.err, o.again(), t.failed)
	}
	took := time.Since(t.started)
	fmt.Fprintf(t.out, "%d matches of %v s, %d clients: %v virtual in %v, %.0f times real time a worker, %.0f in all; %d packets, %d snapshots, %d corrections, %d leaves, %d kills; all agree\n",
		t.matches, o.seconds, o.clients, t.played, took.Round(time.Millisecond), t.played.Seconds()/t.busy.Seconds(), t.played.Seconds()/took.Seconds(),
		t.sum.Packets, t.sum.Snapshots, t.sum.Mended, t.sum.Leaves, t.sum.Kills)
	return nil
}

func (o *options) again() string {
	s := fmt.Sprintf(" -seconds %v -clients %d", o.seconds, o.clients)
	if o.link != "" {
		s += " -link " + o.link
	}
	if o.kills {
		s += " -kills"
	}
	if o.observers > 0 {
		s += fmt.Sprintf(" -observers %d", o.observers)
	}
	if o.late > 0 {
		s += fmt.Sprintf(" -late-inputs %v", o.late)
	}
	if o.lateWorld {
		s += " -late-world"
	}
	return s
}
