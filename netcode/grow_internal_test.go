package netcode

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
)

// A ring that grew does what one of the full size does: each test runs the same
// operations on a new one and on one that was made as large as it may become.

const ringSeeds = 40

func dice(seed int) *rand.Rand { return rand.New(rand.NewPCG(uint64(seed), 1)) }

// burst is a number that is small mostly, and large now and then.
func burst(r *rand.Rand, most int) int {
	if r.IntN(8) == 0 {
		return r.IntN(most)
	}
	return r.IntN(min(most, 12))
}

func TestSequenceBufferGrowsLikeAFixedOne(t *testing.T) {
	for seed := range ringSeeds {
		r := dice(seed)
		b := NewSequenceBuffer[Seq](256)
		model := map[Seq]Seq{} // by slot
		next := Seq(r.Uint32())
		for range 4000 {
			switch s := next - Seq(burst(r, 400)); r.IntN(4) {
			case 0:
				next += Seq(1 + burst(r, 300))
				s = next
				fallthrough
			case 1:
				*b.Insert(s), model[s%256] = s, s
			case 2:
				b.Remove(s)
				if at, ok := model[s%256]; ok && at == s {
					delete(model, s%256)
				}
			default:
				at, held := model[s%256]
				got := b.Find(s)
				require.Equal(t, held && at == s, got != nil, "seed %d", seed)
				require.True(t, got == nil || *got == s, "seed %d", seed)
			}
		}
		require.Equal(t, 256, b.Size())
		require.LessOrEqual(t, len(b.value), 256)
	}
}

// A buffer whose numbers are removed in time stays small for ever.
func TestSequenceBufferStaysSmall(t *testing.T) {
	b := NewSequenceBuffer[int](256)
	require.Empty(t, b.value)
	for s := range 1 << 17 {
		b.Insert(Seq(s))
		b.Remove(Seq(s - 7))
	}
	require.Len(t, b.value, 8)
	require.Zero(t, testing.AllocsPerRun(100, func() { b.Insert(3) }))
}

func TestFatesGrowLikeAFixedQueue(t *testing.T) {
	costtest.Ratio(t)
	for seed := range ringSeeds / 4 {
		r := dice(seed)
		var q, full fateQueue
		for len(full.ring) < maxFates {
			full.growFates()
		}
		for i := range 6000 {
			if r.IntN(3) < 2 {
				f := Fate{Seq(i), r.IntN(2) == 0}
				if full.pushFate(f) != q.pushFate(f) {
					require.Failf(t, "only one took a fate", "seed %d", seed)
				}
				continue
			}
			for range burst(r, 2000) {
				want, any := full.pop()
				got, ok := q.pop()
				if any != ok || want != got {
					require.Failf(t, "the fates differ", "seed %d: %v and %v", seed, want, got)
				}
			}
		}
		require.LessOrEqual(t, len(q.ring), maxFates)
	}
}

func TestStreamRingsGrowLikeFixedOnes(t *testing.T) {
	costtest.Ratio(t)
	for seed := range ringSeeds {
		r := dice(seed)
		out, fullOut := newStreamSender(minStreamQueue), newStreamSender(minStreamQueue)
		fullOut.growEntries(fullOut.most)
		var in, fullIn streamReceiver
		fullIn.growEntries(streamWindow)
		var st, fullSt Stats
		now := time.Duration(0)
		var carried, fullCarried, open []entryRef
		full := false
		for i := range 3000 {
			now += time.Millisecond
			switch r.IntN(4) {
			case 0:
				payload := make([]byte, burst(r, 40*maxFragment))
				payload = append(payload, byte(i))
				want := fullOut.pushMessage(Tick(i), 1, payload)
				full = full || want == ErrStreamFull
				require.Equal(t, want, out.pushMessage(Tick(i), 1, payload))
			case 1:
				out.ageEntries(now, 20*time.Millisecond)
				fullOut.ageEntries(now, 20*time.Millisecond)
				room := 60 + burst(r, 1200)
				var body, fullBody []byte
				body, carried = out.writeEntries(nil, room, 0, now, carried[:0], &st)
				fullBody, fullCarried = fullOut.writeEntries(nil, room, 0, now, fullCarried[:0], &fullSt)
				if !bytes.Equal(fullBody, body) || !slices.Equal(fullCarried, carried) {
					require.Equal(t, fullBody, body)
					require.Equal(t, fullCarried, carried)
				}
				if len(body) == 0 || r.IntN(4) == 0 {
					break // lost
				}
				want := fullIn.checkBody(body, false)
				require.Equal(t, want, in.checkBody(body, false))
				if want == nil {
					in.takeBody(body)
					fullIn.takeBody(body)
					open = append(open, carried...)
				}
			case 2:
				for range burst(r, 100) {
					want, any := fullIn.pop()
					got, ok := in.pop()
					require.Equal(t, any, ok)
					require.Equal(t, want, got)
					if !ok {
						break
					}
				}
			default:
				for n := burst(r, 64); n > 0 && len(open) > 0; n-- {
					k := r.IntN(len(open))
					id := open[k].id
					open[k] = open[len(open)-1]
					open = open[:len(open)-1]
					if r.IntN(5) == 0 {
						out.entryLost(id, now)
						fullOut.entryLost(id, now)
					} else {
						out.delivered(id, &st)
						fullOut.delivered(id, &fullSt)
					}
				}
			}
			if fullSt != st || fullOut.kept() != out.kept() {
				require.Equal(t, fullSt, st)
				require.Equal(t, fullOut.kept(), out.kept())
			}
		}
		require.LessOrEqual(t, len(in.ring), streamWindow)
		require.LessOrEqual(t, len(out.ring), out.most)
		require.True(t, full || seed > 0, "the queue was full in the first match")
	}
}

func TestEventRingGrowsLikeAFixedOne(t *testing.T) {
	for seed := range ringSeeds / 4 {
		r := dice(seed)
		s, full := newEventSender(3, 50*time.Millisecond), newEventSender(3, 50*time.Millisecond)
		for len(full.ring) < eventQueue {
			full.growEvents()
		}
		var st, fullSt Stats
		for i := range 3000 {
			now := time.Duration(i) * time.Millisecond
			for range burst(r, 100) {
				payload := make([]byte, r.IntN(40))
				require.True(t, full.pushEvent(Tick(i), 2, payload, &fullSt) == s.pushEvent(Tick(i), 2, payload, &st))
			}
			s.ageEvents(now, &st)
			full.ageEvents(now, &fullSt)
			room := burst(r, 1200)
			want, fullCarried := full.writeEvents(nil, room, 1, nil, &fullSt)
			got, carried := s.writeEvents(nil, room, 1, nil, &st)
			require.Equal(t, want, got)
			require.Equal(t, fullCarried, carried)
			for _, e := range carried {
				if r.IntN(2) == 0 {
					s.delivered(e.id)
					full.delivered(e.id)
				}
			}
			require.Equal(t, fullSt, st)
		}
		require.Len(t, s.ring, eventQueue)
	}
}
