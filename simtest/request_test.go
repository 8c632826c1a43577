package simtest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// say is a line of chat, and buy is another request of a player.
type (
	say struct {
		Text string `net:"max=40"`
	}
	buy struct {
		Item uint8 `net:"min=0,max=99"`
		N    uint16
	}
)

// shop is the walking game with requests.
type shop struct {
	game
	say foretick.Request[say]
	buy foretick.Request[buy]

	said   []string // lines of chat, with the players that sent them
	bought []uint16
	ticks  []foretick.Tick // tick of each purchase
	order  string          // order of the calls in a tick
	fails  string          // the line at which the handler panics
}

func (g *shop) protocol() *foretick.Protocol {
	p := g.game.protocol()
	p.OnJoin(func(_ *foretick.ServerFrame, player foretick.PlayerID) { g.order += fmt.Sprintf("join %d;", player) })
	g.say.Handle(p, func(_ *foretick.ServerFrame, player foretick.PlayerID, v say) {
		g.said = append(g.said, fmt.Sprintf("%d: %s", player, v.Text))
		g.order += fmt.Sprintf("say %d;", player)
		if g.fails != "" && v.Text == g.fails {
			panic(v.Text)
		}
	})
	g.buy.Handle(p, func(f *foretick.ServerFrame, _ foretick.PlayerID, v buy) {
		g.bought, g.ticks = append(g.bought, v.N), append(g.ticks, f.Tick)
	})
	return p
}

// open begins a match of the shop with some clients.
func (g *shop) open(t *testing.T, m *simtest.Match, link sim.Link, clients int) (*server.Server, []*client.Client, []*shop) {
	t.Helper()
	srv, err := m.Serve(server.Config{Protocol: g.protocol(), OnPanic: func(p server.Panic) { g.order += p.Handler + ";" }})
	require.NoError(t, err)
	cs, gs := make([]*client.Client, clients), make([]*shop, clients)
	for i := range cs {
		gs[i] = &shop{}
		cs[i], err = m.Join(client.Config{Protocol: gs[i].protocol()}, simtest.Seat{Up: link, Down: link})
		require.NoError(t, err)
	}
	return srv, cs, gs
}

// The allowance of requests in a second, and at once.
const requestRate, requestBurst = 32, 64

// If a player's connection is lost again and again, at the worst moments, each of its
// requests is handled once and in order, including those made while it was away.
func TestRequestsSurviveALostConnection(t *testing.T) {
	for seed := range uint64(costtest.Count(1, 4)) {
		link, dead := sim.Link{Latency: 40 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.1, Duplicate: 0.05}, sim.Link{Loss: 1}
		m := simtest.New(seed)
		var truth shop
		srv, cs, gs := truth.open(t, m, link, 2)
		c, g := cs[0], gs[0]
		n := uint16(0)
		play := func(length time.Duration) {
			for end := m.Net.Now() + length; m.Net.Now() < end; m.Run(m.Net.Now() + 100*time.Millisecond) {
				require.NoError(t, g.buy.Send(c, buy{Item: uint8(n % 100), N: n}))
				n++
			}
		}
		m.Run(2 * time.Second)
		play(3 * time.Second)
		for i := range 3 {
			m.Link(c, dead, link) // only the server's packets arrive
			if i == 1 {
				m.Link(c, link, dead) // only the client's packets arrive
			}
			play(200 * time.Millisecond)
			m.Link(c, dead, dead)
			play(7 * time.Second)
			require.Equal(t, client.Resuming, c.View().State)
			m.Link(c, link, link)
			for c.View().State != client.Playing {
				play(100 * time.Millisecond)
			}
			play(time.Duration(i) * 300 * time.Millisecond)
		}
		m.Run(m.Net.Now() + 5*time.Second)
		require.EqualValues(t, 3, c.Stats().Resumed)
		require.Len(t, truth.bought, int(n))
		for i, got := range truth.bought {
			require.EqualValues(t, i, got)
		}
		require.EqualValues(t, n, srv.Stats().Requests)
		require.EqualValues(t, n, c.Stats().Requests)
		require.Zero(t, c.Stats().RequestsDropped+c.Stats().Malformed+srv.Stats().Malformed+srv.Stats().Offenders)
		require.Zero(t, cs[1].Stats().Connections-1)
		require.NoError(t, m.Quiet())
	}
}

// When a player's place was released, its waiting requests for the old place are dropped, and it
// starts over as a new player.
func TestRequestsGoWithThePlace(t *testing.T) {
	link, dead := sim.Link{Latency: 30 * time.Millisecond}, sim.Link{Loss: 1}
	m := simtest.New(1)
	var truth shop
	srv, cs, gs := truth.open(t, m, link, 1)
	c, g := cs[0], gs[0]
	m.Run(2 * time.Second)
	require.NoError(t, g.say.Send(c, say{"first"}))
	m.Run(3 * time.Second)
	m.Link(c, dead, dead)
	m.Run(9 * time.Second)
	require.Equal(t, client.Resuming, c.View().State)
	for range 3 {
		require.NoError(t, g.say.Send(c, say{"lost"}))
	}
	m.Run(10 * time.Second)
	srv.Frame().Kick(1, 0, "gone for good")
	m.Link(c, link, link)
	m.Run(20 * time.Second)
	require.Equal(t, client.Playing, c.View().State)
	require.EqualValues(t, 3, c.Stats().RequestsDropped)
	require.NoError(t, g.say.Send(c, say{"second"}))
	m.Run(21 * time.Second)
	m.Link(c, dead, dead)
	require.NoError(t, g.say.Send(c, say{"third"}))
	m.Run(28 * time.Second)
	m.Link(c, link, link)
	m.Run(36 * time.Second)
	require.EqualValues(t, 1, c.Stats().Resumed)
	require.Equal(t, []string{"1: first", "2: second", "2: third"}, truth.said, "the number of who left rests")
	require.Zero(t, srv.Stats().Malformed+c.Stats().Malformed)
}

// TestRequestLimits: a request beyond the limits is refused at once, without an effect on
// others.
func TestRequestLimits(t *testing.T) {
	m := simtest.New(1)
	var truth shop
	srv, cs, gs := truth.open(t, m, sim.Link{Latency: 30 * time.Millisecond}, 2)
	c, g := cs[0], gs[0]
	require.ErrorIs(t, g.say.Send(c, say{"too early"}), foretick.ErrNotPlaying)
	require.PanicsWithValue(t, foretick.UsageError{Text: "foretick: request say is sent and not declared: call its Handle in Protocol, on both ends"}, func() { _ = new(foretick.Request[say]).Send(c, say{}) })
	m.Run(2 * time.Second)
	for i := range uint16(requestBurst) {
		require.NoError(t, g.buy.Send(c, buy{N: i}))
	}
	require.ErrorIs(t, g.buy.Send(c, buy{}), foretick.ErrTooManyRequests)
	m.Run(3*time.Second + 20*time.Millisecond)
	for i := range uint16(requestRate) {
		require.NoError(t, g.buy.Send(c, buy{N: requestBurst + i}))
	}
	require.ErrorIs(t, g.buy.Send(c, buy{}), foretick.ErrTooManyRequests)
	require.NoError(t, gs[1].buy.Send(cs[1], buy{N: 1000}), "each has its own allowance")
	m.Run(5 * time.Second)
	require.Len(t, truth.bought, requestBurst+requestRate+1)
	require.NoError(t, g.say.Send(c, say{strings.Repeat("ä", 30)}), "60 bytes: cut at a character")
	require.NoError(t, gs[1].buy.Send(cs[1], buy{Item: 200}), "brought into range, as every value is")
	m.Run(6 * time.Second)
	require.Equal(t, []string{"1: " + strings.Repeat("ä", 20)}, truth.said)
	require.NoError(t, c.Close())
	require.ErrorIs(t, g.say.Send(c, say{}), foretick.ErrNotPlaying)
	require.Zero(t, srv.Stats().Malformed+srv.Stats().Offenders)
	require.NoError(t, m.Err())
}

// A client may send requests as soon as it has joined: OnJoin has run by then. Requests that
// were delayed in transit arrive together, which is allowed.
func TestRequestsComeBehindJoin(t *testing.T) {
	m := simtest.New(1)
	link := sim.Link{Latency: 30 * time.Millisecond}
	var truth shop
	srv, cs, gs := truth.open(t, m, link, 1)
	for cs[0].View().State < client.Syncing {
		m.Run(m.Net.Now() + time.Millisecond)
	}
	require.NoError(t, gs[0].say.Send(cs[0], say{"hello"}))
	m.Run(2 * time.Second)
	require.Equal(t, "join 1;say 1;", truth.order)

	m.Link(cs[0], sim.Link{Loss: 1}, link)
	sent := 0
	for end := m.Net.Now() + 4500*time.Millisecond; m.Net.Now() < end; m.Run(m.Net.Now() + 20*time.Millisecond) {
		for gs[0].buy.Send(cs[0], buy{N: uint16(sent)}) == nil {
			sent++
		}
	}
	m.Link(cs[0], link, link)
	m.Run(m.Net.Now() + 3*time.Second)
	require.Greater(t, sent, requestBurst+4*requestRate)
	require.Len(t, truth.bought, sent)
	require.EqualValues(t, 1, cs[0].Stats().Connections)
	require.Zero(t, srv.Stats().Offenders)
}

// If a handler panics, only the player that sent the request is dropped, and its other
// requests are not handled.
func TestRequestHandlerPanics(t *testing.T) {
	m := simtest.New(1)
	truth := shop{fails: "boom"}
	srv, cs, gs := truth.open(t, m, sim.Link{Latency: 30 * time.Millisecond}, 2)
	m.Run(2 * time.Second)
	for _, text := range []string{"before", "boom", "after"} {
		require.NoError(t, gs[0].say.Send(cs[0], say{text}))
	}
	require.NoError(t, gs[1].say.Send(cs[1], say{"another"}))
	m.Run(3 * time.Second)
	require.ElementsMatch(t, []string{"1: before", "1: boom", "2: another"}, truth.said)
	require.EqualValues(t, 1, srv.Stats().Panics)
	require.Contains(t, truth.order, "request say;")
	require.Equal(t, client.Closed, cs[0].View().State)
	require.Equal(t, client.Playing, cs[1].View().State)
}

// TestRequestsOfARogue: requests that no client would send end their connection.
func TestRequestsOfARogue(t *testing.T) {
	good := []byte{7, 0, 0}
	for name, send := range map[string]func(c *rogue){
		"more than a client sends": func(c *rogue) {
			for range 100 {
				_ = c.conn.SendOn(0, c.newest, 1, good)
			}
		},
		"an unknown kind":      func(c *rogue) { _ = c.conn.SendOn(0, c.newest, 2, good) },
		"too short":            func(c *rogue) { _ = c.conn.SendOn(0, c.newest, 1, good[:1]) },
		"too long":             func(c *rogue) { _ = c.conn.SendOn(0, c.newest, 1, append(good, 0)) },
		"a value out of range": func(c *rogue) { _ = c.conn.SendOn(0, c.newest, 1, []byte{120, 0, 0}) },
	} {
		t.Run(name, func(t *testing.T) {
			m := simtest.New(1)
			link := sim.Link{Latency: 20 * time.Millisecond}
			var truth shop
			srv, cs, gs := truth.open(t, m, link, 1)
			p := new(shop).protocol()
			require.NoError(t, p.Err())
			c := &rogue{endpoint: m.Dial(link, link), hash: p.Hash()}
			c.add = func(*netcode.Packet) { send(c) }
			var step func()
			step = func() {
				c.stepRogue(m.Net.Now())
				m.Net.At(m.Net.Now()+time.Second/60, step)
			}
			m.Net.At(time.Second, step)
			m.Run(6 * time.Second)
			require.NoError(t, gs[0].say.Send(cs[0], say{"I am well"}))
			m.Run(7 * time.Second)
			require.True(t, c.joined())
			require.NotNil(t, c.gone)
			require.Equal(t, transport.Protocol, c.gone.Code, c.gone.Reason)
			require.EqualValues(t, 1, srv.Stats().Offenders)
			require.Equal(t, []string{"1: I am well"}, truth.said)
			require.EqualValues(t, 1, cs[0].Stats().Connections)
		})
	}
}

// Requests before a Welcome, and requests sent as events, are not handled.
func TestRequestsOfStrangers(t *testing.T) {
	m := simtest.New(1)
	link := sim.Link{Latency: 20 * time.Millisecond}
	var truth shop
	srv, err := m.Serve(server.Config{Protocol: truth.protocol()})
	require.NoError(t, err)
	c := &rogue{endpoint: m.Dial(link, link), hash: 1}
	for now := time.Duration(0); now < 3*time.Second; now += 50 * time.Millisecond {
		m.Run(now)
		c.stepRogue(now)
		if c.conn != nil {
			_ = c.conn.SendOn(0, 1, 1, []byte{7, 0, 0})
		}
	}
	require.False(t, c.joined())
	require.Empty(t, truth.bought)
	require.Zero(t, srv.Stats().Requests)
	require.NotZero(t, srv.Stats().Malformed)
}

// Requests between builds: one build lacks a request, has another one, or has other fields in one.
func TestRequestsOfAnotherBuild(t *testing.T) {
	type Old struct{ N uint8 }
	type New struct{ N uint8 }
	type Offer struct {
		Price uint8
		Item  int32 // the newer build has a wider type
	}
	elder := func(old *foretick.Request[Old], offer *foretick.Request[Offer], got *[]string) *foretick.Protocol {
		p := foretick.NewProtocol("skewed requests", 1)
		old.Handle(p, func(_ *foretick.ServerFrame, _ foretick.PlayerID, v Old) {
			*got = append(*got, fmt.Sprint("old ", v.N))
		})
		offer.Handle(p, func(_ *foretick.ServerFrame, _ foretick.PlayerID, v Offer) {
			*got = append(*got, fmt.Sprint("offer ", v.Price, v.Item))
		})
		return p
	}
	younger := func(fresh *foretick.Request[New], offer any) *foretick.Protocol {
		type Offer struct {
			Item  int64
			Note  uint8
			Price uint8
		}
		p := foretick.NewProtocol("skewed requests", 1)
		r := &foretick.Request[Offer]{}
		r.Handle(p, func(*foretick.ServerFrame, foretick.PlayerID, Offer) {})
		fresh.Handle(p, func(*foretick.ServerFrame, foretick.PlayerID, New) {})
		*offer.(*func(*client.Client) error) = func(c *client.Client) error { return r.Send(c, Offer{Item: 70000, Note: 1, Price: 9}) }
		return p
	}
	var got []string
	m := simtest.New(1)
	_, err := m.Serve(server.Config{Protocol: elder(&foretick.Request[Old]{}, &foretick.Request[Offer]{}, &got), AllowOtherBuilds: true})
	require.NoError(t, err)
	var fresh foretick.Request[New]
	var offer func(*client.Client) error
	c, err := m.Join(client.Config{Protocol: younger(&fresh, &offer)}, simtest.Seat{Up: sim.Link{Latency: time.Millisecond}, Down: sim.Link{Latency: time.Millisecond}})
	require.NoError(t, err)
	m.Run(2 * time.Second)
	require.NotNil(t, c.BuildDifference())
	require.ErrorIs(t, fresh.Send(c, New{1}), foretick.ErrUnknownRequest)
	require.NoError(t, offer(c))
	m.Run(3 * time.Second)
	require.Equal(t, []string{"offer 9 70000"}, got)
	require.Equal(t, []string{"request Old"}, c.BuildDifference().Unknown)
	require.Equal(t, []string{"Offer.Note", "request New"}, c.BuildDifference().Missing)
	require.Equal(t, []string{"Offer.Item"}, c.BuildDifference().Changed)
}

// taker keeps the last request that was handled.
type taker struct {
	*simtest.Requests
	last simtest.RequestTaken
}

func (k *taker) Handling(m *simtest.Match, r simtest.RequestTaken) error {
	k.last = r
	k.last.Payload = slices.Clone(r.Payload)
	return k.Requests.Handling(m, r)
}

// TestRequestsChecker: the checker finds a request that comes twice, late, changed, from nobody, or
// never.
func TestRequestsChecker(t *testing.T) {
	type taken = simtest.RequestTaken
	for name, tamper := range map[string]func(m *simtest.Match, q *simtest.Requests, c *client.Client, last taken) error{
		"twice": func(m *simtest.Match, q *simtest.Requests, _ *client.Client, last taken) error {
			return q.Handling(m, last)
		},
		"out of order": func(m *simtest.Match, q *simtest.Requests, c *client.Client, last taken) error {
			for n := range byte(2) {
				q.Asked(m, c, simtest.RequestSent{Kind: 1, Payload: []byte{n}})
			}
			last.Kind, last.Payload = 1, []byte{1}
			return q.Handling(m, last)
		},
		"changed": func(m *simtest.Match, q *simtest.Requests, c *client.Client, last taken) error {
			q.Asked(m, c, simtest.RequestSent{Kind: 0, Payload: []byte{7}})
			last.Payload = []byte{8}
			return q.Handling(m, last)
		},
		"another kind": func(m *simtest.Match, q *simtest.Requests, c *client.Client, last taken) error {
			q.Asked(m, c, simtest.RequestSent{Kind: 0, Payload: []byte{7}})
			last.Kind, last.Payload = 1, []byte{7}
			return q.Handling(m, last)
		},
		"another player's": func(m *simtest.Match, q *simtest.Requests, c *client.Client, last taken) error {
			q.Asked(m, c, simtest.RequestSent{Kind: 0, Payload: []byte{7}})
			last.By, last.Session, last.Payload = last.By+1, last.Session+1, []byte{7}
			return q.Handling(m, last)
		},
		"never": func(m *simtest.Match, q *simtest.Requests, c *client.Client, _ taken) error {
			q.Asked(m, c, simtest.RequestSent{Kind: 0, Payload: []byte{7}})
			return q.Quiet(m)
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, q := simtest.New(1), &simtest.Requests{}
			k := &taker{Requests: q}
			m.Watch(k)
			var srv shop
			_, err := m.Serve(server.Config{Protocol: srv.protocol()})
			require.NoError(t, err)
			g := &shop{}
			c, err := m.Join(client.Config{Protocol: g.protocol()}, simtest.Seat{Up: sim.LAN, Down: sim.LAN})
			require.NoError(t, err)
			m.Run(2 * time.Second)
			_, err = q.Worked(m)
			require.ErrorContains(t, err, "Player.Act")
			require.NoError(t, g.buy.Send(c, buy{N: 5}))
			m.Run(3 * time.Second)
			require.NoError(t, m.Err())
			require.NoError(t, q.Quiet(m))
			line, err := q.Worked(m)
			require.NoError(t, err)
			require.Equal(t, "requests: 1 handled", line)
			require.Error(t, tamper(m, q, c, k.last))
		})
	}
}
