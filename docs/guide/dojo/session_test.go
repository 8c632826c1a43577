package dojo_test

import (
	"bytes"
	"errors"
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/docs/guide/dojo"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/examples/fighter/game"
	"github.com/foretick/foretick/relay"
	"github.com/foretick/foretick/rollback"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/local"
	"github.com/foretick/foretick/transport/sim"
)

// ring is a match in virtual time: everything that steps does so 240 times a second.
type ring struct {
	now   time.Time
	steps []func(now time.Time)
	until func() // until runs the network, if there is one.
}

func (r *ring) run(d time.Duration) {
	for end := r.now.Add(d); r.now.Before(end); {
		r.now = r.now.Add(time.Second / 240)
		if r.until != nil {
			r.until()
		}
		for _, step := range r.steps {
			step(r.now)
		}
	}
}

// heard counts the strikes that a player hears.
type heard struct{ strikes int }

// fighter is a bot, which counts its presses.
func (r *ring) fighter(p *dojo.Player, seed uint64, presses *int, ear *heard) {
	var bot *game.Bot
	p.Press = func(v rollback.View) game.Command {
		if bot == nil {
			bot = game.NewBot(p.Game, seed)
			p.Game.Heard = func(ecs.Entity, game.Strike) { ear.strikes++ }
		}
		c := bot.Command(v.World, v.Player, v.Tick)
		if c.Punch || c.Kick || c.Special {
			*presses++
		}
		return c
	}
}

// wounds returns the life that both fighters of a world have lost, and a round before counts as all of it.
func wounds(t *testing.T, p *dojo.Player) int {
	t.Helper()
	w := p.Peer.View().World
	pair, ok := p.Game.Pair(w)
	require.True(t, ok)
	a, b := p.Game.Fighter.Get(w, pair[0]), p.Game.Fighter.Get(w, pair[1])
	return 2000 - int(a.Life) - int(b.Life) + 1000*int(a.Wins+b.Wins)
}

// TestHost: a process relays the match that it plays in, and another one joins and hits.
func TestHost(t *testing.T) {
	var host, guest dojo.Player
	r := &ring{now: time.Unix(0, 0)}
	var a, b int
	var ear heard
	r.fighter(&host, 1, &a, &ear)
	r.fighter(&guest, 2, &b, &ear)
	outer := local.New(nil) // in place of a socket
	relay, err := host.Host(outer)
	require.NoError(t, err)
	require.NoError(t, guest.Join(func() (transport.Endpoint, error) { return outer.Dial(nil), nil }))
	var line string
	r.steps = append(r.steps, relay.Step, func(now time.Time) { _, line = host.Frame(now) }, func(now time.Time) { guest.Frame(now) })
	require.Empty(t, line)
	deadline := time.Now().Add(time.Minute)
	for s := relay.Stats(); s.Ticks < 600 || s.Players < 2; s = relay.Stats() {
		require.True(t, time.Now().Before(deadline), "%v", s)
		r.run(100 * time.Millisecond)
		time.Sleep(time.Millisecond) // the memory's goroutine needs a moment
	}
	require.Empty(t, line)
	require.Positive(t, a)
	require.Positive(t, b)
	require.Positive(t, wounds(t, &host))
	require.Positive(t, ear.strikes)
	require.NoError(t, host.Peer.Close())
	require.NoError(t, relay.Close("the host has left"))
	for range 100 {
		r.now = r.now.Add(time.Second / 60)
		_, line = guest.Frame(r.now)
		time.Sleep(time.Millisecond)
	}
	require.Equal(t, "the match has ended", line)
}

// TestDelays: the page's table has the input delay of matches with these ways between the players, and how many ticks are
// ahead of the settled ones.
func TestDelays(t *testing.T) {
	page, err := os.ReadFile("../fighters.md")
	require.NoError(t, err)
	rows := regexp.MustCompile(`(?m)^\| (\d+) ms \| (\d+) \| ([\d.]+) \|$`).FindAllSubmatch(page, -1)
	require.Len(t, rows, 6)
	for _, row := range rows {
		way, delay, ahead := number(t, row[1]), number(t, row[2]), number(t, row[3])
		r, relay, dial := network(t, sim.Link{Latency: time.Duration(way) * time.Millisecond / 2})
		r.steps = append(r.steps, relay.Step)
		var presses int
		var ear heard
		var sum, frames int
		for i := range uint64(2) {
			var p dojo.Player
			r.fighter(&p, i, &presses, &ear)
			require.NoError(t, p.Join(dial))
			r.steps = append(r.steps, func(now time.Time) {
				if v, _ := p.Frame(now); i == 0 && v.Tick > 600 {
					sum += int(v.Tick - v.Settled)
					frames++
					require.InDelta(t, delay, v.Delay, 1, "%v ms", way)
				}
			})
		}
		r.run(20 * time.Second)
		require.Positive(t, presses)
		require.InDelta(t, ahead, float64(sum)/float64(frames), 0.3, "%v ms", way)
	}
}

func number(t *testing.T, text []byte) float64 {
	v, err := strconv.ParseFloat(string(text), 64)
	require.NoError(t, err)
	return v
}

// network returns a relay on a simulated network, and what connects to it.
func network(t *testing.T, link sim.Link) (r *ring, relay *relay.Relay, dial func() (transport.Endpoint, error)) {
	net, begin := sim.NewNetwork(5), time.Unix(0, 0)
	r = &ring{now: begin}
	r.until = func() { net.Run(r.now.Sub(begin)) }
	listen := net.Listen()
	relay, err := dojo.NewRelay(listen)
	require.NoError(t, err)
	return r, relay, func() (transport.Endpoint, error) { return net.Dial(listen, link, link), nil }
}

// TestWatch: over a network, both players have the same world, and a spectator sees it later.
func TestWatch(t *testing.T) {
	r, relay, dial := network(t, sim.Link{Latency: 40 * time.Millisecond, Loss: 0.02})
	var left, right, watcher dojo.Player
	var a, b int
	var ears [2]heard
	r.fighter(&left, 1, &a, &ears[0])
	r.fighter(&right, 2, &b, &ears[1])
	require.NoError(t, left.Join(dial))
	require.NoError(t, right.Join(dial))
	end, err := dial()
	require.NoError(t, err)
	require.NoError(t, watcher.Watch(end, 60))
	r.steps = append(r.steps, relay.Step)
	for _, p := range []*dojo.Player{&left, &right, &watcher} {
		r.steps = append(r.steps, func(now time.Time) { p.Frame(now) })
	}
	r.run(30 * time.Second)
	s := relay.Stats()
	require.Greater(t, int(s.Compared), 20)
	require.Zero(t, s.Differed)
	require.False(t, left.Differs)
	require.Greater(t, a, 30)
	require.Greater(t, b, 30)
	require.Positive(t, wounds(t, &left))
	require.Positive(t, left.Peer.Stats().Rollbacks)
	require.InDelta(t, int(s.Tick)-60, int(watcher.Peer.View().Tick), 15)
	require.Positive(t, ears[0].strikes)
	before := left.Peer.View().Delay
	require.Positive(t, before, "the path is longer than DelayAbove")
	left.Slower()
	r.run(2 * time.Second)
	require.Equal(t, before+1, left.Peer.View().Delay)
}

// TestDiffers: a value that code outside of systems writes is named on both sides, and the replay of the match that
// the program wrote plays to its end.
func TestDiffers(t *testing.T) {
	r, relay, dial := network(t, sim.Link{Latency: 20 * time.Millisecond})
	r.steps = append(r.steps, relay.Step)
	var players [2]dojo.Player
	var faults [2]bytes.Buffer
	var presses int
	var ear heard
	for i := range players {
		p := &players[i]
		p.Fault = &faults[i]
		r.fighter(p, uint64(i), &presses, &ear)
		require.NoError(t, p.Join(dial))
		r.steps = append(r.steps, func(now time.Time) { p.Frame(now) })
	}
	r.run(10 * time.Second)
	require.Zero(t, relay.Stats().Differed)
	p := &players[1]
	v := p.Peer.View()
	pair, ok := p.Game.Pair(v.World)
	require.True(t, ok)
	for range 30 { // it writes again and again: what ran ahead is rolled back
		p.Game.Fighter.Get(v.World, pair[0]).Wins = 1
		r.run(time.Second / 60)
	}
	r.run(4 * time.Second)
	for i := range players {
		c := players[i].Cause
		require.NotNil(t, c, "player %d", i+1)
		_, line := players[i].Frame(r.now)
		require.Equal(t, "the two machines disagree", line)
		require.True(t, c.Outside)
		require.EqualValues(t, v.Player, c.Writer)
		require.Contains(t, c.Field, "Wins")
		worlds := 0
		err := dojo.Replay(&faults[i], &game.Game{}, func(*ecs.World) { worlds++ })
		var d *rollback.Divergence
		require.True(t, err == nil || errors.As(err, &d), "%v", err) // the match had a world that no inputs make
		require.Greater(t, worlds, 500)
	}
}

// TestReplay: a match that was written plays again, to the same end. It is heard as the players heard it, but for what
// they guessed wrongly.
func TestReplay(t *testing.T) {
	r, relay, dial := network(t, sim.Link{Latency: 30 * time.Millisecond, Loss: 0.02})
	r.steps = append(r.steps, relay.Step)
	var players [2]dojo.Player
	var presses int
	var ears [2]heard
	for i := range players {
		p := &players[i]
		r.fighter(p, uint64(i), &presses, &ears[i])
		require.NoError(t, p.Join(dial))
		r.steps = append(r.steps, func(now time.Time) { p.Frame(now) })
	}
	settled := 0
	r.run(time.Second)
	players[0].Game.Settled = func(ecs.Entity, game.Strike) { settled++ }
	r.run(time.Minute)
	var file bytes.Buffer
	require.NoError(t, players[0].Peer.WriteReplay(&file))
	t.Logf("%d bytes a minute", file.Len())
	require.Less(t, file.Len(), 6000)
	most, strikes, g := 0, 0, &game.Game{}
	g.Heard = func(ecs.Entity, game.Strike) { strikes++ }
	require.NoError(t, dojo.Replay(&file, g, func(w *ecs.World) {
		if pair, ok := g.Pair(w); ok {
			most = max(most, 2000-int(g.Fighter.Get(w, pair[0]).Life)-int(g.Fighter.Get(w, pair[1]).Life))
		}
	}))
	require.Greater(t, most, 500)
	require.Equal(t, settled, strikes)
	require.Greater(t, strikes, 10)
	require.InDelta(t, ears[0].strikes, strikes, 10, "the players heard what they guessed, too")
}
