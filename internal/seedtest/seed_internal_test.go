package seedtest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The package that a failure names is that of the test, in whatever function it fails.
func TestPackageOf(t *testing.T) {
	for function, want := range map[string]string{
		"github.com/me/game.TestX":                            "github.com/me/game",
		"github.com/me/game_test.TestX.func1":                 "github.com/me/game",
		"github.com/me/game.(*suite).TestX":                   "github.com/me/game",
		"gopkg.in/game%2ev2_test.TestX":                       "gopkg.in/game.v2",
		"game.TestX":                                          "game",
		"github.com/me/game.check[github.com/you/thing.T]":    "github.com/me/game",
		"github.com/me.too/the_test_game/level_test.TestEdge": "github.com/me.too/the_test_game/level",
	} {
		require.Equal(t, want, packageOf(function), function)
	}
	require.Equal(t, "github.com/foretick/foretick/internal/seedtest", testPackage())
	t.Run("deep", func(t *testing.T) {
		func() { require.Equal(t, "github.com/foretick/foretick/internal/seedtest", testPackage()) }()
	})
}
