package rollback

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/settled"
	"github.com/foretick/foretick/relay"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// soon is how long after the first wrong settled tick both players must know the cause.
const soon = 2500 * time.Millisecond

// TestDifferentSystem: where a system computes otherwise on one of two peers, both are told the tick, the system,
// the field and both values. Without search.descend nothing is.
func TestDifferentSystem(t *testing.T) {
	if game.DebugBuild {
		t.Log("debug builds refuse what the plants write without saying so")
		return
	}
	plants := []plant{
		{system: "walk", field: "position.X"}, {system: "walk", field: "position.Y"}, {system: "walk", field: "fighter.VY"},
		{system: "walk", field: "fighter.HP"}, {system: "walk", field: "fighter.Cool"}, {system: "walk", field: "fighter.Presses"},
		{system: "walk", field: "fighter.Turned"}, {system: "walk", field: "fighter.Hits"}, {system: "walk", field: "score.Hits"},
		{system: "fire", field: "fighter.Cool"}, {system: "fire", field: "position.X"}, {system: "fire", field: "fighter.VY"},
		{system: "fly", field: "position.Y"}, {system: "fly", field: "bolt.VX"}, {system: "fly", field: "bolt.Fuse"},
		{system: "rot", field: "crate.Age"}, {system: "rot", field: "position.X"},
		{system: "OnServer handlers", field: "fighter.HP"}, {system: "OnServer handlers", field: "score.Hits"}, {system: "OnServer handlers", field: "position.X"},
	}
	for n := range costtest.Count(len(plants), 50) {
		p := plants[n%len(plants)]
		r := rand.New(rand.NewPCG(1, uint64(n)))
		p.from, p.did = foretick.Tick(100+r.IntN(200)), map[foretick.Tick]bool{}
		b := newBout(t, uint64(n), relay.Config{Players: 2})
		link := sim.Link{Latency: time.Duration(r.IntN(25)) * time.Millisecond, Loss: 0.01}
		corners := []*corner{b.join(0, link, Config{}, nil), b.join(0, link, Config{}, nil)}
		wrong := corners[n/len(plants)%2]
		wrong.game.plant = p
		for end := b.net.Now() + 20*time.Second; b.net.Now() < end && (len(corners[0].desyncs) == 0 || len(corners[1].desyncs) == 0); {
			b.run(100 * time.Millisecond)
		}
		first := max(p.from, corners[0].desyncs[0].Agreed+1) // a shot that flew otherwise may be gone before the next sum
		for ; !p.did[first]; first++ {
			require.Less(t, int(first), int(wrong.peer.View().Settled), "%v never ran", p)
		}
		for i, c := range corners {
			require.NotEmpty(t, c.desyncs, "plant %d", n)
			d := c.desyncs[0]
			require.NotNil(t, d.Cause, "plant %d, %v", n, p)
			require.Equal(t, first, d.Cause.Tick, "%v: %v", p, d.Cause)
			require.Equal(t, p.system, d.Cause.System)
			require.Equal(t, p.field, d.Cause.Field)
			require.Contains(t, prefabsOf(p.field), d.Cause.Prefab)
			require.False(t, d.Cause.Outside)
			require.Equal(t, buildName(), d.OtherBuild)
			require.NotEqual(t, d.Cause.Own, d.Cause.Theirs)
			require.Less(t, c.told[0]-c.settled[first], soon)
			o := corners[1-i].desyncs[0].Cause
			require.Equal(t, [2]string{o.Own, o.Theirs}, [2]string{d.Cause.Theirs, d.Cause.Own})
		}
		if n < len(plants) {
			t.Log(corners[0].desyncs[0].Cause)
		}
	}
}

// TestOnlyOneHasIt: where a system spawns an entity on one of two peers, both are told its prefab. Without Finding.Prefab
// the one that lacks it is not.
func TestOnlyOneHasIt(t *testing.T) {
	for n := range 2 {
		b := newBout(t, uint64(n), relay.Config{Players: 2})
		corners := []*corner{b.join(0, far, Config{}, nil), b.join(0, far, Config{}, nil)}
		corners[n].game.plant = plant{system: "OnServer handlers", field: "spawn", from: 120, did: map[foretick.Tick]bool{}}
		b.run(12 * time.Second)
		for i, c := range corners {
			require.NotEmpty(t, c.desyncs)
			cause := c.desyncs[0].Cause
			require.NotNil(t, cause)
			require.Equal(t, [2]string{"OnServer handlers", "box"}, [2]string{cause.System, cause.Prefab}, "%v", cause)
			require.Equal(t, i != n, cause.Own == missing, "%v", cause)
			require.Equal(t, i == n, cause.Theirs == missing, "%v", cause)
			require.Contains(t, cause.String(), " of box "+cause.Entity.String()+": here ")
			t.Log(cause)
		}
	}
}

// TestUnsteadySystem: where a system gives another result in each run of a tick, both players are told that, and which
// system it is. Without search.findUnsteady, they hear that something wrote the world.
func TestUnsteadySystem(t *testing.T) {
	for n, p := range []plant{
		{system: "walk", field: "fighter.Turned"}, {system: "walk", field: "fighter.HP"}, {system: "fire", field: "position.X"},
		{system: "fly", field: "bolt.VX"}, {system: "OnServer handlers", field: "fighter.Hits"},
	} {
		p.from, p.chance, p.did = 130, true, map[foretick.Tick]bool{}
		b := newBout(t, uint64(n), relay.Config{Players: 2})
		corners := []*corner{b.join(0, far, Config{}, nil), b.join(0, far, Config{}, nil)}
		corners[n%2].game.plant = p
		b.run(12 * time.Second)
		for i, c := range corners {
			require.Len(t, c.desyncs, 1, "told once")
			require.Equal(t, buildName(), c.desyncs[0].OtherBuild)
			cause := c.desyncs[0].Cause
			require.NotNil(t, cause, "%v", p)
			require.True(t, cause.Unsteady, "%v: %v", p, cause)
			require.False(t, cause.Outside)
			require.Equal(t, [2]string{p.system, p.field}, [2]string{cause.System, cause.Field})
			require.Contains(t, prefabsOf(p.field), cause.Prefab)
			require.GreaterOrEqual(t, cause.Tick, p.from)
			require.Equal(t, corners[n%2].peer.View().Player, cause.Writer)
			require.Greater(t, c.peer.Stats().Desyncs, uint64(3))
			if i == 0 {
				t.Log(cause)
			}
		}
	}
}

// TestWrittenOutside: where code outside of systems writes a peer's world, both are told so, with the field and the
// ticks. Without outside.look, another field that follows from it may be named.
func TestWrittenOutside(t *testing.T) {
	fields := []string{"position.X", "position.Y", "fighter.VY", "fighter.HP", "fighter.Cool", "fighter.Presses", "fighter.Turned", "fighter.Hits", "score.Hits", "score.Joins"}
	for n := range costtest.Count(2*len(fields), 50) {
		field, r := fields[n%len(fields)], rand.New(rand.NewPCG(2, uint64(n)))
		cfg := Config{}
		from, times := foretick.Tick(100+r.IntN(200)), 60
		if n/len(fields)%2 == 1 {
			cfg.Window = Lockstep
			if n%len(fields) > 4 {
				times = 1 // nothing takes it back in lockstep, and no system makes it right again
			}
		}
		b := newBout(t, uint64(n), relay.Config{Players: 2})
		link := sim.Link{Latency: time.Duration(r.IntN(25)) * time.Millisecond, Loss: 0.01}
		calm := func(v View) control { return control{Fire: v.Tick%20 == 0} } // otherwise each write is rolled back
		corners := []*corner{b.join(0, link, cfg, calm), b.join(0, link, cfg, calm)}
		wrong := corners[n%2]
		var wrote []foretick.Tick
		wrong.before = func(v View) {
			if v.Tick < from || len(wrote) == times {
				return
			}
			wrote = append(wrote, v.Tick)
			for _, rows := range wrong.game.bodies.Owned(v.World, v.Player) {
				writeAnother(t, v.World, rows.Entity(0), field)
			}
		}
		for end := b.net.Now() + 20*time.Second; b.net.Now() < end && (len(corners[0].desyncs) == 0 || len(corners[1].desyncs) == 0); {
			b.run(100 * time.Millisecond)
		}
		for i, c := range corners {
			require.NotEmpty(t, c.desyncs, "plant %d", n)
			d := c.desyncs[0]
			require.NotNil(t, d.Cause, "plant %d, %v", n, field)
			require.True(t, d.Cause.Outside, "%v: %v", field, d.Cause)
			require.Equal(t, wrong.peer.View().Player, d.Cause.Writer)
			require.Equal(t, field, d.Cause.Field, "%v", d.Cause)
			require.Equal(t, field[:5] != "score", d.Cause.Prefab == "fighter", "%v", d.Cause)
			require.Equal(t, wrote[0], d.Cause.Tick)
			require.Equal(t, buildName(), d.OtherBuild)
			require.Contains(t, wrote, d.Cause.Last)
			require.Less(t, c.told[0]-c.settled[d.Agreed+1], soon)
			o := corners[1-i].desyncs[0].Cause
			require.Equal(t, [2]string{o.Own, o.Theirs}, [2]string{d.Cause.Theirs, d.Cause.Own})
		}
		if n < len(fields) {
			t.Log(corners[0].desyncs[0].Cause)
		}
	}
}

func writeAnother(t *testing.T, w *ecs.World, e ecs.Entity, field string) {
	if field == "score.Hits" || field == "score.Joins" {
		v, err := w.SingletonValue(field)
		require.NoError(t, err)
		require.NoError(t, w.SetSingletonValue(field, another(v)))
		return
	}
	v, err := w.Value(e, field)
	require.NoError(t, err)
	require.NoError(t, w.SetValue(e, field, another(v)))
}

// TestSearchOfThree: where one of three has another world, it learns why, and so does one of the others.
func TestSearchOfThree(t *testing.T) {
	b := newBout(t, 25, relay.Config{Players: 3})
	for range 3 {
		b.join(0, far, Config{}, nil)
	}
	b.corners[2].game.plant = plant{system: "walk", field: "fighter.Turned", from: 200, did: map[foretick.Tick]bool{}}
	b.run(8 * time.Second)
	wrong := b.corners[2].desyncs[0]
	require.Equal(t, "walk", wrong.Cause.System)
	require.False(t, wrong.Most)
	other := slices.IndexFunc(b.corners, func(c *corner) bool { return c.peer.View().Player == wrong.Other })
	right := b.corners[other].desyncs[0]
	require.Equal(t, "walk", right.Cause.System)
	require.True(t, right.Most)
	require.Equal(t, b.corners[2].peer.View().Player, right.Other)
}

// TestHostileClues: what a player sends in place of clues changes nothing for others, and is bounded.
func TestHostileClues(t *testing.T) {
	b := newBout(t, 26, relay.Config{Players: 2})
	good := b.join(0, far, Config{}, nil)
	bad := b.join(0, far, Config{Redial: func() (transport.Endpoint, error) { return nil, nil }}, nil)
	bad.game.plant = plant{system: "walk", field: "fighter.Turned", from: 200, did: map[foretick.Tick]bool{}}
	r := rand.New(rand.NewPCG(5, 6))
	bad.before = func(v View) {
		if !bad.peer.link.let {
			return
		}
		bad.peer.search = nil // it never answers truly
		c := settled.Clue{Player: 1, Tick: 240, Level: settled.Level(r.IntN(4)), Length: r.Uint32(), Found: r.IntN(2) == 0, Place: r.Uint32N(100)}
		for range r.IntN(settled.MostPoints) {
			c.Points = append(c.Points, settled.Point{Place: r.Uint32N(100), Hash: r.Uint32()})
		}
		if r.IntN(2) == 0 {
			c.Cause = &settled.Finding{Field: string(make([]byte, r.IntN(300)))}
		}
		body := c.Append(nil)
		if r.IntN(4) == 0 {
			body[r.IntN(len(body))] ^= 1 << r.IntN(8)
		}
		_ = bad.peer.link.conn.SendReliable(1, settled.KindClue, body)
	}
	b.run(12 * time.Second)
	require.Equal(t, Playing, good.peer.View().State)
	require.NotEmpty(t, good.desyncs)
	require.Zero(t, good.peer.Stats().Malformed)
	require.Positive(t, b.relay.Stats().Malformed)
}
