package preview_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/peek"
	"github.com/foretick/foretick/internal/seat"
	"github.com/foretick/foretick/preview"
	"github.com/foretick/foretick/server"
)

// A server without a handler of an event drops the event, and does not keep it.
func TestEventsWithoutAServersHandlerAreDropped(t *testing.T) {
	type spot struct {
		X float32 `net:"min=-8,max=8,step=0.25,lerp"`
	}
	var place ecs.Component[spot]
	var body ecs.Prefab
	var heard foretick.Event[int]
	told := 0
	p := foretick.NewProtocol("deaf", 1)
	p.Component(&place, foretick.Predicted())
	p.Prefab(&body, "body", &place)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&body, player) })
	p.Shared("tell", func(f *foretick.Frame, rows ecs.Rows) { heard.Raise(f, rows.Entity(0), 1) }, ecs.Write(&place))
	heard.OnPredicted(p, func(*foretick.Frame, foretick.By, int) { told++ })
	v, err := preview.New(server.Config{Protocol: p}, client.Config{})
	require.NoError(t, err)
	for i := range 50 {
		v.Step(time.Unix(0, int64(i)*int64(time.Second/30)+1))
	}
	m := *peek.At[seat.Match](v, "engine.match")
	q, ok := m.Queues()[0].(*game.Queue[*foretick.Frame, int])
	require.True(t, ok)
	require.Empty(t, q.Items)
	require.Equal(t, int(m.Tick()), told)
}
