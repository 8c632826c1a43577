package server

import (
	"errors"
	"fmt"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport/sim"
)

// However many clients of another protocol connect, the server makes its description once, for the
// first of them, and sends the same one to all.
func TestDescriptionIsMadeOnce(t *testing.T) {
	type keys struct{ Left bool }
	declare := func(name string) *foretick.Protocol {
		p, cmd := foretick.NewProtocol(name, 1), new(ecs.Component[keys])
		p.Command(cmd)
		for i := range 300 { // so many that lines are replaced by their hashes
			p.Prefab(new(ecs.Prefab), fmt.Sprintf("%0240d", i), cmd)
		}
		return p
	}
	p := declare("ours")
	net := sim.NewNetwork(1)
	at := net.Listen()
	s, err := New(Config{Protocol: p, Transport: at})
	require.NoError(t, err)
	require.Greater(t, len(p.Describe()), netcode.MaxReliable)
	join := func(p *foretick.Protocol) *client.Client {
		c, err := client.New(client.Config{Protocol: p, Transport: net.Dial(at, sim.LAN, sim.LAN)})
		require.NoError(t, err)
		for range 400 {
			net.Run(net.Now() + 10*time.Millisecond)
			c.Step(time.Unix(0, int64(net.Now())))
			s.Step(time.Unix(0, int64(net.Now())))
		}
		return c
	}
	require.Equal(t, client.Playing, join(p).View().State)
	require.Zero(t, compiledOf(p).Description.Made, "nobody has asked for it")
	told := ""
	for range 3 {
		c := join(declare("theirs"))
		require.Equal(t, client.Closed, c.View().State)
		var why *client.ProtocolError
		require.True(t, errors.As(c.View().Err, &why), "%v", c.View().Err)
		require.Contains(t, why.Error(), "ours")
		require.True(t, told == "" || told == why.Error())
		told = why.Error()
		require.Equal(t, 1, compiledOf(p).Description.Made)
	}
	text := compiledOf(p).Description.Text
	require.LessOrEqual(t, len(text), netcode.MaxReliable)
	require.Same(t, unsafe.SliceData(text), unsafe.SliceData(compiledOf(p).Description.TextOf(&compiledOf(p).Facts)))
	require.Zero(t, testing.AllocsPerRun(10, func() { compiledOf(p).Description.TextOf(&compiledOf(p).Facts) }))
}
