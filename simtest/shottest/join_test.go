package shottest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport/sim"
)

// TestJoinWithThousandsOfEntities: a client that joins a full world soon has all
// entities, in packets within the MTU, and can play in the meantime.
func TestJoinWithThousandsOfEntities(t *testing.T) {
	const crowd = 4000
	m, err := newRange(23, 30, server.Config{})
	require.NoError(t, err)
	for n := range crowd {
		e := m.server.Frame().Spawn(&m.game.runner, ecs.Nobody)
		*m.game.pos.Get(m.server.World(), e) = place{X: float32(n%250) - 125, Y: float32(n/250) + 10}
	}
	m.game.still = true
	m.Run(time.Second)
	link := sim.Link{Latency: 50 * time.Millisecond, Loss: 0.05}
	s, err := m.seat(link, link, time.Hour, time.Hour)
	require.NoError(t, err)
	m.Run(2 * time.Second)
	require.Equal(t, client.Playing, s.client.View().State)
	var had time.Duration
	for now := 2 * time.Second; now < 20*time.Second && had == 0; now += 100 * time.Millisecond {
		m.Run(now)
		if s.game.runners.Count(s.client.View().World) == crowd+runners {
			had = now
		}
	}
	t.Logf("all %d entities are there %v after joining", crowd, had-time.Second)
	require.NotZero(t, had)
	require.Zero(t, s.client.Stats().Malformed)
	st, _ := m.server.PlayerStats(m.server.Player(s.client.View().Player))
	require.Greater(t, st.InputsTaken, 5*st.InputsMissing)
}
