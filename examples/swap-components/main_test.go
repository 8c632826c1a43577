package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport/sim"
)

// Whatever the network does, each snapshot that arrives equals the server's state of that tick, and is little larger
// than the changes.
func TestClientHasWhatTheServerHad(t *testing.T) {
	for _, link := range []sim.Link{{}, {Latency: 50 * time.Millisecond, Jitter: 40 * time.Millisecond, Loss: 0.2, Duplicate: 0.1, Reorder: 0.1}, sim.Hell} {
		o := play(1500, link, 7)
		t.Logf("%+v", o)
		assert.Zero(t, o.Wrong)
		assert.Zero(t, o.Bad, "what an honest server sends is understood")
		assert.Greater(t, o.Taken, 1500/2)
		assert.Equal(t, 12, o.Ships)
		assert.Positive(t, o.Names)
		assert.Less(t, o.Bytes, 0.75*o.Full, "baselines are used")
	}
	assert.Equal(t, play(300, sim.Hell, 3), play(300, sim.Hell, 3), "a seed replays")
}

func TestColumn(t *testing.T) {
	var c, d Column[int]
	for _, id := range []uint32{5, 2, 9, 7, 2} {
		c.Set(id, int(id)*10)
	}
	assert.Equal(t, []uint32{2, 5, 7, 9}, c.IDs())
	c.Remove(5)
	c.Remove(5)
	require.NotNil(t, c.Get(7))
	assert.Equal(t, 70, *c.Get(7))
	assert.Nil(t, c.Get(5))
	assert.False(t, c.Equal(&d))
	d.Copy(&c)
	assert.True(t, c.Equal(&d))
	d.Set(2, 1)
	assert.Equal(t, 20, *c.Get(2), "a copy is a copy")
}

// What does not come from such a server is refused, and changes nothing.
func TestMalformed(t *testing.T) {
	for name, b := range map[string][]byte{
		"nothing": {}, "no end": {1, 0}, "tick 0": {0, 0, 0}, "an unknown baseline": {9, 3, 0}, "a baseline before the first tick": {3, 200, 1, 0},
		"something after the end": {1, 0, 0, 7}, "an id beyond 32 bits": {1, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 1},
		"half a place": {1, 0, 1, 1, 4}, "half a course": {1, 0, 1, 2, 4}, "a name too long": {1, 0, 1, 4, 33},
		"a name that is not there": {1, 0, 1, 4, 9, 'x'}, "a name that is no text": {1, 0, 1, 4, 1, 0xFF, 0},
	} {
		e := &end{}
		_, err := decode(b, e)
		assert.ErrorIs(t, err, errMalformed, name)
		assert.Equal(t, [history]uint32{}, e.ticks, name)
	}
}

// FuzzDecode: no input panics, or makes the client hold more than its limit; an accepted input is written back
// identically.
func FuzzDecode(f *testing.F) {
	game := &World{}
	game.Places.Set(3, Place{-5, 1 << 40})
	game.Courses.Set(3, Course{9, -9})
	game.Names.Set(4, "Æøå")
	f.Add(encode(nil, 20, game, 0, nil))
	f.Add(encode(nil, 21, &World{}, 20, game))
	f.Fuzz(func(t *testing.T, b []byte) {
		e := &end{}
		e.begin(20).Copy(game)
		tick, err := decode(b, e)
		if err != nil {
			return
		}
		w := e.at(tick)
		if w.Places.Len() > maxIDs || w.Names.Len() > maxIDs || w.Courses.Len() > maxIDs {
			t.Fatal("too much is held")
		}
		again := &end{}
		again.begin(20).Copy(game)
		if _, err := decode(encode(nil, tick, w, 0, nil), again); err != nil || !again.at(tick).Equal(w) {
			t.Fatalf("%v: %+v is read again as %+v", err, w, again.at(tick))
		}
	})
}
