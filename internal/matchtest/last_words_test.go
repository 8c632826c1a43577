package matchtest

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// talker is a game with a message and a request, which records those that arrive.
type talker struct {
	Walk
	Said  foretick.Message[thing]
	Asked foretick.Request[thing]
	heard []uint32
	left  bool // OnLeave ran
	late  int  // requests that came after OnLeave
}

func (g *talker) protocol() *foretick.Protocol {
	p := g.Protocol()
	g.Said.OnClient(p, func(_ *foretick.Frame, _ foretick.Tick, m thing) { g.heard = append(g.heard, m.N) })
	g.Asked.Handle(p, func(_ *foretick.ServerFrame, _ foretick.PlayerID, m thing) {
		g.heard = append(g.heard, m.N)
		if g.left {
			g.late++
		}
	})
	p.OnLeave(func(*foretick.ServerFrame, foretick.PlayerID) { g.left = true })
	return p
}

// TestLastWords: messages and requests sent in the same frame as the end of a connection arrive, over
// links with jitter and loss. The connection ends soon after. If the other end does not
// acknowledge, it ends after a short time.
func TestLastWords(t *testing.T) {
	links := map[string]sim.Link{
		"jitter":          {Latency: 20 * time.Millisecond, Jitter: 10 * time.Millisecond},
		"loss and jitter": {Latency: 20 * time.Millisecond, Jitter: 10 * time.Millisecond, Loss: 0.02},
		"much loss":       {Latency: 20 * time.Millisecond, Jitter: 10 * time.Millisecond, Loss: 0.3},
		"silence":         {Loss: 1},
	}
	for end, code := range map[string]transport.Code{"Client.Close": transport.Closed, "Kick": transport.Kicked, "Ban": transport.Kicked, "CloseForRestart": transport.Restart} {
		for name, link := range links {
			t.Run(end+" over "+name, func(t *testing.T) {
				arrived, slowest := 0, time.Duration(0)
				for seed := range uint64(20) {
					net := sim.NewNetwork(seed)
					var served, played talker
					listen := &closed{net.Listen(), net.Now, 0}
					srv, err := server.New(server.Config{Protocol: served.protocol(), Transport: listen})
					require.NoError(t, err)
					dialled := net.Dial(listen.Endpoint, sim.Link{Latency: 20 * time.Millisecond}, sim.Link{Latency: 20 * time.Millisecond})
					dial := &closed{dialled, net.Now, 0}
					cli, err := client.New(client.Config{Protocol: played.protocol(), Transport: dial, Timeout: 3 * time.Second})
					require.NoError(t, err)
					run := func(d time.Duration) {
						for until := net.Now() + d; net.Now() < until; {
							net.Run(net.Now() + 5*time.Millisecond)
							now := time.Unix(100, 0).Add(net.Now())
							srv.Step(now)
							cli.Step(now)
						}
					}
					run(2*time.Second + time.Duration(seed)*7*time.Millisecond)
					require.Equal(t, client.Playing, cli.View().State)
					net.SetLink(dialled, link, link)
					run(100 * time.Millisecond)
					begun, heard := net.Now(), &played.heard
					switch end {
					case "Client.Close":
						require.NoError(t, played.Asked.Send(cli, thing{uint32(seed)}))
						require.NoError(t, cli.Close())
						require.Equal(t, client.Closed, cli.View().State)
						require.Error(t, errors.Join(cli.Close()), "a second time")
						heard = &served.heard
					default:
						require.NoError(t, srv.Do("say", func(f *foretick.ServerFrame) {
							require.NoError(t, served.Said.Send(f, cli.View().Player, thing{uint32(seed)}))
							switch end {
							case "Kick":
								f.Kick(cli.View().Player, transport.Kicked, "out")
							case "CloseForRestart":
								require.NoError(t, srv.CloseForRestart("again"))
							case "Ban":
								f.Ban(cli.View().Player, time.Time{}, "out")
							}
						}))
					}
					ended := time.Duration(0)
					for net.Now() < begun+6*time.Second && ended == 0 {
						run(5 * time.Millisecond)
						gone := cli.View().State == client.Closed
						switch {
						case end == "Client.Close" && dial.by != 0 && served.left, end == "CloseForRestart" && listen.by != 0 && gone, (end == "Kick" || end == "Ban") && gone:
							ended = net.Now() - begun
						}
					}
					run(time.Second)
					slowest = max(slowest, ended)
					require.Zero(t, served.late, "a request after OnLeave")
					if len(*heard) == 1 && (*heard)[0] == uint32(seed) {
						arrived++
					}
					if name != "silence" && end != "Client.Close" {
						var why *transport.DisconnectError
						require.ErrorAs(t, cli.View().Err, &why)
						require.Equal(t, code, why.Code)
					}
					if name == "silence" {
						switch end {
						case "Client.Close":
							require.InDelta(t, time.Second, dial.by-begun, float64(50*time.Millisecond))
						case "CloseForRestart":
							require.InDelta(t, time.Second, listen.by-begun, float64(100*time.Millisecond))
						}
						require.Empty(t, srv.Players(nil), "nobody is waited for")
					}
				}
				if name != "silence" {
					require.Equal(t, 20, arrived)
					require.NotZero(t, slowest)
					if name != "much loss" {
						require.Less(t, slowest, time.Second)
					}
				}
			})
		}
	}
}
