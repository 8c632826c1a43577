package snapshot_test

import (
	"sync"
	"testing"

	"github.com/foretick/foretick/snapshot"
	"github.com/stretchr/testify/require"
)

// TestParallelAppend: senders of one source may append at the same time, and write
// what they would have written one after another.
func TestParallelAppend(t *testing.T) {
	run := func(parallel, cached bool) (out [][]byte) {
		r, schemas := registry(t)
		w := newWorld(t, 5, r, schemas)
		const n = 8
		var senders [n]*snapshot.Sender
		var sent [n]snapshot.Sent
		var shared snapshot.Cache
		for i := range senders {
			cfg := snapshot.SenderConfig{}
			if cached && parallel {
				cfg.Cache = new(snapshot.Cache)
			} else if cached {
				cfg.Cache = &shared
			}
			senders[i] = w.source.NewSender(uint16(i%4), cfg)
		}
		for range 60 {
			w.step(false)
			packets := make([][]byte, n)
			var wg sync.WaitGroup
			for i, s := range senders {
				work := func() { packets[i] = s.Append(nil, 300, &sent[i]) }
				if parallel {
					wg.Go(work)
				} else {
					work()
				}
			}
			wg.Wait()
			for i, s := range senders {
				s.Delivered(&sent[i])
			}
			out = append(out, packets...)
		}
		return out
	}
	want := run(false, false)
	require.Equal(t, want, run(true, false))
	require.Equal(t, want, run(false, true), "with a cache")
	require.Equal(t, want, run(true, true), "with caches")
}
