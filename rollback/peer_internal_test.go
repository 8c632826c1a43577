package rollback

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/settled"
	"github.com/foretick/foretick/relay"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// far is a link of a player that is 40 ms away from the relay.
var far = sim.Link{Latency: 20 * time.Millisecond, Jitter: 5 * time.Millisecond, InOrder: true, Loss: 0.01}

// TestLateJoin: a player that comes when the relay no longer has the first inputs gets the world of another one,
// and goes on in step with it.
func TestLateJoin(t *testing.T) {
	b := newBout(t, 1, relay.Config{Players: 3, History: 10 * time.Second})
	b.join(0, far, Config{}, nil)
	b.join(0, far, Config{}, nil)
	b.run(13 * time.Second)
	late := b.join(b.net.Now(), far, Config{}, nil)
	b.run(8 * time.Second)
	b.compare()
	require.Equal(t, Playing, late.peer.View().State)
	require.Equal(t, uint64(1), late.peer.Stats().Worlds)
	require.Greater(t, late.presses(), 30)
	require.Greater(t, late.peer.Stats().Sums, uint64(4))
}

// TestPeerReconnects: a player whose connection is lost comes back to its place, and its world is that of the others.
func TestPeerReconnects(t *testing.T) {
	for name, c := range map[string]struct {
		silent time.Duration
		worlds uint64
	}{"by inputs": {7 * time.Second, 0}, "by a world": {14 * time.Second, 1}} {
		t.Run(name, func(t *testing.T) {
			b := newBout(t, 2, relay.Config{Players: 2, History: 10 * time.Second, Timeout: time.Minute})
			b.join(0, far, Config{}, nil)
			back := b.join(0, far, Config{Redial: func() (transport.Endpoint, error) { return nil, nil }}, nil)
			b.run(5 * time.Second)
			before := back.peer.View().Player
			b.net.Kill(back.end) // the relay is not told
			b.net.At(b.net.Now()+time.Millisecond, func() { back.hidden = true })
			b.net.At(b.net.Now()+c.silent, func() { back.hidden = false })
			b.run(c.silent + 8*time.Second)
			b.compare()
			v := back.peer.View()
			require.Equal(t, Playing, v.State)
			require.Equal(t, before, v.Player)
			require.Equal(t, c.worlds, back.peer.Stats().Worlds)
			require.Greater(t, back.peer.Stats().Connections, uint64(1))
		})
	}
}

// TestNewProcessTakesItsPlace: a player whose program ended comes back to its place in a new one, by its token, and
// another one does not.
func TestNewProcessTakesItsPlace(t *testing.T) {
	b := newBout(t, 9, relay.Config{Players: 2, Timeout: time.Minute})
	b.join(0, far, Config{}, nil)
	gone := b.join(0, far, Config{}, nil)
	b.run(5 * time.Second)
	player, token := gone.peer.View().Player, gone.peer.ResumeToken()
	require.InDelta(t, 80*time.Millisecond, gone.peer.View().RTT, float64(60*time.Millisecond))
	b.net.Kill(gone.end)
	gone.hidden = true
	b.run(time.Second)
	other := b.join(b.net.Now(), far, Config{ResumeToken: make([]byte, 16)}, nil)
	b.run(2 * time.Second)
	require.Equal(t, Closed, other.peer.View().State, "the place is held")
	b.corners = b.corners[:1]
	back := b.join(b.net.Now(), far, Config{ResumeToken: token}, nil)
	b.run(8 * time.Second)
	b.compare()
	require.Equal(t, Playing, back.peer.View().State)
	require.Equal(t, player, back.peer.View().Player)
	require.Greater(t, back.peer.Stats().Sums, uint64(10), "it ran the match from its beginning")
	require.Equal(t, uint64(1), b.relay.Stats().Resumed)
}

// TestUnreadableRelay: a peer that can never read what its relay sends connects again a few times, and then ends.
func TestUnreadableRelay(t *testing.T) {
	b := newBout(t, 2, relay.Config{Players: 2})
	b.join(0, far, Config{}, nil)
	c := b.join(0, far, Config{Redial: func() (transport.Endpoint, error) { return nil, nil }}, nil)
	b.run(2 * time.Second)
	require.Equal(t, Playing, c.peer.View().State)
	c.spoil = true
	b.run(time.Minute)
	v := c.peer.View()
	require.Equal(t, Closed, v.State)
	var ended *transport.DisconnectError
	require.ErrorAs(t, v.Err, &ended)
	require.Equal(t, transport.Malformed, ended.Code)
	require.Contains(t, ended.Reason, "build the relay and all peers with the same version of Foretick")
	require.Equal(t, uint64(1+mostUnread), c.peer.Stats().Connections)
}

// TestSpectators: a spectator sees the match as many ticks later as it asks for, whenever it comes.
func TestSpectators(t *testing.T) {
	b := newBout(t, 3, relay.Config{Players: 2, History: 10 * time.Second})
	b.join(0, far, Config{}, nil)
	b.join(0, far, Config{}, nil)
	b.run(time.Second)
	early := b.join(b.net.Now(), far, Config{Observe: true, Behind: 120}, nil)
	b.run(12 * time.Second)
	late := b.join(b.net.Now(), far, Config{Observe: true}, nil)
	stood := 0 // stood counts the Steps in which a spectator plays and its world stands still.
	later := b.join(b.net.Now(), far, Config{Observe: true, Behind: 180}, nil)
	var was View
	later.before = func(v View) {
		if v.State == Playing && was.State == Playing && v.Tick == was.Tick {
			stood++
		}
		was = v
	}
	b.run(2 * time.Second)
	require.Equal(t, Joining, later.peer.View().State, "the tick of its world is not due")
	b.run(6 * time.Second)
	b.compare()
	require.Less(t, stood, 10)
	require.Equal(t, uint64(1), late.peer.Stats().Worlds)
	now := b.relay.Stats().Tick
	for _, c := range []struct {
		of     *corner
		behind int
	}{{early, 120}, {late, 0}, {later, 180}} {
		v := c.of.peer.View()
		require.Equal(t, Playing, v.State)
		require.InDelta(t, int(now)-c.behind, int(v.Tick), 15)
	}
	sums := b.corners[0].peer.sim.sums.newest
	require.Equal(t, sums, late.peer.sim.sums.newest)
}

// TestSpectatorsWait: spectators that come long before the first player see the match from its beginning, and no more
// of them wait than may watch.
func TestSpectatorsWait(t *testing.T) {
	b := newBout(t, 8, relay.Config{Players: 2, MaxObservers: 2, Timeout: 2 * time.Second})
	var all []*corner
	for range 3 {
		all = append(all, b.join(0, far, Config{Observe: true}, nil))
	}
	b.run(20 * time.Second)
	b.join(b.net.Now(), far, Config{}, nil)
	b.join(b.net.Now(), far, Config{}, nil)
	b.run(5 * time.Second)
	watch, refused := 0, 0
	for _, c := range all {
		switch v := c.peer.View(); v.State {
		case Playing:
			watch++
			require.Greater(t, v.Settled, foretick.Tick(200))
			require.Zero(t, c.peer.Stats().Worlds)
		case Closed:
			refused++
			var ended *transport.DisconnectError
			require.ErrorAs(t, v.Err, &ended)
			require.Equal(t, transport.Full, ended.Code)
		}
	}
	require.Equal(t, [2]int{2, 1}, [2]int{watch, refused})
}

// TestHiddenTab: while a player gives no input, the others wait for it once, no longer than the relay does.
func TestHiddenTab(t *testing.T) {
	b := newBout(t, 4, relay.Config{Players: 2, Timeout: time.Minute})
	other := b.join(0, far, Config{}, nil)
	gone := b.join(0, far, Config{Timeout: time.Minute}, nil)
	b.run(5 * time.Second)
	before := other.peer.Stats()
	gone.hidden = true
	b.run(20 * time.Second)
	s := other.peer.Stats()
	require.LessOrEqual(t, s.Stalls-before.Stalls, uint64(1))
	require.LessOrEqual(t, s.StalledSteps-before.StalledSteps, uint64(12))
	gone.hidden = false
	b.run(5 * time.Second)
	b.compare()
	require.Equal(t, Playing, gone.peer.View().State)
}

// TestDelayLosesNoPress: while the input delay changes all the time, each press of a player reaches the match, and
// the world never stands still for two Steps.
func TestDelayLosesNoPress(t *testing.T) {
	b := newBout(t, 5, relay.Config{Players: 2})
	steps := 0
	quiet := sim.Link{Latency: 20 * time.Millisecond}
	press := func(v View) control {
		steps++
		return control{Jump: v.Tick > 90 && steps%9 == 0 && steps < 1000}
	}
	c := b.join(0, quiet, Config{}, press)
	b.join(0, quiet, Config{}, nil)
	b.run(2 * time.Second)
	before := c.peer.Stats().StandIns // while it joined
	still, last := 0, c.peer.View().Tick
	for i := range 15 {
		require.NoError(t, c.peer.SetDelay([]int{1, 12, 3, 7}[i%4]))
		for range 60 {
			b.run(time.Second / 60)
			v := c.peer.View()
			if still++; v.Tick != last {
				still = 0
			}
			last = v.Tick
			require.LessOrEqual(t, still, 2)
		}
	}
	b.run(4 * time.Second)
	b.compare()
	require.Equal(t, 3, c.peer.View().Delay)
	require.Greater(t, c.pressed, 90)
	require.Equal(t, c.pressed, c.presses())
	require.Equal(t, before, c.peer.Stats().StandIns)
}

// TestHostPlaysToo: the relay's process may have a player of its own, whose path has no length.
func TestHostPlaysToo(t *testing.T) {
	b := newBout(t, 7, relay.Config{Players: 2})
	host := b.join(0, sim.Link{}, Config{}, nil)
	b.join(0, far, Config{}, nil)
	b.run(10 * time.Second)
	b.compare()
	require.Zero(t, host.peer.Stats().Stalls)
	require.Positive(t, host.peer.Stats().Rollbacks)
}

// TestOneshotsOfAZeroCommand: the relay can make a command that presses nothing, and one without its oneshots and
// sums, by setting bits to zero. So these mean zero, although the schema packs a number as its distance from the
// lowest.
func TestOneshotsOfAZeroCommand(t *testing.T) {
	var g fighters
	m := g.simulation(t, 8)
	var got control
	m.inputs.unpack(make([]byte, m.inputs.size), unsafe.Pointer(&got))
	require.Equal(t, control{}, got)
	rng := random{Rand: rand.New(rand.NewPCG(1, 1))}
	for range 100 {
		c := rng.next()
		b := make([]byte, m.inputs.size)
		m.inputs.pack(unsafe.Pointer(&c), b)
		m.inputs.unpack(b, unsafe.Pointer(&got))
		require.Equal(t, c, got)
	}
	fields := commandFields(m.p)
	require.Equal(t, []bool{false, true, true, true}, []bool{fields[0].Once(), fields[1].Once(), fields[2].Once(), fields[3].Once()})
	require.Len(t, fields, 4)
	require.False(t, slices.Contains(settled.Widths(fields), 0))
}
