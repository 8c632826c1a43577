package client

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/netcode"
)

// The client's clock uses no larger share than is allowed, and the client keeps commands no longer than
// it can, whatever a server sends.
func TestClientCapsWhatItIsToldOfLateInputs(t *testing.T) {
	for _, share := range []uint8{0, 13, 51, 52, 255} {
		s := newSiege(t, false)
		s.up()
		w := s.welcome()
		w.Late, w.LateShare = max(6, share), share
		s.say(netcode.MessageWelcome, w.Append(nil))
		require.NotPanics(t, func() {
			for range 5 {
				s.snapshot(s.sender, 0, s.usual)
				s.flush(siegeTick)
			}
		}, "%d/256", share)
		require.Equal(t, Playing, s.client.view.State, "%d/256", share)
		require.Equal(t, min(int(w.Late), 32), s.client.input.late)
	}
}
