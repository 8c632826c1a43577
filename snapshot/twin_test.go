package snapshot_test

import (
	"math/rand/v2"
	"testing"

	"github.com/foretick/foretick/snapshot"
	"github.com/stretchr/testify/require"
)

// Viewers who own nothing copy one another's snapshots, and are sent what each would have
// been sent alone: whatever they lost, whenever they came, and whatever is hidden from some.
func TestCopiedSnapshots(t *testing.T) {
	const n, ticks = 24, 200
	var copied uint64
	for seed := range uint64(6) {
		run := func(shared *snapshot.Cache) (out [][]byte) {
			r, schemas := registry(t)
			w := newWorld(t, seed, r, schemas)
			w.unrelated = seed%3 != 0
			w.busy = 0.9
			rnd := rand.New(rand.NewPCG(seed, 7))
			type viewer struct {
				*snapshot.Sender
				sent  [8]snapshot.Sent
				delay int
				loss  float64
			}
			var all []*viewer
			for tick := range ticks {
				for len(all) < n && len(all) < 18+tick/30 { // some come later
					v := &viewer{delay: len(all)%3 + 1}
					if len(all)%4 == 3 {
						v.loss = 0.1
					}
					v.Sender = w.source.NewSender(0, snapshot.SenderConfig{Cache: shared, Everything: len(all)%8 == 5})
					all = append(all, v)
				}
				w.step(false)
				for i, v := range all {
					room := 1200
					if rnd.IntN(20) == 0 {
						room = 100
					}
					if i%5 == 4 && rnd.IntN(50) == 0 {
						v.SetVisible(snapshot.NetID(1+rnd.IntN(20)), rnd.IntN(2) == 0)
					}
					if i%7 == 6 && rnd.IntN(60) == 0 {
						v.SetTeam(uint8(rnd.IntN(3)))
					}
					out = append(out, v.AppendBudget(nil, room-i%5, room, &v.sent[tick%8]))
				}
				for _, v := range all {
					if at := tick - v.delay; at >= 0 {
						if lost := rnd.Float64() < v.loss; lost {
							v.Lost(&v.sent[at%8])
						} else {
							v.Delivered(&v.sent[at%8])
						}
					}
				}
			}
			return out
		}
		var cache snapshot.Cache
		want := run(nil)
		require.Equal(t, want, run(&cache), "seed %d", seed)
		copied += cache.Copied()
	}
	t.Logf("%d of about %d snapshots were copied", copied, 6*n*ticks)
	require.Greater(t, copied, uint64(6*n*ticks/50))
}
