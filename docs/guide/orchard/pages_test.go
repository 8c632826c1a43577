package orchard_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/docs/guide/orchard"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// A player finds apples and throws them: each flies at once and becomes the server's.
// Everyone hears it once.
func TestSpawning(t *testing.T) {
	m := begin(t, server.Config{})
	a, b := m.join(far, client.Config{}), m.join(far, client.Config{})
	m.ready(a, b)
	m.game.Bag.Get(m.srv.World(), m.body(a)).Apples = 3
	m.past(time.Second)
	a.sounds, b.sounds = nil, nil
	a.press = orchard.Command{X: 1, Throw: true}
	m.past(20 * time.Millisecond)
	a.press = orchard.Command{}
	m.past(50 * time.Millisecond)
	require.Equal(t, []string{"throw"}, a.sounds, "before the server knows of it")
	require.Empty(t, b.sounds)
	m.past(2 * time.Second)
	require.Equal(t, []string{"throw"}, a.sounds)
	require.Equal(t, []string{"throw"}, b.sounds)
	st := a.client.Stats()
	require.EqualValues(t, 1, st.SpawnsPredicted)
	require.EqualValues(t, 1, st.SpawnsMatched)
	require.Zero(t, st.SpawnsCancelled)
	require.EqualValues(t, 2, m.game.Bag.Get(m.srv.World(), m.body(a)).Apples)
}

// Walls stop a body without a correction, and an apple goes to one of two.
func TestTouch(t *testing.T) {
	m := begin(t, server.Config{})
	a, b := m.join(far, client.Config{}), m.join(far, client.Config{})
	m.ready(a, b)
	w := m.srv.World()
	m.game.Match.Get(w).Phase = orchard.Paused // so that no other apple comes
	*m.game.Pos.Get(w, m.body(a)) = orchard.Position{X: 10, Y: 13.5}
	*m.game.Pos.Get(w, m.body(b)) = orchard.Position{X: 11, Y: 13.5}
	apple := m.srv.Frame().Spawn(&m.game.Apple, ecs.Nobody)
	*m.game.Pos.Get(w, apple) = orchard.Position{X: 10.5, Y: 13.5}
	m.past(time.Second)
	require.EqualValues(t, 1, m.game.Bag.Get(w, m.body(a)).Apples+m.game.Bag.Get(w, m.body(b)).Apples)
	require.Nil(t, m.game.Pos.Find(w, apple))
	m.game.Match.Get(w).Phase = orchard.Playing
	m.past(time.Second)
	before := a.client.Stats().Mispredictions
	a.press = orchard.Command{X: -1}
	m.past(2 * time.Second)
	require.InDelta(t, 8, m.game.Pos.Get(w, m.body(a)).X, 0.21, "beside the wall")
	require.Equal(t, before, a.client.Stats().Mispredictions)
}

// A purchase takes coins once, and one that is too dear takes none.
func TestPurchases(t *testing.T) {
	m := begin(t, server.Config{})
	bad := simtest.Seat{Up: sim.Link{Latency: 50 * time.Millisecond, Loss: 0.3}, Down: sim.Link{Latency: 50 * time.Millisecond, Loss: 0.3}}
	a, b := m.join(bad, client.Config{}), m.join(bad, client.Config{})
	m.ready(a, b)
	a.lines = nil
	for _, item := range []uint8{1, 0, 3} {
		require.NoError(t, a.game.Buy.Send(a.client, orchard.Buy{Item: item}))
	}
	require.NoError(t, b.game.Say.Send(b.client, orchard.Say{Text: "ready?"}))
	m.past(3 * time.Second)
	require.Subset(t, a.lines, []string{"bought item 1", "bought item 0", "not enough coins"})
	require.Len(t, a.lines, 4)
	require.Contains(t, a.lines, fmt.Sprintf("%d: ready?", b.client.View().Player))
	require.Zero(t, m.game.Bag.Get(m.srv.World(), m.body(a)).Coins)
	late := m.join(far, client.Config{})
	m.past(2 * time.Second)
	require.Equal(t, m.game.Match.Get(m.srv.World()).Phase, late.game.Match.Get(late.client.View().World).Phase)
	require.Greater(t, late.game.Match.Get(late.client.View().World).Left, uint16(10))
}

// A pose is never older than it can be, on the own screen and on that of others.
func TestPose(t *testing.T) {
	require.Equal(t, 0, orchard.Drawn(-1, 6, 12))
	require.Equal(t, 4, orchard.Drawn(25, 6, 12)) // 10 images in 25 ticks
	m := begin(t, server.Config{})
	var a, b *seat
	seen, oldest := map[uint8]int{}, [2]float32{}
	at := far
	at.After = func(v client.View) {
		if v.State != client.Playing || b == nil {
			return
		}
		for i, player := range []foretick.PlayerID{1, 2} {
			if pose := b.game.Pose.Find(v.World, b.game.Own(v.World, player)); pose != nil && pose.Since > 0 {
				age := orchard.Age(v, player, *pose)
				require.Greater(t, age, float32(-1.01), "player %d", player)
				oldest[i] = max(oldest[i], age)
				if player == 1 {
					seen[pose.Is]++
				}
			}
		}
	}
	a, b = m.join(far, client.Config{}), m.join(at, client.Config{})
	m.ready(a, b)
	for n := range 12 {
		press := orchard.Command{X: float32(n%2)*2 - 1, Throw: n%3 == 0}
		a.press, b.press = press, press
		m.past(40 * time.Millisecond)
		a.press.Throw, b.press.Throw = false, false
		m.past(time.Second)
		a.press, b.press = orchard.Command{}, orchard.Command{}
		m.past(500 * time.Millisecond)
	}
	require.Len(t, seen, 3)
	require.Less(t, oldest[0], float32(40))
	require.Less(t, oldest[1], float32(40))
}

// The lobby waits for all, a pause holds everyone, and each end has its words.
func TestLobby(t *testing.T) {
	m := begin(t, server.Config{MaxClients: 2})
	a, b := m.join(far, client.Config{}), m.join(far, client.Config{})
	require.Equal(t, "connecting", a.game.Screen(a.client.View()))
	m.past(time.Second)
	require.Equal(t, "lobby", a.game.Screen(a.client.View()))
	a.press = orchard.Command{X: 1}
	m.past(time.Second)
	require.Equal(t, m.game.Pos.Get(m.srv.World(), m.body(b)).X-3, m.game.Pos.Get(m.srv.World(), m.body(a)).X, "nobody walks in the lobby")
	m.ready(a, b)
	require.Empty(t, a.game.Screen(a.client.View()))
	require.NoError(t, b.game.Pause.Send(b.client, orchard.Pause{On: true}))
	m.past(time.Second)
	require.Equal(t, "paused", a.game.Screen(a.client.View()))
	at := a.game.Pos.Get(a.client.View().World, a.own()).X
	m.past(time.Second)
	require.Equal(t, at, a.game.Pos.Get(a.client.View().World, a.own()).X)
	require.NoError(t, a.game.Pause.Send(a.client, orchard.Pause{}))
	m.past(time.Second)
	require.Less(t, at, a.game.Pos.Get(a.client.View().World, a.own()).X)

	full := m.join(far, client.Config{})
	m.past(time.Second)
	require.Equal(t, "the match is full", full.game.Screen(full.client.View()))
	require.NoError(t, m.srv.Do("kick", func(f *foretick.ServerFrame) { f.Kick(2, transport.Kicked, "language") }))
	m.past(time.Second)
	require.Equal(t, "removed: language", b.game.Screen(b.client.View()))
	m.game.Match.Get(m.srv.World()).Left = 5
	m.past(time.Second)
	require.Equal(t, "over", a.game.Screen(a.client.View()))
	m.FreezeServer(true)
	m.past(2 * time.Second)
	require.Equal(t, "nothing comes from the server", a.game.Screen(a.client.View()))
	m.FreezeServer(false)
	m.past(time.Second)
	require.NoError(t, m.srv.Close("that was it"))
	m.past(time.Second)
	require.Equal(t, "the match has ended: that was it", a.game.Screen(a.client.View()))
	for _, c := range []struct {
		want string
		err  error
	}{
		{"the server has another version of the game", &client.ProtocolError{}},
		{"the connection is lost", &transport.DisconnectError{Code: transport.Timeout}},
		{"no server there", &transport.DisconnectError{Code: transport.Unreachable}},
		{"you left", nil},
		{"you left", errors.New("else")},
	} {
		require.Equal(t, c.want, a.game.Screen(client.View{State: client.Closed, Err: c.err}))
	}
}

// A player who loses its line is marked, comes back to its body, and also as another
// process with its token. One that leaves drops its apples.
func TestSeats(t *testing.T) {
	m := begin(t, server.Config{Timeout: time.Second})
	var told []client.SessionKind
	cfg := client.Config{Timeout: time.Second, OnSession: func(s client.Session) { told = append(told, s.Kind) }}
	a, b := m.join(far, cfg), m.join(far, client.Config{})
	m.ready(a, b)
	m.game.Bag.Get(m.srv.World(), m.body(a)).Apples = 4
	away := func() bool {
		return b.game.Name.Get(b.client.View().World, b.game.Own(b.client.View().World, 1)).Away
	}
	m.past(8 * time.Second) // a place is held no longer than its player has played
	body := m.body(a)
	m.Link(a.client, sim.Link{Loss: 1}, sim.Link{Loss: 1})
	m.past(2 * time.Second)
	require.Equal(t, "connection lost, trying again", a.game.Screen(a.client.View()))
	require.True(t, away())
	m.Link(a.client, far.Up, far.Down)
	m.past(3 * time.Second)
	require.False(t, away())
	require.Equal(t, []client.SessionKind{client.SessionJoined, client.SessionResumed}, told)

	token := a.client.ResumeToken()
	m.KillClient(a.client)
	m.past(2 * time.Second)
	require.True(t, away())
	cfg.ResumeToken = token
	a = m.join(far, cfg)
	m.past(2 * time.Second)
	require.False(t, away())
	require.Equal(t, body, m.body(a))
	require.EqualValues(t, 1, a.client.View().Player)

	m.game.Match.Get(m.srv.World()).Phase = orchard.Paused // so that no apples grow
	m.past(time.Second)
	apples := func() (n int) {
		for _, rows := range ecsApples(m).All(m.srv.World()) {
			n += rows.Len()
		}
		return n
	}
	before, carried := apples(), int(m.game.Bag.Get(m.srv.World(), body).Apples)
	require.NotZero(t, carried)
	require.NoError(t, m.Leave(a.client))
	m.past(500 * time.Millisecond)
	require.Nil(t, m.game.Name.Find(m.srv.World(), body))
	require.Equal(t, before+carried-int(m.game.Bag.Get(m.srv.World(), m.body(b)).Apples), apples())
}

// ecsApples matches what lies on the ground.
func ecsApples(m *match) *ecs.Query {
	return ecs.NewQuery(m.srv.World().Types(), ecs.With(&m.game.Pos), ecs.Without(&m.game.Flight, &m.game.Name))
}

// Each client enters a level before it sees anything of it, and its walls are predicted.
func TestLevels(t *testing.T) {
	m := begin(t, server.Config{})
	a := m.join(far, client.Config{})
	m.ready(a)
	require.Equal(t, []string{"entering meadow"}, a.lines)
	require.NoError(t, m.game.Next("cave"))
	m.past(time.Second)
	late := m.join(far, client.Config{})
	m.past(time.Second)
	require.Equal(t, []string{"entering meadow", "entering cave"}, a.lines)
	require.Equal(t, []string{"entering cave"}, late.lines)
	require.NoError(t, late.client.Close())
	m.past(time.Second)
	before := a.client.Stats().ByCause
	a.press = orchard.Command{X: -1}
	m.past(3 * time.Second)
	require.InDelta(t, 4, m.game.Pos.Get(m.srv.World(), m.body(a)).X, 0.21, "the cave has a wall here, and the meadow has none")
	for c, n := range a.client.Stats().ByCause.All() {
		if c != prediction.ServerEffect { // it finds an apple on its way
			require.Equal(t, before.Of(c), n, c)
		}
	}
}

// A client that sends what no honest one sends goes no faster, and is counted.
func TestCheating(t *testing.T) {
	for _, c := range []orchard.Command{orchard.Steer(1, 1), orchard.Steer(-3, 0.5), orchard.Steer(0.2, 0.1)} {
		require.LessOrEqual(t, c.X*c.X+c.Y*c.Y, float32(1.001))
	}
	m := begin(t, server.Config{})
	var refused string
	a := m.join(far, client.Config{OnRefused: func(_ foretick.Tick, why string) { refused = why }})
	m.ready(a)
	at := *m.game.Pos.Get(m.srv.World(), m.body(a))
	a.press = orchard.Command{X: 1, Y: 1}
	m.past(time.Second)
	require.Equal(t, at, *m.game.Pos.Get(m.srv.World(), m.body(a)))
	st, ok := m.srv.PlayerStats(m.srv.Player(1))
	require.True(t, ok)
	require.Greater(t, st.InputsRejected, uint64(10))
	require.Equal(t, "faster than anyone walks", refused)
}
