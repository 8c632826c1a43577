package client

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/netcode"
)

// TestWelcomeWithUnknownTags: a Welcome with tags that the protocol does not have counts as malformed
// and does not let the client in, whatever the bits. A correct one still does.
func TestWelcomeWithUnknownTags(t *testing.T) {
	eachSiege(t, func(t *testing.T, s *siege) {
		s.up()
		for i, bits := range []uint64{1, 1 << 63, 1<<63 | 1, ^uint64(0)} {
			w := s.welcome()
			w.Tags = bits
			s.say(netcode.MessageWelcome, w.Append(nil))
			require.Equal(t, Connecting, s.flush(siegeTick).State)
			require.EqualValues(t, i+1, s.client.Stats().Malformed)
		}
		s.say(netcode.MessageWelcome, s.welcome().Append(nil))
		require.Equal(t, Syncing, s.flush(siegeTick).State)
	})
}
