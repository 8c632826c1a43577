package observe_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/fieldtest"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/observe"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

type place struct {
	X float32 `net:"min=-100,max=100,step=0.01,lerp"`
	Y float32 `net:"min=-100,max=100,step=0.01,lerp"`
}

type health struct {
	Points uint16 `net:"max=100"`
	Spare  uint8  `net:"max=10,owner"`
}

type spark struct {
	Damage uint8 `net:"max=100"`
	Where  float32
}

// game is a small game with messages, whose types the observer does not know.
type game struct {
	place  ecs.Component[place]
	health ecs.Component[health]
	player ecs.Prefab
	score  foretick.Message[health]
	spark  foretick.Message[spark]
	bodies []ecs.Entity
}

func (g *game) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("test", 1)
	p.Channel("chat", netcode.Channel{Reliable: true, Priority: 2})
	p.Channel("effects", netcode.Channel{})
	p.Component(&g.place)
	p.Component(&g.health)
	p.Prefab(&g.player, "player", &g.place, &g.health)
	foretick.Default(p, &g.player, &g.health, health{Points: 75, Spare: 3})
	g.score.Channel = "chat"
	g.score.OnClient(p, nil)
	g.spark.Channel = "effects"
	g.spark.OnClient(p, nil)
	return p
}

// begin spawns an entity of a player, and one without an owner.
func (g *game) begin(f *foretick.ServerFrame) {
	for _, owner := range []foretick.PlayerID{1, ecs.Nobody} {
		e := f.Spawn(&g.player, owner)
		g.place.Get(f.World, e).X = 12.5
		g.bodies = append(g.bodies, e)
	}
}

// all grants everything.
func all(server.Observer) (server.Grant, error) { return server.Everything(), nil }

// run runs a server and an observer in virtual time until done returns true.
func run(n *sim.Network, s *server.Server, o *observe.Observer, done func() bool) error {
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	for t, end := n.Now(), n.Now()+20*time.Second; t < end; t += 5 * time.Millisecond {
		n.Run(t)
		s.Step(start.Add(t))
		if err := o.Step(start.Add(t)); err != nil || done() {
			return err
		}
	}
	return errors.New("took too long")
}

// A tool asks a server for its protocol, observes, and prints the entities, without the types of
// the game.
func Example() {
	n := sim.NewNetwork(1)
	listen := n.Listen()
	g := &game{}
	srv, err := server.New(server.Config{Protocol: g.protocol(), Transport: listen, Observe: all})
	if err != nil {
		panic(err)
	}
	g.begin(srv.Frame())
	o, err := observe.New(observe.Config{Transport: n.Dial(listen, sim.LAN, sim.LAN)})
	if err != nil {
		panic(err)
	}
	if err := run(n, srv, o, func() bool { return len(o.Entities()) > 0 }); err != nil {
		panic(err)
	}
	fmt.Println(o.Schema().Game, o.Schema().TickRate, "Hz")
	for _, e := range o.Entities() {
		fmt.Println(e.Prefab(), "of player", e.Owner())
		for f := range e.Fields() {
			fmt.Printf("  %s.%s = %v\n", f.Component, f.Name, f.Value)
		}
	}
	// Output:
	// test 30 Hz
	// player of player 1
	//   place.X = 12.5
	//   place.Y = 0
	//   health.Points = 75
	//   health.Spare = 3
	// player of player 0
	//   place.X = 12.5
	//   place.Y = 0
	//   health.Points = 75
	//   health.Spare = 3
}

// TestObserverOfAnyServer: with SchemaOnly a tool takes no place. Without it, it reads
// entities by name, messages of the game's channels, and levels.
func TestObserverOfAnyServer(t *testing.T) {
	n := sim.NewNetwork(1)
	listen := n.Listen()
	g := &game{}
	p := g.protocol()
	asked := server.Observer{}
	srv, err := server.New(server.Config{Protocol: p, Transport: listen, Observe: func(o server.Observer) (server.Grant, error) {
		asked = o
		return server.Public(), nil
	}})
	require.NoError(t, err)
	g.begin(srv.Frame())
	bad := sim.Link{Latency: 30 * time.Millisecond, Loss: 0.2, Reorder: 0.1}
	asks, err := observe.New(observe.Config{Transport: n.Dial(listen, bad, bad), SchemaOnly: true})
	require.NoError(t, err)
	require.NoError(t, run(n, srv, asks, func() bool { return asks.Schema() != nil }))
	require.Equal(t, p.Schema(nil), asks.SchemaBytes())
	require.Zero(t, srv.Stats().Joined)
	require.Nil(t, asks.Entities())
	_, ok := asks.Entity(1)
	require.False(t, ok)
	require.NoError(t, asks.Close())
	var why *transport.DisconnectError
	require.ErrorAs(t, asks.Step(time.Now()), &why)
	require.Equal(t, transport.Closed, why.Code)

	var told []string
	watches, err := observe.New(observe.Config{Transport: n.Dial(listen, bad, bad), Data: []byte("cast"), OnMessage: func(m schema.Message, _ observe.Tick, v []any) {
		told = append(told, fmt.Sprint(m.Schema.Name(), v))
	}})
	require.NoError(t, err)
	require.Zero(t, watches.Connection())
	require.Zero(t, watches.Tick())
	require.NoError(t, run(n, srv, watches, func() bool { return len(watches.Entities()) == 2 }))
	require.NotZero(t, watches.Connection().RTT)
	require.Zero(t, watches.Player())
	require.Equal(t, "cast", string(asked.Data))
	require.NotEmpty(t, asked.Address)
	first := watches.Receiver()
	g.score.Broadcast(srv.Frame(), health{Points: 9})
	for i := range 20 {
		g.spark.Broadcast(srv.Frame(), spark{Damage: uint8(i), Where: 0.5})
	}
	require.NoError(t, run(n, srv, watches, func() bool { return len(told) > 10 && slices.Contains(told, "health[9 0]") }))
	require.NoError(t, srv.NextLevel([]byte("two"), nil))
	require.NoError(t, run(n, srv, watches, func() bool { return watches.Receiver() != first && watches.Tick() > 0 }))
	require.Empty(t, watches.Entities())
	require.Zero(t, watches.Malformed())
	require.Zero(t, srv.Stats().Malformed)
	require.Empty(t, srv.Players(nil))
	require.EqualValues(t, 1, srv.Stats().Observers)
}

// TestEntities: values follow the server's, and a destroyed entity disappears. An observer that is
// granted everything receives owner-only fields.
func TestEntities(t *testing.T) {
	n := sim.NewNetwork(1)
	listen := n.Listen()
	g := &game{}
	srv, err := server.New(server.Config{Protocol: g.protocol(), Transport: listen, Observe: all})
	require.NoError(t, err)
	g.begin(srv.Frame())
	o, err := observe.New(observe.Config{Transport: n.Dial(listen, sim.LAN, sim.LAN)})
	require.NoError(t, err)
	require.NoError(t, run(n, srv, o, func() bool { return len(o.Entities()) == 2 }))
	for _, e := range o.Entities() {
		again, ok := o.Entity(e.ID())
		require.True(t, ok)
		require.Equal(t, e.ID(), again.ID())
		spare, ok := e.Value("health", "Spare")
		require.True(t, ok)
		require.EqualValues(t, 3, spare)
		_, ok = e.Value("health", "Nothing")
		require.False(t, ok)
	}
	for range (observe.Entity{}).Fields() {
		t.Error("the zero Entity has no fields")
	}
	theirs := o.Entities()[1].ID()
	g.health.Get(srv.World(), g.bodies[1]).Points = 40
	now := srv.Tick()
	require.NoError(t, run(n, srv, o, func() bool {
		e, _ := o.Entity(theirs)
		points, _ := e.Value("health", "Points")
		return fmt.Sprint(points) == "40" && e.Tick() > now
	}))
	srv.Frame().Destroy(g.bodies[1])
	require.NoError(t, run(n, srv, o, func() bool { return len(o.Entities()) == 1 }))
	_, ok := o.Entity(theirs)
	require.False(t, ok)
}

func TestConfig(t *testing.T) {
	n := sim.NewNetwork(1)
	fieldtest.Config[observe.Config](t, fieldtest.Rules{}, func(c observe.Config) error {
		c.Transport = n.Dial(n.Listen(), sim.LAN, sim.LAN)
		_, err := observe.New(c)
		return err
	})
	var none *sim.Endpoint
	_, err := observe.New(observe.Config{Transport: none, Timeout: math.MaxInt64})
	require.ErrorContains(t, err, "Transport is nil")
	require.ErrorContains(t, err, "use 100ms to 24h")
}
