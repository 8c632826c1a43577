package flight_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/flight"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

type Place struct {
	X, Y float32 `net:"min=-512,max=512,step=0.01,lerp"`
}

type Health struct {
	Points int16 `net:"max=100"`
}

type Move struct {
	X, Y float32 `net:"min=-1,max=1,step=0.0078125"`
	Fire bool    `net:"oneshot"`
}

// Luck is a singleton that only the server has.
type Luck struct{ Seed, Draws uint64 }

type Say struct {
	Text string `net:"max=80"`
}

// game is a game with a bit of everything that a tape must hold.
type game struct {
	Place ecs.Component[Place]
	HP    ecs.Component[Health]
	Cmd   ecs.Component[Move]
	Luck  ecs.Singleton[Luck]

	Avatar, Rock ecs.Prefab

	Said foretick.Message[Say]
	Ask  foretick.Request[Say]

	hits    []foretick.Hit
	srv     *server.Server
	seed    func() uint64 // a value from outside
	panicAt foretick.Tick
	drained int                                    // calls of OnDrain
	tags    []string                               // tags, each of one shared system
	skew    float32                                // a planted fault: the error of move
	config  func(*server.Config)                   // changes the server's configuration
	chance  func(f *foretick.Frame, i int) float32 // random numbers that are not recorded
}

func (g *game) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("meadow", 1)
	p.Component(&g.Place, foretick.Predicted())
	p.Component(&g.HP)
	p.Command(&g.Cmd)
	p.Fail(p.Types().RegisterSingleton(&g.Luck))
	p.Prefab(&g.Avatar, "avatar", &g.Place, &g.HP, &g.Cmd)
	p.Prefab(&g.Rock, "rock", &g.Place, &g.HP)
	g.Said.OnClient(p, func(*foretick.Frame, foretick.Tick, Say) {})
	foretick.Hitbox(p, &g.Place, func(a *Place) lagcomp.Sphere { return lagcomp.Sphere{X: a.X, Y: a.Y, R: 2} })
	g.Ask.Handle(p, func(f *foretick.ServerFrame, player foretick.PlayerID, s Say) { g.Said.Broadcast(f, s) })
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		e := f.Spawn(&g.Avatar, player)
		g.HP.Get(f.World, e).Points = 100
	})
	p.Shared("move", func(f *foretick.Frame, rows ecs.Rows) {
		at, cmd := g.Place.Slice(rows), g.Cmd.Slice(rows)
		for i := range at {
			at[i].X += float32(cmd[i].X*f.DT) + g.skew
			at[i].Y += float32(cmd[i].Y * f.DT)
		}
	}, ecs.Read(&g.Cmd), ecs.Write(&g.Place))
	for i, tag := range g.tags {
		p.Shared("blow "+tag, func(f *foretick.Frame, rows ecs.Rows) {
			for k, at := 0, g.Place.Slice(rows); k < len(at); k++ {
				at[k].X += f.DT * float32(i+1)
			}
		}, ecs.Write(&g.Place), ecs.Tags(tag))
	}
	p.Server("shoot", g.shoot, ecs.Read(&g.Cmd, &g.Place), ecs.WriteOther(&g.HP))
	p.Server("weather", func(f *foretick.ServerFrame, _ ecs.Rows) {
		luck := g.Luck.Get(f.World)
		if f.Tick%40 == 1 {
			seed := g.seed()
			g.srv.Record(&seed)
			luck.Seed = seed
			luck.Draws++
		}
		if g.panicAt > 0 && f.Tick >= g.panicAt {
			panic(fmt.Sprintf("the meadow burns, seed %d", luck.Seed))
		}
	}, ecs.Once(), ecs.Write(&g.Luck))
	p.Server("drift", func(f *foretick.ServerFrame, rows ecs.Rows) {
		for i := range g.Place.Slice(rows) {
			v := fair(f.Frame, i)
			if g.chance != nil {
				v = g.chance(f.Frame, i)
			}
			g.Place.Slice(rows)[i].X = v
		}
	}, ecs.With(&g.Place), ecs.Without(&g.Cmd), ecs.Write(&g.Place))
	return p
}

// fair returns random numbers that are the same in every replay.
func fair(f *foretick.Frame, i int) float32 { return float32(f.Rand(uint64(i))%100) / 100 }

func (g *game) shoot(f *foretick.ServerFrame, rows ecs.Rows) {
	cmd, at := g.Cmd.Slice(rows), g.Place.Slice(rows)
	for i := range cmd {
		if !cmd[i].Fire {
			continue
		}
		g.hits = f.Rewind(rows.Owner()).Overlap(lagcomp.Sphere{X: at[i].X, Y: at[i].Y, R: 50}, g.hits[:0])
		for _, hit := range g.hits {
			if hp := g.HP.Find(f.World, hit.Entity); hp != nil && hp.Points > 0 {
				hp.Points--
			}
		}
	}
}

// serve makes a server with the first entities of a match.
func (g *game) serve(cfg server.Config) (*server.Server, error) {
	cfg.Protocol = g.protocol()
	cfg.OnDrain = func(f *foretick.ServerFrame, _ string) {
		g.drained++
		f.Spawn(&g.Rock, ecs.Nobody)
	}
	if g.config != nil {
		g.config(&cfg)
	}
	srv, err := server.New(cfg)
	if err != nil {
		return nil, err
	}
	g.srv = srv
	srv.Ban([]byte("Mallory"), time.Time{}, "of old")
	rocks := uint64(12)
	srv.Record(&rocks)
	for i := range rocks {
		*g.Place.Get(srv.World(), srv.Frame().Spawn(&g.Rock, ecs.Nobody)) = Place{X: float32(i), Y: float32(i)}
	}
	return srv, nil
}

// level builds a level with the players of the match.
func (g *game) level(f *foretick.ServerFrame) {
	for _, player := range g.srv.Players(nil) {
		g.HP.Get(f.World, f.Spawn(&g.Avatar, player.ID)).Points = 80
	}
	f.Spawn(&g.Rock, ecs.Nobody)
}

// replayed returns the flight.Game for a replay.
func replayed(change func(g *game)) flight.Game {
	var g *game
	return flight.Game{
		New: func(cfg server.Config) (*server.Server, error) {
			g = &game{seed: func() uint64 { return 0 }}
			if change != nil {
				change(g)
			}
			return g.serve(cfg)
		},
		Level: func(data []byte) func(*foretick.ServerFrame) { return g.level },
	}
}

// named gives peers identities, and now and then refuses a datagram.
type named struct {
	*sim.Endpoint
	ids  map[string]string // identities by address
	sent int
}

func (n *named) Info(p transport.PeerID, out *transport.Info) bool {
	ok := n.Endpoint.Info(p, out)
	out.Identity = []byte(n.ids[out.Addr])
	return ok
}

func (n *named) Send(p transport.PeerID, b []byte) error {
	if n.sent++; n.sent%97 == 0 {
		return transport.ErrBacklog
	}
	return n.Endpoint.Send(p, b)
}

// match is a recorded match in virtual time.
type match struct {
	testing.TB
	net     *sim.Network
	listen  *named
	game    *game
	srv     *server.Server
	rec     *flight.Recorder
	clients []*client.Client
	ends    map[int]*sim.Endpoint
	hashes  map[foretick.Tick]uint64
	rng     *rand.Rand
	now     time.Duration
	died    any
	skew    float32 // planted fault of clients that join
}

var epoch = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func newMatch(t testing.TB, seed uint64, players int, rec flight.Config, g *game) *match {
	r, err := flight.New(rec)
	require.NoError(t, err)
	return newMatchWith(t, seed, players, r, g)
}

// newMatchWith starts a match that rec records. With nil it is not recorded.
func newMatchWith(t testing.TB, seed uint64, players int, rec *flight.Recorder, g *game) *match {
	m := &match{TB: t, net: sim.NewNetwork(seed), rec: rec, game: g, hashes: map[foretick.Tick]uint64{}, ends: map[int]*sim.Endpoint{}, rng: rand.New(rand.NewPCG(seed, 1))}
	m.listen = &named{Endpoint: m.net.Listen(), ids: map[string]string{}}
	if g.seed == nil {
		g.seed = m.rng.Uint64
	}
	cfg := server.Config{Transport: m.listen, MaxClients: 16, MaxWaitingPerAddress: -1}
	if rec != nil {
		cfg.Recorder = rec
	}
	var err error
	m.srv, err = g.serve(cfg)
	require.NoError(t, err)
	for range players {
		m.join()
	}
	return m
}

func (m *match) dial(n int) transport.Endpoint {
	link, err := sim.Preset("lte")
	require.NoError(m, err)
	m.ends[n] = m.net.Dial(m.listen.Endpoint, link, link)
	m.listen.ids[sim.Addr(m.ends[n].ID())] = fmt.Sprint("guest ", n)
	return m.ends[n]
}

func (m *match) join() {
	g := &game{skew: m.skew, tags: m.game.tags}
	n := len(m.clients)
	cli, err := client.New(client.Config{Protocol: g.protocol(), Transport: m.dial(n),
		Redial: func() (transport.Endpoint, error) { return m.dial(n), nil },
		Sample: client.Sample(&g.Cmd, func(v client.View) Move {
			if m.rng.IntN(30) == 0 && v.State == client.Playing {
				_ = g.Ask.Send(m.clients[n], Say{fmt.Sprint("hello from ", n)})
			}
			return Move{X: float32(m.rng.IntN(3) - 1), Y: float32(m.rng.IntN(3) - 1), Fire: m.rng.IntN(10) == 0}
		})})
	require.NoError(m, err)
	m.clients = append(m.clients, cli)
}

// run plays for this long, or until the server panics.
func (m *match) run(d time.Duration) {
	for end := m.now + d; m.now < end && m.died == nil; m.now += time.Second / 60 {
		m.net.Run(m.now)
		m.step()
		for _, c := range m.clients {
			c.Step(epoch.Add(m.now))
		}
	}
}

func (m *match) step() {
	defer func() { m.died = recover() }()
	m.srv.Step(epoch.Add(m.now))
	if _, seen := m.hashes[m.srv.Tick()]; !seen {
		m.hashes[m.srv.Tick()] = probe.OfServer(m.srv).Hash()
	}
}

func (m *match) bytes() []byte {
	var b bytes.Buffer
	_, err := m.rec.WriteTo(&b)
	require.NoError(m, err)
	return b.Bytes()
}

func (m *match) tape() *flight.Tape {
	b := m.bytes()
	t, err := flight.Read(bytes.NewReader(b), int64(len(b)))
	require.NoError(m, err)
	return t
}

// events makes everything happen in a match that a tape must hold: lost connections that come
// back, a player that stays away, a stall of the process, kicks, a ban, a level, edits, calls.
func (m *match) events() {
	m.run(9 * time.Second)
	one := 2 + m.rng.IntN(2)
	m.net.Blackhole(m.ends[one], m.now, m.now+7*time.Second)
	m.run(3 * time.Second)
	m.now += 400 * time.Millisecond // a stall of more ticks than a Step catches up with
	m.run(time.Second)
	m.srv.Frame().Kick(m.srv.Players(nil)[0].ID, transport.FirstUserCode, "idle")
	m.run(time.Second)
	require.NoError(m, m.srv.NextLevel([]byte("second"), m.game.level))
	m.run(time.Second)
	require.NoError(m, m.srv.Do("third level", func(f *foretick.ServerFrame) {
		require.NoError(m, m.srv.NextLevel([]byte("third"), m.game.level))
	}))
	m.run(time.Second)
	m.join()
	e := m.anyEntity()
	var set error
	done := false
	require.NoError(m, flight.Edit(m.srv, e, "Health.Points", 55, func(err error) { set, done = err, true }))
	m.run(time.Second)
	require.True(m, done)
	require.NoError(m, set)
	require.NoError(m, m.srv.Do("kick the newest", func(f *foretick.ServerFrame) {
		p := m.srv.Players(nil)
		f.Kick(p[len(p)-1].ID, 0, "by the operator")
	}))
	m.run(time.Second)
	m.srv.Ban(m.srv.Identity(m.srv.Players(nil)[0]), epoch.Add(m.now+time.Minute), "for a minute")
	m.run(4 * time.Second)
}

func (m *match) anyEntity() ecs.Entity {
	e := probe.OfServer(m.srv).Replicated()
	i := slices.IndexFunc(e, func(e probe.ServerEntity) bool { return e.Prefab == "avatar" })
	require.GreaterOrEqual(m, i, 0)
	return e[i].Entity
}
