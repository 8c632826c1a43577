//go:build foretick_debug

package simtest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
)

// A render system that writes into the match while a server draws is found, by name.
func TestDrawingChangesNothing(t *testing.T) {
	for _, writes := range []bool{false, true} {
		m := simtest.New(1)
		var g game
		p := g.protocol()
		p.Render("paint", func(_ *foretick.Frame, rows ecs.Rows) {
			if writes {
				g.pos.Slice(rows)[0].X += 0.5
			}
		}, ecs.Write(&g.pos))
		srv, err := m.Serve(server.Config{Protocol: p, Tags: []string{foretick.TagRender}})
		require.NoError(t, err)
		srv.Frame().Spawn(&g.player, ecs.Nobody)
		m.Run(time.Second)
		draw := func() { srv.Draw(time.Second / 60) }
		if !writes {
			require.NotPanics(t, draw)
			continue
		}
		defer func() {
			require.ErrorContains(t, recover().(error), `those that declare to write are ["paint"]`)
		}()
		draw()
	}
}
