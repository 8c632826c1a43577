package rollback

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/relay"
	"github.com/foretick/foretick/transport/local"
)

// TestRunOfBothEnds: a relay and two peers run in goroutines of their own, while others read the relay's
// figures and drain it. When the players have left, the relay ends.
func TestRunOfBothEnds(t *testing.T) {
	costtest.Concurrent(t)
	hub := local.New(nil)
	relay, err := relay.New(relay.Config{Transport: hub, Players: 2})
	require.NoError(t, err)
	ctx, leave := context.WithCancel(context.Background())
	defer leave()
	ends := make(chan error, 3)
	go func() { ends <- relay.Run(context.Background()) }()
	for range 2 {
		game := new(fighters)
		peer, err := New(Config{Protocol: game.protocol(t), Transport: hub.Dial(nil), Sample: Sample(&game.cmd, func(View) control { return control{} })})
		require.NoError(t, err)
		go func() { ends <- peer.Run(ctx, time.Second/60, nil) }()
	}
	require.Eventually(t, func() bool { return relay.Stats().Players == 2 && relay.Stats().Ticks > 20 }, 30*time.Second, time.Millisecond)
	relay.Drain("an update")
	leave()
	for range 3 {
		require.NoError(t, <-ends)
	}
	require.Equal(t, uint64(2), relay.Stats().Left)
	require.Zero(t, relay.Stats().Differed)
}
