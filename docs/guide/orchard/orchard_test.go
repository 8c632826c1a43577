package orchard_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/docs/guide/orchard"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// far is a line of 100 ms round trip.
var far = simtest.Seat{Up: sim.Link{Latency: 50 * time.Millisecond}, Down: sim.Link{Latency: 50 * time.Millisecond}}

// match is a match in a test.
type match struct {
	*simtest.Match
	t    *testing.T
	game *orchard.Game
	srv  *server.Server
}

// seat is a player in it.
type seat struct {
	game   *orchard.Game
	client *client.Client
	lines  []string
	sounds []string
	press  orchard.Command
	views  []client.View
}

func begin(t *testing.T, cfg server.Config) *match {
	m := &match{Match: simtest.New(1), t: t, game: &orchard.Game{}}
	cfg.Protocol = m.game.Protocol()
	var err error
	m.srv, err = m.Serve(cfg)
	require.NoError(t, err)
	require.NoError(t, m.game.Begin(m.srv, "meadow"))
	return m
}

func (m *match) join(at simtest.Seat, cfg client.Config) *seat {
	s := &seat{game: &orchard.Game{}}
	s.game.Print = func(line string) { s.lines = append(s.lines, line) }
	s.game.Play = func(sound string) { s.sounds = append(s.sounds, sound) }
	cfg.Protocol = s.game.Protocol()
	cfg.Sample = client.Sample(&s.game.Cmd, func(client.View) orchard.Command { return s.press })
	after := at.After
	at.After = func(v client.View) {
		s.views = append(s.views, v)
		if after != nil {
			after(v)
		}
	}
	var err error
	s.client, err = m.Join(cfg, at)
	require.NoError(m.t, err)
	return s
}

// past lets time pass.
func (m *match) past(d time.Duration) { m.Run(m.Net.Now() + d) }

// ready lets players enter and start the round.
func (m *match) ready(seats ...*seat) {
	m.past(time.Second)
	for _, s := range seats {
		require.NoError(m.t, s.game.Ready.Send(s.client, orchard.Ready{Is: true}))
	}
	m.past(time.Second)
	require.EqualValues(m.t, orchard.Playing, m.game.Match.Get(m.srv.World()).Phase)
}

func (s *seat) own() ecs.Entity { return s.game.Own(s.client.View().World, s.client.View().Player) }

func (m *match) body(s *seat) ecs.Entity { return m.game.Own(m.srv.World(), s.client.View().Player) }

// newPlayer is one end: it walks about, throws, chats, shops, and pauses at times.
func newPlayer() simtest.Player {
	g := &orchard.Game{}
	n := 0
	act := func(c *client.Client) {
		if n++; n%50 != 1 {
			return
		}
		_ = g.Ready.Send(c, orchard.Ready{Is: true}) // refused while it is not in
		_ = g.Say.Send(c, orchard.Say{Text: fmt.Sprint("line ", n)})
		_ = g.Buy.Send(c, orchard.Buy{Item: uint8(n / 50 % 4)})
		_ = g.Pause.Send(c, orchard.Pause{On: n%150 == 1})
	}
	walk := func(v client.View) orchard.Command {
		cmd := orchard.Steer(float32(v.Tick/40%3)-1, float32(v.Tick/23%3)-1)
		cmd.Throw = v.Tick%20 == 0
		return cmd
	}
	return simtest.Player{Protocol: g.Protocol(), Sample: client.Sample(&g.Cmd, walk), Act: act, Begin: func(s *server.Server) {
		if err := g.Begin(s, "meadow"); err != nil {
			panic(err)
		}
	}}
}

// The round's clock and the apples never rest.
func TestMatches(t *testing.T) {
	simtest.Check(t, simtest.Plan{New: newPlayer, Clients: 4, Play: 20 * time.Second, Rest: -1, Extremes: true}, 2)
}

func TestSync(t *testing.T) { simtest.SyncTest(t, newPlayer, simtest.SyncConfig{Ticks: 240}) }
