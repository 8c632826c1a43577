package server

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/peek"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// hands is a server with three clients. Tests make one of the clients faulty.
type hands struct {
	t       *testing.T
	net     *sim.Network
	server  *Server
	clients []*client.Client
}

func newHands(t *testing.T) *hands {
	h := &hands{t: t, net: sim.NewNetwork(1)}
	protocol := func() (*foretick.Protocol, *ecs.Component[hand]) {
		p, cmd := foretick.NewProtocol("hand", 1), new(ecs.Component[hand])
		p.Command(cmd)
		return p, cmd
	}
	listen := h.net.Listen()
	p, _ := protocol()
	var err error
	h.server, err = New(Config{Protocol: p, Transport: listen})
	require.NoError(t, err)
	for range 3 {
		p, cmd := protocol()
		c, err := client.New(client.Config{Protocol: p, Transport: h.net.Dial(listen, sim.Link{}, sim.Link{}),
			Sample: client.Sample(cmd, func(client.View) hand { return hand{X: 1} })})
		require.NoError(t, err)
		h.clients = append(h.clients, c)
	}
	h.run(3 * time.Second)
	for _, c := range h.clients {
		require.Equal(t, client.Playing, c.View().State)
	}
	return h
}

func (h *hands) run(d time.Duration) {
	for end := h.net.Now() + d; h.net.Now() < end; {
		h.net.Run(h.net.Now() + time.Second/60)
		h.server.Step(time.Unix(0, 0).Add(h.net.Now()))
		for _, c := range h.clients {
			c.Step(time.Unix(0, 0).Add(h.net.Now()))
		}
	}
}

// connOf returns a client's connection.
func connOf(c *client.Client) *netcode.Conn { return *peek.At[*netcode.Conn](c, "link.conn") }

// sendPacket sends a packet from a client at once, with the content that write puts into it.
func sendPacket(t *testing.T, c *client.Client, write func(pk *netcode.Packet)) {
	pk := connOf(c).Begin(*peek.At[time.Duration](c, "now"))
	write(pk)
	_, b := pk.Finish()
	require.NoError(t, (*peek.At[transport.Endpoint](c, "link.endpoint")).Send(*peek.At[transport.PeerID](c, "link.peer"), b))
}
