package server

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/peek"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

type obsPlace struct {
	X, Y float32 `net:"min=-500,max=500,step=0.01,lerp"`
}

type obsFacts struct {
	Name   uint16
	Public uint16
	Secret uint16 `net:"owner"`
	Plan   uint16 `net:"allies"`
	Hint   uint16 `net:"to=scouts"`
}

type obsMove struct {
	X float32 `net:"min=-1,max=1,step=0.01"`
}

type obsNews struct{ N uint16 }

// gallery is a game in which everybody, teams, owners, scouts and eyes each have something to see.
type gallery struct {
	place        ecs.Component[obsPlace]
	facts        ecs.Component[obsFacts]
	move         ecs.Component[obsMove]
	walker, item ecs.Prefab
	news         foretick.Message[obsNews]
	ask          foretick.Request[obsNews]
	scouts       schema.Audience
	named        uint16
	joined       []foretick.PlayerID
	got          []uint16 // the news that a client received
	by           map[uint16]ecs.Entity
}

func (g *gallery) protocol(interest float32) *foretick.Protocol {
	p := foretick.NewProtocol("gallery", 1)
	p.Component(&g.place, foretick.Predicted())
	g.scouts = p.Audience("scouts")
	p.Component(&g.facts)
	p.Command(&g.move)
	p.Prefab(&g.walker, "walker", &g.place, &g.facts, &g.move)
	p.Prefab(&g.item, "item", &g.place, &g.facts)
	g.news.OnClient(p, func(_ *foretick.Frame, _ foretick.Tick, n obsNews) { g.got = append(g.got, n.N) })
	g.ask.Handle(p, func(*foretick.ServerFrame, foretick.PlayerID, obsNews) {})
	if interest > 0 {
		foretick.Interest(p, &g.place, snapshot.AreaConfig{Enter: interest}, func(at *obsPlace) (x, y, z float32) { return at.X, at.Y, 0 })
	}
	g.by = map[uint16]ecs.Entity{}
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		g.joined = append(g.joined, player)
		g.spawn(f, &g.walker, player, 0, 0)
	})
	p.Shared("walk", func(f *foretick.Frame, rows ecs.Rows) {
		place, move := g.place.Slice(rows), g.move.Slice(rows)
		for i := range place {
			place[i].X += move[i].X * 5 * f.DT
		}
	}, ecs.Read(&g.move), ecs.Write(&g.place))
	p.Server("drift", func(f *foretick.ServerFrame, rows ecs.Rows) {
		place, facts := g.place.Slice(rows), g.facts.Slice(rows)
		for i := range place {
			if rows.Owner() == ecs.Nobody {
				angle := float64(f.Tick)/50 + float64(facts[i].Name)
				place[i].X += float32(math.Cos(angle)) * 0.5
				place[i].Y += float32(math.Sin(angle)) * 0.5
				facts[i].Public++
				facts[i].Secret++
			}
		}
	}, ecs.Write(&g.place), ecs.Write(&g.facts), ecs.Without(&g.move))
	return p
}

func (g *gallery) spawn(f *foretick.ServerFrame, k *ecs.Prefab, owner foretick.PlayerID, x, y float32) ecs.Entity {
	e := f.Spawn(k, owner)
	g.named++
	*g.place.Get(f.World, e) = obsPlace{X: x, Y: y}
	*g.facts.Get(f.World, e) = obsFacts{Name: g.named, Public: 100 + g.named, Secret: 200 + g.named, Plan: 300 + g.named, Hint: 400 + g.named}
	g.by[g.named] = e
	return e
}

// exhibition runs a server with clients in virtual time.
type exhibition struct {
	t       testing.TB
	net     *sim.Network
	listen  *sim.Endpoint
	game    *gallery
	srv     *Server
	clients []*client.Client
	link    sim.Link
	reach   float32
	sample  func(client.View) obsMove // for the players
	each    func()
}

func newExhibition(t testing.TB, reach float32, cfg Config) *exhibition {
	x := &exhibition{t: t, net: sim.NewNetwork(1), game: &gallery{}, link: sim.Link{Latency: 10 * time.Millisecond}, reach: reach}
	x.listen = x.net.Listen()
	cfg.Protocol, cfg.Transport = x.game.protocol(reach), x.listen
	var err error
	x.srv, err = New(cfg)
	require.NoError(t, err)
	x.srv.Step(x.now())
	return x
}

func (x *exhibition) now() time.Time { return time.Unix(1e9, 0).Add(x.net.Now()) }

func (x *exhibition) run(d time.Duration) {
	for end := x.net.Now() + d; x.net.Now() < end; {
		x.net.Run(x.net.Now() + time.Second/60)
		x.srv.Step(x.now())
		for _, c := range x.clients {
			c.Step(x.now())
		}
		if x.each != nil {
			x.each()
		}
	}
}

// comes adds a client that has its own value of the game.
func (x *exhibition) comes(cfg client.Config) (*client.Client, *gallery) {
	x.t.Helper()
	g := &gallery{}
	if x.sample != nil && cfg.Observe == nil {
		cfg.Sample = client.Sample(&g.move, x.sample)
	}
	cfg.Protocol, cfg.Transport = g.protocol(x.reach), x.net.Dial(x.listen, x.link, x.link)
	c, err := client.New(cfg)
	require.NoError(x.t, err)
	x.clients = append(x.clients, c)
	return c, g
}

// seen returns the newest state that a client was sent, by name. Fields of an audience that the client
// is not part of are "-".
func (x *exhibition) seen(c *client.Client, fields ...string) map[uint16]string {
	all := map[uint16]string{}
	receiver := received(c)
	if receiver == nil {
		return all
	}
	components := probe.OfClient(c).Layout().Components
	for _, g := range receiver.Ghosts() {
		if g.Gone != 0 {
			continue
		}
		s, values := g.Newest(), map[string]any{"owner": g.Owner, "prefab": g.Prefab}
		for i := range components {
			sch := components[i].Schema
			for k, f := range sch.Fields() {
				if words := s.Component(i); words != nil && (f.Audience == 0 || f.Audience&s.Audience != 0) && sch.Has(k, words) {
					values[f.Name] = sch.Value(k, words, s.Grid(i))
				}
			}
		}
		line := ""
		for _, f := range fields {
			if v, ok := values[f]; ok {
				line += fmt.Sprint(" ", v)
			} else {
				line += " -"
			}
		}
		var name uint16
		_, err := fmt.Sscan(fmt.Sprint(values["Name"]), &name)
		require.NoError(x.t, err)
		all[name] = line
	}
	return all
}

// received returns the receiver of a client's snapshots.
func received(c *client.Client) *snapshot.Receiver {
	return *peek.At[*snapshot.Receiver](c, "ghosts.receiver")
}

func granted(g Grant) func(Observer) (Grant, error) {
	return func(Observer) (Grant, error) { return g, nil }
}

var public = []string{"owner", "prefab", "X", "Y", "Public"}

// An observer whose eye is where a player stands gets the public fields of exactly the entities that
// the player gets, in every tick.
func TestObserverSeesWhatAPlayerSees(t *testing.T) {
	x := newExhibition(t, 60, Config{Observe: granted(Public())})
	for i := range 60 {
		a := float64(i)
		x.game.spawn(x.srv.Frame(), &x.game.item, ecs.Nobody, float32(math.Cos(a)*(30+a)), float32(math.Sin(a)*(30+a)))
	}
	player, _ := x.comes(client.Config{})
	observer, _ := x.comes(client.Config{Observe: &client.Observe{}})
	observer.SetEye(0, 0, 0)
	x.run(12 * time.Second) // once through all entities: those that were near before the observer joined have left
	compared, counts := 0, map[int]bool{}
	x.each = func() {
		a, _ := received(player).Newest()
		b, _ := received(observer).Newest()
		if a != b {
			return
		}
		want := x.seen(player, public...)
		require.Equal(t, want, x.seen(observer, public...), "tick %d", a)
		compared++
		counts[len(want)] = true
	}
	x.run(10 * time.Second)
	require.Greater(t, compared, 200)
	require.Greater(t, len(counts), 3, "what is near changed")
	require.Equal(t, client.Playing, observer.View().State)
	require.Equal(t, ecs.Nobody, observer.View().Player)
	require.NotEmpty(t, x.seen(player, "Secret")[61], "the player's own")
	for _, line := range x.seen(observer, "Secret", "Plan", "Hint") {
		require.Equal(t, " - - -", line)
	}
	require.Equal(t, []foretick.PlayerID{1}, x.game.joined, "no OnJoin for an observer")
	require.Equal(t, []Player{{1, 1}}, x.srv.Players(nil))
	x.each = nil
	observer.SetEye(400, 400, 0)
	x.run(time.Second)
	require.Empty(t, x.seen(observer, public...))
	observer.Follow(1)
	x.run(time.Second)
	require.Equal(t, x.seen(player, public...), x.seen(observer, public...))
	observer.Follow(0)
	x.run(time.Second)
	require.Empty(t, x.seen(observer, public...), "without an eye")
	require.Zero(t, observer.Stats().Malformed+x.srv.Stats().Malformed)
}

// Each grant shows its own fields, entities and messages, and no others.
func TestGrants(t *testing.T) {
	for _, row := range []struct {
		grant Grant
		want  map[uint16]string // Secret, Plan and Hint of the entities of players 1, 2 and 3, and of the one without an owner
		gone  []uint16          // hidden from it
		news  []uint16
	}{
		{Public(), map[uint16]string{1: " - - -", 4: " - - -", 6: " - - -"}, []uint16{2, 3, 5}, []uint16{7}},
		{OfTeam(1), map[uint16]string{1: " - 301 -", 2: " - 302 -", 3: " - - -", 4: " - - -", 6: " - - -"}, []uint16{5}, []uint16{7}},
		{OfPlayer(1), map[uint16]string{1: " 201 301 401", 2: " - 302 402", 3: " - - 403", 4: " - - 404", 5: " - - 405", 6: " - - 406"}, nil, []uint16{7, 8}},
		{Everything(), map[uint16]string{1: " 201 301 401", 2: " 202 302 402", 3: " 203 303 403", 4: " 204 304 404", 5: " 205 305 405", 6: " 206 306 406"}, nil, []uint16{7, 8, 9}},
	} {
		t.Run(fmt.Sprintf("%+v", row.grant), func(t *testing.T) {
			x := newExhibition(t, 0, Config{Observe: granted(row.grant)})
			for range 3 {
				x.comes(client.Config{})
				x.run(time.Second / 2)
			}
			f := x.srv.Frame()
			for range 3 {
				e := x.game.spawn(f, &x.game.item, ecs.Nobody, 1, 2)
				ecs.Engine(x.srv.World()).RemoveByID(e, x.game.move.ID())
			}
			f.SetTeam(1, 1)
			f.SetTeam(2, 1)
			f.SetTeam(3, 2)
			f.SetAudience(1, ecs.None, x.game.scouts, true)
			f.SetVisible(3, x.game.by[2], false)
			f.SetVisible(3, x.game.by[3], false)
			f.SetVisible(2, x.game.by[5], false)
			o, g := x.comes(client.Config{Observe: &client.Observe{}})
			x.run(time.Second)
			x.game.news.Broadcast(f, obsNews{7})
			require.NoError(t, x.game.news.Send(f, 1, obsNews{8}))
			require.NoError(t, x.game.news.Send(f, 2, obsNews{9}))
			x.run(time.Second)
			require.Equal(t, row.grant.player, o.View().Player)
			got := x.seen(o, "Secret", "Plan", "Hint")
			for name, line := range got {
				if name > 3 && row.grant.everything { // the secrets of entities without an owner change
					got[name] = row.want[name]
					require.NotContains(t, line, "-")
				}
			}
			require.Equal(t, row.want, got)
			require.Equal(t, row.news, g.got)
			for _, name := range row.gone { // an entity that is shown again arrives, and one that is hidden later leaves
				f.SetVisible(3, x.game.by[name], true)
				f.SetVisible(2, x.game.by[name], true)
			}
			x.run(time.Second)
			require.Len(t, x.seen(o), 6)
			f.SetVisible(1, x.game.by[6], false)
			x.run(time.Second)
			_, sees := x.seen(o)[6]
			require.Equal(t, row.grant.everything, sees)
			require.NoError(t, x.clients[0].Close())
			x.run(time.Second)
			if row.grant.player == 1 {
				require.Equal(t, client.Closed, o.View().State)
				require.ErrorContains(t, o.View().Err, "the player that it watched left")
				return
			}
			_, sees = x.seen(o)[6]
			require.True(t, sees, "who hid it left")
			require.NoError(t, x.srv.NextLevel(nil, func(f *foretick.ServerFrame) { x.game.spawn(f, &x.game.item, ecs.Nobody, 0, 0) }))
			x.run(time.Second)
			require.Len(t, x.seen(o), 1, "the next level")
			require.Zero(t, o.Stats().Malformed+o.Stats().Mispredictions+x.srv.Stats().Malformed)
		})
	}
}

// A client that may not observe gets the reason. The number of observers is limited, and they can be
// kicked.
func TestObserversAreRefused(t *testing.T) {
	for want, cfg := range map[string]Config{
		"refused: this server takes no observers":            {},
		"refused: pay first":                                 {Observe: func(Observer) (Grant, error) { return Public(), errors.New("pay first") }},
		"the view of player 0, which does not play":          {Observe: granted(OfPlayer(ecs.Nobody))},
		"the view of player 9, which does not play":          {Observe: granted(OfPlayer(9))},
		"refused: the server failed at what it did for this": {Observe: func(Observer) (Grant, error) { panic("oh") }},
		"full: the server takes no more observers":           {Observe: granted(Public()), MaxObservers: 1},
		"kicked: enough":                                     {Observe: granted(Public()), MaxObservers: 3},
	} {
		x := newExhibition(t, 0, cfg)
		x.comes(client.Config{Observe: &client.Observe{}})
		x.run(time.Second / 2)
		c, g := x.comes(client.Config{Observe: &client.Observe{Data: []byte("me")}})
		x.run(time.Second)
		if cfg.MaxObservers == 3 {
			require.Equal(t, client.Playing, c.View().State)
			require.ErrorIs(t, g.ask.Send(c, obsNews{}), foretick.ErrNotPlaying)
			all := x.srv.Observers(nil)
			require.Len(t, all, 2)
			require.Equal(t, "me", string(all[1].Data))
			require.NoError(t, x.srv.KickObserver(all[1].ID, "enough"))
			x.run(time.Second)
			require.Equal(t, all[:1], x.srv.Observers(nil), "the other one stays")
			require.NoError(t, x.srv.KickObserver(all[1].ID, "again"), "who has left cannot be kicked")
			x.run(time.Second)
			require.Len(t, x.srv.Observers(nil), 1)
		}
		require.Equal(t, client.Closed, c.View().State, want)
		require.ErrorContains(t, c.View().Err, want)
		require.Empty(t, x.srv.Players(nil))
		require.Less(t, len(x.srv.sessions.observers), 2)
	}
}

// An observer's bytes change nothing: neither its commands nor its eye, and not a player's eye.
func TestObserversSayNothing(t *testing.T) {
	x := newExhibition(t, 60, Config{Observe: granted(Public())})
	player, _ := x.comes(client.Config{})
	observer, _ := x.comes(client.Config{Observe: &client.Observe{}})
	x.run(time.Second)
	stray, hash := x.srv.Stats().Malformed, probe.OfServer(x.srv).Hash()
	command := netcode.NewCommandSender(x.srv.p.CommandSize(), netcode.CommandConfig{})
	for i := range foretick.Tick(3) {
		command.Push(netcode.Command{Tick: x.srv.Tick() + 5 + i, Data: make([]byte, x.srv.p.CommandSize())})
	}
	for _, say := range []struct {
		c *client.Client
		t netcode.MessageType
		b []byte
	}{
		{observer, netcode.MessageCommands, command.Append(nil, 500)},
		{observer, netcode.MessageEye, make([]byte, 11)},
		{player, netcode.MessageEye, netcode.Eye{Has: true, X: 400}.Append(nil)},
	} {
		sendPacket(t, say.c, func(pk *netcode.Packet) { pk.Message(say.t, say.b) })
		x.run(time.Second / 10)
		stray++
		require.Equal(t, stray, x.srv.Stats().Malformed)
	}
	require.Equal(t, hash, probe.OfServer(x.srv).Hash(), "a world at rest")
	require.Len(t, x.seen(player), 1, "its eye is the server's")
	require.Equal(t, client.Playing, observer.View().State)
}

// Only the server sets a player's eye.
func TestEyeOfAPlayer(t *testing.T) {
	x := newExhibition(t, 60, Config{Observe: granted(Public().FollowOnly())})
	f := x.srv.Frame()
	x.game.spawn(f, &x.game.item, ecs.Nobody, 100, 100)
	player, _ := x.comes(client.Config{})
	observer, _ := x.comes(client.Config{Observe: &client.Observe{}})
	x.run(time.Second)
	require.Len(t, x.seen(player), 1)
	require.False(t, f.SetEye(1, float32(math.NaN()), 0, 0))
	require.False(t, f.SetEye(2, 0, 0, 0))
	require.True(t, f.SetEye(1, 100, 100, 0))
	observer.SetEye(100, 100, 0)
	x.run(time.Second)
	require.Len(t, x.seen(player), 2, "its own entity, and what its eye is near to")
	require.Empty(t, x.seen(observer), "it may only follow")
	observer.Follow(1)
	x.run(time.Second)
	require.Len(t, x.seen(observer), 1)
	require.True(t, f.ClearEye(1))
	x.run(time.Second)
	require.Len(t, x.seen(player), 1)
}

// An observer that acknowledges no snapshot is dropped like a player, and one that returns after a loss
// observes again.
func TestObserversComeAndGo(t *testing.T) {
	x := newExhibition(t, 0, Config{Observe: granted(Public()), Timeout: time.Second})
	x.game.spawn(x.srv.Frame(), &x.game.item, ecs.Nobody, 0, 0)
	var c *client.Client
	c, _ = x.comes(client.Config{Observe: &client.Observe{}, Timeout: time.Second, Redial: func() (transport.Endpoint, error) {
		return x.net.Dial(x.listen, x.link, x.link), nil
	}})
	x.run(time.Second)
	require.Equal(t, client.Playing, c.View().State, c.View().Err)
	x.clients = nil
	x.run(3 * time.Second)
	require.Empty(t, x.srv.sessions.observers)
	require.Empty(t, x.srv.sessions.players)
	x.clients = []*client.Client{c}
	x.run(3 * time.Second)
	require.Equal(t, client.Playing, c.View().State)
	require.Len(t, x.seen(c), 1)
	require.EqualValues(t, 2, x.srv.Stats().Observers)
	require.Zero(t, x.srv.Stats().Joined)
}
