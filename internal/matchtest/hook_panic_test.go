package matchtest

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/transport"
)

// TestPanicsOfInterest: a panic in the game's Interest or Relevant function drops the player for
// which it ran. The others play on.
func TestPanicsOfInterest(t *testing.T) {
	for _, fn := range []string{"Interest", "Relevant", "OnPanic"} {
		t.Run(fn, func(t *testing.T) {
			faulty := foretick.PlayerID(0)
			place := func(pos *Position) (x, y, z float32) {
				if fn == "Interest" && faulty != 0 && pos.X > 80 {
					panic("no place")
				}
				return pos.X, pos.Y, 0
			}
			var pos *ecs.Component[Position]
			var bodies *ecs.Query
			h := newVenue(t, server.Config{OnPanic: func(server.Panic) {
				if fn == "OnPanic" {
					panic("in OnPanic")
				}
			}}, func(h *venue, p *foretick.Protocol) {
				pos, bodies = &h.game.Pos, p.Query(ecs.With(&h.game.Pos))
				foretick.Interest(p, &h.game.Pos, snapshot.AreaConfig{Enter: 50}, place)
				p.Relevant(func(_ *foretick.Frame, player foretick.PlayerID, _ ecs.Entity) snapshot.Relevance {
					if fn != "Interest" && player == faulty {
						panic("of whom?")
					}
					return snapshot.ByDistance
				}, &h.game.Player)
			})
			a, b := h.join("10.0.0.1"), h.join("10.0.0.2")
			h.run(2 * time.Second)
			require.Equal(t, client.Playing, a.View().State)
			require.Equal(t, client.Playing, b.View().State)
			faulty = a.View().Player
			if fn == "Interest" {
				pos.Get(h.srv.World(), bodies.FirstOwned(h.srv.World(), faulty)).X = 90
			}
			h.run(2 * time.Second)
			require.Equal(t, transport.Kicked, transport.CloseCode(a.View().Err))
			require.Equal(t, client.Playing, b.View().State)
			require.Positive(t, h.srv.Stats().Panics)
			if fn == "OnPanic" {
				require.Equal(t, 1, strings.Count(h.log.String(), "panic in server.Config.OnPanic"))
			}
		})
	}
}

// TestRedialWithoutEndpoint: if Redial returns no endpoint and no error, the client's error says so.
func TestRedialWithoutEndpoint(t *testing.T) {
	h := newVenue(t, server.Config{})
	g := &Walk{}
	c, err := client.New(client.Config{Protocol: g.Protocol(), Transport: h.dial(""),
		Redial: func() (transport.Endpoint, error) { return nil, nil },
		Sample: client.Sample(&g.Move, func(client.View) Move { return Move{} })})
	require.NoError(t, err)
	h.clients = append(h.clients, c)
	h.run(time.Second)
	require.Equal(t, client.Playing, c.View().State)
	h.clients = nil
	for range 45 * 30 { // the server is gone
		h.net.Run(h.net.Now() + time.Second/30)
		c.Step(simtest.Epoch.Add(h.net.Now()))
	}
	require.Equal(t, client.Closed, c.View().State)
	require.ErrorContains(t, c.View().Err, "Redial returned neither an endpoint nor an error")
}
