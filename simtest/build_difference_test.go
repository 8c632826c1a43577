package simtest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// build is one of two builds of a game. The test reads the parts that both builds have
// through functions, since the types of the builds differ.
type build struct {
	protocol *foretick.Protocol
	sampler  func(fn func(v client.View) (x, y float32, jump bool)) client.Sampler
	own      func(w *ecs.World, me foretick.PlayerID) (x, y float32, jumps int64, ok bool)
	team     func(w *ecs.World, me foretick.PlayerID) int64
	news     *[]int64 // contents of the message
	confirm  *int     // number of predicted events that were confirmed
	cancel   *int
	extra    func(w *ecs.World) int // entities that only this build knows
}

// elderBuild is the game as it was.
func elderBuild() *build {
	type Place struct {
		X, Y  float32 `net:"min=-100,max=100,step=0.01,lerp"`
		Jumps uint8
	}
	type Team struct {
		Colour int8
		Old    int32 // the younger build does not have it
	}
	type Pad struct {
		X, Y float32 `net:"min=-1,max=1,step=0.0078125"`
		Jump bool    `net:"oneshot"`
	}
	type News struct{ Score int16 }
	type Jumped struct{ N uint8 }
	g := &struct {
		place  ecs.Component[Place]
		team   ecs.Component[Team]
		pad    ecs.Component[Pad]
		player ecs.Prefab
		news   foretick.Message[News]
		jumped foretick.Event[Jumped]
	}{}
	b := &build{news: new([]int64), confirm: new(int), cancel: new(int)}
	p := foretick.NewProtocol("skew", 1)
	b.protocol = p
	p.Channel("news", netcode.Channel{Reliable: true, Priority: 2})
	p.Component(&g.place, foretick.Predicted())
	p.Component(&g.team)
	p.Command(&g.pad)
	p.Prefab(&g.player, "player", &g.place, &g.team, &g.pad)
	foretick.Default(p, &g.player, &g.team, Team{Colour: 3, Old: 8})
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		g.team.Get(f.World, f.Spawn(&g.player, player)).Old = int32(player)
	})
	p.Shared("move", func(f *foretick.Frame, rows ecs.Rows) {
		at, pad := g.place.Slice(rows), g.pad.Slice(rows)
		for i := range at {
			at[i].X += pad[i].X * 5 * f.DT
			at[i].Y += pad[i].Y * 5 * f.DT
			if pad[i].Jump {
				at[i].Jumps++
				g.jumped.Raise(f, rows.Entity(i), Jumped{at[i].Jumps})
			}
		}
	}, ecs.Read(&g.pad), ecs.Write(&g.place))
	p.Server("score", func(f *foretick.ServerFrame, rows ecs.Rows) {
		for i := range rows.Len() {
			if f.Tick%30 == 0 {
				g.team.Slice(rows)[i].Colour = int8(min(f.Tick/30, 10))
			}
		}
		if f.Tick%30 == 0 && rows.Owner() != ecs.Nobody {
			_ = g.news.Send(f, rows.Owner(), News{int16(f.Tick)})
		}
	}, ecs.Write(&g.team))
	g.jumped.OnPredicted(p, func(*foretick.Frame, foretick.By, Jumped) {})
	g.jumped.OnConfirmed(p, func(*foretick.Frame, foretick.By, Jumped) { *b.confirm++ })
	g.jumped.OnCancelled(p, func(*foretick.Frame, foretick.By, Jumped) { *b.cancel++ })
	g.news.Channel = "news"
	g.news.OnClient(p, func(_ *foretick.Frame, _ foretick.Tick, n News) { *b.news = append(*b.news, int64(n.Score)) })
	b.sampler = func(fn func(client.View) (float32, float32, bool)) client.Sampler {
		return client.Sample(&g.pad, func(v client.View) (c Pad) { c.X, c.Y, c.Jump = fn(v); return c })
	}
	q := p.Query(ecs.With(&g.place, &g.team))
	b.own = func(w *ecs.World, me foretick.PlayerID) (x, y float32, jumps int64, ok bool) {
		for _, rows := range q.Owned(w, me) {
			at := g.place.Slice(rows)[0]
			x, y, jumps, ok = at.X, at.Y, int64(at.Jumps), true
		}
		return x, y, jumps, ok
	}
	b.team = func(w *ecs.World, me foretick.PlayerID) int64 {
		colour := int64(-1)
		for _, rows := range q.Owned(w, me) {
			colour = int64(g.team.Slice(rows)[0].Colour)
		}
		return colour
	}
	b.extra = func(*ecs.World) int { return 0 }
	return b
}

// youngerBuild is the game as it is: a field added, one removed, one reordered, two
// widened; a component, a prefab, a message and an event more, in front of the others.
func youngerBuild() *build {
	type Armour struct{ Points int32 }
	type Place struct {
		Jumps uint32  // the younger build has it in another place, and wider
		Y     float32 `net:"min=-100,max=100,step=0.01,lerp"`
		X     float32 `net:"min=-100,max=100,step=0.01,lerp"`
		Z     float32 `net:"min=-10,max=10,step=0.1,tol=0.2"` // only the younger build has it
	}
	type Team struct {
		Colour int32 // wider than in the elder build; Old is gone
		Name   [3]uint8
	}
	type Pad struct {
		Crouch bool
		Jump   bool    `net:"oneshot"`
		X, Y   float32 `net:"min=-1,max=1,step=0.0078125"`
	}
	type Weather struct{ Wind int8 }
	type News struct {
		Kind  uint8
		Score int32
	}
	type Landed struct{ N int }
	type Jumped struct{ N uint8 }
	g := &struct {
		armour        ecs.Component[Armour]
		place         ecs.Component[Place]
		team          ecs.Component[Team]
		pad           ecs.Component[Pad]
		crate, player ecs.Prefab
		weather       foretick.Message[Weather]
		news          foretick.Message[News]
		landed        foretick.Event[Landed]
		jumped        foretick.Event[Jumped]
	}{}
	b := &build{news: new([]int64), confirm: new(int), cancel: new(int)}
	p := foretick.NewProtocol("skew", 1)
	b.protocol = p
	p.Channel("news", netcode.Channel{Reliable: true, Priority: 2})
	p.Component(&g.armour)
	p.Component(&g.team)
	p.Component(&g.place, foretick.Predicted())
	p.Command(&g.pad)
	p.Prefab(&g.crate, "crate", &g.armour)
	p.Prefab(&g.player, "player", &g.armour, &g.place, &g.team, &g.pad)
	foretick.Default(p, &g.player, &g.place, Place{Z: 1.5})
	foretick.Default(p, &g.player, &g.team, Team{Colour: 5, Name: [3]uint8{1, 2, 3}})
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		f.Spawn(&g.player, player)
		g.armour.Get(f.World, f.Spawn(&g.crate, ecs.Nobody)).Points = int32(player)
	})
	p.Shared("move", func(f *foretick.Frame, rows ecs.Rows) {
		at, pad := g.place.Slice(rows), g.pad.Slice(rows)
		for i := range at {
			at[i].X += pad[i].X * 5 * f.DT
			at[i].Y += pad[i].Y * 5 * f.DT
			if pad[i].Jump {
				at[i].Jumps++
				g.jumped.Raise(f, rows.Entity(i), Jumped{uint8(at[i].Jumps)})
			}
		}
	}, ecs.Read(&g.pad), ecs.Write(&g.place))
	p.Server("score", func(f *foretick.ServerFrame, rows ecs.Rows) {
		for i := range rows.Len() {
			if f.Tick%30 == 0 {
				g.team.Slice(rows)[i].Colour = int32(min(f.Tick/30, 10))
			}
		}
		if f.Tick%30 == 0 && rows.Owner() != ecs.Nobody {
			_ = g.weather.Send(f, rows.Owner(), Weather{4})
			_ = g.news.Send(f, rows.Owner(), News{7, int32(f.Tick)})
		}
	}, ecs.Write(&g.team))
	g.landed.OnPredicted(p, func(*foretick.Frame, foretick.By, Landed) {})
	g.jumped.OnPredicted(p, func(*foretick.Frame, foretick.By, Jumped) {})
	g.jumped.OnConfirmed(p, func(*foretick.Frame, foretick.By, Jumped) { *b.confirm++ })
	g.jumped.OnCancelled(p, func(*foretick.Frame, foretick.By, Jumped) { *b.cancel++ })
	g.weather.OnClient(p, func(*foretick.Frame, foretick.Tick, Weather) {})
	g.news.Channel = "news"
	g.news.OnClient(p, func(_ *foretick.Frame, _ foretick.Tick, n News) { *b.news = append(*b.news, int64(n.Score)) })
	b.sampler = func(fn func(client.View) (float32, float32, bool)) client.Sampler {
		return client.Sample(&g.pad, func(v client.View) (c Pad) {
			c.X, c.Y, c.Jump = fn(v)
			c.Crouch = true // an older server does not know Crouch
			return c
		})
	}
	q := p.Query(ecs.With(&g.place, &g.team))
	b.own = func(w *ecs.World, me foretick.PlayerID) (x, y float32, jumps int64, ok bool) {
		for _, rows := range q.Owned(w, me) {
			at := g.place.Slice(rows)[0]
			// Fields that the other build lacks keep their defaults.
			x, y, jumps, ok = at.X, at.Y, int64(at.Jumps), at.Z == 1.5
		}
		return x, y, jumps, ok
	}
	b.team = func(w *ecs.World, me foretick.PlayerID) int64 {
		for _, rows := range q.Owned(w, me) {
			if team := g.team.Slice(rows)[0]; team.Name == [3]uint8{1, 2, 3} {
				return int64(team.Colour)
			}
		}
		return -1
	}
	armour := p.Query(ecs.With(&g.armour))
	b.extra = func(w *ecs.World) (n int) {
		for _, rows := range armour.All(w) {
			n += rows.Len()
		}
		return n
	}
	return b
}

// join lets a build's client play, still from the time until on.
func (b *build) join(t *testing.T, m *simtest.Match, link sim.Link, until time.Duration) *client.Client {
	t.Helper()
	c, err := m.Join(client.Config{Protocol: b.protocol, Sample: b.sampler(func(v client.View) (x, y float32, jump bool) {
		if m.Net.Now() > until {
			return 0, 0, false
		}
		return float32(v.Tick*7919%257)/128 - 1, float32(v.Tick/33%2) - 0.5, v.Tick%20 == 0
	})}, simtest.Seat{Up: link, Down: link})
	require.NoError(t, err)
	return c
}

// Clients of two builds of one game play in step with servers of the other build, over a calm
// and a terrible network. The parts that both have are predicted and shown alike, messages
// and events keep their meaning, and parts that only one build has are ignored.
func TestTwoBuildsPlayInStep(t *testing.T) {
	for _, c := range []struct {
		name            string
		server, client  func() *build
		buildDifference schema.BuildDifference
	}{
		{"an elder client of a younger server", youngerBuild, elderBuild, schema.BuildDifference{
			Unknown: []string{"component Armour", "Team.Name[0]", "Team.Name[1]", "Team.Name[2]", "Place.Z", "prefab crate", "Pad.Crouch", "message Weather", "News.Kind"},
			Missing: []string{"Team.Old"},
			Changed: []string{"Team.Colour", "Place.Jumps", "News.Score"},
		}},
		{"a younger client of an elder server", elderBuild, youngerBuild, schema.BuildDifference{
			Unknown: []string{"Team.Old"},
			Missing: []string{"Place.Z", "Team.Name[0]", "Team.Name[1]", "Team.Name[2]", "component Armour", "prefab crate", "Pad.Crouch", "News.Kind", "message Weather"},
			Changed: []string{"Place.Jumps", "Team.Colour", "News.Score"},
		}},
	} {
		for _, link := range []sim.Link{{Latency: 50 * time.Millisecond}, terrible} {
			m := simtest.New(4)
			truth := c.server()
			srv, err := m.Serve(server.Config{Protocol: truth.protocol, AllowOtherBuilds: true})
			require.NoError(t, err)
			const until = 12 * time.Second
			var clients []*client.Client
			builds := []*build{c.client(), c.client(), c.server()}
			for _, b := range builds {
				clients = append(clients, b.join(t, m, link, until))
			}
			m.Run(until + time.Second)
			calm := sim.Link{Latency: 50 * time.Millisecond}
			for _, cl := range clients {
				m.Link(cl, calm, calm)
			}
			m.Run(until + 4*time.Second)
			require.EqualValues(t, 2, srv.Stats().OtherBuilds, c.name)
			require.Nil(t, clients[2].BuildDifference())
			for i, cl := range clients {
				st, b := cl.Stats(), builds[i]
				require.Equal(t, client.Playing, cl.View().State, "%s: %v", c.name, cl.View().Err)
				if i < 2 {
					require.Equal(t, truth.protocol.Describe(), cl.BuildDifference().Schema.Describe())
					got := *cl.BuildDifference()
					got.Schema = nil
					require.Equal(t, c.buildDifference, got, c.name)
				}
				a := m.Audit(cl)
				require.Zero(t, a.Differences, "%s: %s", c.name, a.First)
				require.GreaterOrEqual(t, a.Fields, 4*3)
				require.Greater(t, st.Compared, uint64(100))
				require.Zero(t, st.Malformed, c.name)
				if link.Loss == 0 {
					require.Zero(t, st.Mispredictions, "%s: %v", c.name, st.ByCause)
					require.Zero(t, st.MispredictedTicks)
					require.Zero(t, st.SoftCorrections)
					require.Zero(t, *b.cancel)
				} else {
					require.Zero(t, st.ByCause.Of(prediction.Code), "%s: the same code computed something else", c.name)
				}
				t.Logf("%s, client %d: %d ticks compared, %d wrong, %d shown wrong, %d run again, %d amended", c.name, i, st.Compared, st.Mispredictions, st.MispredictedTicks, st.Resimulated, st.SoftCorrections)
				require.Greater(t, *b.confirm, 10)
				x, y, jumps, ok := b.own(cl.View().World, cl.View().Player)
				require.True(t, ok)
				x2, y2, jumps2, ok := truth.own(srv.World(), cl.View().Player)
				require.True(t, ok)
				require.Equal(t, []any{x2, y2, jumps2}, []any{x, y, jumps})
				require.Greater(t, jumps, int64(8))
				require.EqualValues(t, jumps, *b.confirm, "each event that happened was confirmed, and no other")
				require.Equal(t, truth.team(srv.World(), cl.View().Player), b.team(cl.View().World, cl.View().Player))
				require.Greater(t, len(*b.news), 10)
				for k := 1; k < len(*b.news); k++ {
					require.Equal(t, (*b.news)[k-1]+30, (*b.news)[k])
				}
			}
		}
	}
}

// A client of another build reconnects to its place with the schema that it has already.
func TestOtherBuildClientComesBack(t *testing.T) {
	m := simtest.New(9)
	truth, cl := youngerBuild(), elderBuild()
	srv, err := m.Serve(server.Config{Protocol: truth.protocol, AllowOtherBuilds: true})
	require.NoError(t, err)
	link := sim.Link{Latency: 30 * time.Millisecond}
	c := cl.join(t, m, link, time.Hour)
	m.Run(4 * time.Second)
	me := c.View().Player
	require.NotZero(t, me)
	m.Link(c, sim.Link{Loss: 1}, sim.Link{Loss: 1})
	m.Run(12 * time.Second)
	require.Equal(t, client.Resuming, c.View().State)
	m.Link(c, link, link)
	m.Run(22 * time.Second)
	require.Equal(t, client.Playing, c.View().State)
	require.Equal(t, me, c.View().Player)
	require.EqualValues(t, 1, srv.Stats().SchemasAsked)
	require.EqualValues(t, 1, srv.Stats().Resumed)
}

// withNews returns a protocol that has only the channel.
func withNews(name string, version int) *foretick.Protocol {
	p := foretick.NewProtocol(name, version)
	p.Channel("news", netcode.Channel{Reliable: true, Priority: 2})
	return p
}

// Without AllowOtherBuilds, and if the builds cannot play together, a client is refused with an
// error that names the first difference.
func TestBuildDifferenceRefused(t *testing.T) {
	for name, c := range map[string]struct {
		allow  bool
		client func() *foretick.Protocol
		ours   string
		theirs string
	}{
		"not allowed":     {false, func() *foretick.Protocol { return elderBuild().protocol }, "", "component Armour predicted=false"},
		"another version": {true, func() *foretick.Protocol { return withNews("skew", 2) }, "version 2", "version 1"},
		"another game":    {true, func() *foretick.Protocol { return withNews("other", 1) }, "game other", "game skew"},
		"another rate": {true, func() *foretick.Protocol {
			p := elderBuild().protocol
			p.SetTickRate(60)
			return p
		}, "tick rate 60 Hz", "tick rate 30 Hz"},
		"other channels": {true, func() *foretick.Protocol {
			p := foretick.NewProtocol("skew", 1)
			p.Channel("news", netcode.Channel{Reliable: true, Priority: 9})
			return p
		}, "channel 2 news reliable=true priority=9", "channel 2 news reliable=true priority=2"},
	} {
		m := simtest.New(2)
		srv, err := m.Serve(server.Config{Protocol: youngerBuild().protocol, AllowOtherBuilds: c.allow})
		require.NoError(t, err)
		cl, err := m.Join(client.Config{Protocol: c.client()}, simtest.Seat{Up: terrible, Down: terrible, NoRedial: true})
		require.NoError(t, err, name)
		m.Run(12 * time.Second)
		require.Equal(t, client.Closed, cl.View().State, name)
		var e *client.ProtocolError
		require.ErrorAs(t, cl.View().Err, &e, name)
		require.Equal(t, c.ours, e.OurLine, name)
		require.Equal(t, c.theirs, e.TheirLine, name)
		require.Zero(t, srv.Stats().Joined)
	}
}

// TestHostileSchemas: whatever a server sends as its schema, the client ends with an
// error or keeps asking; it never uses a wrong schema.
func TestHostileSchemas(t *testing.T) {
	good := youngerBuild().protocol
	require.NoError(t, good.Err())
	bytes := good.Schema(nil)
	changed := append([]byte(nil), bytes...)
	changed[len(changed)-1]++
	for name, schema := range map[string][]byte{
		"nothing": {}, "noise": []byte("\x01noise"), "cut": bytes[:len(bytes)-3], "long": append(append([]byte(nil), bytes...), 0), "changed": changed,
	} {
		net := sim.NewNetwork(5)
		listen := net.Listen()
		c, err := client.New(client.Config{Protocol: elderBuild().protocol, Transport: net.Dial(listen, sim.LAN, sim.LAN)})
		require.NoError(t, err)
		conn := netcode.NewConn(netcode.Config{Channels: []netcode.Channel{{Reliable: true}, {Reliable: true}}})
		var peer transport.PeerID
		for i := range 300 {
			net.Run(time.Duration(i) * 10 * time.Millisecond)
			c.Step(simtest.Epoch.Add(net.Now()))
			lie(t, net.Now(), listen, &peer, conn, good.Hash(), schema)
		}
		require.Equal(t, client.Closed, c.View().State, name)
		require.Error(t, c.View().Err, name)
		t.Logf("%s: %v", name, c.View().Err)
	}
}

// lie replies to a Hello with an offer of the schema, and to a request with a false
// one.
func lie(t *testing.T, now time.Duration, e *sim.Endpoint, peer *transport.PeerID, conn *netcode.Conn, hash uint64, schema []byte) {
	var ev [8]transport.Event
	for _, x := range ev[:e.Recv(ev[:])] {
		*peer = x.Peer
		if x.Kind != transport.Data || conn.Receive(now, x.Data) != nil {
			continue
		}
		for m, ok := conn.NextMessage(); ok; m, ok = conn.NextMessage() {
			if m.Type == netcode.MessageHello {
				pk := conn.Begin(now)
				pk.Message(netcode.MessageReject, netcode.Reject{Code: 4, Protocol: hash}.Append(nil))
				_, b := pk.Finish()
				require.NoError(t, e.Send(*peer, b))
			}
		}
		for r, ok := conn.NextReliable(); ok; r, ok = conn.NextReliable() {
			require.Equal(t, netcode.KindSchemaRequest, r.Kind)
			require.NoError(t, conn.SendOn(1, 0, netcode.KindSchemaReply, netcode.SchemaReply{Known: true, Name: "protocol", Hash: netcode.SchemaHash(schema), Data: schema}.Append(nil)))
		}
	}
	if conn.Pending() > 0 {
		_, b := conn.Begin(now).Finish()
		require.NoError(t, e.Send(*peer, b))
	}
}
