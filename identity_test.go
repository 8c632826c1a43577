package foretick_test

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
	"github.com/foretick/foretick/transport/udp"
)

// club is a server whose players have identities, and how its time passes.
type club struct {
	t       *testing.T
	srv     *foretick.Server
	now     func() time.Time
	pass    func()
	dial    func(identity string) transport.Endpoint
	vanish  func(transport.Endpoint)
	members []*foretick.Client
	talks   []foretick.Request[Move] // of the members
	redials bool
	heard   []Move
}

// simClub is one over a transport that knows identities and keeps nobody out.
func simClub(t *testing.T) *club {
	net := sim.NewNetwork(1)
	listen := net.Listen()
	coming := ""
	listen.SetAccept(func(string) ([]byte, error) { return []byte(coming), nil })
	c := &club{t: t, now: func() time.Time { return simtest.Epoch.Add(net.Now()) }}
	c.pass = func() { net.Run(net.Now() + 5*time.Millisecond) }
	c.dial = func(identity string) transport.Endpoint {
		coming = identity
		e := net.Dial(listen, sim.Link{}, sim.Link{})
		net.Run(net.Now() + 20*time.Millisecond)
		return e
	}
	c.vanish = func(e transport.Endpoint) { dead := sim.Link{Loss: 1}; net.SetLink(e.(*sim.Endpoint), dead, dead) }
	c.open(listen)
	return c
}

// udpClub is one over a doorkeeper.
func udpClub(t *testing.T) *club {
	listen, err := udp.Listen("127.0.0.1:0", udp.Config{Timeout: time.Second, Accept: func(_ netip.AddrPort, token []byte) ([]byte, error) {
		return token, nil
	}})
	require.NoError(t, err)
	c := &club{t: t, now: time.Now, pass: func() { time.Sleep(2 * time.Millisecond) }}
	c.dial = func(identity string) transport.Endpoint {
		e, err := udp.Dial(listen.LocalAddr().String(), udp.Config{Token: []byte(identity)})
		require.NoError(t, err)
		return e
	}
	c.open(listen)
	return c
}

func (c *club) open(listen transport.Endpoint) {
	var err error
	p := new(Walk).Protocol()
	(new(foretick.Request[Move])).Handle(p, func(_ *foretick.Frame, _ foretick.PlayerID, v Move) { c.heard = append(c.heard, v) })
	c.srv, err = foretick.NewServer(foretick.ServerConfig{Protocol: p, Transport: listen})
	require.NoError(c.t, err)
	c.t.Cleanup(func() {
		for _, m := range c.members {
			_ = m.Close()
		}
		c.srv.Close("")
	})
}

// knock has a client with an identity come to the door.
func (c *club) knock(identity string) (*foretick.Client, transport.Endpoint) {
	g := &Walk{}
	e := c.dial(identity)
	p := g.Protocol()
	var talk foretick.Request[Move]
	talk.Handle(p, nil)
	cfg := foretick.ClientConfig{Protocol: p, Transport: e,
		Sample: foretick.Sample(&g.Move, func(foretick.View) Move { return Move{X: 1} })}
	if c.redials {
		cfg.Redial = func() (transport.Endpoint, error) { return c.dial(identity), nil }
	}
	cli, err := foretick.NewClient(cfg)
	require.NoError(c.t, err)
	c.members, c.talks = append(c.members, cli), append(c.talks, talk)
	return cli, e
}

func (c *club) until(what string, cond func() bool) {
	c.t.Helper()
	for begin := c.now(); !cond(); {
		require.Less(c.t, c.now().Sub(begin), 20*time.Second, "in vain waited until %s", what)
		c.pass()
		c.srv.Step(c.now())
		for _, m := range c.members {
			_ = m.Step(c.now()) // what ended is looked at below
		}
	}
}

func (c *club) enter(identity string) *foretick.Client {
	c.t.Helper()
	cli, _ := c.knock(identity)
	c.until(identity+" plays", func() bool { return cli.View().State == foretick.Playing })
	return cli
}

// plays has a client play for so long, after which its place is held for as long.
func (c *club) plays(cli *foretick.Client, d time.Duration) {
	c.t.Helper()
	c.until("the client plays", func() bool { return cli.View().State == foretick.Playing })
	begin := c.now()
	c.until("it has played", func() bool { return c.now().Sub(begin) > d })
}

// ended waits for a client's end and checks what it was told.
func (c *club) ended(cli *foretick.Client, code transport.Code, detail string) {
	c.t.Helper()
	c.until("the client is told", func() bool { return cli.View().Err != nil })
	var why *transport.DisconnectError
	require.True(c.t, errors.As(cli.View().Err, &why), "%v", cli.View().Err)
	assert.Equal(c.t, code, why.Code)
	assert.Equal(c.t, detail, why.Detail)
}

// A game kicks and bans players by who they are, behind a transport that keeps the banned out and behind one that does not.
func TestKickAndBan(t *testing.T) {
	for name, open := range map[string]func(*testing.T) *club{"sim": simClub, "udp": udpClub} {
		t.Run(name, func(t *testing.T) {
			c := open(t)
			ann, bob := c.enter("ann"), c.enter("bob")
			assert.Equal(t, "ann", string(c.srv.Identity(ann.View().Player)))
			assert.Empty(t, c.srv.Identity(77))
			assert.False(t, c.srv.KickIdentity([]byte("eve"), ""))
			require.True(t, c.srv.KickIdentity([]byte("ann"), "enough"))
			c.ended(ann, transport.Kicked, "enough")
			ann = c.enter("ann")
			require.True(t, c.srv.Ban([]byte("ann"), c.now().Add(time.Hour), "cheats"))
			c.ended(ann, transport.Kicked, "cheats")
			ann, _ = c.knock("ann")
			c.ended(ann, transport.Refused, "cheats")
			c.srv.Unban([]byte("ann"))
			ann = c.enter("ann")
			require.True(t, c.srv.Ban([]byte("ann"), c.now().Add(-time.Second), "long ago"))
			c.ended(ann, transport.Kicked, "long ago")
			c.enter("ann")
			assert.Equal(t, foretick.Playing, bob.View().State, "bob is left alone")

			assert.False(t, c.srv.Ban(nil, time.Time{}, ""), "an empty identity is nobody's")
			assert.False(t, c.srv.KickIdentity(nil, ""))
			require.True(t, c.srv.Frame().Kick(bob.View().Player, 0, "you too"))
			c.ended(bob, transport.Kicked, "you too")
		})
	}
}

// A player who comes back without its token, for example from another machine, takes its place again; nobody else does.
func TestIdentityKeepsItsPlace(t *testing.T) {
	c := simClub(t)
	first, wire := c.knock("ann")
	c.plays(first, 10*time.Second)
	me := first.View().Player
	c.vanish(wire)
	c.until("the server has noticed", func() bool {
		return c.srv.World().Len() == 1 && len(c.srv.Players(nil)) == 1 && first.View().Err != nil
	})
	eve := c.enter("eve")
	assert.NotEqual(t, me, eve.View().Player)
	assert.Equal(t, "ann", string(c.srv.Identity(me)), "known while the place is held")
	assert.Equal(t, me, c.enter("ann").View().Player)
	assert.EqualValues(t, 1, c.srv.Stats().Resumed)
	assert.Len(t, c.srv.Players(nil), 2)

	nobody, wire := c.knock("")
	c.plays(nobody, 10*time.Second)
	c.vanish(wire)
	c.until("the server has noticed", func() bool { return nobody.View().Err != nil })
	assert.NotEqual(t, nobody.View().Player, c.enter("").View().Player, "a place of nobody's is not anybody's")
}

// Over a transport that replaces the old connection of an identity, the player goes on in its place.
func TestReplacedPlayerKeepsItsPlace(t *testing.T) {
	c := udpClub(t)
	old := c.enter("ann")
	me := old.View().Player
	young := c.enter("ann")
	c.ended(old, transport.Replaced, "connected anew")
	assert.Equal(t, me, young.View().Player)
	assert.Equal(t, []foretick.PlayerID{me}, c.srv.Players(nil))
}

// Requests are counted anew with a player who comes back without its token: what it
// asks later, over connections that are lost again, comes once and in order.
func TestRequestsOfWhoComesBackByIdentity(t *testing.T) {
	c := simClub(t)
	say := func(member, n int) {
		for i := range n {
			require.NoError(t, c.talks[member].Send(c.members[member], Move{X: float32(len(c.heard)+i) / 128}))
		}
		want := len(c.heard) + n
		c.until("all is heard", func() bool { return len(c.heard) >= want })
	}
	first, wire := c.knock("ann")
	c.plays(first, 10*time.Second)
	say(0, 5)
	c.vanish(wire)
	c.until("she is gone", func() bool { return first.View().Err != nil })
	c.redials = true
	again, wire := c.knock("ann")
	c.until("ann is back", func() bool { return again.View().State == foretick.Playing })
	require.Equal(t, first.View().Player, again.View().Player)
	say(1, 3)
	c.vanish(wire)
	require.NoError(t, c.talks[1].Send(again, Move{X: 8.0 / 128}))
	c.until("the loss is noticed", func() bool { return again.View().State == foretick.Resuming })
	c.until("ann is back once more", func() bool { return again.View().State == foretick.Playing })
	c.until("what waited is heard", func() bool { return len(c.heard) == 9 })
	say(1, 1)
	for i, v := range c.heard {
		require.EqualValues(t, i, v.X*128)
	}
	require.Zero(t, c.srv.Stats().Malformed+again.Stats().Malformed)
}
