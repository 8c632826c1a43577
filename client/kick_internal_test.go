package client

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/transport/sim"
)

// TestKickOnAClient: on a client Kick and Ban do nothing, and return that.
func TestKickOnAClient(t *testing.T) {
	net := sim.NewNetwork(1)
	c, err := New(Config{Protocol: foretick.NewProtocol("bans", 1), Transport: net.Dial(net.Listen(), sim.Link{}, sim.Link{})})
	require.NoError(t, err)
	f := &c.timeline.frame
	require.False(t, f.Kick(1, 0, "enough"))
	require.False(t, f.Ban(1, time.Time{}, "enough"))
}
