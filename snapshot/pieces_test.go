package snapshot_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

type (
	slab struct {
		L []int32 `net:"max=1024"`
	}
	slab2 struct {
		L []int32 `net:"max=1024"`
	}
	slab3 struct {
		L []int32 `net:"max=1024"`
	}
	slab4 struct {
		L []int32 `net:"max=1024"`
	}
	note struct {
		S string                 `net:"max=255"`
		P []struct{ X, Y int16 } `net:"max=40"`
		N uint32
	}
	dot struct{ X int16 }
)

const (
	cNote = 4
	cDot  = 5
)

// hulk is an entity that may have a long record.
type hulk struct {
	id    snapshot.NetID
	owner uint16
	mask  uint64
	slabs [4]slab
	note  note
	dot   dot
}

func (h *hulk) pointers() (ps []unsafe.Pointer) {
	all := [6]unsafe.Pointer{ptr(&h.slabs[0]), ptr(&h.slabs[1]), ptr(&h.slabs[2]), ptr(&h.slabs[3]), ptr(&h.note), ptr(&h.dot)}
	for c, p := range all {
		if h.mask>>c&1 != 0 {
			ps = append(ps, p)
		}
	}
	return ps
}

// fill gives it n numbers that nothing predicts.
func (h *hulk) fill(r *rand.Rand, n int) {
	for i := range h.slabs {
		h.slabs[i].L = h.slabs[i].L[:0]
		for ; n > 0 && len(h.slabs[i].L) < 1024; n-- {
			h.slabs[i].L = append(h.slabs[i].L, int32(r.Uint32()))
		}
	}
}

// yard is a world of hulks, a viewer, and the path between.
type yard struct {
	t      tester
	r      *rand.Rand
	src    *snapshot.Source
	sender *snapshot.Sender
	recv   *snapshot.Receiver
	tick   schema.Tick
	hulks  []*hulk
	truth  map[schema.Tick]map[snapshot.NetID][]int32
	path   []flown // in order of arrival
	delay  int     // ticks each way
	loss   float64
	room   int
	budget int    // 0: as much as the room
	group  uint32 // group is the group of all hulks.
	read   int    // bytes
	all    int    // values compared
}

type flown struct {
	at   schema.Tick // when it arrives, or is known to be lost
	sent *snapshot.Sent
	b    []byte
	told bool // told is true if the packet was read, and the sender has yet to be told.
	lost bool
}

func hulkRegistry(t tester) *schema.Registry {
	r := schema.NewRegistry()
	for _, s := range []*schema.Schema{compile[slab](t, schema.Options{}), compile[slab2](t, schema.Options{}), compile[slab3](t, schema.Options{}), compile[slab4](t, schema.Options{}), compile[note](t, schema.Options{}), compile[dot](t, schema.Options{Predicted: true})} {
		_, err := r.Component(s)
		require.NoError(t, err)
	}
	_, err := r.Prefab("hulk", []int{0, 1, 2, 3, cNote, cDot}, nil)
	require.NoError(t, err)
	_, err = r.Prefab("dot", []int{cDot}, nil)
	require.NoError(t, err)
	return r
}

func newYard(t tester, seed uint64, viewer uint16, loss float64) *yard {
	r := hulkRegistry(t)
	y := &yard{t: t, r: rand.New(rand.NewPCG(seed, 9)), src: snapshot.NewSource(r, snapshot.SourceConfig{}), recv: snapshot.NewReceiver(r, snapshot.ReceiverConfig{}), truth: map[schema.Tick]map[snapshot.NetID][]int32{}, delay: 2, loss: loss, room: 1100}
	y.sender = y.src.NewSender(viewer, snapshot.SenderConfig{Everything: viewer == 0})
	return y
}

func (y *yard) add(owner uint16, mask uint64) *hulk {
	h := &hulk{id: snapshot.NetID(len(y.hulks) + 1), owner: owner, mask: mask}
	y.hulks = append(y.hulks, h)
	return h
}

func (y *yard) put() {
	y.tick++
	y.src.Begin(y.tick)
	now := map[snapshot.NetID][]int32{}
	for _, h := range y.hulks {
		if h == nil {
			continue
		}
		y.src.Put(h.id, map[bool]int{true: 1}[h.mask == 1<<cDot], h.owner, setOf(h.mask), h.pointers(), sameRefs{})
		y.src.SetGroup(h.id, y.group)
	}
	y.src.End()
	for _, h := range y.hulks {
		if h != nil {
			for c := range 6 {
				if h.mask>>c&1 != 0 {
					now[h.id] = append(now[h.id], y.src.OwnerWords(h.id, c)...)
				}
			}
		}
	}
	y.truth[y.tick] = now
}

// step is a tick: a snapshot goes out, and what arrives is compared with what was.
func (y *yard) step() {
	y.put()
	f := flown{at: y.tick + schema.Tick(y.delay), sent: &snapshot.Sent{}, lost: y.r.Float64() < y.loss}
	budget := y.room
	if y.budget != 0 {
		budget = y.budget
	}
	f.b = y.sender.AppendBudget(nil, budget, y.room, f.sent)
	require.LessOrEqual(y.t, len(f.b), y.room)
	y.read += len(f.b)
	y.path = append(y.path, f)
	for len(y.path) > 0 && y.path[0].at == y.tick {
		f := y.path[0]
		y.path = y.path[1:]
		switch {
		case f.told:
			y.sender.Delivered(f.sent)
		case f.lost:
			y.sender.Lost(f.sent)
		default:
			_, err := y.recv.Read(f.b)
			if errors.Is(err, snapshot.ErrHeavy) { // the snapshot has many new entities
				y.sender.Lost(f.sent)
				continue
			}
			require.NoError(y.t, err)
			y.compare()
			f.told, f.at = true, y.tick+schema.Tick(y.delay)
			i := 0
			for i < len(y.path) && y.path[i].at <= f.at {
				i++
			}
			y.path = append(y.path[:i:i], append([]flown{f}, y.path[i:]...)...)
		}
	}
}

// compare checks the values that the receiver claims to have, in all ticks kept.
func (y *yard) compare() {
	newest, _ := y.recv.Newest()
	for _, g := range y.recv.Ghosts() {
		if g.Gone != 0 {
			continue
		}
		id, ok := y.sender.Named(g.Wire)
		if !ok {
			continue
		}
		for at := newest; at+5 > newest && at > 0; at-- {
			s, ok := g.At(at)
			if !ok {
				continue
			}
			want, there := y.truth[at][id]
			if !there || !slices.Equal(want, s.Words) { // require.Equal takes a hundred times as long
				require.True(y.t, there)
				require.Equal(y.t, want, s.Words, "entity %d in tick %d, read in %d", id, at, y.tick)
			}
			y.all++
		}
	}
}

// wait steps until the receiver has the newest value of all, and returns the ticks.
func (y *yard) wait(most int) (ticks int) {
	for ; ticks < most; ticks++ {
		y.step()
		newest, _ := y.recv.Newest()
		if _, all, _ := y.recv.Complete(newest); all && len(y.recv.Ghosts()) >= len(y.hulks) && ticks > 2*y.delay {
			return ticks
		}
	}
	require.Fail(y.t, "not complete", "after %d ticks", ticks)
	return ticks
}

// TestRecordAroundThePacket: a record of each length around that of a packet arrives, in pieces
// exactly if it does not fit.
func TestRecordAroundThePacket(t *testing.T) {
	least := 0 // room in which it is whole
	for room := 1050; room < 1250; room++ {
		y := newYard(t, 1, 1, 0)
		y.room = room
		y.add(1, 1|1<<cDot).fill(y.r, 200)
		y.wait(40)
		require.NotZero(t, y.all)
		if y.sender.Counters().InPieces != 0 {
			require.Zero(t, least, "it was whole in less room")
		} else if least == 0 {
			least = room
		}
	}
	require.Greater(t, least, 1060)
	t.Logf("whole from %d bytes on", least)
}

// TestLongRecordArrives: of any length up to the limit, whoever owns it, before the join or after,
// on any path.
func TestLongRecordArrives(t *testing.T) {
	for _, n := range []int{2, 250, 500, 750, 2000, 2600} {
		for i, loss := range []float64{0, 0.05, 0.2} {
			for k := range 8 {
				if k%2 != (i+n)%2 {
					continue
				}
				viewer, owner, late := uint16(k>>1&1), uint16(k&1), k>>2 == i&1
				y := newYard(t, uint64(n), viewer, loss)
				h := y.add(owner, 0b111111)
				h.note.S, h.note.P = "a very long story", make([]struct{ X, Y int16 }, 7)
				if late {
					for range 20 {
						y.step()
					}
				}
				h.fill(y.r, n)
				h.note.N++
				ticks := y.wait(200)
				require.Less(t, ticks, 20+n/40, "%d numbers with loss %g", n, loss)
				// Then small changes are sent as differences from the pinned value.
				before := y.read
				for i := range 30 {
					h.dot.X++
					h.slabs[0].L[i%2]++
					y.step()
				}
				require.Less(t, (y.read-before)/30, 70)
				y.wait(60)
				require.NotZero(t, y.all)
				c := y.sender.Counters()
				if n == 2 {
					require.Zero(t, c.InPieces)
					continue
				}
				require.EqualValues(t, 1, c.InPieces)
				require.Less(t, float64(c.Pieces), float64(n*46/8/170+8)*(1+4*loss), "sent again only when lost")
			}
		}
	}
}

// TestLongRecordsStarveNobody: next to any number of long records, small entities are as fresh as without them.
func TestLongRecordsStarveNobody(t *testing.T) {
	for _, many := range []int{1, 9, 20} {
		for _, loss := range []float64{0, 0.1} {
			y := newYard(t, uint64(many), 1, loss)
			for range 20 {
				y.add(uint16(len(y.hulks)%2), 1<<cDot)
			}
			for range 10 {
				y.step()
			}
			for range many {
				y.add(0, 0b111111).fill(y.r, 700)
			}
			oldest := schema.Tick(0)
			for i := range 240 {
				for _, h := range y.hulks[:20] {
					h.dot.X++
				}
				y.step()
				newest, _ := y.recv.Newest()
				for _, g := range y.recv.Ghosts() {
					if g.Prefab == 1 && i > 6 {
						oldest = max(oldest, newest-g.Newest().Tick)
					}
				}
				if i%40 == 39 && i < 150 { // and again
					y.hulks[20+i/40%many].fill(y.r, 700)
				}
			}
			require.LessOrEqual(t, oldest, schema.Tick(2), "%d long ones", many)
			y.wait(60)
			require.Len(t, y.recv.Ghosts(), 20+many)
			require.GreaterOrEqual(t, y.sender.Counters().InPieces, uint64(many))
		}
	}
}

// TestNinthLongRecord: however many do not fit, what fits goes in the same snapshot.
func TestNinthLongRecord(t *testing.T) {
	y := newYard(t, 2, 1, 0)
	for range 20 {
		y.add(0, 0b111111).fill(y.r, 400)
	}
	for range 5 {
		y.add(0, 1<<cDot)
	}
	y.step()
	y.step()
	y.step()
	dots := 0
	for _, g := range y.recv.Ghosts() {
		if g.Prefab == 1 {
			dots++
			require.Equal(t, schema.Tick(1), g.Newest().Tick)
		}
	}
	require.Equal(t, 5, dots)
}

// TestLongRecordMeets: what happens to an entity while it is in pieces.
func TestLongRecordMeets(t *testing.T) {
	for name, event := range map[string]func(y *yard, h *hulk){
		"a change":         func(_ *yard, h *hulk) { h.slabs[0].L[3]++ },
		"a change of all":  func(y *yard, h *hulk) { h.fill(y.r, 900) },
		"it gets short":    func(y *yard, h *hulk) { h.fill(y.r, 2) },
		"another owner":    func(_ *yard, h *hulk) { h.owner = 1 - h.owner },
		"a component less": func(_ *yard, h *hulk) { h.mask &^= 1 << 1 },
		"a teleport":       func(y *yard, h *hulk) { y.src.Teleport(h.id); h.dot.X += 50 },
		"hidden": func(y *yard, h *hulk) {
			y.sender.SetVisible(h.id, false)
			y.step()
			y.step()
			y.sender.SetVisible(h.id, true)
		},
		"a restart": func(y *yard, h *hulk) { y.sender.Restart() },
		"set aside": func(y *yard, h *hulk) {
			y.sender.SetAside(h.id, true)
			y.step()
			y.step()
			y.sender.SetAside(h.id, false)
		},
		"another viewer":  func(y *yard, h *hulk) { y.sender.SetViewer(2); y.step(); y.sender.SetViewer(1) },
		"less room":       func(y *yard, h *hulk) { y.room = 420 },
		"next to no room": func(y *yard, h *hulk) { y.room = 70; y.step(); y.step(); y.room = 900 },
		"removed": func(y *yard, h *hulk) {
			y.hulks[0] = nil
			y.step()
			y.step()
			y.hulks[0] = h
			h.id = 1000 // as another entity
		},
	} {
		for _, loss := range []float64{0, 0.2} {
			for _, held := range []bool{false, true} {
				for at := range 5 {
					y := newYard(t, uint64(at), 1, loss)
					h := y.add(uint16(at%2), 0b111111)
					y.add(1, 1<<cDot)
					if held {
						for range 12 {
							y.step()
						}
					}
					h.fill(y.r, 900)
					for range at + 1 {
						y.step()
					}
					event(y, h)
					y.wait(300)
					for range 10 {
						h.dot.X++
						y.step()
					}
					y.wait(60)
					var got []int32
					for _, g := range y.recv.Ghosts() {
						if id, _ := y.sender.Named(g.Wire); id == h.id && g.Gone == 0 {
							got = g.Newest().Words
						}
					}
					require.Equal(t, y.truth[y.tick][h.id], got, "%s in tick %d", name, at)
				}
			}
		}
	}
}

// TestRecordTooLong: what is longer than the limit is named and left out; all else arrives.
func TestRecordTooLong(t *testing.T) {
	longest := func(n int) (size int, there bool) {
		y := newYard(t, 5, 1, 0)
		y.add(1, 0b111111).fill(y.r, n)
		y.add(0, 1<<cDot)
		for range 60 {
			y.hulks[1].dot.X++
			y.step()
			for _, l := range y.sender.TakeTooLong() {
				require.Equal(t, snapshot.NetID(1), l.Entity)
				size = l.Bytes
			}
			newest, _ := y.recv.Newest()
			if newest > 3 {
				require.NotEmpty(t, y.recv.Ghosts())
			}
		}
		there = len(y.recv.Ghosts()) == 2
		require.Equal(t, size != 0, y.sender.Counters().TooLong != 0)
		return size, there
	}
	lo, hi := 2500, 4000
	for lo+1 < hi {
		n := (lo + hi) / 2
		if size, _ := longest(n); size == 0 {
			lo = n
		} else {
			hi = n
		}
	}
	size, there := longest(lo)
	require.Zero(t, size)
	require.True(t, there)
	size, there = longest(hi)
	require.Greater(t, size, snapshot.MaxRecord)
	require.LessOrEqual(t, size, snapshot.MaxRecord+8)
	require.False(t, there)

	// It is tried again, and arrives once it is shorter.
	y := newYard(t, 5, 1, 0)
	h := y.add(1, 0b111111)
	h.fill(y.r, hi)
	for range 10 {
		y.step()
	}
	h.fill(y.r, lo-40)
	require.LessOrEqual(t, y.wait(200), 120)
}

// TestLongRecordAmongMany: newcomers that need more wire ids, and ids that are used again, change
// nothing for a long record, nor do they take over what is known of one.
func TestLongRecordAmongMany(t *testing.T) {
	y := newYard(t, 1, 1, 0.05)
	y.add(0, 0b111111).fill(y.r, 700)
	for range 4 {
		y.step()
	}
	for range 300 {
		y.add(0, 1<<cDot)
	}
	y.wait(100)
	for round := range costtest.Count(3, 6) { // long ones come and go in the wire ids of others
		for i := range y.hulks {
			if i%3 == round%3 {
				y.hulks[i] = nil
			}
		}
		for range 80 {
			y.step()
		}
		for i := range y.hulks {
			if y.hulks[i] == nil {
				y.hulks[i] = &hulk{id: snapshot.NetID(1000*(round+1) + i), mask: 1 << cDot}
				if i%40 == round {
					y.hulks[i].mask = 0b111111
					y.hulks[i].fill(y.r, 400)
				}
			}
		}
		for range 120 {
			y.step()
		}
	}
	alive := 0
	for _, g := range y.recv.Ghosts() {
		if g.Gone == 0 {
			alive++
		}
	}
	require.Equal(t, len(y.hulks), alive)
	require.Greater(t, y.sender.Counters().InPieces, uint64(5))
}

// TestLongRecordInLittle: an entity that fits into a packet, but into no budget, arrives as well, and
// the room is enough where the budget is next to nothing.
func TestLongRecordInLittle(t *testing.T) {
	for _, budget := range []int{40, 250} {
		for _, n := range []int{190, 600} {
			y := newYard(t, uint64(n), 1, 0.05)
			y.budget = budget
			for range 3 {
				y.add(0, 1<<cDot)
			}
			y.add(0, 0b111111).fill(y.r, n)
			y.add(0, 0b111111).fill(y.r, n)
			oldest := schema.Tick(0)
			for i := range 1000 {
				if i < 950 {
					y.hulks[i%3].dot.X++
				}
				y.step()
				newest, _ := y.recv.Newest()
				for _, g := range y.recv.Ghosts() {
					if g.Prefab == 1 && i > 40 && i < 950 {
						oldest = max(oldest, newest-g.Newest().Tick)
					}
				}
			}
			y.wait(60)
			require.Len(t, y.recv.Ghosts(), 5, "%d numbers in %d bytes", n, budget)
			require.Less(t, oldest, schema.Tick(14), "%d numbers in %d bytes", n, budget)
		}
	}
}

// TestLongRecordInAGroup: the others of a group, and the viewer's own, do not wait for it.
func TestLongRecordInAGroup(t *testing.T) {
	for _, owner := range []uint16{0, 1} {
		y := newYard(t, 4, 1, 0)
		for range 3 {
			y.add(owner, 1<<cDot)
		}
		y.add(owner, 0b111111)
		y.group = 7
		y.wait(30)
		split := y.sender.Counters().GroupsSplit
		y.hulks[3].fill(y.r, 1000)
		for range 4 {
			y.hulks[0].dot.X++
			y.step()
			require.Equal(t, uint64(1), y.sender.Counters().InPieces)
		}
		for range 4 {
			y.hulks[0].dot.X++
			y.step()
			newest, _ := y.recv.Newest()
			for _, g := range y.recv.Ghosts() {
				if g.Wire == 1 {
					require.Equal(t, newest, g.Newest().Tick)
				}
			}
		}
		y.wait(40)
		require.Equal(t, split, y.sender.Counters().GroupsSplit)
	}
}

// TestLongRecordsDoNotAllocate: once it was sent, a long record takes no memory in a tick, and neither do the
// other records.
func TestLongRecordsDoNotAllocate(t *testing.T) {
	costtest.Allocations(t)
	y := newYard(t, 4, 1, 0)
	y.add(1, 0b111111).fill(y.r, 600)
	y.add(0, 1<<cDot)
	y.wait(60)
	var sent [8]snapshot.Sent
	buf := make([]byte, 0, 2000)
	ps := [2][]unsafe.Pointer{y.hulks[0].pointers(), y.hulks[1].pointers()}
	tick := func() {
		y.tick++
		y.hulks[0].slabs[0].L[y.tick%500]++
		y.hulks[1].dot.X++
		y.src.Begin(y.tick)
		y.src.Put(1, 0, 1, schema.MaskOf(0, 1, 2, 3, 4, 5), ps[0], sameRefs{})
		y.src.Put(2, 1, 0, schema.MaskOf(cDot), ps[1], sameRefs{})
		y.src.End()
		rec := &sent[y.tick%8]
		buf = y.sender.Append(buf[:0], 1100, rec)
		if _, err := y.recv.Read(buf); err != nil {
			panic(err)
		}
		y.sender.Delivered(rec)
	}
	for range 300 {
		tick()
	}
	require.Zero(t, testing.AllocsPerRun(100, tick))
}

// TestRecordBound: no record is longer than what its components can take at most.
func TestRecordBound(t *testing.T) {
	for seed := range uint64(30) {
		r, schemas := registry(t)
		w := newWorld(t, seed, r, schemas)
		w.busy = 1
		s := w.source.NewSender(0, snapshot.SenderConfig{Everything: true})
		var sent snapshot.Sent
		for range 12 {
			w.step(false)
		}
		for _, b := range w.bodies {
			most := 0
			for c := range components {
				if b.mask>>c&1 != 0 {
					most += r.Plan().MostBits(c)
				}
			}
			s.Restart()
			for _, o := range w.bodies {
				s.SetVisible(o.id, o == b)
			}
			for range 200 { // until the others are known to be gone
				w.step(true)
				s.Append(nil, 1<<16, &sent)
				s.Delivered(&sent)
			}
			s.Restart()
			w.step(true)
			p := s.Append(nil, 1<<16, &sent)
			require.Equal(t, 1, sent.Len())
			require.LessOrEqual(t, len(p), snapshot.RecordBytes(most)+12, "seed %d", seed)
		}
	}
}
