package simtest_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/simtest/campaign"
	"github.com/foretick/foretick/transport/sim"
)

// searched returns the checkers of a match whose packets are searched for secrets.
func searched(s *campaign.Secrets) func() []simtest.Checker {
	return func() []simtest.Checker { return append(simtest.Standard(), s) }
}

// Observers of every kind come and go in matches with every kind of fault. No packet to them has
// a secret that they may not see. The players' states are compared as in other plans.
func TestObserversInAPlan(t *testing.T) {
	for seed := range uint64(costtest.Count(1, 3)) {
		plan, secrets := everything(), &campaign.Secrets{}
		plan.Play, plan.Quiet, plan.Checkers = 30*time.Second, 15*time.Second, searched(secrets)
		out, err := plan.Run(seed)
		require.NoError(t, err)
		require.Equal(t, 2, out.Quiets)
		require.Greater(t, out.Observers, 5, "others took the places of those that left")
		require.Greater(t, secrets.Observed, uint64(500))
		require.Greater(t, secrets.Found, uint64(4))
		t.Log(out.Worked)
	}
}

// A secret that leaks only to observers is found: the only player may see it.
func TestLeaksToObserversAreFound(t *testing.T) {
	plan := simtest.Plan{
		New: func() simtest.Player { return (&club{leak: true}).player() }, Clients: 1, Observers: 1, Play: 4 * time.Second,
		Links: []sim.Link{sim.LAN}, Checkers: func() []simtest.Checker { return []simtest.Checker{&campaign.Secrets{}} },
	}
	_, err := plan.Run(1)
	require.ErrorContains(t, err, "an observer was sent the secret of player 1")
	plan.New = newClub
	_, err = plan.Run(1)
	require.NoError(t, err)
	for name, row := range map[string]struct {
		grant server.Grant
		leaks bool
	}{
		"team": {server.OfTeam(1), true}, "player": {server.OfPlayer(1), false}, "everything": {server.Everything(), false},
	} {
		plan.New = func() simtest.Player { return (&club{leak: row.leaks}).player() }
		plan.Server = func(cfg *server.Config) {
			cfg.Observe = func(o server.Observer) (server.Grant, error) { return row.grant, nil }
		}
		plan.Play = 4 * time.Second
		plan.Clients = 1
		_, err := plan.Run(2)
		if row.leaks {
			require.ErrorContains(t, err, "an observer was sent", name)
		} else {
			require.NoError(t, err, name)
		}
	}
}

// A plan's observers must see something, or the match fails.
func TestIdleObserversFail(t *testing.T) {
	plan := simtest.Plan{New: newClub, Clients: 2, Observers: 2, Play: 6 * time.Second, Links: []sim.Link{sim.LAN}}
	plan.Server = func(cfg *server.Config) {
		cfg.Observe = func(server.Observer) (server.Grant, error) { return server.Public(), errors.New("not today") }
	}
	_, err := plan.Run(1)
	require.ErrorContains(t, err, "an observer was dropped")
	require.ErrorContains(t, err, "not today")
	plan.Server, plan.Observers = nil, -1
	_, err = plan.Run(1)
	require.ErrorContains(t, err, "no negative times or counts")
}
