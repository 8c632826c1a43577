//go:build foretick_debug

package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// debugBuild says whether these tests run in a build that checks systems: it sends more bytes
// and allocates.
const debugBuild = true

// In a debug build a correction whose cause is the code names the first system
// that computed something else on the client, and its tick.
func TestExplainNamesThePlantedSystem(t *testing.T) {
	all := 0
	for _, m := range explain(t, with("-plant", "code")...) {
		if m.Cause == "code" {
			all++
			require.Equal(t, "move", m.System)
			require.Zero(t, m.CauseTick%40, "it is wrong in every fortieth tick")
		}
	}
	require.Greater(t, all, 5)
}
