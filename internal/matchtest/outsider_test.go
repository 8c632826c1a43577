package matchtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/simtest/campaign"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/dtls"
	"github.com/foretick/foretick/transport/udp"
	"github.com/foretick/foretick/transport/ws"
)

// TestFirstPacketAcksWhatWasNeverSent: the first packet of a stranger, over any transport,
// acknowledges a packet number half the range away. The server refuses the packet and plays on.
func TestFirstPacketAcksWhatWasNeverSent(t *testing.T) {
	packet := sealed([]byte{0x1f, 0, 0, 0xff, 0x7f, 0, 0, 0, 0, 255})
	require.Len(t, packet, 14)
	t.Run("sim", func(t *testing.T) {
		h := newVenue(t, server.Config{})
		c := h.call("")
		require.NoError(t, c.e.Send(c.peer, packet))
		h.run(time.Second)
		require.Zero(t, h.srv.Stats().CorePanics)
		require.True(t, h.comes("", time.Second))
	})
	for name, open := range map[string]func() (srv, client transport.Endpoint){
		"udp": func() (transport.Endpoint, transport.Endpoint) {
			s, err := udp.Listen("127.0.0.1:0", udp.Config{})
			require.NoError(t, err)
			c, err := udp.Dial(s.LocalAddr().String(), udp.Config{})
			require.NoError(t, err)
			return s, c
		},
		"dtls": func() (transport.Endpoint, transport.Endpoint) {
			cert, err := dtls.NewCertificate()
			require.NoError(t, err)
			s, err := dtls.Listen("127.0.0.1:0", dtls.Config{Certificate: &cert})
			require.NoError(t, err)
			c, err := dtls.Dial(s.LocalAddr().String(), dtls.Config{Pins: []dtls.Pin{dtls.PinOf(cert)}})
			require.NoError(t, err)
			return s, c
		},
		"ws": func() (transport.Endpoint, transport.Endpoint) {
			s, err := ws.Listen("127.0.0.1:0", ws.Config{})
			require.NoError(t, err)
			c, err := ws.Dial("ws://"+s.LocalAddr().String(), ws.Config{})
			require.NoError(t, err)
			return s, c
		},
	} {
		t.Run(name, func(t *testing.T) {
			truth, client := open()
			defer func() { _ = client.Close(transport.Closed, "") }()
			srv, err := server.New(server.Config{Protocol: new(Walk).Protocol(), Transport: truth})
			require.NoError(t, err)
			defer func() { _ = srv.Close("") }()
			var ev [8]transport.Event
			sent := false
			for begin := time.Now(); srv.Stats().PacketsIn == 0; time.Sleep(time.Millisecond) {
				require.Less(t, time.Since(begin), 10*time.Second)
				srv.Step(time.Now())
				for _, e := range ev[:client.Recv(ev[:])] {
					if e.Kind == transport.Connected && !sent {
						require.NoError(t, client.Send(e.Peer, packet))
						client.Flush()
						sent = true
					}
				}
			}
			srv.Step(time.Now())
			require.Zero(t, srv.Stats().CorePanics)
		})
	}
}

// TestManyHellosInOnePacket: however many hellos a packet carries, with whatever
// tokens, one connection is one player.
func TestManyHellosInOnePacket(t *testing.T) {
	h := newVenue(t, server.Config{MaxClients: 4})
	c := h.enters("")
	h.run(20 * time.Second)
	none := [16]byte{}
	for range 15 {
		again := h.call("")
		again.plays = true
		again.say(func(pk *netcode.Packet) {
			again.hello(c.welcome.Resume)(pk)
			again.hello(none)(pk)
			again.hello(c.welcome.Resume)(pk)
			again.hello(none)(pk)
		})
		c.vanish()
		h.run(time.Second)
		require.Equal(t, c.welcome.Owner, again.welcome.Owner)
		require.Len(t, h.srv.Players(nil), 1)
		require.Equal(t, 1, h.srv.World().Len())
		c = again
	}
	require.True(t, h.comes("", time.Second), "the other places are free")

	// The first hello is refused, and the second one admits nobody, either.
	full := newVenue(t, server.Config{MaxClients: 1})
	full.enters("")
	other := full.call("")
	other.say(func(pk *netcode.Packet) {
		for range 8 {
			other.hello(none)(pk)
		}
	})
	full.run(time.Second)
	require.NotNil(t, other.gone)
	require.Equal(t, transport.Full, other.gone.Code)
	require.Len(t, full.srv.Players(nil), 1)
	require.Equal(t, 1, full.srv.World().Len())
}

// TestHelloAndVanish: connections that send a hello, or play for a second, and then fall
// silent keep nobody out.
func TestHelloAndVanish(t *testing.T) {
	costtest.Ratio(t)
	for _, plays := range []bool{false, true} {
		h := newVenue(t, server.Config{})
		next, honest, came := time.Duration(0), 0, 0
		vanish := map[*caller]time.Duration{}
		begin := h.net.Now()
		for n := 0; n < 300; {
			for now := h.net.Now() - begin; now >= next; next += 500 * time.Millisecond {
				c := h.call("203.0.113.9:1000")
				c.plays = plays
				if c.conn != nil {
					c.say(c.hello([16]byte{}))
				}
				vanish[c] = h.net.Now()
				n++
			}
			for c, since := range vanish {
				if h.net.Now()-since >= time.Second {
					c.vanish()
					delete(vanish, c)
				}
			}
			if n >= 40 && n%7 == 0 && honest < 79 {
				honest++
				if h.comes("198.51.100.7:2000", 3*time.Second) {
					came++
				}
			}
			h.callers = h.callers[max(0, len(h.callers)-60):]
			h.run(100 * time.Millisecond)
		}
		t.Logf("plays for a second %v: %d of %d honest clients came in, %d places taken, %d refused", plays, came, honest, h.srv.Stats().PlacesTaken, h.srv.Stats().Refused)
		for c := range vanish {
			c.vanish()
		}
		require.Greater(t, honest, 30)
		require.Equal(t, honest, came)
		h.run(40 * time.Second)
		require.Empty(t, h.srv.Players(nil))
		require.Equal(t, 0, h.srv.World().Len())
	}
}

// TestPlaceIsHeldForAsLongAsItWasPlayed: a place is held for as long as its player has played, and for
// no longer than ReconnectWindow.
func TestPlaceIsHeldForAsLongAsItWasPlayed(t *testing.T) {
	for _, row := range []struct {
		plays bool
		lasts time.Duration
		held  time.Duration
	}{{false, 10 * time.Second, 0}, {true, 4 * time.Second, 4 * time.Second}, {true, 20 * time.Second, 8 * time.Second}} {
		h := newVenue(t, server.Config{ReconnectWindow: 8 * time.Second})
		c := h.call("")
		c.plays = row.plays
		c.say(c.hello([16]byte{}))
		for end := h.net.Now() + row.lasts; h.net.Now() < end; h.run(time.Second / 30) {
			if !row.plays && c.conn != nil {
				c.say(func(*netcode.Packet) {}) // a packet with acknowledgements and no command
			}
		}
		c.vanish()
		h.run(5500 * time.Millisecond) // longer than the timeout
		begin := h.net.Now()
		for len(h.srv.Players(nil)) > 0 && h.net.Now()-begin < time.Minute {
			h.run(time.Second / 30)
		}
		require.InDelta(t, row.held.Seconds(), (h.net.Now() - begin).Seconds(), 0.7, "%+v", row)
	}
}

// TestNewcomerTakesThePlaceOfWhoPlayedLeast: on a full server a new player takes the place of the
// absent player that has played least, unless places are kept. OnLeave runs for the absent
// player, and when it comes back it is a new player.
func TestNewcomerTakesThePlaceOfWhoPlayedLeast(t *testing.T) {
	for _, keep := range []bool{false, true} {
		h := newVenue(t, server.Config{MaxClients: 4, ReconnectWindow: time.Minute, KeepPlaces: keep})
		present := h.enters("198.51.100.1:1")
		long := h.enters("198.51.100.2:1")
		h.run(15 * time.Second)
		short := h.enters("198.51.100.3:1")
		h.run(11 * time.Second)
		middle := h.enters("198.51.100.4:1")
		h.run(2 * time.Second)
		long.vanish()
		short.vanish()
		middle.say(func(pk *netcode.Packet) {})
		h.run(7 * time.Second)
		h.heard = nil
		require.Len(t, h.srv.Players(nil), 4)
		if keep {
			require.False(t, h.comes("198.51.100.5:1", 2*time.Second))
			require.Len(t, h.srv.Players(nil), 4)
			continue
		}
		fresh := h.enters("198.51.100.5:1")
		h.run(time.Second)
		require.Equal(t, short.welcome.Owner, fresh.welcome.Owner)
		require.Equal(t, []string{fmt.Sprintf("leave %d", short.welcome.Owner), fmt.Sprintf("join %d", short.welcome.Owner)}, h.heard)
		require.Nil(t, present.gone)
		require.Equal(t, 4, h.srv.World().Len(), "a body each")
		require.EqualValues(t, 1, h.srv.Stats().PlacesTaken)
		require.Equal(t, 1, strings.Count(h.log.String(), "took an absent player's place"))

		// The player that lost its place comes back, and takes the place of long.
		back := h.call("198.51.100.3:1")
		back.plays = true
		back.say(back.hello(short.welcome.Resume))
		h.run(time.Second)
		require.Equal(t, long.welcome.Owner, back.welcome.Owner)
		require.NotEqual(t, short.welcome.Resume, back.welcome.Resume)
		last := h.call("198.51.100.6:1")
		last.say(last.hello([16]byte{}))
		h.run(time.Second)
		require.NotNil(t, last.gone, "nobody is absent")
		require.Equal(t, transport.Full, last.gone.Code)
	}
}

// TestAddressHoldsAQuarterOfThePlaces: the absent players of one address, or of one IPv6 /64, hold at
// most a quarter of the places, or as many as the configuration says.
func TestAddressHoldsAQuarterOfThePlaces(t *testing.T) {
	for most, hold := range map[int]int{0: 4, 2: 2, -1: 8} {
		t.Run(fmt.Sprint(most), func(t *testing.T) { addressHolds(t, most, hold) })
	}
}

func addressHolds(t *testing.T, most, hold int) {
	h := newVenue(t, server.Config{MaxClients: 16, ReconnectWindow: time.Minute, KeepPlaces: true, MaxHeldPerAddress: most})
	var away []*caller
	for i := range 8 {
		away = append(away, h.enters(fmt.Sprintf("[2001:db8:0:1::%d]:1", i+1)))
		h.run(time.Second)
	}
	other := h.enters("[2001:db8:0:2::1]:1")
	h.run(20 * time.Second)
	for _, c := range append(away, other) {
		c.vanish()
	}
	h.run(10 * time.Second)
	players := h.srv.Players(nil)
	require.Len(t, players, hold+1)
	for _, c := range append(away[:hold:hold], other) {
		require.Contains(t, players, h.srv.Player(foretick.PlayerID(c.welcome.Owner)), "those who played longest")
	}
	lines := 1 // lines of the log in a minute
	if most < 0 {
		lines = 0
	}
	require.Equal(t, lines, strings.Count(h.log.String(), "too many places held"))
}

// TestConnectionsThatDoNotPlayYet: the number of connections of one address that do not play yet
// is limited from their first moment on. A connection counts until it has played for two seconds.
func TestConnectionsThatDoNotPlayYet(t *testing.T) {
	for _, row := range []struct {
		most, calls, stay int
		addr              func(i int) string
	}{
		{0, 40, 32, func(i int) string { return fmt.Sprintf("198.51.100.1:%d", i+1) }},
		{5, 9, 5, func(i int) string { return fmt.Sprintf("[2001:db8::%x]:1", i+1) }},
		{5, 9, 9, func(i int) string { return fmt.Sprintf("[2001:db8:0:%x::1]:1", i+1) }},
		{5, 9, 5, func(i int) string { return []string{"[::ffff:198.51.100.1]:1", "198.51.100.1:2"}[i%2] }},
		{-1, 60, 60, func(int) string { return "198.51.100.1:1" }},
	} {
		h := newVenue(t, server.Config{MaxWaitingPerAddress: row.most})
		var calls []*caller
		for i := range row.calls {
			c := &caller{h: h, e: h.dial(row.addr(i))}
			h.callers, calls = append(h.callers, c), append(calls, c)
		}
		h.run(time.Second)
		stay := 0
		for _, c := range calls {
			if c.gone == nil {
				stay++
			} else {
				require.Equal(t, transport.Full, c.gone.Code)
			}
		}
		require.Equal(t, row.stay, stay, "%+v", row)
		for _, c := range calls { // a LAN party: all that waited play now
			if c.gone == nil && row.most == 5 && stay == 5 {
				c.plays = true
				c.say(c.hello([16]byte{}))
			}
		}
		if row.most != 5 || stay != 5 {
			continue
		}
		require.False(t, h.comes(row.addr(0), time.Second))
		h.run(2 * time.Second)
		require.True(t, h.comes(row.addr(0), time.Second))
	}
}

// TestKickFromInside: whichever player is kicked, from any handler, and in any state, the server
// does not fail, no body stays, and each OnJoin has its OnLeave.
func TestKickFromInside(t *testing.T) {
	kicks := 0
	kick := func(h *venue, from string, f *foretick.ServerFrame) {
		for _, player := range h.srv.Players(nil) {
			kicks++
			h.heard = append(h.heard, fmt.Sprintf("%s kicks %d %v", from, player.ID, f.Kick(player.ID, transport.FirstUserCode+7, "out, "+from)))
			f.Kick(player.ID, transport.Kicked, "too late")
		}
	}
	for _, from := range []string{"join", "leave", "absent", "return", "command", "system", "request", "tick", "message", "panic"} {
		var h *venue
		armed := false
		kicks = 0
		var talk foretick.Request[Move]
		var told foretick.Message[Move]
		cfg := server.Config{
			OnTick: func(f *foretick.ServerFrame) {
				if from == "tick" && armed {
					armed = false
					kick(h, from, f)
				}
			},
			OnPanic: func(server.Panic) { kick(h, from, h.srv.Frame()) },
		}
		hook := func(name string) func(*foretick.ServerFrame, foretick.PlayerID) {
			return func(f *foretick.ServerFrame, _ foretick.PlayerID) {
				if from == name && armed {
					kick(h, from, f)
				}
			}
		}
		h = newVenue(t, cfg, func(h *venue, p *foretick.Protocol) {
			p.OnJoin(hook("join"))
			p.OnLeave(hook("leave"))
			p.OnDisconnect(hook("absent"))
			p.OnReconnect(hook("return"))
			foretick.CheckCommand(p, &h.game.Move, func(f *foretick.Frame, player foretick.PlayerID, _ Move) error {
				hook("command")(&foretick.ServerFrame{Frame: f}, player)
				return nil
			})
			talk.Handle(p, func(f *foretick.ServerFrame, player foretick.PlayerID, _ Move) { hook("request")(f, player) })
			told.OnClient(p, func(*foretick.Frame, foretick.Tick, Move) {})
			p.Server("kicks", func(f *foretick.ServerFrame, _ ecs.Rows) {
				if from == "system" && armed {
					armed = false
					kick(h, from, f)
				}
				if from == "message" && armed {
					told.Broadcast(f, Move{})
				}
			}, ecs.Once())
			p.OnJoin(func(_ *foretick.ServerFrame, _ foretick.PlayerID) {
				if from == "panic" && armed {
					panic("planted")
				}
			})
		})
		campaign.OnSent(h.srv, func(simtest.MessageSent) {
			if from == "message" && armed {
				armed = false
				kick(h, from, h.srv.Frame())
			}
		})
		first, away := h.enters(""), h.enters("")
		h.run(12 * time.Second)
		away.vanish()
		armed = from == "absent"
		h.run(6 * time.Second)
		if from != "absent" {
			require.Contains(t, h.heard, "absent 2")
		}
		h.heard, armed = nil, true
		var fresh [2]*caller // two callers that join in the same tick
		for i := range fresh {
			fresh[i] = h.call("")
			fresh[i].plays = true
		}
		for _, c := range fresh {
			c.say(c.hello([16]byte{}))
		}
		switch from {
		case "request":
			say(first)
		case "leave":
			require.NoError(t, first.e.Close(transport.Closed, ""))
		case "return":
			back := h.call("")
			back.plays = true
			back.say(back.hello(away.welcome.Resume))
		}
		h.run(2 * time.Second)
		t.Log(from, h.heard)
		require.NotZero(t, kicks, from)
		require.Equal(t, len(h.srv.Players(nil)), h.srv.World().Len(), "%s: a body for each player and none besides", from)
		require.EqualValues(t, len(h.srv.Players(nil)), h.srv.Stats().Joined-h.srv.Stats().Left, from)
		armed = false
		require.NotZero(t, h.enters("").welcome.Owner, from)
		if first.gone != nil && from != "leave" {
			require.Equal(t, transport.FirstUserCode+7, first.gone.Code, from)
			require.Equal(t, "out, "+from, first.gone.Reason, "the first call counts")
		}
		require.NoError(t, h.srv.Close(""))
		require.Equal(t, 0, h.srv.World().Len(), from)
		all := 0
		for _, line := range h.heard {
			switch what, _, _ := strings.Cut(line, " "); {
			case strings.Contains(line, "kicks"):
			case what == "join":
				all++
			case what == "leave":
				all--
			}
		}
		if from != "absent" {
			require.Equal(t, -2, all, "%s: every join, the two of before included, has its leave: %v", from, h.heard)
		}
	}
}

// say sends an empty request of the first kind by hand.
func say(c *caller) {
	_ = c.conn.SendReliable(0, 0, make([]byte, 3)) // a Move has twice nine bits
	c.say(func(*netcode.Packet) {})
}

// TestCloseFromInside: the server may be closed from inside of a tick.
func TestCloseFromInside(t *testing.T) {
	h := newVenue(t, server.Config{}, func(h *venue, p *foretick.Protocol) {
		p.Server("end", func(f *foretick.ServerFrame, _ ecs.Rows) {
			if f.Tick == 90 {
				require.NoError(t, h.srv.Close("the match is over"))
				require.ErrorIs(t, h.srv.Close("again"), transport.ErrClosed)
			}
		}, ecs.Once())
	})
	c := h.enters("")
	h.run(4 * time.Second)
	require.EqualValues(t, 90, h.srv.Tick())
	require.NotNil(t, c.gone)
	require.Equal(t, "the match is over", c.gone.Reason)
	require.Equal(t, []string{"join 1", "leave 1"}, h.heard)
	require.ErrorIs(t, h.srv.Close(""), transport.ErrClosed)
}

// TestKickText: a text that is too long is cut between two runes. A code that is not for games is
// replaced.
func TestKickText(t *testing.T) {
	h := newVenue(t, server.Config{})
	c := h.enters("")
	require.True(t, h.srv.Frame().Kick(1, transport.Full, strings.Repeat("é", 70)))
	require.False(t, h.srv.Frame().Kick(2, 0, ""))
	h.run(time.Second)
	require.Equal(t, transport.Kicked, c.gone.Code)
	require.Equal(t, strings.Repeat("é", 60), c.gone.Reason)
	require.Contains(t, h.log.String(), "FirstUserCode")
}

// TestUnknownRoles: a client with a role that the server does not know is refused, and the error
// names the role.
func TestUnknownRoles(t *testing.T) {
	h := newVenue(t, server.Config{})
	for _, role := range []netcode.Role{2, 255} {
		c := h.call("")
		c.say(func(pk *netcode.Packet) {
			pk.Message(netcode.MessageHello, netcode.Hello{Version: netcode.Version, Protocol: h.hash, Role: role}.Append(nil))
		})
		h.run(time.Second)
		require.Equal(t, transport.Refused, c.gone.Code)
		require.Contains(t, c.gone.Reason, fmt.Sprintf("does not know role %d", role), "the Reject may be lost")
		require.Equal(t, uint8(5), c.reject.Code)
		require.Contains(t, c.reject.Text, fmt.Sprintf("does not know role %d", role))
	}
	require.Empty(t, h.srv.Players(nil))
}

// TestLogsAreBounded: whatever strangers do, and however often, each kind of refusal
// and abuse gives one line of the log a minute, with the address.
func TestLogsAreBounded(t *testing.T) {
	h := newVenue(t, server.Config{MaxClients: 1, KeepPlaces: true})
	h.enters("198.51.100.1:1")
	for i := range 200 {
		c := h.call(fmt.Sprintf("203.0.113.%d:%d", i%100, i+1))
		switch i % 3 {
		case 0:
			c.say(c.hello([16]byte{}))
		case 1:
			c.say(func(pk *netcode.Packet) {
				pk.Message(netcode.MessageHello, netcode.Hello{Version: netcode.Version, Protocol: 7}.Append(nil))
			})
		case 2:
			for range 12 {
				_ = c.e.Send(c.peer, sealed([]byte{0x1f, 0, 0, 0xff, 0x7f, 0, 0, 0, 0, 255}))
			}
		}
	}
	lines := strings.Split(strings.TrimSpace(h.log.String()), "\n")
	t.Logf("%d lines of 200 strangers:\n%s", len(lines), h.log.String())
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.Contains(line, "foretick_debug") })
	require.LessOrEqual(t, len(lines), 6)
	require.Contains(t, h.log.String(), "refused: full")
	require.Contains(t, h.log.String(), "address=203.0.113.")
	h.run(time.Minute)
	c := h.call("203.0.113.1:5")
	c.say(c.hello([16]byte{}))
	h.run(time.Second)
	require.Contains(t, h.log.String(), "skipped=6")
}
