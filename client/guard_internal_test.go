package client

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/standard"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/transport"
)

// TestServerFillsTheWorld: a server's entities have ever more owners and sets of components, and a
// world holds 65 535 combinations. The client leaves the server before its world panics.
func TestServerFillsTheWorld(t *testing.T) {
	eachSiege(t, func(t *testing.T, s *siege) {
		s.client.ghosts.mostUsed = 200.0 / 65535
		s.play(20)
		require.False(t, s.client.ghosts.overfull)
		used := 0.0
		for i := range 400 {
			s.snapshot(s.sender, 0, func() {
				s.usual()
				for k := range snapshot.NetID(8) { // other entities each time
					s.put(100+snapshot.NetID(i)*8+k, []int{kindCrate, kindRocket, kindProp, kindBody}[k%4], uint16(10+(i*8+int(k))%4000))
				}
			})
			if s.flush(siegeTick).State == Closed {
				break
			}
			used = max(used, s.client.world.Used())
		}
		var why *transport.DisconnectError
		require.ErrorAs(t, s.client.view.Err, &why)
		require.Equal(t, transport.Malformed, why.Code)
		require.Equal(t, crowdedReason, why.Reason)
		require.Equal(t, transport.Malformed, s.wire.left)
		require.Zero(t, s.client.Stats().CorePanics)
		require.Less(t, used, 260.0/65535)
	})
}

// TestOwnersThatComeAndGo: the server of an honest game never fills a client's world. All possible
// owners, with several prefabs each, fit in with room to spare.
func TestOwnersThatComeAndGo(t *testing.T) {
	require.Less(t, standard.MaxPlayers*8.0, mostUsed*65535)
}
