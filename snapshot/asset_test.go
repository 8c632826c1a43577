package snapshot_test

import (
	"errors"
	"testing"

	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
	"github.com/stretchr/testify/require"
)

// TestAssets: a build lists the assets that each end needs, and reports all that are missing. Two builds with
// other pictures have the same protocol.
func TestAssets(t *testing.T) {
	r, _ := registry(t)
	before := r.Describe()
	require.NoError(t, r.Asset(1, false, "box.glb"))
	require.NoError(t, r.Asset(0, false, "walk.ogg"))
	require.NoError(t, r.Asset(0, false, "box.glb"))
	require.NoError(t, r.Asset(0, false, "box.glb"))
	require.NoError(t, r.Asset(2, true, "chest.nav"))
	require.Error(t, r.Asset(9, false, "x"))
	require.ErrorContains(t, r.Asset(0, false, ""), "avatar")
	require.Equal(t, before, r.Describe())
	require.Equal(t, []string{"box.glb", "walk.ogg"}, r.Assets(false))
	require.Equal(t, []string{"chest.nav"}, r.Assets(true))
	missing := errors.New("no such file")
	var asked []string
	err := r.Verify(false, func(ref string) error {
		asked = append(asked, ref)
		if ref == "box.glb" {
			return missing
		}
		return nil
	})
	require.Equal(t, r.Assets(false), asked)
	require.ErrorIs(t, err, missing)
	require.ErrorContains(t, err, `"box.glb" of ["avatar" "box"]`)
	require.NoError(t, r.Verify(true, func(string) error { return nil }))
	snapshot.NewReceiver(r, snapshot.ReceiverConfig{})
	require.ErrorIs(t, r.Asset(0, false, "late"), schema.ErrFrozen)
}
