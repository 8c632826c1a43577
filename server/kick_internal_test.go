package server

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// TestBansAreForgotten: bans that have ended are not kept, even for identities that never return. Those
// in force are kept.
func TestBansAreForgotten(t *testing.T) {
	n := sim.NewNetwork(1)
	s, err := New(Config{Protocol: foretick.NewProtocol("bans", 1), Transport: n.Listen()})
	require.NoError(t, err)
	begin := time.Unix(0, 0)
	s.Step(begin)
	for i := range 1000 {
		require.True(t, s.Ban(fmt.Appendf(nil, "rogue %d", i), begin.Add(time.Duration(i)*100*time.Millisecond), ""))
	}
	require.True(t, s.Ban([]byte("later"), begin.Add(time.Hour), ""))
	require.True(t, s.Ban([]byte("never"), time.Time{}, ""))
	for at := begin; at.Before(begin.Add(50 * time.Second)); at = at.Add(time.Second) {
		s.Step(at)
	}
	require.Greater(t, len(s.admission.bans), 500, "half of them hold still")
	for at := begin.Add(50 * time.Second); at.Before(begin.Add(170 * time.Second)); at = at.Add(time.Second) {
		s.Step(at)
	}
	require.Equal(t, 2, len(s.admission.bans)) //nolint:testifylint // no list of a thousand
	for _, id := range []string{"later", "never"} {
		_, banned := s.admission.bans[id]
		require.True(t, banned, id)
	}
}

// TestKickedPlayerGetsItsLastMessages: messages that were sent to a player in the tick of its kick,
// before the kick, reach the player before its connection ends.
func TestKickedPlayerGetsItsLastMessages(t *testing.T) {
	type bye struct{ N uint8 }
	net := sim.NewNetwork(1)
	listen := net.Listen()
	var heard []uint8
	protocol := func(out *foretick.Message[bye]) *foretick.Protocol {
		p := foretick.NewProtocol("bye", 1)
		out.OnClient(p, func(_ *foretick.Frame, _ foretick.Tick, m bye) { heard = append(heard, m.N) })
		p.Server("kick", func(f *foretick.ServerFrame, _ ecs.Rows) {
			if f.Tick == 60 {
				require.NoError(t, out.Send(f, 1, bye{7}))
				require.True(t, f.Kick(1, transport.FirstUserCode, "enough"))
				require.NoError(t, out.Send(f, 1, bye{8}))
			}
		}, ecs.Once())
		return p
	}
	s, err := New(Config{Protocol: protocol(new(foretick.Message[bye])), Transport: listen})
	require.NoError(t, err)
	c, err := client.New(client.Config{Protocol: protocol(new(foretick.Message[bye])), Transport: net.Dial(listen, sim.Link{}, sim.Link{})})
	require.NoError(t, err)
	for net.Now() < 4*time.Second {
		net.Run(net.Now() + time.Second/60)
		s.Step(time.Unix(0, 0).Add(net.Now()))
		c.Step(time.Unix(0, 0).Add(net.Now()))
	}
	var why *transport.DisconnectError
	require.ErrorAs(t, c.View().Err, &why)
	require.Equal(t, transport.FirstUserCode, why.Code)
	require.Equal(t, transport.FirstUserCode, transport.CloseCode(c.View().Err))
	require.Equal(t, []uint8{7, 8}, heard)
}
