package snapshot_test

import (
	"testing"
	"unsafe"

	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
	"github.com/stretchr/testify/require"
)

// play is one viewer and a world that a test writes by hand.
type play struct {
	t      *testing.T
	src    *snapshot.Source
	sender *snapshot.Sender
	recv   *snapshot.Receiver
	bodies map[snapshot.NetID]*body
	tick   schema.Tick
	sent   map[schema.Tick]*snapshot.Sent
	data   map[schema.Tick][]byte
	room   int
}

func newPlay(t *testing.T, viewer uint16) *play {
	r, _ := registry(t)
	p := &play{t: t, room: 1000, src: snapshot.NewSource(r, snapshot.SourceConfig{}), recv: snapshot.NewReceiver(r, snapshot.ReceiverConfig{}), bodies: map[snapshot.NetID]*body{}, sent: map[schema.Tick]*snapshot.Sent{}, data: map[schema.Tick][]byte{}}
	p.sender = p.src.NewSender(viewer, snapshot.SenderConfig{})
	return p
}

func (p *play) add(id snapshot.NetID, owner uint16) *body {
	b := &body{id: id, owner: owner, mask: 1<<cIdent | 1<<cPosition | 1<<cGun | 1<<cFollow}
	b.ident.ID = uint32(id)
	p.bodies[id] = b
	return b
}

// make appends the next tick's snapshot.
func (p *play) make() schema.Tick {
	p.tick++
	p.src.Begin(p.tick)
	for id := snapshot.NetID(1); id < 100; id++ {
		if b := p.bodies[id]; b != nil {
			p.src.Put(id, 0, b.owner, setOf(b.mask), b.pointers(), sameRefs{})
			p.src.SetTeam(id, b.team)
		}
	}
	p.src.End()
	rec := new(snapshot.Sent)
	p.sent[p.tick], p.data[p.tick] = rec, p.sender.Append(nil, p.room, rec)
	return p.tick
}

func (p *play) read(t schema.Tick) []snapshot.Change {
	got, err := p.recv.Read(p.data[t])
	require.NoError(p.t, err)
	require.Equal(p.t, t, got)
	return p.recv.Changes()
}

func (p *play) ack(t schema.Tick) { p.sender.Delivered(p.sent[t]) }

// pass makes, reads and acks n ticks.
func (p *play) pass(n int) (last []snapshot.Change) {
	for range n {
		t := p.make()
		last = p.read(t)
		p.ack(t)
	}
	return last
}

func (p *play) wire(id snapshot.NetID) schema.WireID {
	w, ok := p.sender.Known(id)
	require.True(p.t, ok)
	return w
}

func TestWireIDsRest(t *testing.T) {
	p := newPlay(t, 0)
	p.add(1, 0)
	p.add(2, 0)
	p.pass(1)
	require.Equal(t, schema.WireID(1), p.wire(1))
	require.Equal(t, schema.WireID(2), p.wire(2))
	delete(p.bodies, 1)
	p.make() // the removal is lost
	p.sender.Lost(p.sent[p.tick])
	gone := p.tick
	next := snapshot.NetID(3)
	p.add(next, 0)
	changes := p.pass(1) // and repeated until it is delivered
	require.Equal(t, snapshot.Removed, changes[0].What)
	require.Equal(t, gone, changes[0].Ghost.Gone)
	require.Equal(t, schema.WireID(3), p.wire(3))
	p.recv.Release(changes[0].Ghost)
	for range 62 {
		require.Empty(t, p.pass(1))
	}
	next++
	p.add(next, 0)
	p.pass(1)
	require.Equal(t, schema.WireID(4), p.wire(next), "64 ticks have not passed")
	p.pass(3)
	next++
	p.add(next, 0)
	changes = p.pass(1)
	require.Equal(t, schema.WireID(1), p.wire(next), "lowest and rested")
	require.Equal(t, snapshot.Spawned, changes[0].What)
	require.Equal(t, p.tick, changes[0].Ghost.Born)
}

func TestHideAndShow(t *testing.T) {
	p := newPlay(t, 0)
	p.sender.SetVisible(2, false) // before it exists
	p.add(1, 0)
	p.add(2, 0)
	require.Len(t, p.pass(1), 1)
	p.sender.SetVisible(2, true)
	c := p.pass(1)
	require.Len(t, c, 1)
	require.Equal(t, snapshot.Spawned, c[0].What)
	require.Equal(t, p.tick, c[0].Ghost.Born, "shown, not made, in this tick")
	p.sender.SetVisible(2, false)
	c = p.pass(1)
	require.Equal(t, snapshot.Hidden, c[0].What)
	require.True(t, c[0].Ghost.Hid)
	_, known := p.sender.Known(2)
	require.False(t, known)
	old := c[0].Ghost
	p.sender.SetVisible(2, true)
	c = p.pass(1)
	require.Equal(t, snapshot.Spawned, c[0].What)
	require.NotSame(t, old, c[0].Ghost)
	require.Len(t, p.recv.Ghosts(), 3, "until it is released")
	p.recv.Release(old)
	p.recv.Release(old)
	require.Len(t, p.recv.Ghosts(), 2)
	p.recv.Release(c[0].Ghost) // it lives: nothing happens
	require.Len(t, p.recv.Ghosts(), 2)
}

func TestTransfer(t *testing.T) {
	p := newPlay(t, 1)
	b := p.add(1, 2)
	b.gun = gun{Ammo: 7, Secret: 99}
	b.pos.X = 3.1234
	p.pass(3)
	g := p.recv.Ghosts()[0]
	require.False(t, g.Mine)
	require.Equal(t, uint16(2), g.Owner)
	require.Equal(t, []int32{0, 0, 0, 0}, g.Newest().Component(cGun))
	require.Equal(t, schema.GridPublic, p.recv.Grid(g, cPosition))
	b.owner = 1
	c := p.pass(1)
	require.True(t, c[0].Transferred)
	require.True(t, g.Mine)
	require.Equal(t, int32(7), g.Newest().Component(cGun)[0])
	require.Equal(t, schema.GridSim, p.recv.Grid(g, cPosition))
	require.Equal(t, schema.GridPublic, p.recv.Grid(g, cFollow))
	require.Equal(t, p.src.OwnerWords(1, cPosition), g.Newest().Component(cPosition))
	before, ok := g.At(p.tick - 1)
	require.True(t, ok)
	require.False(t, before.Mine)
	a, bb, _, ok := g.Sample(p.tick-1, 0.5)
	require.True(t, ok)
	require.Equal(t, a, bb, "grids do not mix")

	p.sender.SetViewer(2)
	p.pass(2)
	require.False(t, g.Mine)
	require.Equal(t, []int32{0, 0, 0, 0}, g.Newest().Component(cGun))
}

func TestComponentsComeAndGo(t *testing.T) {
	p := newPlay(t, 0)
	b := p.add(1, 0)
	p.pass(2)
	b.mask &^= 1 << cGun
	c := p.pass(1)
	require.Equal(t, snapshot.Components, c[0].What)
	require.Nil(t, c[0].Ghost.Newest().Component(cGun))
	b.mask |= 1<<cGun | 1<<cTag
	b.gun.Kind = 9
	c = p.pass(1)
	require.Equal(t, snapshot.Components, c[0].What)
	require.Equal(t, int32(9), c[0].Ghost.Newest().Component(cGun)[3])
	require.NotNil(t, c[0].Ghost.Newest().Component(cTag))
	b.mask |= 1 << cPurse // of which others receive nothing
	require.Empty(t, p.pass(1))
}

func TestReferences(t *testing.T) {
	p := newPlay(t, 0)
	p.sender.SetVisible(2, false)
	a := p.add(1, 0)
	p.add(2, 0)
	a.follow.Target = 2
	p.pass(3)
	g := p.recv.Ghosts()[0]
	require.Zero(t, g.Newest().Component(cFollow)[0], "it is hidden")
	p.sender.SetVisible(2, true)
	p.pass(1)
	require.Zero(t, g.Newest().Component(cFollow)[0], "it is not known yet")
	c := p.pass(1)
	require.Len(t, c, 1, "sent again by itself")
	require.Equal(t, int32(p.wire(2)), g.Newest().Component(cFollow)[0])
	require.Empty(t, p.pass(1))
	p.sender.SetVisible(2, false)
	p.pass(2)
	require.Zero(t, g.Newest().Component(cFollow)[0])
}

func TestOutOfOrder(t *testing.T) {
	p := newPlay(t, 0)
	b := p.add(1, 0)
	p.pass(5)
	for range 3 {
		b.pos.X++
		p.make()
	}
	last := p.tick
	require.Len(t, p.read(last), 1)
	g := p.recv.Ghosts()[0]
	_, ok := g.At(last - 1)
	require.False(t, ok, "not received")
	require.Empty(t, p.read(last-1), "it is news to nobody")
	s, ok := g.At(last - 1)
	require.True(t, ok)
	require.Equal(t, int32(200), s.Component(cPosition)[0])
	require.Equal(t, int32(300), g.Newest().Component(cPosition)[0])
	require.Empty(t, p.read(last-1), "a duplicate")
	require.Equal(t, uint64(1), p.recv.Counters().Duplicate)
	require.Equal(t, uint64(1), p.recv.Counters().OutOfOrder)
	p.ack(last - 1)
	b.pos.X++
	require.Len(t, p.read(p.make()), 1, "the older one is a baseline")
	require.Equal(t, int32(400), g.Newest().Component(cPosition)[0])
}

func TestSample(t *testing.T) {
	p := newPlay(t, 0)
	b := p.add(1, 0)
	p.pass(10) // at rest
	b.pos.X = 2
	p.pass(1)
	moved := p.tick
	g := p.recv.Ghosts()[0]
	a, z, f, ok := g.Sample(moved-4, 0.5)
	require.True(t, ok)
	require.Equal(t, int32(0), a.Component(cPosition)[0])
	require.Equal(t, a, z)
	require.Zero(t, f)
	a, z, f, ok = g.Sample(moved-1, 0.25)
	require.True(t, ok)
	require.Equal(t, []any{moved - 1, moved, float32(0.25)}, []any{a.Tick, z.Tick, f}, "it began to move in the last tick only")
	require.Equal(t, int32(200), z.Component(cPosition)[0])
	a, _, f, ok = g.Sample(moved+5, 0)
	require.True(t, ok)
	require.Equal(t, int32(200), a.Component(cPosition)[0])
	require.Zero(t, f)

	for range 2 { // two snapshots are lost while it moves
		b.pos.X++
		p.make()
	}
	b.pos.X++
	p.read(p.make())
	a, z, f, ok = g.Sample(moved+1, 0.5)
	require.True(t, ok)
	require.Equal(t, []any{moved, moved + 3, float32(0.5)}, []any{a.Tick, z.Tick, f})

	delete(p.bodies, 1)
	p.pass(1)
	_, _, _, ok = g.Sample(p.tick, 0)
	require.False(t, ok, "gone")
	_, _, _, ok = g.Sample(p.tick-1, 0.9)
	require.True(t, ok, "still shown")
	_, _, _, ok = g.Sample(0, 0.9)
	require.False(t, ok, "before it was born")
}

// TestTeleport: a teleport's mark holds the old place until the new one, surely arrives, and costs nothing
// afterwards. Teleports of a hidden entity are not sent.
func TestTeleport(t *testing.T) {
	p := newPlay(t, 0)
	b := p.add(1, 2)
	require.False(t, p.src.Teleport(1), "it was never put")
	walk := func(n int) {
		for range n {
			b.pos.X += 0.5
			p.pass(1)
		}
	}
	walk(10)
	g := p.recv.Ghosts()[0]
	plain := len(p.data[p.tick])
	require.True(t, p.src.Teleport(1))
	b.pos.X += 100
	lost := p.make()
	b.pos.X += 0.5
	now := p.make()
	p.sender.Lost(p.sent[lost])
	c := p.read(now)
	require.Len(t, c, 1)
	require.True(t, c[0].Teleported, "though the snapshot of the leap was lost")
	p.ack(now)
	a, z, f, ok := g.Sample(now-1, 0.9)
	require.True(t, ok)
	require.Equal(t, a, z)
	require.Zero(t, f)
	require.Equal(t, int32(500), a.Component(cPosition)[0], "the old place, until the new one")
	walk(1)
	require.Equal(t, uint16(1), g.Newest().Jumps)
	_, z, f, _ = g.Sample(p.tick-1, 0.5)
	require.Equal(t, []any{p.tick, float32(0.5)}, []any{z.Tick, f}, "and then it goes on")
	walk(12)
	require.LessOrEqual(t, len(p.data[p.tick]), plain)

	require.True(t, p.src.Teleport(1)) // to where it is
	c = p.pass(1)
	require.True(t, len(c) == 1 && c[0].Teleported)

	p.sender.SetVisible(1, false)
	p.pass(2)
	for range 300 {
		require.True(t, p.src.Teleport(1))
	}
	p.pass(1)
	p.sender.SetVisible(1, true)
	c = p.pass(1)
	require.Equal(t, snapshot.Spawned, c[0].What)
	require.Zero(t, c[0].Ghost.Newest().Jumps)
	h, n := p.recv.Hash(p.tick)
	want, m := p.sender.Hash()
	require.Equal(t, []any{want, m}, []any{h, n})
}

// TestBlackhole: no ack comes for longer than the window. Snapshots of that time are coded against defaults,
// and can be read.
func TestBlackhole(t *testing.T) {
	p := newPlay(t, 0)
	b := p.add(1, 0)
	p.pass(3)
	for range 200 {
		b.pos.X += 0.5
		p.read(p.make())
	}
	require.Equal(t, p.src.PublicWords(1, cPosition), p.recv.Ghosts()[0].Newest().Component(cPosition))
	require.Greater(t, p.sender.Counters().Records, uint64(200))
	p.ack(p.tick)
	b.pos.X += 0.5
	p.read(p.make())
	require.Zero(t, p.recv.Counters().Malformed)
}

func TestUsage(t *testing.T) {
	r, _ := registry(t)
	_, err := r.Component(compile[ident](t, schema.Options{}))
	require.ErrorContains(t, err, "exists")
	_, err = r.Prefab("avatar", nil, nil)
	require.ErrorContains(t, err, "exists")
	_, err = r.Prefab("x", []int{99}, nil)
	require.ErrorContains(t, err, "no component 99")
	_, err = r.Prefab("x", []int{0, 0}, nil)
	require.ErrorContains(t, err, "twice")
	_, err = r.Component(nil)
	require.Error(t, err)
	require.Error(t, r.UseTables([]byte{1, 2}))
	src := snapshot.NewSource(r, snapshot.SourceConfig{})
	_, err = r.Component(compile[command](t, schema.Options{}))
	require.ErrorIs(t, err, schema.ErrFrozen)
	_, err = r.Prefab("x", nil, nil)
	require.ErrorIs(t, err, schema.ErrFrozen)

	i := ident{}
	ps := []unsafe.Pointer{ptr(&i)}
	for want, call := range map[string]func(){
		"call Begin":             func() { src.Put(1, 1, 0, schema.MaskOf(0), ps, nil) },
		"no tick is open":        func() { src.End() },
		"ticks start at 1":       func() { src.Begin(0) },
		"is not registered":      func() { src.Begin(1); src.Put(1, 77, 0, schema.MaskOf(0), ps, nil) },
		"was not ended":          func() { src.Begin(2) },
		"does not fit 1 pointer": func() { src.Put(1, 1, 0, schema.MaskOf(0, 1), ps, nil) },
		"put twice":              func() { src.Put(1, 1, 0, schema.MaskOf(0), ps, nil); src.Put(1, 1, 0, schema.MaskOf(0), ps, nil) },
		"from prefab 1 to 2":     func() { src.Put(5, 1, 0, schema.MaskOf(0), ps, nil); src.Put(5, 2, 0, schema.MaskOf(0), ps, nil) },
		"start at 1":             func() { src.Put(0, 1, 0, schema.MaskOf(0), ps, nil) },
	} {
		if want == "was not ended" || want == "does not fit 1 pointer" || want == "put twice" || want == "from prefab 1 to 2" || want == "start at 1" {
			src = snapshot.NewSource(r, snapshot.SourceConfig{})
			src.Begin(1)
		} else {
			src = snapshot.NewSource(r, snapshot.SourceConfig{})
		}
		func() {
			defer func() {
				e, ok := recover().(snapshot.UsageError)
				require.True(t, ok, want)
				require.Contains(t, e.Error(), want)
			}()
			call()
		}()
	}
}

func TestTooLittleRoom(t *testing.T) {
	p := newPlay(t, 0)
	p.add(1, 0)
	p.make()
	var rec snapshot.Sent
	require.Equal(t, []byte("x"), p.sender.Append([]byte("x"), 10, &rec))
	require.Zero(t, rec.Tick())
	require.Equal(t, uint64(1), p.sender.Counters().TooSmall)
	p.sender.Close()
	require.Empty(t, p.sender.Append(nil, 1000, &rec))
}

// TestWindow: however much the source remembers, no baseline is older than what the
// receiver keeps.
func TestWindow(t *testing.T) {
	r, _ := registry(t)
	p := newPlay(t, 0)
	p.src = snapshot.NewSource(r, snapshot.SourceConfig{History: 512})
	p.sender = p.src.NewSender(0, snapshot.SenderConfig{})
	b := p.add(1, 0)
	p.pass(3)
	for range 300 { // no acks
		b.pos.X += 0.25
		p.read(p.make())
	}
	p.ack(p.tick - 250) // and a late one
	b.pos.X += 0.25
	p.read(p.make())
	require.Equal(t, p.src.PublicWords(1, cPosition), p.recv.Ghosts()[0].Newest().Component(cPosition))
}

// TestLateFate: if the fate of a packet is reported after its wire ids went to other entities, it does not
// count for these.
func TestLateFate(t *testing.T) {
	p := newPlay(t, 0)
	p.add(1, 0)
	first := p.make()
	p.read(first)
	delete(p.bodies, 1)
	p.pass(70)
	p.add(2, 0)
	second := p.make()
	require.Equal(t, 1, p.sent[second].Len())
	p.ack(first)
	p.sender.Lost(p.sent[first])
	_, known := p.sender.Known(2)
	require.False(t, known)
	p.ack(second)
	require.Equal(t, schema.WireID(1), p.wire(2))
}
