package foretick

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
)

// A server drops an event that only clients listen to, and does not keep it for ever.
func TestEventsWithoutAServersHandlerAreDropped(t *testing.T) {
	type spot struct {
		X float32 `net:"min=-8,max=8,step=0.25,lerp"`
	}
	var place ecs.Component[spot]
	var body ecs.Prefab
	var heard Event[int]
	told := 0
	p := NewProtocol("deaf", 1)
	p.Component(&place, Predicted())
	p.Prefab(&body, "body", &place)
	p.OnJoin(func(f *Frame, player PlayerID) { f.Spawn(&body, player) })
	p.Shared("tell", func(f *Frame, rows ecs.Rows) { heard.Raise(f, rows.Entity(0), 1) }, ecs.Write(&place))
	heard.OnPredicted(p, func(*Frame, ecs.Entity, int) { told++ })
	v, err := newPreview(ServerConfig{Protocol: p}, ClientConfig{})
	require.NoError(t, err)
	for i := range 50 {
		v.Step(time.Unix(0, int64(i)*int64(time.Second/30)+1))
	}
	q, ok := v.match.sim.frames.Queues[0].(*game.Queue[*Frame, int])
	require.True(t, ok)
	require.Empty(t, q.Items)
	require.Equal(t, int(v.match.sim.frame.Tick), told)
}
