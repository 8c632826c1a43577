package snapshot_test

import (
	"testing"

	"github.com/foretick/foretick/snapshot"
	"github.com/stretchr/testify/require"
)

// TestLate: the sender knows of each entity in each snapshot what its viewer knows of it, even if the list of
// postponed entities had to be made coarser.
func TestLate(t *testing.T) {
	c := newCrowd(t, 300, 0, snapshot.SenderConfig{})
	late, slot := snapshot.NewLates(24), 0
	put, known, coarse := 0, 0, 0
	for n := range 400 {
		for i := range c.boxes {
			if i%3 != 0 || n%50 == 0 { // some rest, and have wire ids between those of postponed ones
				c.move(i)
			}
		}
		room := 120
		if n%60 > 30 {
			room = 600
		}
		c.step(room, 3)
		slot = int(c.tick) % 24
		any := late.Note(slot, &c.sent[c.tick%16])
		_, all, _ := c.recv.Complete(c.tick)
		require.Equal(t, !all, any)
		for i := range c.boxes {
			w, since, ok := c.sender.Shown(snapshot.NetID(i + 1))
			plain, shown := c.sender.Known(snapshot.NetID(i + 1))
			require.Equal(t, shown, ok)
			if !ok {
				continue
			}
			require.Equal(t, plain, w)
			g := c.recv.Find(w)
			require.NotNil(t, g)
			require.Equal(t, g.Born, since)
			_, has := g.At(c.tick)
			require.Equal(t, has, !late.Has(slot, w), "tick %d, entity %d", c.tick, i)
			switch {
			case has:
				known++
			case i%3 == 0 && n%50 > 20:
				coarse++
			default:
				put++
			}
		}
	}
	t.Logf("%d known, %d put off, %d at rest among them", known, put, coarse)
	require.Greater(t, known, 10_000)
	require.Greater(t, put, 10_000)
	require.Greater(t, coarse, 100)
	require.Zero(t, testing.AllocsPerRun(1000, func() { slot = (slot + 1) % 24; late.Note(slot, &c.sent[c.tick%16]) }))
	late.Reset()
	require.False(t, late.Has(slot, 1))
}

// TestDeltaThatYieldsNoEntity: a record against a baseline that the viewer does
// not hold makes no entity and changes none; the snapshot is refused whole.
func TestDeltaThatYieldsNoEntity(t *testing.T) {
	c := newCrowd(t, 3, 0, snapshot.SenderConfig{})
	c.step(1000, 0)
	c.boxes = append(c.boxes, box{X: 1})
	for range 6 { // sent, believed to be delivered, and lost
		c.move(3)
		c.put()
		rec := &c.sent[c.tick%16]
		c.buf = c.sender.Append(c.buf[:0], 1000, rec)
		c.sender.Delivered(rec)
	}
	_, err := c.recv.Read(c.buf)
	require.ErrorIs(t, err, snapshot.ErrBaseline)
	require.Len(t, c.recv.Ghosts(), 3)
	newest, _ := c.recv.Newest()
	require.EqualValues(t, 1, newest, "a snapshot that is refused was not received")
	require.EqualValues(t, 1, c.recv.Counters().Baseline)
}

// TestPostponedUnknown: a snapshot that postpones an entity which the receiver never had says
// so, however its runs of wire ids were joined.
func TestPostponedUnknown(t *testing.T) {
	const n = 60
	c := newCrowd(t, n, 0, snapshot.SenderConfig{})
	unknown, known := 0, 0
	for range 200 {
		for i := range c.boxes {
			c.move(i)
		}
		c.step(120, 3)
		if received, _, _ := c.recv.Complete(c.tick); !received {
			require.True(t, c.recv.PostponedUnknown(c.tick))
			continue
		}
		missing := len(c.recv.Ghosts()) < n
		require.Equal(t, missing, c.recv.PostponedUnknown(c.tick), "tick %d: %d ghosts", c.tick, len(c.recv.Ghosts()))
		if missing {
			unknown++
		} else {
			known++
		}
	}
	t.Logf("%d snapshots with unknown entities, %d without", unknown, known)
	require.Positive(t, unknown)
	require.Greater(t, known, 50)
	require.True(t, c.recv.PostponedUnknown(c.tick+1))
}
