package simtest_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
)

// Each end asks at its start for the assets of its prefabs, and does not begin without them.
func TestAssetsAreVerified(t *testing.T) {
	protocol := func() (*foretick.Protocol, *game) {
		g := &game{}
		p := g.protocol()
		p.Asset(&g.player, "player.glb", "step.ogg")
		p.ServerAsset(&g.player, "player.nav")
		return p, g
	}
	missing := errors.New("not packed")
	lack := func(what string) func(string) error {
		return func(ref string) error {
			if ref == what {
				return missing
			}
			return nil
		}
	}
	m := simtest.New(1)
	p, _ := protocol()
	require.NoError(t, p.Err())
	require.Equal(t, []string{"player.glb", "step.ogg"}, p.Assets(false))
	require.Equal(t, []string{"player.nav"}, p.Assets(true))
	_, err := m.Serve(server.Config{Protocol: p, Verify: lack("player.nav")})
	require.ErrorIs(t, err, missing)
	require.ErrorContains(t, err, `"player.nav" of ["player"]`)
	_, err = m.Serve(server.Config{Protocol: p, Verify: lack("step.ogg")})
	require.NoError(t, err)
	q, _ := protocol()
	_, err = m.Join(client.Config{Protocol: q, Verify: lack("step.ogg")}, simtest.Seat{})
	require.ErrorIs(t, err, missing)
	var other game
	plain := other.protocol()
	require.NoError(t, plain.Err())
	require.Equal(t, plain.Hash(), p.Hash(), "builds with other assets play together")
}
