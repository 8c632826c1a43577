package rollback

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/relay"
	"github.com/foretick/foretick/transport"
)

// TestErrNamesTheFix: where a relay refuses a peer, View.Err says which setting or build differs from those of the match,
// or that there is no place. Its code is the one that the page for fighters names.
func TestErrNamesTheFix(t *testing.T) {
	b := newBout(t, 7, relay.Config{Players: 2, MaxObservers: 1})
	b.join(0, far, Config{}, nil)
	b.join(0, far, Config{}, nil)
	b.run(2 * time.Second)
	other := func(rate int, change func(p *foretick.Protocol)) Config {
		p := foretick.NewProtocol("fighters", 1)
		p.SetTickRate(rate)
		change(p)
		require.NoError(t, p.Err())
		return Config{Protocol: p, Observe: true}
	}
	same := func(p *foretick.Protocol) { p.Command(new(ecs.Component[control])) }
	another := func(p *foretick.Protocol) { p.Command(new(ecs.Component[struct{ Fire bool }])) }
	for _, c := range []struct {
		cfg    Config
		change func(c *corner)
		code   transport.Code
		want   string
	}{
		{cfg: Config{}, code: transport.Full, want: "the match is full: relay.Config.Players is 2"},
		{cfg: Config{Observe: true}},
		{cfg: Config{Observe: true}, code: transport.Full, want: "no more observers are let in: relay.Config.MaxObservers is 1"},
		{cfg: Config{Window: 4}, want: "the match has a window of 8 ticks, not 4: give all peers the same rollback.Config.Window"},
		{cfg: other(30, same), want: "the match has 60 ticks a second, not 30: build all peers from the same source"},
		{cfg: other(60, another), want: "the match has another command: build all peers from the same source"},
		{cfg: other(60, same), want: "the protocol differs from that of the match: build all peers from the same source"},
		{change: func(c *corner) { c.peer.link.rules.Tags++ }, want: "the match has other tags: give all peers the same rollback.Config.Tags"},
	} {
		peer := b.join(b.net.Now(), far, c.cfg, nil)
		if c.change != nil {
			c.change(peer)
		}
		b.run(time.Second)
		v := peer.peer.View()
		if c.want == "" {
			require.Equal(t, Playing, v.State)
			continue
		}
		require.Equal(t, Closed, v.State)
		var why *transport.DisconnectError
		require.ErrorAs(t, v.Err, &why)
		if c.code == 0 {
			c.code = transport.Mismatch
		}
		require.Equal(t, transport.DisconnectError{Code: c.code, Reason: c.want}, *why)
		require.LessOrEqual(t, len(why.Reason), 123, "a WebSocket's close frame has no room for more")
	}
}
