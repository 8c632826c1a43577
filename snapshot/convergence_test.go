package snapshot_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/schema"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestConvergence runs random worlds over random links. At every tick received the
// receiver's state is the source's, filtered for the viewer; afterwards both ends
// hash alike.
func TestConvergence(t *testing.T) {
	costtest.Ratio(t)
	compared, partial := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64Range(0, 1<<40).Draw(rt, "seed")
		fault := rapid.SampledFrom([]float64{0, 0.05, 0.3, 0.6}).Draw(rt, "fault")
		room := rapid.SampledFrom([]int{36, 60, 150, 1100}).Draw(rt, "room")
		v := converge(rt, seed, fault, room, 90)
		compared += v.compared
		partial += v.partial
	})
	require.Greater(t, compared, 100_000, "fields compared")
	require.Greater(t, partial, 100, "snapshots with postponed entities")
}

func converge(t tester, seed uint64, fault float64, room, ticks int) *viewer {
	r, schemas := registry(t)
	w := newWorld(t, seed, r, schemas)
	w.busy = w.rng.Float64()
	v := newViewer(t, w, r, uint16(w.rng.IntN(3)))
	v.room = func() int { return room }
	w.spawn()
	for range ticks {
		if w.rng.IntN(6) == 0 {
			v.toggle()
		}
		w.step(false)
		if w.rng.IntN(8) != 0 {
			v.send(fault)
		}
		v.pump()
	}
	v.room = func() int { return 1100 }
	v.settle(150)
	v.settled()
	return v
}

// road is a link in virtual time: what is put on it arrives later, in another order,
// or not at all.
type road struct {
	rng  *rand.Rand
	now  time.Duration
	cars []car
}

type car struct {
	at      time.Duration
	arrives func()
}

func (r *road) put(latency, jitter time.Duration, loss float64, arrives func()) {
	at := r.now + latency + time.Duration(r.rng.Int64N(int64(jitter)+1))
	if r.rng.Float64() >= loss {
		r.cars = append(r.cars, car{at, arrives})
	}
}

// pass lets arrive what is due, in the order of its time.
func (r *road) pass(now time.Duration) {
	slices.SortStableFunc(r.cars, func(a, b car) int { return cmp.Compare(a.at, b.at) })
	for len(r.cars) > 0 && r.cars[0].at <= now {
		c := r.cars[0]
		r.cars = r.cars[1:]
		r.now = c.at
		c.arrives()
	}
	r.now = now
}

// TestConvergenceAt5PercentLossAnd20msJitter: players and a spectator, of teams and audiences that change, on
// links of 5 % loss and 20 ms jitter each way, at 60 snapshots a second, so that they overtake one another.
// Each end has read only what it may know. Two seconds after the world comes to rest, on links as bad as
// before, both ends of each link have the same hash.
func TestConvergenceAt5PercentLossAnd20msJitter(t *testing.T) {
	costtest.Ratio(t)
	const (
		tick    = time.Second / 60
		latency = 30 * time.Millisecond
		jitter  = 20 * time.Millisecond
		loss    = 0.05
		play    = 4 * 60
		rest    = 2 * 60
	)
	var overtaken, lost, compared uint64
	for seed := range uint64(5) {
		r, schemas := registry(t)
		w := newWorld(t, seed, r, schemas)
		link := &road{rng: rand.New(rand.NewPCG(seed, 33))}
		var viewers []*viewer
		for owner := range uint16(4) { // 0: a spectator
			viewers = append(viewers, newViewer(t, w, r, owner))
		}
		type late struct {
			v *viewer
			f *flight
		}
		var waiting []late
		hashes := map[uint64]bool{}
		for n := range play + rest {
			now := time.Duration(n) * tick
			if w.step(n >= play); n < play && n%5 == 0 {
				viewers[n/5%len(viewers)].toggle()
			}
			for _, v := range viewers {
				f := &flight{tick: w.tick}
				f.data = v.sender.Append(nil, 300, &f.rec)
				v.known[w.tick] = v.w.truths(v.owner, v.visible, v.relation)
				link.put(latency, jitter, loss, func() {
					_, err := v.recv.Read(f.data)
					require.NoError(t, err)
					v.received = append(v.received, f.tick)
					if n%4 == 0 {
						v.check(f.tick)
					}
					link.put(latency, jitter, loss, func() {
						if !f.told {
							v.sender.Delivered(&f.rec)
							f.told = true
						}
					})
				})
				waiting = append(waiting, late{v, f})
			}
			for len(waiting) > 0 && w.tick-waiting[0].f.tick > 30 {
				if f := waiting[0].f; !f.told {
					waiting[0].v.sender.Lost(&f.rec)
					f.told = true
					lost++
				}
				waiting = waiting[1:]
			}
			link.pass(now)
		}
		for i, v := range viewers {
			newest, _ := v.recv.Newest()
			got, fields := v.recv.Hash(newest)
			want, all := v.sender.Hash()
			require.Equal(t, []any{want, all}, []any{got, fields}, "seed %d, viewer %d", seed, i)
			require.Greater(t, fields, 20, "seed %d, viewer %d", seed, i)
			hashes[got] = true
			overtaken += v.recv.Counters().OutOfOrder
			compared += uint64(v.compared)
			v.received = []schema.Tick{newest}
			v.settled()
		}
		require.Greater(t, len(hashes), 2, "viewers see different things")
	}
	t.Logf("%d snapshots overtaken, %d given up, %d fields compared", overtaken, lost, compared)
	require.Greater(t, overtaken, uint64(50))
	require.Greater(t, lost, uint64(300))
	require.Greater(t, compared, uint64(100_000))
}
