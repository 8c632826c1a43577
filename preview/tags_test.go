package preview_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/preview"
	"github.com/foretick/foretick/server"
)

// Shared systems with a tag run in a preview whose server.Config names the tag, once a tick, as in a
// match. The client.Config must not name it.
func TestPreviewHasTheServersTags(t *testing.T) {
	for _, tags := range [][]string{nil, {"storm"}} {
		ran := map[string]int{}
		newGame := func() *foretick.Protocol {
			p := (&stageGame{}).Protocol()
			count := func(name string) func(*foretick.Frame, ecs.Rows) {
				return func(*foretick.Frame, ecs.Rows) { ran[name]++ }
			}
			p.Shared("gale", count("gale"), ecs.Once(), ecs.Tags("storm"))
			p.Shared("hum", count("hum"), ecs.Once(), ecs.Tags(foretick.TagClient, "storm"))
			p.Render("lightning", count("lightning"), ecs.Once(), ecs.Tags("storm"))
			return p
		}
		p, err := preview.New(server.Config{Protocol: newGame(), Tags: tags}, client.Config{})
		require.NoError(t, err)
		at := time.Unix(1000, 0)
		p.Step(at)
		clear(ran)
		p.Step(at.Add(stageTick))
		if tags == nil {
			require.Empty(t, ran)
			continue
		}
		require.Equal(t, map[string]int{"gale": 1, "hum": 1, "lightning": 1}, ran)
		_, err = preview.New(server.Config{Protocol: newGame()}, client.Config{Tags: tags})
		require.ErrorContains(t, err, `client.Config.Tags has "storm", a tag of shared system "gale"`)
	}
}
