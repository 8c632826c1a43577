package matchtest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport"
)

// between lets the network deliver sent packets, without a tick.
func (h *venue) between() {
	tick := h.srv.Tick()
	h.net.Run(h.net.Now() + 3*time.Millisecond)
	h.srv.Step(h.now())
	for _, c := range h.callers {
		c.step()
	}
	require.Equal(h.t, tick, h.srv.Tick(), "a tick ran")
}

// afterTick lets time pass until a tick has just run.
func (h *venue) afterTick() {
	for tick := h.srv.Tick(); h.srv.Tick() == tick; {
		h.net.Run(h.net.Now() + time.Millisecond)
		h.srv.Step(h.now())
	}
}

// Whatever happens to a connection between two ticks, OnDisconnect and OnReconnect are
// called in the right order: the last call says whether the player is connected.
func TestHooksFollowTheConnection(t *testing.T) {
	h := newVenue(t, server.Config{})
	first := h.enters("")
	h.run(12 * time.Second)
	first.vanish()
	h.run(6 * time.Second)
	require.Equal(t, []string{"join 1", "absent 1"}, h.heard)

	// The player reconnects, and is lost again before the next tick.
	h.heard = nil
	second := h.call("")
	h.afterTick()
	second.say(second.hello(first.welcome.Resume))
	h.between()
	require.EqualValues(t, 1, h.srv.Stats().Resumed)
	require.NoError(t, second.e.Close(transport.Gone, ""))
	h.between()
	h.run(100 * time.Millisecond)
	require.Len(t, h.srv.Players(nil), 1)
	require.Equal(t, []string{"return 1", "absent 1"}, h.heard)

	// The player reconnects, and once more with another connection.
	h.heard = nil
	third, fourth := h.call(""), h.call("")
	h.afterTick()
	for _, c := range []*caller{third, fourth} {
		c.say(c.hello(first.welcome.Resume))
		h.between()
	}
	h.run(100 * time.Millisecond)
	require.Equal(t, []string{"return 1", "absent 1", "return 1"}, h.heard)
}

// If an absent player loses its place because too many messages waited for it, a client that
// returns with its token gets that reason.
func TestOverflowOfTheAbsentIsTold(t *testing.T) {
	var told foretick.Message[Move]
	h := newVenue(t, server.Config{}, func(_ *venue, p *foretick.Protocol) {
		told.OnClient(p, func(*foretick.Frame, foretick.Tick, Move) {})
	})
	first := h.enters("")
	h.run(12 * time.Second)
	first.vanish()
	h.run(6 * time.Second)
	for range 2000 {
		told.Broadcast(h.srv.Frame(), Move{X: 1})
	}
	h.run(100 * time.Millisecond)
	require.EqualValues(t, 1, h.srv.Stats().Overflowed)
	second := h.call("")
	second.say(second.hello(first.welcome.Resume))
	h.run(200 * time.Millisecond)
	require.False(t, second.welcome.Resumed)
	require.Equal(t, transport.Overflow, transport.Code(second.welcome.Code))
}

// A player keeps its input counters over a reconnect.
func TestInputCountersSurviveReconnects(t *testing.T) {
	h := newVenue(t, server.Config{})
	first := h.enters("")
	late := func(c *caller) {
		c.say(func(pk *netcode.Packet) {
			s := netcode.NewCommandSender(int(c.welcome.CommandSize), netcode.CommandConfig{})
			s.Push(netcode.Command{Tick: h.srv.Tick() - 5, Data: make([]byte, c.welcome.CommandSize)})
			pk.Message(netcode.MessageCommands, s.Append(nil, 500))
		})
		h.run(100 * time.Millisecond)
	}
	h.run(12 * time.Second)
	late(first)
	st, ok := h.srv.PlayerStats(h.srv.Player(1))
	require.True(t, ok)
	require.NotZero(t, st.InputsLate+st.InputsDuplicate)
	second := h.call("")
	second.say(second.hello(first.welcome.Resume))
	h.run(100 * time.Millisecond)
	require.EqualValues(t, 1, h.srv.Stats().Resumed)
	back, _ := h.srv.PlayerStats(h.srv.Player(1))
	require.Equal(t, st.InputsLate, back.InputsLate)
	require.Equal(t, st.InputsDuplicate, back.InputsDuplicate)
	late(second)
	after, _ := h.srv.PlayerStats(h.srv.Player(1))
	require.Equal(t, back.InputsLate+back.InputsDuplicate+1, after.InputsLate+after.InputsDuplicate)
}
