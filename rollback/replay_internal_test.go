package rollback

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/settled"
	"github.com/foretick/foretick/internal/settled/settledtest"
	"github.com/foretick/foretick/relay"
)

// recorded plays a bout of two and returns a player's replay and its end.
func recorded(t testing.TB, seed uint64, d time.Duration) (replay []byte, c *corner) {
	b := newBout(t, seed, relay.Config{Players: 2})
	c = b.join(0, far, Config{}, nil)
	b.join(0, far, Config{}, nil)
	b.run(d)
	b.compare()
	var out bytes.Buffer
	require.NoError(t, c.peer.WriteReplay(&out))
	return out.Bytes(), c
}

// playAgain plays a replay to its end with a game.
func playAgain(t *testing.T, replay []byte, g *fighters, cfg ReplayConfig) (*Replay, error) {
	cfg.Protocol, cfg.From = g.protocol(t), bytes.NewReader(replay)
	r, err := NewReplay(cfg)
	require.NoError(t, err)
	for {
		if more, err := r.Step(); !more {
			return r, err
		}
	}
}

// TestReplayIsTheMatch: a replay ends in the world of the match, bit for bit, and handlers for the screen do not run.
// A minute of two players who press keys all the time takes few kB.
func TestReplayIsTheMatch(t *testing.T) {
	replay, c := recorded(t, 21, time.Minute)
	t.Logf("%d bytes a minute", len(replay))
	require.Less(t, len(replay), 12_000)
	g := new(fighters)
	r, err := playAgain(t, replay, g, ReplayConfig{})
	require.NoError(t, err)
	require.Equal(t, c.peer.View().Settled, r.Tick())
	require.Equal(t, r.Tick(), r.Last())
	require.NotEmpty(t, r.Build())
	m := c.peer.record.moments[len(c.peer.record.moments)-1]
	again, err := newPlayback(c.peer.p, nil, c.peer.record.rules, c.peer.record.places, &m, c.peer.record.ticks[m.offset:], mostEntities)
	require.NoError(t, err)
	_, err = again.runTo(r.Tick(), 100)
	require.NoError(t, err)
	require.Equal(t, again.sum(), r.play.sum())
	require.Equal(t, heard{onServer: g.heard.onServer}, g.heard)
	require.Positive(t, g.heard.onServer)
	require.Empty(t, g.finals)
	require.Greater(t, len(r.play.sim.inputs.latest.players), 1)
}

// TestReplayWithEffects: a replay with Effects shows each event once, predicted and then confirmed, as the systems raise
// them. None is cancelled, nothing final runs, and the worlds and their traces are the same. Without the case for shows
// in frameEnd.Raised nothing is shown.
func TestReplayWithEffects(t *testing.T) {
	replay, c := recorded(t, 21, 40*time.Second)
	var plain, shown bytes.Buffer
	quiet, err := playAgain(t, replay, new(fighters), ReplayConfig{Trace: &plain})
	require.NoError(t, err)
	g := new(fighters)
	var ticks []foretick.Tick
	runs := 0
	g.shown = func(f *foretick.Frame, s strike) {
		require.Equal(t, f.Tick, s.Tick)
		require.False(t, f.Replay)
		ticks = append(ticks, s.Tick)
		require.Equal(t, slices.Index(ticks, s.Tick), g.heard.confirmed, "those of the ticks before are confirmed")
	}
	g.walked = func(f *foretick.Frame) {
		runs++
		require.False(t, f.Replay)
	}
	r, err := playAgain(t, replay, g, ReplayConfig{Effects: true, Trace: &shown})
	require.NoError(t, err)
	n := g.heard.onServer
	require.Greater(t, n, 20)
	require.Equal(t, heard{predicted: n, confirmed: n, onServer: n}, g.heard)
	require.Len(t, ticks, n)
	require.IsNonDecreasing(t, ticks)
	require.Greater(t, runs, 2000)
	require.Empty(t, g.finals)
	require.Equal(t, quiet.play.sum(), r.play.sum())
	require.Equal(t, plain.Bytes(), shown.Bytes())
	require.Equal(t, c.peer.View().Settled, r.Tick())
}

// TestReplayOfALateJoin: who joined late has the match from there on.
func TestReplayOfALateJoin(t *testing.T) {
	b := newBout(t, 22, relay.Config{Players: 3, History: 10 * time.Second})
	b.join(0, far, Config{}, nil)
	b.join(0, far, Config{}, nil)
	b.run(13 * time.Second)
	late := b.join(b.net.Now(), far, Config{}, nil)
	b.run(8 * time.Second)
	var out bytes.Buffer
	require.NoError(t, late.peer.WriteReplay(&out))
	r, err := playAgain(t, out.Bytes(), new(fighters), ReplayConfig{})
	require.NoError(t, err)
	require.Equal(t, late.peer.View().Settled, r.Tick())
	require.Greater(t, late.peer.record.base.tick, foretick.Tick(600))
}

// TestReplayOfOtherCode: a build that computes otherwise says in which second. With a trace of the build that
// recorded the match it names the tick and the system. Without the comparison in Replay.trace it does not.
func TestReplayOfOtherCode(t *testing.T) {
	replay, _ := recorded(t, 23, 20*time.Second)
	var trace bytes.Buffer
	_, err := playAgain(t, replay, new(fighters), ReplayConfig{Trace: &trace})
	require.NoError(t, err)
	_, err = playAgain(t, replay, new(fighters), ReplayConfig{Against: bytes.NewReader(trace.Bytes())})
	require.NoError(t, err)
	for _, p := range []plant{{system: "walk", field: "fighter.HP"}, {system: "fly", field: "bolt.Fuse"}, {system: "OnServer handlers", field: "score.Hits"}} {
		p.from, p.did = 500, map[foretick.Tick]bool{}
		_, err := playAgain(t, replay, &fighters{plant: p}, ReplayConfig{})
		var second *Divergence
		require.ErrorAs(t, err, &second)
		require.Equal(t, second.Agreed+60, second.Tick)
		first := p.from
		for ; !p.did[first]; first++ {
			require.Less(t, first, second.Tick)
		}
		require.Greater(t, first, second.Agreed)
		p.did = map[foretick.Tick]bool{}
		_, err = playAgain(t, replay, &fighters{plant: p}, ReplayConfig{Against: bytes.NewReader(trace.Bytes())})
		var exact *Divergence
		require.ErrorAs(t, err, &exact)
		require.Equal(t, Divergence{Agreed: first - 1, Tick: first, System: p.system, Recorded: second.Recorded}, *exact)
		t.Log(exact)
	}
	_, err = playAgain(t, replay, new(fighters), ReplayConfig{Against: bytes.NewReader(trace.Bytes()[:1000])})
	require.ErrorContains(t, err, "is no trace of this replay")
}

// TestRecordIsBounded: a match that goes on for ever keeps the newest inputs, from a world on.
func TestRecordIsBounded(t *testing.T) {
	require.Equal(t, 8<<20, mostRecord, "docs/guide/limits.md and Peer.WriteReplay say so")
	r := record{rules: &settledtest.Rules, most: 1 << 17}
	s := settledtest.Standing()
	r.begin(s, []byte("the world at the beginning"))
	rnd, full := rand.New(rand.NewPCG(3, 4)), false
	for i := range 60_000 {
		tick := settledtest.Random(rnd, r.standing)
		r.add(&tick)
		if i%60 == 59 {
			r.addSum(settled.Sum{Tick: tick.Tick, Sum: uint64(i)}, []byte{byte(i)})
			require.NotNil(t, r.at(tick.Tick))
		}
		full = full || len(r.ticks) > r.most
		require.False(t, full && len(r.ticks) < r.most/2-10_000, "too little is kept")
	}
	require.Less(t, len(r.ticks), r.most+10_000)
	require.Positive(t, r.from)
	require.Equal(t, r.sums[0].Tick, r.base.tick+60)
	again := settled.NewStanding(&settledtest.Rules, settledtest.Places)
	require.NoError(t, again.ReadWhole(r.base.tick, r.base.standing))
	var tick settled.Tick
	for left := r.ticks; len(left) > 0; {
		var ok bool
		left, ok = again.Read(left, &tick)
		require.True(t, ok)
	}
	require.Equal(t, r.standing.AppendWhole(nil), again.AppendWhole(nil))
}
