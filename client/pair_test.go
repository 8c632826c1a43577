package client

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport/sim"
)

// pair is a server and one client of it.
type pair struct {
	net      *sim.Network
	protocol *foretick.Protocol // the server's protocol
	server   *server.Server
	client   *Client
}

// newPair makes the two ends of a match. The server has the protocol ours, and cfg has no Transport
// yet.
func newPair(t testing.TB, ours *foretick.Protocol, cfg Config, link sim.Link) *pair {
	x := &pair{net: sim.NewNetwork(1), protocol: ours}
	listen := x.net.Listen()
	var err error
	x.server, err = server.New(server.Config{Protocol: ours, Transport: listen})
	require.NoError(t, err)
	cfg.Transport = x.net.Dial(listen, link, link)
	x.client, err = New(cfg)
	require.NoError(t, err)
	return x
}

func (x *pair) run(d time.Duration) {
	for end := x.net.Now() + d; x.net.Now() < end; {
		x.net.Run(x.net.Now() + time.Second/60)
		x.server.Step(time.Unix(0, 0).Add(x.net.Now()))
		x.client.Step(time.Unix(0, 0).Add(x.net.Now()))
	}
}

// hand is a command.
type hand struct {
	X float32 `net:"min=-1,max=1,step=0.0078125"`
}

// newHand makes a pair with a game that has only a command. Its client is playing.
func newHand(t testing.TB) *pair {
	protocol := func() (*foretick.Protocol, *ecs.Component[hand]) {
		p, cmd := foretick.NewProtocol("hand", 1), new(ecs.Component[hand])
		p.Command(cmd)
		return p, cmd
	}
	ours, _ := protocol()
	p, cmd := protocol()
	x := newPair(t, ours, Config{Protocol: p, Sample: Sample(cmd, func(View) hand { return hand{X: 1} })}, sim.Link{})
	x.run(3 * time.Second)
	require.Equal(t, Playing, x.client.view.State)
	return x
}
