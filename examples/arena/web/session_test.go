package web_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/examples/arena/game"
	"github.com/foretick/foretick/examples/arena/web"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/udp"
)

// world is a server, a session as a page has it, and a second session for another player.
type world struct {
	t           *testing.T
	play, truth *udp.Endpoint
	server      *server.Server
	game        *game.Game
	one, two    *web.Session
	told        map[transport.PeerID]bool
	now         time.Time
	list        []float32
	wished      []game.Wish
	message     []byte
	events      [8]transport.Event
	shots       int
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, told: map[transport.PeerID]bool{}, now: time.Now()}
	var err error
	w.play, err = udp.Listen("127.0.0.1:0", udp.Config{})
	require.NoError(t, err)
	w.truth, err = udp.Listen("127.0.0.1:0", udp.Config{})
	require.NoError(t, err)
	w.game = game.NewGame(game.Options{TickRate: 30, Peaceful: true, Wishes: true})
	w.game.Watch.Wished = func(_ *foretick.Frame, player foretick.PlayerID, wish game.Wish) {
		w.wished = append(w.wished, wish)
		w.server.SetLateInputs(w.server.Player(player), !wish.NoLateInputs)
	}
	w.game.Watch.Explain = func(f *foretick.Frame, by foretick.PlayerID, seen foretick.HitView, ray lagcomp.Ray) {
		x := seen.Explain(ray, 50)
		shot := web.TruthShot{Player: by, Tick: f.Tick, X: ray.X, Y: ray.Y, Rewound: x.Used.Behind(f.Tick)}
		for _, b := range x.Bodies {
			for _, v := range b.Used {
				ball, _ := v.Sphere()
				shot.Used = append(shot.Used, ball)
			}
		}
		w.shots++
		w.send(web.PutShot(w.message[:0], &shot))
	}
	p, err := w.game.Protocol()
	require.NoError(t, err)
	w.server, err = server.New(server.Config{Protocol: p, Transport: w.play, Late: server.Late{Window: 200 * time.Millisecond}, OnTick: w.tick})
	require.NoError(t, err)
	w.one, w.two = w.session(), w.session()
	t.Cleanup(func() { w.one.Close(); w.two.Close(); _ = w.server.Close(""); _ = w.truth.Close(0, "") })
	w.run(2 * time.Second)
	require.Equal(t, "playing", w.one.State(w.now)["state"])
	return w
}

func (w *world) session() *web.Session {
	s, err := web.NewSession(web.Config{
		Play:  func() (transport.Endpoint, error) { return udp.Dial(w.play.LocalAddr().String(), udp.Config{}) },
		Truth: func() (transport.Endpoint, error) { return udp.Dial(w.truth.LocalAddr().String(), udp.Config{}) },
	})
	require.NoError(w.t, err)
	return s
}

func (w *world) tick(f *foretick.ServerFrame) {
	for _, ev := range w.events[:w.truth.Recv(w.events[:])] {
		w.told[ev.Peer] = ev.Kind == transport.Connected
	}
	var bodies []web.TruthBody
	for _, rows := range w.game.Avatars.All(f.World) {
		for i := range rows.Len() {
			at := w.game.Pos.Slice(rows)[i]
			bodies = append(bodies, web.TruthBody{Player: rows.Owner(), X: at.X, Y: at.Y})
		}
	}
	m, left := web.PutBodies(nil, f.Tick, bodies)
	require.Empty(w.t, left)
	w.send(m)
}

func (w *world) send(m []byte) {
	for peer, there := range w.told {
		if there {
			_ = w.truth.Send(peer, m)
		}
	}
}

// run runs the match for a while in real time, since the bad network has a clock of its own.
func (w *world) run(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(8 * time.Millisecond) {
		w.now = time.Now()
		w.server.Step(w.now)
		w.list = w.one.Frame(w.now)
		w.two.Step(w.now)
	}
}

func (w *world) set(which int, v float32) { w.one.Events(w.now, []float32{5, float32(which), v}) }

func (w *world) key(name string, down float32) {
	for i, n := range web.KeyNames() {
		if n == name {
			w.one.Events(w.now, []float32{1, float32(i), down})
		}
	}
}

func (w *world) state(name string) float64 {
	v, _ := w.one.State(w.now)[name].(float64)
	return v
}

// respond presses a key and returns how long it took until the screen showed it.
func (w *world) respond() float64 {
	var best []float64
	for _, key := range []string{"d", "a", "w", "s"} {
		w.run(700 * time.Millisecond)
		before := w.state("responses")
		w.key(key, 1)
		w.run(700 * time.Millisecond)
		w.key(key, 0)
		if w.state("responses") > before {
			best = append(best, w.state("responseMs"))
		}
	}
	require.NotEmpty(w.t, best)
	low := math.Inf(1)
	for _, v := range best {
		low = min(low, v)
	}
	return low
}

// kinds counts the records of a draw list, by kind.
func (w *world) kinds() map[int]int {
	n := map[int]int{}
	for at := web.HeaderSize; at < len(w.list); at += web.RecordSize {
		n[int(w.list[at])]++
	}
	require.Equal(w.t, int(w.list[0]), (len(w.list)-web.HeaderSize)/web.RecordSize)
	return n
}

// A session plays over the bad network that its panel sets. Without prediction, the screen shows a
// press a round trip later.
func TestSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	n := w.kinds()
	require.Equal(t, len(game.Walls), n[1])
	require.Equal(t, 2, n[2], "bodies")
	require.Equal(t, 4, n[5], "ghosts: by the server and by the snapshots")
	w.set(1, 200)
	w.run(3 * time.Second)
	require.Greater(t, w.state("rtt"), 150.)
	require.Less(t, w.respond(), 150.)
	w.set(11, 0)
	w.run(time.Second)
	require.GreaterOrEqual(t, w.respond(), 200.)
	w.set(11, 1)
	w.set(1, 0)
	w.run(time.Second)
	require.Greater(t, w.state("compared"), 50.)
	require.Zero(t, w.state("desyncs"))
	require.Zero(t, w.state("broken"))

	w.set(10, 1)
	require.Equal(t, true, w.one.State(w.now)["frozen"])
	tick := w.state("tick")
	w.run(time.Second)
	require.Equal(t, tick, w.state("tick"))
	w.run(3 * time.Second)
	require.Greater(t, w.state("tick"), tick+60)
	require.Equal(t, "playing", w.one.State(w.now)["state"])
}

// A shot shows its line, what the shooter saw and what the server judged by. Options reach the server:
// without lag compensation nothing is rewound.
func TestSessionShots(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.set(1, 200)
	w.run(3 * time.Second)
	fire := func() float64 {
		w.key("space", 1)
		w.run(600 * time.Millisecond)
		require.Equal(t, 1, w.kinds()[7], "a line of fire, while the gun fires faster than the verdicts come")
		w.key("space", 0)
		w.run(700 * time.Millisecond)
		return w.state("shotRewound")
	}
	require.Greater(t, fire(), 2.)
	require.NotZero(t, w.shots)
	n := w.kinds()
	require.Equal(t, 1, n[7], "a line of fire")
	require.NotZero(t, n[6], "hitboxes")
	w.set(15, 0)
	w.set(16, 0)
	w.run(time.Second)
	require.Contains(t, w.wished, game.Wish{NoLagCompensation: true, NoLateInputs: true})
	require.LessOrEqual(t, fire(), 1.)
	w.set(15, 1)
	w.run(time.Second)
	require.Greater(t, fire(), 2.)
}

// Whatever a page writes into its events, the session continues.
func TestSessionEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, kind := range []float32{-1, 0, 1, 2, 3, 4, 5, 6, 7, inf, nan} {
		for _, which := range []float32{-1, 0, 1, 7, 8, 9, 31, 1e9, inf, -inf, nan} {
			for _, v := range []float32{-1, 0, 1, 1e30, inf, nan} {
				if kind != 5 || which != 10 {
					w.one.Events(w.now, []float32{kind, which, v, kind})
				}
			}
		}
	}
	for i := range 7 {
		w.set(1+i, 0)
	}
	for i := range 6 {
		w.set(11+i, 1)
	}
	w.run(3 * time.Second)
	require.Equal(t, "playing", w.one.State(w.now)["state"])
	require.False(t, math.IsNaN(w.state("x")))
}

// A frame allocates very little: what the explanations and the devices need.
func TestFrameAllocatesLittle(t *testing.T) {
	if testing.Short() {
		t.Skip("counts allocations, which debug builds and the race detector add to: -short leaves it out")
	}
	w := newWorld(t)
	n := testing.AllocsPerRun(50, func() {
		w.now = w.now.Add(time.Second / 60)
		w.list = w.one.Frame(w.now)
	})
	require.Less(t, n, 10.)
}
