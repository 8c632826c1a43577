package host

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// Methods that a lifecycle calls: they return a host's limits and its numbers of matches and players,
// and whether it drains.
func TestState(t *testing.T) {
	w := newTown(t, Config{OnDemand: true, MaxPlayers: 7}, server.Config{})
	w.join("a", "ann")
	w.join("a", "bob")
	w.join("b", "ann")
	w.join("b", "")
	w.run(time.Second)
	require.Equal(t, 4, w.host.Stats().Players)
	require.Equal(t, []string{"before", "ann", "bob"}, w.host.Identities([]string{"before"}), "each once, and nobody without a name")
	matches, players := w.host.Free()
	require.Equal(t, []int{998, 3}, []int{matches, players})
	require.False(t, w.host.Draining())
	w.host.Drain("over")
	require.True(t, w.host.Draining())
	matches, players = w.host.Free()
	require.Equal(t, []int{0, 0}, []int{matches, players})
	for _, b := range w.bots {
		w.leave(b)
	}
	w.run(time.Second)
	require.Empty(t, w.host.Identities(nil))
	empty, err := New(Config{Transport: sim.NewNetwork(1).Listen(), NewMatch: w.host.cfg.NewMatch})
	require.NoError(t, err)
	_, players = empty.Free()
	require.Equal(t, -1, players, "no limit")
}

// Another goroutine may end a host while its Run begins. The race detector checks it.
func TestShutdownWhileRunBegins(t *testing.T) {
	for range 20 {
		h, err := New(Config{Transport: sim.NewNetwork(1).Listen(), NewMatch: func(string, transport.Endpoint) (Match, error) { return nil, nil }})
		require.NoError(t, err)
		done := make(chan error, 1)
		go func() { done <- h.Run(context.Background()) }()
		h.Shutdown("it ends at once", time.Second)
		require.NoError(t, <-done)
	}
}
