package snapshot_test

import (
	"sync"
	"testing"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
	"github.com/stretchr/testify/require"
)

// TestParallelAppend: senders of one source may append at the same time, and write
// what they would have written one after another.
func TestParallelAppend(t *testing.T) {
	costtest.Concurrent(t)
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

// TestSharedIsSlow: records that are shared, and runs that are coded at once, are what
// the plain way makes word by word and for each viewer alone: counting statistics
// takes that.
func TestSharedIsSlow(t *testing.T) {
	hits := uint64(0)
	for seed := range uint64(6) {
		run := func(slow bool) (out [][]byte) {
			r, schemas := registry(t)
			w := newWorld(t, seed, r, schemas)
			const n = 5
			var senders [n]*snapshot.Sender
			var sent [n][16]snapshot.Sent
			var shared snapshot.Cache
			for i := range senders {
				cfg := snapshot.SenderConfig{Cache: &shared}
				if slow {
					cfg = snapshot.SenderConfig{Statistics: &snapshot.Statistics{}}
				}
				senders[i] = w.source.NewSender(uint16(i%3), cfg)
			}
			for range 150 {
				w.step(false)
				for i, s := range senders {
					out = append(out, s.Append(nil, []int{70, 250, 1200}[(int(w.tick)/40+i)%3], &sent[i][w.tick%16]))
					if back := schema.Tick(2 + i/3); w.tick > back && (int(w.tick)*7+i/3)%9 != 0 {
						s.Delivered(&sent[i][(w.tick-back)%16])
					}
				}
			}
			found, _ := shared.Hits()
			hits += found
			return out
		}
		require.Equal(t, run(true), run(false), "seed %d", seed)
	}
	require.Greater(t, hits, uint64(100))
}
