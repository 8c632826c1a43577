package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"sync"
	"time"

	"github.com/foretick/foretick/simtest/campaign"
)

// Numbers for sockets: rogues at the same time, and sequences per server.
const (
	socketRogues    = 192
	socketSequences = 8192
)

// playRogues plays whole servers against peers that break every rule, several lives
// at a time.
func playRogues(ctx context.Context, o options, out io.Writer) error {
	t := &rogueTally{o: o, out: out, ctx: ctx, started: time.Now(), next: o.life, goroutines: runtime.NumGoroutine()}
	t.told = t.started
	r := campaign.Rogues{Seed: o.seed, Sequences: o.sequences, Together: o.together, Clock: time.Now, Leak: o.leak, OnHeap: t.weigh}
	if o.heaps != "" {
		runtime.MemProfileRate = 4096
	}
	alone := 4
	if o.transport != "" {
		o.workers, alone = 0, math.MaxInt // one life at a time, because goroutines and sockets are counted
		if r.Sequences == 0 {
			r.Sequences = socketSequences
		}
		if r.Together == 0 {
			r.Together = socketRogues
			if r.Sequences >= 1024 { // the heap is compared with its size after a quarter of the sequences, when pools have grown
				r.Together = min(socketRogues, r.Sequences/20)
			}
		}
		r.Together = min(r.Together, r.Sequences)
		var err error
		if r.Over, err = overSockets(o.transport); err != nil {
			return err
		}
	}
	for range alone { // one life at a time, because the heap is measured
		if !t.more() {
			break
		}
		t.done(r.Live(t.take()))
	}
	r.Shared = o.workers > 1
	var workers sync.WaitGroup
	for range o.workers {
		workers.Go(func() {
			for t.more() {
				t.done(r.Live(t.take()))
			}
		})
	}
	workers.Wait()
	return t.end()
}

// rogueTally adds up lives.
type rogueTally struct {
	o          options
	out        io.Writer
	ctx        context.Context
	mu         sync.Mutex
	all        campaign.RogueCounts
	next       uint64
	first      error
	started    time.Time
	told       time.Time
	heap       uint64 // size after the first life
	goroutines int
}

// weigh prints the size of the heap after a batch of the first life, and writes its profile.
func (t *rogueTally) weigh(batch int, bytes uint64) {
	if t.all.Lives > 0 {
		return
	}
	fmt.Fprintf(t.out, "batch %d: heap %.2f MB\n", batch, float64(bytes)/(1<<20))
	if t.o.heaps == "" {
		return
	}
	f, err := os.Create(filepath.Join(t.o.heaps, fmt.Sprintf("%d.heap", batch)))
	if err == nil {
		err = errors.Join(pprof.Lookup("heap").WriteTo(f, 0), f.Close())
	}
	t.first = errors.Join(t.first, err)
}

func (t *rogueTally) more() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	late := t.o.limit > 0 && time.Since(t.started) > t.o.limit
	return t.first == nil && t.all.Sequences < t.o.rogues && t.ctx.Err() == nil && !late
}

func (t *rogueTally) take() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next++
	return t.next - 1
}

func (t *rogueTally) done(c campaign.RogueCounts, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all.Add(c)
	if t.first == nil {
		t.first = err
	}
	if t.heap == 0 {
		t.heap = heapNow()
	}
	if time.Since(t.told) > time.Minute {
		t.told = time.Now()
		fmt.Fprintf(t.out, "%d sequences in %v\n", t.all.Sequences, time.Since(t.started).Round(time.Second))
	}
}

// end prints the totals and any failure.
func (t *rogueTally) end() error {
	took := time.Since(t.started)
	if t.o.json {
		if err := json.NewEncoder(t.out).Encode(t.all); err != nil {
			return err
		}
	}
	fmt.Fprintf(t.out, "%v\n", t.all)
	grown, delta := int64(heapNow())-int64(t.heap), runtime.NumGoroutine()-t.goroutines
	fmt.Fprintf(t.out, "%d sequences in %v (%.0f a second); heap %+d bytes since the first life, goroutines %+d\n",
		t.all.Sequences, took.Round(time.Millisecond), float64(t.all.Sequences)/took.Seconds(), grown, delta)
	switch {
	case t.first != nil:
		return t.first
	case t.ctx.Err() != nil:
		return t.ctx.Err()
	case t.all.Share() < 0.75:
		return fmt.Errorf("only %.0f %% of the sequences came to play", 100*t.all.Share())
	case delta > 0 || grown > 1<<20:
		return fmt.Errorf("heap %+d bytes, goroutines %+d: something is kept", grown, delta)
	}
	return nil
}
