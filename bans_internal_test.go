package foretick

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport/sim"
)

// TestBansAreForgotten: bans that are over are not kept, also of identities that never
// come back; those that hold are.
func TestBansAreForgotten(t *testing.T) {
	n := sim.NewNetwork(1)
	s, err := NewServer(ServerConfig{Protocol: NewProtocol("bans", 1), Transport: n.Listen()})
	require.NoError(t, err)
	begin := time.Unix(0, 0)
	s.Step(begin)
	for i := range 1000 {
		require.True(t, s.Ban(fmt.Appendf(nil, "rogue %d", i), begin.Add(time.Duration(i)*100*time.Millisecond), ""))
	}
	require.True(t, s.Ban([]byte("later"), begin.Add(time.Hour), ""))
	require.True(t, s.Ban([]byte("never"), time.Time{}, ""))
	for at := begin; at.Before(begin.Add(50 * time.Second)); at = at.Add(time.Second) {
		s.Step(at)
	}
	require.Greater(t, len(s.bans), 500, "half of them hold still")
	for at := begin.Add(50 * time.Second); at.Before(begin.Add(170 * time.Second)); at = at.Add(time.Second) {
		s.Step(at)
	}
	require.Equal(t, 2, len(s.bans)) //nolint:testifylint // no list of a thousand
	for _, id := range []string{"later", "never"} {
		_, banned := s.bans[id]
		require.True(t, banned, id)
	}
}
