//go:build foretick_debug

package simtest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/simtest"
)

// A debug build warns about things that are allowed and nearly always a
// mistake.
func TestDebugBuildsCaution(t *testing.T) {
	for name, c := range map[string]struct {
		plant func(g *planted, p *foretick.Protocol)
		want  []string
	}{
		"what a player owns only the server moves": {func(g *planted, p *foretick.Protocol) {
			pet := &ecs.Prefab{}
			p.Prefab(pet, "pet", &g.pos)
			p.OnJoin(func(f *foretick.Frame, player foretick.PlayerID) { f.Spawn(pet, player) })
			p.Server("stroll", func(_ *foretick.Frame, rows ecs.Rows) {
				for i, pos := 0, g.pos.Slice(rows); i < len(pos); i++ {
					pos[i].X += 0.125
				}
			}, ecs.Write(&g.pos), ecs.Without(&g.cmd))
		}, []string{`system "stroll" moves position of prefab "pet"`, "in a Shared system", "Protocol.Interpolated"}},
	} {
		faults, err := simtest.FindDesyncs(func() simtest.Player { return (&planted{}).end(c.plant) }, simtest.SyncConfig{})
		require.NoError(t, err, name)
		for _, w := range c.want {
			require.Contains(t, strings.Join(faults, "\n"), w, name)
		}
	}
	// Predicted is right for what the server alone writes and shared systems read.
	faults, err := simtest.FindDesyncs(func() simtest.Player {
		return (&planted{}).end(func(g *planted, p *foretick.Protocol) {
			pet := &ecs.Prefab{}
			p.Prefab(pet, "pet", &g.pos)
			p.OnJoin(func(f *foretick.Frame, player foretick.PlayerID) { f.Spawn(pet, player) })
			p.Server("stroll", func(_ *foretick.Frame, rows ecs.Rows) {
				for i, pos := 0, g.pos.Slice(rows); i < len(pos); i++ {
					pos[i].X += 0.125
				}
			}, ecs.Write(&g.pos), ecs.Without(&g.cmd))
			p.Shared("watch", func(*foretick.Frame, ecs.Rows) {}, ecs.Read(&g.pos))
		})
	}, simtest.SyncConfig{})
	require.NoError(t, err)
	require.Empty(t, faults)
	faults, err = simtest.FindDesyncs(func() simtest.Player { return (&planted{}).end(nil) }, simtest.SyncConfig{})
	require.NoError(t, err)
	require.Empty(t, faults)
}
