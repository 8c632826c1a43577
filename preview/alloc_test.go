//go:build !foretick_debug

package preview_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/preview"
	"github.com/foretick/foretick/server"
)

// A frame and a tick allocate nothing once the world no longer grows.
func TestPreviewAllocatesNothing(t *testing.T) {
	costtest.Allocations(t)
	g := &Stroll{}
	p, err := preview.New(server.Config{Protocol: g.Protocol()}, client.Config{
		Sample: client.Sample(&g.Stick, func(client.View) Stick { return Stick{X: 1} }),
	})
	require.NoError(t, err)
	at := time.Unix(0, 0)
	step := func() {
		at = at.Add(7 * time.Millisecond)
		p.Step(at)
	}
	for range 2000 {
		step()
	}
	require.Zero(t, testing.AllocsPerRun(500, step))
}
