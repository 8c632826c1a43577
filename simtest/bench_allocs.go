package simtest

import (
	"errors"
	"runtime"
	"runtime/debug"
	"time"
)

// countAllocs plays the match of the first seed twice and adds what its steps allocate to sum.
// The runtime itself allocates now and then, and a map grows at a time that its random seed
// decides. So for each step the smaller number of the two matches is taken.
func (r *benchRun) countAllocs() error {
	defer steadyAllocations()()
	var server, client [2][]uint32
	var traces [2][32]byte
	for i := range traces {
		if err := r.beginMatch(1); err != nil {
			return err
		}
		first := r.m.Server().Tick()
		r.m.AroundServer = func(step func()) { server[i] = append(server[i], mallocs(step)) }
		r.m.aroundClient = func(step func()) { client[i] = append(client[i], mallocs(step)) }
		for range r.Seconds {
			runtime.GC()
			r.m.RunFor(time.Second)
		}
		if err := r.err(); err != nil {
			return err
		}
		traces[i], r.sum.allocTicks = r.m.Trace(), float64(r.m.Server().Tick()-first)
	}
	if traces[0] != traces[1] {
		return errors.New(doesNotRepeat + "; use Frame.Rand and Frame.Time")
	}
	r.sum.serverAllocs, r.sum.clientAllocs = smaller(server), smaller(client)
	r.sum.clientSteps = float64(len(client[0]))
	return nil
}

// steadyAllocations makes two runs of the same code allocate the same, until restore is
// called. It stops automatic garbage collection and uses one processor: a sync.Pool loses its
// content when the collector runs, and has different content on each processor.
func steadyAllocations() (restore func()) {
	procs, percent := runtime.GOMAXPROCS(1), debug.SetGCPercent(-1)
	return func() {
		debug.SetGCPercent(percent)
		runtime.GOMAXPROCS(procs)
	}
}

// mallocs returns the number of allocations in a call of step.
func mallocs(step func()) uint32 {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	before := memory.Mallocs
	step()
	runtime.ReadMemStats(&memory)
	return uint32(memory.Mallocs - before)
}

// smaller returns the sum of the smaller elements of two equally long lists.
func smaller(lists [2][]uint32) (sum float64) {
	for i, n := range lists[0] {
		sum += float64(min(n, lists[1][i]))
	}
	return sum
}
