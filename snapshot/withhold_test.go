package snapshot_test

import (
	"reflect"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
	"github.com/stretchr/testify/require"
)

// peer is a viewer of a throng. Its acknowledgements take three ticks, if it sends any.
type peer struct {
	sender *snapshot.Sender
	recv   *snapshot.Receiver
	sent   [4]snapshot.Sent
	silent bool
	buf    []byte
	took   time.Duration // took is the time of the last snapshot.
}

// throng is very many boxes that come and go.
type throng struct {
	t     *testing.T
	src   *snapshot.Source
	tick  schema.Tick
	room  int
	peers []*peer
	it    box
}

func newThrong(t *testing.T, spawns int, silent ...bool) *throng {
	s, err := schema.Compile(reflect.TypeFor[box](), schema.Options{})
	require.NoError(t, err)
	r := schema.NewRegistry()
	_, err = r.Component(s)
	require.NoError(t, err)
	_, err = r.Prefab("box", []int{0}, nil)
	require.NoError(t, err)
	c := &throng{t: t, room: 1100, src: snapshot.NewSource(r, snapshot.SourceConfig{History: 4})}
	for _, is := range silent {
		c.peers = append(c.peers, &peer{sender: c.src.NewSender(0, snapshot.SenderConfig{Spawns: spawns}), recv: snapshot.NewReceiver(r, snapshot.ReceiverConfig{Spawns: spawns}), silent: is})
	}
	return c
}

// step sends each peer a snapshot of the boxes from one network id up to another.
func (c *throng) step(from, upto int) {
	c.tick++
	c.src.Begin(c.tick)
	ps := []unsafe.Pointer{unsafe.Pointer(&c.it)}
	for id := from; id < upto; id++ {
		c.src.Put(snapshot.NetID(id), 0, 0, schema.MaskOf(0), ps, nil)
	}
	c.src.End()
	for _, p := range c.peers {
		begin := time.Now()
		rec := &p.sent[c.tick%4]
		p.buf = p.sender.Append(p.buf[:0], c.room, rec)
		p.took = time.Since(begin)
		switch old := &p.sent[(c.tick+1)%4]; {
		case p.silent:
			p.sender.Lost(old)
		default:
			_, err := p.recv.Read(p.buf)
			require.NoError(c.t, err)
			for _, ch := range p.recv.Changes() {
				if ch.What == snapshot.Removed {
					p.recv.Release(ch.Ghost)
				}
			}
			p.sender.Delivered(old)
		}
	}
}

// slower is how much longer the second peer's snapshots took than the first's, at the
// median.
func slower(a, b []time.Duration) float64 {
	slices.Sort(a)
	slices.Sort(b)
	return float64(b[len(b)/2]) / float64(a[len(a)/2])
}

// A viewer that acknowledges no snapshot is shown nothing more once too much of what
// it was shown is unsure, so that no removals pile up: 65 000 entities that came and
// went under it cost no more than they do for an honest one.
func TestRemovalsPileUpForNobody(t *testing.T) {
	c := newThrong(t, 0, false, true)
	var honest, silent []time.Duration
	const each, ticks = 100, 700
	for i := range ticks {
		c.step(1+i*each, 1+(i+1)*each)
		if i >= ticks/2 {
			honest, silent = append(honest, c.peers[0].took), append(silent, c.peers[1].took)
		}
	}
	a, b := c.peers[0].sender, c.peers[1].sender
	require.Greater(t, a.Counters().Spawns, uint64(60_000))
	require.LessOrEqual(t, b.Leaving(), 4096)
	require.LessOrEqual(t, b.Counters().Spawns, uint64(2*4096), "repetitions counted")
	require.Less(t, a.Leaving(), 1000)
	ratio := slower(honest, silent)
	t.Logf("%d entities came and went; %d removals wait; a snapshot takes %.2f times an honest one", each*ticks, b.Leaving(), ratio)
	require.LessOrEqual(t, ratio, 2.0)
}

// All entities that a viewer holds may go at once. Their removals then take turns. However many wait, a
// snapshot takes about as long as for a viewer that acknowledges them.
func TestVeryManyGoAtOnce(t *testing.T) {
	costtest.Ratio(t)
	c := newThrong(t, 2000, false, false)
	const n = 65_000
	c.room = 60_000
	for i := range 100 {
		c.step(1, 1+min(n, (i+1)*900))
	}
	c.room = 1100
	require.Equal(t, n, len(c.peers[0].recv.Ghosts()))
	c.peers[1].silent = true
	var honest, silent []time.Duration
	for i := range 700 {
		c.step(n, n+1) // one stays
		if i > 10 && i < 300 {
			honest, silent = append(honest, c.peers[0].took), append(silent, c.peers[1].took)
		}
	}
	ratio := slower(honest, silent)
	t.Logf("%d removals wait; a snapshot takes %.2f times an honest one, %v", c.peers[1].sender.Leaving(), ratio, silent[len(silent)/2])
	require.Equal(t, 1, len(c.peers[0].recv.Ghosts()))
	require.Zero(t, c.peers[0].sender.Leaving())
	require.Zero(t, c.peers[0].recv.Counters().Malformed)
	require.LessOrEqual(t, ratio, 2.0)
}

// A viewer that begins to acknowledge again is shown the entities that it was not.
func TestUnsureViewerGoesOn(t *testing.T) {
	c := newThrong(t, 0, true)
	for i := range 200 {
		c.step(1+i*100, 1+(i+1)*100)
	}
	p := c.peers[0]
	require.LessOrEqual(t, p.sender.Leaving(), 4096)
	p.silent = false
	for range 200 {
		c.step(20_000, 20_300)
	}
	require.Equal(t, 300, len(p.recv.Ghosts()))
	require.Zero(t, p.sender.Leaving())
	for id := snapshot.NetID(20_000); id < 20_300; id++ {
		_, ok := p.sender.Known(id)
		require.True(t, ok)
	}
}
