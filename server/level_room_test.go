package server_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// TestLevelsThatFindNoRoom: the data of a level may be larger than the rate permits. The level still
// arrives, and the server sends no snapshot of it that the client would acknowledge and cannot read.
func TestLevelsThatFindNoRoom(t *testing.T) {
	costtest.Memory(t)
	for _, rate := range []int{2000, 4000, 8000} {
		for _, size := range []int{0, 100, 400, 800, 1024} {
			if costtest.Count(0, 1) == 0 && (rate == 4000 || size == 100 || size == 800) {
				continue
			}
			p, things, prefab := ofThings("levels")
			p.Server("churn", func(_ *foretick.ServerFrame, rows ecs.Rows) {
				for i := range things.Slice(rows) {
					things.Slice(rows)[i].N++
				}
			}, ecs.Write(things))
			m := simtest.New(1)
			srv, err := m.Serve(server.Config{Protocol: p, SendRate: rate})
			require.NoError(t, err)
			build := func(f *foretick.ServerFrame) {
				for i := range uint32(100) {
					things.Get(f.World, f.Spawn(prefab, ecs.Nobody)).N = i * 1000
				}
			}
			build(srv.Frame())
			q, _, _ := ofThings("levels")
			entered := 0
			q.OnLevel(func(*foretick.Frame, []byte) { entered++ })
			link := sim.Link{Latency: 50 * time.Millisecond, Loss: 0.1}
			c, err := m.Join(client.Config{Protocol: q}, simtest.Seat{Up: link, Down: link})
			require.NoError(t, err)
			m.Run(5 * time.Second)
			for i := range 5 {
				require.NoError(t, srv.NextLevel(make([]byte, size), build))
				m.Run(m.Net.Now() + 12*time.Second) // debug builds send more
				require.Equal(t, 100, c.View().World.Len(), "%d bytes a second, %d of a level: at level %d", rate, size, i)
				require.Equal(t, i+1, entered)
			}
			require.Zero(t, c.Stats().Malformed)
		}
	}
}
