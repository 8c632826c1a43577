package snapshot_test

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"unsafe"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
	"github.com/stretchr/testify/require"
)

// crowd is many boxes, one of which may be the viewer's, sent over a link with a
// fixed delay of its acks.
type crowd struct {
	t      testing.TB
	src    *snapshot.Source
	sender *snapshot.Sender
	recv   *snapshot.Receiver
	boxes  []box
	owner  func(i int) uint16
	group  func(i int) uint32
	budget int // 0: the room
	ps     []unsafe.Pointer
	sent   [16]snapshot.Sent
	tick   schema.Tick
	buf    []byte
}

type box struct {
	X, Y, Z float32 `net:"min=-512,max=512,step=0.01,lerp"`
}

func newCrowd(t testing.TB, n int, viewer uint16, cfg snapshot.SenderConfig) *crowd {
	s, err := schema.Compile(reflect.TypeFor[box](), schema.Options{Predicted: true})
	require.NoError(t, err)
	r := schema.NewRegistry()
	_, err = r.Component(s)
	require.NoError(t, err)
	_, err = r.Prefab("box", []int{0}, nil)
	require.NoError(t, err)
	c := &crowd{t: t, src: snapshot.NewSource(r, snapshot.SourceConfig{}), recv: snapshot.NewReceiver(r, snapshot.ReceiverConfig{}), boxes: make([]box, n), ps: make([]unsafe.Pointer, 1)}
	c.owner = func(int) uint16 { return 0 }
	c.sender = c.src.NewSender(viewer, cfg)
	for i := range c.boxes {
		c.boxes[i] = box{X: float32(i%100) * 3, Y: float32(i / 100), Z: 1}
	}
	return c
}

func (c *crowd) put() {
	c.tick++
	c.src.Begin(c.tick)
	for i := range c.boxes {
		c.ps[0] = unsafe.Pointer(&c.boxes[i])
		c.src.Put(snapshot.NetID(i+1), 0, c.owner(i), schema.MaskOf(0), c.ps, nil)
		if c.group != nil {
			require.True(c.t, c.src.SetGroup(snapshot.NetID(i+1), c.group(i)))
		}
	}
	c.src.End()
}

// step sends a tick's snapshot, reads it, and acks the one of delay ticks ago.
func (c *crowd) step(room, delay int) {
	c.put()
	rec := &c.sent[c.tick%16]
	budget := room
	if c.budget != 0 {
		budget = c.budget
	}
	c.buf = c.sender.AppendBudget(c.buf[:0], budget, room, rec)
	if len(c.buf) > room {
		c.t.Fatalf("%d bytes in room for %d", len(c.buf), room)
	}
	if _, err := c.recv.Read(c.buf); err != nil {
		c.t.Fatal(err)
	}
	if c.tick > schema.Tick(delay) {
		c.sender.Delivered(&c.sent[(c.tick-schema.Tick(delay))%16])
	}
}

func (c *crowd) move(i int) {
	c.boxes[i].X += 0.07
	c.boxes[i].Y += float32(i%7) * 0.01
}

// TestNothingStarves: 1 000 entities that move without a pattern on 8 kB/s at 30 Hz:
// each is updated at least every 3 s, and important ones first: they come more often,
// and none of them waits as long as others do as a rule.
func TestNothingStarves(t *testing.T) {
	costtest.Ratio(t)
	important := func(id snapshot.NetID) bool { return id%100 == 1 }
	c := newCrowd(t, 1000, 0, snapshot.SenderConfig{Priority: func(id snapshot.NetID) int {
		if important(id) {
			return 20
		}
		return 1
	}})
	for range 200 { // all is shown
		c.step(1100, 3)
	}
	last := map[schema.WireID]schema.Tick{}
	updates, longest, waits := [2]int{}, [2]schema.Tick{}, 0
	r := rand.New(rand.NewPCG(8, 8))
	sent := 0
	for range 600 {
		for i := range c.boxes {
			b := &c.boxes[i]
			b.X, b.Y, b.Z = b.X+r.Float32()-0.5, b.Y+r.Float32()-0.5, b.Z+r.Float32()-0.5
		}
		c.step(8000/30, 3)
		sent += len(c.buf)
		rank := func(w schema.WireID) int { // wire ids are those of the source here
			if important(snapshot.NetID(w)) {
				return 1
			}
			return 0
		}
		for _, ch := range c.recv.Changes() {
			if before, ok := last[ch.Ghost.Wire]; ok && rank(ch.Ghost.Wire) == 0 {
				waits += int(c.tick - before)
			}
			last[ch.Ghost.Wire] = c.tick
			updates[rank(ch.Ghost.Wire)]++
		}
		if c.tick > 300 {
			require.Len(t, c.recv.Ghosts(), 1000)
			for _, g := range c.recv.Ghosts() {
				wait := c.tick - last[g.Wire]
				longest[rank(g.Wire)] = max(longest[rank(g.Wire)], wait)
				if wait > 90 {
					require.LessOrEqual(t, wait, schema.Tick(90), "ghost %d", g.Wire)
				}
			}
		}
	}
	usual := float64(waits) / float64(updates[0])
	t.Logf("%d bytes a second; longest without an update %.2f s, an important one %.2f s; usually %.2f s; an important one %.1f times as often as another",
		sent/20, float64(longest[0])/30, float64(longest[1])/30, usual/30, float64(updates[1]*99)/float64(updates[0]))
	require.LessOrEqual(t, sent/20, 8000)
	require.Greater(t, updates[1]*99, 4*updates[0], "important ones come more often: %v", updates)
	require.Less(t, float64(longest[1]), usual)
	require.NotZero(t, c.sender.Counters().Postponed)
}

// TestPostponed: entities that do not fit are listed as postponed, so that any other entity without a record is
// unchanged.
func TestPostponed(t *testing.T) {
	c := newCrowd(t, 300, 0, snapshot.SenderConfig{})
	for range 60 {
		c.step(1100, 2)
	}
	received, all, own := c.recv.Complete(c.tick)
	require.True(t, received && all && own)
	for i := range 150 {
		c.move(i)
	}
	c.step(100, 2)
	_, all, own = c.recv.Complete(c.tick)
	require.False(t, all)
	require.True(t, own)
	fresh, unknown, unchanged := 0, 0, 0
	for _, g := range c.recv.Ghosts() {
		s, ok := g.At(c.tick)
		moved := int(g.Wire) <= 150
		switch {
		case !ok:
			unknown++
			require.True(t, moved)
		case g.Newest().Tick == c.tick:
			fresh++
			require.True(t, moved)
		default:
			unchanged++
			require.False(t, moved)
		}
		if ok {
			require.Equal(t, c.src.PublicWords(snapshot.NetID(g.Wire), 0), s.Component(0))
		}
	}
	require.NotZero(t, fresh)
	require.Equal(t, 150, unchanged)
	require.Equal(t, 150, fresh+unknown)
	h, fields := c.recv.Hash(c.tick)
	require.Zero(t, h)
	require.Zero(t, fields)
	for range 10 {
		c.step(1100, 2)
	}
	a, n := c.recv.Hash(c.tick)
	b, m := c.sender.Hash()
	require.Equal(t, b, a)
	require.Equal(t, m, n)
	require.Equal(t, 900, n)
}

// TestEverybodysCompete: what everybody owns does not keep others away, however much of
// it moves; it comes more often than they do. The viewer's own is in every snapshot.
func TestEverybodysCompete(t *testing.T) {
	c := newCrowd(t, 81, 7, snapshot.SenderConfig{})
	c.owner = func(i int) uint16 {
		switch {
		case i == 80:
			return 7
		case i >= 20:
			return snapshot.Everyone
		}
		return 9
	}
	for range 60 {
		c.step(1100, 3)
	}
	r := rand.New(rand.NewPCG(8, 8))
	updates, own, last := [2]int{}, 0, map[schema.WireID]schema.Tick{}
	for range 600 {
		for i := range c.boxes {
			b := &c.boxes[i]
			b.X, b.Y, b.Z = b.X+r.Float32()-0.5, b.Y+r.Float32()-0.5, b.Z+r.Float32()-0.5
		}
		c.step(150, 3)
		_, all, whole := c.recv.Complete(c.tick)
		require.False(t, all || whole, "it says that something of the viewer's was put off")
		for _, ch := range c.recv.Changes() {
			switch last[ch.Ghost.Wire] = c.tick; ch.Ghost.Owner {
			case 7:
				own++
			case 9:
				updates[0]++
			default:
				updates[1]++
			}
		}
	}
	require.Equal(t, 600, own)
	for _, g := range c.recv.Ghosts() {
		require.LessOrEqual(t, c.tick-last[g.Wire], uint32(40), "ghost %d", g.Wire)
	}
	ratio := float64(updates[1]) / 60 / (float64(updates[0]) / 20)
	t.Logf("updates %v: everybody's %.2f times as often", updates, ratio)
	require.Greater(t, ratio, 1.3)
	require.Less(t, ratio, 2.2)
}

// TestOwnFirst: the viewer's own entities are whole in every snapshot that has room
// for them; with too little room even for them it says so, and none starves.
func TestOwnFirst(t *testing.T) {
	c := newCrowd(t, 400, 7, snapshot.SenderConfig{})
	c.owner = func(i int) uint16 {
		if i%40 == 39 {
			return 7
		}
		return 3
	}
	for range 60 {
		c.step(1100, 2)
	}
	for range 30 {
		for i := range c.boxes {
			c.move(i)
		}
		c.step(220, 2)
		_, all, own := c.recv.Complete(c.tick)
		require.False(t, all)
		require.True(t, own)
		for _, g := range c.recv.Ghosts() {
			if g.Mine {
				s, ok := g.At(c.tick)
				require.True(t, ok)
				require.Equal(t, c.src.OwnerWords(snapshot.NetID(g.Wire), 0), s.Component(0))
				require.Equal(t, schema.GridSim, c.recv.Grid(g, 0))
			}
		}
	}
	require.Zero(t, c.sender.Counters().OwnPostponed)
	last := map[schema.WireID]schema.Tick{}
	for range 60 {
		for i := range c.boxes {
			c.move(i)
		}
		c.step(43, 2)
		_, _, own := c.recv.Complete(c.tick)
		require.False(t, own)
		for _, ch := range c.recv.Changes() {
			last[ch.Ghost.Wire] = c.tick
		}
	}
	for _, g := range c.recv.Ghosts() {
		if g.Mine {
			require.Greater(t, last[g.Wire], c.tick-20)
		}
	}
	require.NotZero(t, c.sender.Counters().OwnPostponed)
}

// TestLateJoiner: 3 000 entities arrive within the budget, nearest first, and no
// packet is over its room.
func TestLateJoiner(t *testing.T) {
	c := newCrowd(t, 3000, 0, snapshot.SenderConfig{Priority: func(id snapshot.NetID) int { return 4000 - int(id) }})
	at := map[schema.WireID]schema.Tick{}
	first := map[snapshot.NetID]schema.Tick{}
	for c.tick < 200 && len(first) < 3000 {
		for i := range c.boxes { // all boxes move meanwhile
			c.move(i)
		}
		c.step(1067, 3) // step fails if the packet is over its room
		for _, ch := range c.recv.Changes() {
			if ch.What == snapshot.Spawned {
				at[ch.Ghost.Wire] = c.tick
			}
		}
		for id := snapshot.NetID(1); id <= 3000; id++ {
			if w, ok := c.sender.Wire(id); ok && at[w] != 0 && first[id] == 0 {
				first[id] = at[w]
			}
		}
	}
	require.Len(t, first, 3000)
	// Nearest first: whoever is farther by a third of a snapshot's spawns comes no
	// earlier.
	early := 0
	for id := snapshot.NetID(1); id+32 <= 3000; id++ {
		if first[id+32] < first[id] {
			early++
		}
	}
	t.Logf("3000 entities known after %d ticks; %d came before one that is 32 places nearer", c.tick, early)
	require.LessOrEqual(t, early, 30)
	require.Less(t, c.tick, schema.Tick(90), "in three seconds of 32 kB")
}
