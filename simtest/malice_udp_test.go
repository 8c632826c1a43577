package simtest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/udp"
)

// TestMaliciousClientsOverUDP: over real sockets too a rogue is dropped with a
// reason within a second, and one that connects 50 times a second is soon
// refused, while another player from the same address plays on.
func TestMaliciousClientsOverUDP(t *testing.T) {
	costtest.Concurrent(t)
	costtest.Sockets(t)
	listen, err := udp.Listen("127.0.0.1:0", udp.Config{})
	require.NoError(t, err)
	g, cg := &mill{}, &mill{}
	p := g.protocol()
	srv, err := server.New(server.Config{Protocol: p, Transport: listen})
	require.NoError(t, err)
	defer func() { require.NoError(t, srv.Close("over")) }()
	dial := func() transport.Endpoint {
		e, err := udp.Dial(listen.LocalAddr().String(), udp.Config{})
		require.NoError(t, err)
		return e
	}
	honest, err := client.New(client.Config{
		Protocol: cg.protocol(), Transport: dial(), Sample: client.Sample(&cg.cmd, func(client.View) lever { return lever{Pull: 1} }),
	})
	require.NoError(t, err)
	begin := time.Now()
	play := func(each func(now time.Duration) (done bool)) { // for a minute at most
		for done := false; !done && time.Since(begin) < time.Minute; time.Sleep(2 * time.Millisecond) {
			srv.Step(time.Now())
			honest.Step(time.Now())
			done = each(time.Since(begin))
		}
	}
	play(func(time.Duration) bool { return honest.View().State == client.Playing })
	require.Equal(t, client.Playing, honest.View().State)

	c := &rogue{endpoint: dial(), hash: p.Hash(), mangle: func(_ *rogue, b []byte) []byte {
		return withAck(b, func(a uint16) uint16 { return a + 1000 })
	}}
	last := time.Duration(0)
	play(func(now time.Duration) bool {
		if now-last > time.Second/30 {
			last = now
			c.stepRogue(now)
		}
		return c.gone != nil
	})
	require.NotNil(t, c.gone)
	require.Equal(t, transport.Protocol, c.gone.Code)
	t.Logf("dropped %v after it joined: %s", c.goneAt-c.since, c.gone.Reason)
	require.Less(t, c.goneAt-c.since, 10*time.Second) // ten times the limit
	_ = c.endpoint.Close(transport.Closed, "")

	var comers []*rogue
	refused, admitted := time.Duration(0), 0
	from := time.Since(begin)
	play(func(now time.Duration) bool {
		for len(comers) < 99 && len(comers) < int((now-from)/(20*time.Millisecond)) { // 50 a second
			comers = append(comers, &rogue{endpoint: dial(), hash: p.Hash()})
		}
		for _, c := range comers {
			switch {
			case c.endpoint == nil:
			case c.joined():
				admitted++
				_ = c.endpoint.Close(transport.Closed, "and again")
				c.endpoint = nil
			case c.gone != nil:
				if c.gone.Code == transport.Full && refused == 0 {
					refused = now - from
				}
				_ = c.endpoint.Close(transport.Closed, "and again")
				c.endpoint = nil
			default:
				c.stepRogue(now)
			}
		}
		return now-from > 2200*time.Millisecond && srv.Stats().Refused > 10
	})
	for _, c := range comers {
		if c.endpoint != nil {
			_ = c.endpoint.Close(transport.Closed, "")
		}
	}
	st := srv.Stats()
	t.Logf("%d came, %d were let in, the first was refused after %v", len(comers), admitted, refused)
	require.Greater(t, len(comers), 50)
	require.NotZero(t, refused)
	lasted := (time.Since(begin) - from).Seconds()
	require.Less(t, admitted, min(99, 50+int(2*lasted)), "32 at once, and two a second")
	require.Greater(t, st.Refused, uint64(10))
	require.Equal(t, client.Playing, honest.View().State)
	require.EqualValues(t, 1, len(srv.Players(nil)))
	inputs, _ := srv.PlayerStats(srv.Player(honest.View().Player))
	require.Greater(t, inputs.InputsTaken, uint64(30))
}
