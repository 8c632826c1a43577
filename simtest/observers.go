package simtest

import (
	"errors"
	"fmt"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// sight is what an observer of a plan asks to see, in client.Observe.Data.
type sight byte

const (
	publicSight sight = iota
	teamSight
	playerSight
	everySight
	sights
)

// grant is the server.Config.Observe of a plan that sets none. Observers get the kind of view
// that they ask for, of a random team or player. If nobody plays, they get the public view
// instead of a player's.
func (d *director) grant(o server.Observer) (server.Grant, error) {
	if len(o.Data) != 1 {
		return server.Public(), fmt.Errorf("simtest: an observer's data has %d bytes, and 1 is right", len(o.Data))
	}
	switch sight(o.Data[0]) {
	case teamSight:
		return server.OfTeam(uint8(1 + d.m.rand.IntN(2))), nil
	case playerSight:
		if players := d.m.Server().Players(nil); len(players) > 0 {
			return server.OfPlayer(players[d.m.rand.IntN(len(players))].ID), nil
		}
	case everySight:
		return server.Everything(), nil
	}
	return server.Public(), nil
}

// addObserver adds an observer. The observers ask for the kinds of views in turn.
func (d *director) addObserver() {
	kind := sight(d.out.Observers) % sights
	d.out.Observers++
	p := d.plan.New()
	l := d.calmOrNot()
	var c *client.Client
	looks := 0
	after := func(v client.View) {
		switch {
		case v.State == client.Closed:
			d.lose(kind, v)
		case looks%30 == 0:
			d.moveEye(c)
		}
		looks++
	}
	cfg := client.Config{Protocol: p.Protocol, Observe: &client.Observe{Data: []byte{byte(kind)}}}
	drift := d.plan.Drift * (2*d.m.rand.Float64() - 1)
	var err error
	c, err = d.m.Join(cfg, Seat{Up: l, Down: l, FrameRate: d.plan.FrameRate, Drift: drift, After: after})
	d.recordError(err)
}

// lose replaces an observer whose connection has ended. It records an error, unless the
// observer's player left or the plan kills servers.
func (d *director) lose(kind sight, v client.View) {
	var e *transport.DisconnectError
	if d.plan.ServerKills > 0 || kind == playerSight && errors.As(v.Err, &e) && e.Code == transport.Kicked {
		d.later(d.plan.Absence, d.addObserver)
		return
	}
	d.recordError(fmt.Errorf("simtest: an observer was dropped at %v: %w", d.m.Net.Now(), v.Err))
}

// moveEye makes an observer look from a random position, from where a player looks, or from
// nowhere.
func (d *director) moveEye(c *client.Client) {
	at := func() float32 { return float32(d.m.rand.IntN(200)) - 100 }
	switch d.m.rand.IntN(4) {
	case 0:
		c.Follow(0)
	case 1:
		c.SetEye(at(), at(), at())
	default:
		c.Follow(foretick.PlayerID(1 + d.m.rand.IntN(d.plan.Clients)))
	}
}

// keepGrants stores what the server grants to observers, for checkers.
func (m *Match) keepGrants(cfg *server.Config) {
	m.grants = map[string]server.Grant{}
	if ask := cfg.Observe; ask != nil {
		cfg.Observe = func(o server.Observer) (server.Grant, error) {
			g, err := ask(o)
			if err == nil {
				m.grants[o.Address] = g
			}
			return g, err
		}
	}
}

// Granted returns what the client at the endpoint with this number may see, if it observes.
func (m *Match) Granted(endpoint int) (server.Grant, bool) {
	if len(m.grants) == 0 {
		return server.Public(), false
	}
	g, ok := m.grants[sim.Addr(endpoint)]
	return g, ok
}

// Observers appends the clients that observe to dst, in order of joining.
func (m *Match) Observers(dst []*client.Client) []*client.Client {
	for _, st := range m.seats {
		if st.observes {
			dst = append(dst, st.client)
		}
	}
	return dst
}
