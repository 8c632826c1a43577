package simtest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/simtest/campaign"
	"github.com/foretick/foretick/transport/sim"
)

type vaultFacts struct {
	Open   uint64
	Secret uint64 `net:"owner"`
	Plan   uint64 `net:"allies"`
}

// vault is a game in which each player has a secret.
type vault struct {
	pos    ecs.Component[position]
	facts  ecs.Component[vaultFacts]
	cmd    ecs.Component[move]
	player ecs.Prefab
	leaks  bool
}

func (g *vault) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("vault", 1)
	p.Component(&g.pos, foretick.Predicted())
	p.Component(&g.facts)
	p.Command(&g.cmd)
	p.Prefab(&g.player, "player", &g.pos, &g.facts, &g.cmd)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.player, player) })
	p.Server("live", func(f *foretick.ServerFrame, rows ecs.Rows) {
		pos, facts := g.pos.Slice(rows), g.facts.Slice(rows)
		for i := range facts {
			pos[i].X = float32(f.Tick%200) / 2
			facts[i] = vaultFacts{Open: uint64(f.Tick), Secret: campaign.Secret(rows.Owner()), Plan: campaign.Secret(rows.Owner())}
			if f.Tick%3 == 0 { // the secret comes and goes, so that it is sent again and again
				facts[i].Secret, facts[i].Plan = 0, 0
			}
			if g.leaks && f.Tick > 200 {
				facts[i].Open = campaign.Secret(rows.Owner())
			}
		}
	}, ecs.Write(&g.pos, &g.facts))
	return p
}

// The server never sends observers a field that is only for owners or for another team, while they
// join, lose packets and reconnect, with a public grant or that of another team. The test does find
// a secret in a public field.
func TestObserversAreSentNoSecrets(t *testing.T) {
	play := func(seed uint64, leaks bool) (*simtest.Match, *campaign.Secrets) {
		m := simtest.New(seed)
		secrets := &campaign.Secrets{}
		m.Watch(secrets)
		g := &vault{leaks: leaks}
		_, err := m.Serve(server.Config{Protocol: g.protocol(), Observe: func(o server.Observer) (server.Grant, error) {
			return server.OfTeam(uint8(len(o.Data))), nil // a team without players, or the public view
		}})
		require.NoError(t, err)
		link := sim.Link{Latency: 40 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.1, Duplicate: 0.02}
		for range 3 {
			cg := &vault{}
			_, err := m.Join(client.Config{Protocol: cg.protocol()}, simtest.Seat{Up: link, Down: link})
			require.NoError(t, err)
		}
		m.Run(2 * time.Second)
		var observers []*client.Client
		for i := range 4 {
			cg := &vault{}
			cfg := client.Config{Protocol: cg.protocol(), Observe: &client.Observe{}}
			if i == 3 {
				cfg.Observe.Data = []byte{1}
			}
			c, err := m.Join(cfg, simtest.Seat{Up: link, Down: link})
			require.NoError(t, err)
			observers = append(observers, c)
			m.Run(m.Net.Now() + time.Second/2)
		}
		m.Run(6 * time.Second)
		m.Freeze(observers[0], true) // until the server drops the observer, which then reconnects
		m.Run(16 * time.Second)
		m.Freeze(observers[0], false)
		m.Run(22 * time.Second)
		if !leaks {
			require.NoError(t, m.Err())
			for _, c := range observers {
				require.Equal(t, client.Playing, c.View().State, c.View().Err)
			}
		}
		return m, secrets
	}
	for seed := range uint64(costtest.Count(1, 4)) {
		m, s := play(seed, false)
		require.NoError(t, m.Err())
		require.Greater(t, s.Observed, uint64(1000))
		require.Greater(t, s.Found, uint64(500), "owners are sent theirs")
	}
	m, _ := play(9, true)
	require.ErrorContains(t, m.Err(), "was sent the secret of player")
}
