package matchtest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// slowDoor is an endpoint whose handshake takes time before the connection is up, as with
// TCP, TLS and DTLS.
type slowDoor struct {
	transport.Endpoint
	net   *sim.Network
	open  func() transport.Endpoint
	until time.Duration
}

func (s *slowDoor) Recv(ev []transport.Event) int {
	if s.net.Now() < s.until {
		return 0
	}
	if s.Endpoint == nil {
		s.Endpoint = s.open()
	}
	return s.Endpoint.Recv(ev)
}

func (s *slowDoor) Flush() {
	if s.Endpoint != nil {
		s.Endpoint.Flush()
	}
}

func (s *slowDoor) Close(c transport.Code, detail string) error {
	if s.Endpoint == nil {
		return nil
	}
	return s.Endpoint.Close(c, detail)
}

// TestFarClientsComeBack: a client with a round trip of two seconds and a handshake of four round
// trips reconnects after its connection is lost.
func TestFarClientsComeBack(t *testing.T) {
	net := sim.NewNetwork(1)
	listen := net.Listen()
	var g, h Walk
	srv, err := server.New(server.Config{Protocol: g.Protocol(), Transport: listen})
	require.NoError(t, err)
	link, dead, dials := sim.Link{Latency: time.Second}, sim.Link{Loss: 1}, 0
	dial := func() (transport.Endpoint, error) {
		dials++
		return &slowDoor{net: net, until: net.Now() + 4*2*time.Second, open: func() transport.Endpoint { return net.Dial(listen, link, link) }}, nil
	}
	first, err := dial()
	require.NoError(t, err)
	c, err := client.New(client.Config{Protocol: h.Protocol(), Transport: first, Redial: dial,
		Sample: client.Sample(&h.Move, func(client.View) Move { return Move{X: 1} })})
	require.NoError(t, err)
	run := func(d time.Duration, until func() bool) bool {
		for end := net.Now() + d; net.Now() < end && !until(); {
			net.Run(net.Now() + 10*time.Millisecond)
			srv.Step(simtest.Epoch.Add(net.Now()))
			c.Step(simtest.Epoch.Add(net.Now()))
		}
		return until()
	}
	plays := func() bool { return c.View().State == client.Playing }
	require.True(t, run(30*time.Second, plays))
	run(15*time.Second, func() bool { return false })
	net.SetLink(first.(*slowDoor).Endpoint.(*sim.Endpoint), dead, dead)
	require.True(t, run(10*time.Second, func() bool { return c.View().State == client.Resuming }))
	require.True(t, run(20*time.Second, plays), "%v after %d dials", c.View().State, dials-1)
	require.LessOrEqual(t, dials-1, 2)
	require.EqualValues(t, 1, c.Stats().Resumed)
}
