package rollback

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/settled"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
)

// TestWorldWaitsForTheWelcome: a world that comes before the welcome, whose packet was lost, is read after it. Before,
// such a peer panicked.
func TestWorldWaitsForTheWelcome(t *testing.T) {
	cfg := netcode.Config{Channels: settled.Channels(), MTU: transport.MaxDatagram}
	relay, l := netcode.NewConn(cfg), &link{conn: netcode.NewConn(cfg)}
	deliver := func() {
		_, b := relay.Begin(0).Finish()
		require.NoError(t, l.conn.Receive(0, b))
	}
	kind := func() uint8 {
		r, _ := l.nextReliable()
		return r.Kind
	}
	for _, k := range []uint8{settled.KindPiece, settled.KindWorld} {
		require.NoError(t, relay.SendOn(settled.ChannelWorld, 60, k, []byte{k}))
		deliver()
	}
	require.Zero(t, kind())
	require.NoError(t, relay.SendReliable(60, settled.KindWelcome, []byte{1}))
	deliver()
	require.Equal(t, settled.KindWelcome, kind())
	require.Zero(t, kind(), "the welcome was not taken yet")
	l.let = true
	require.Equal(t, settled.KindPiece, kind())
	require.Equal(t, settled.KindWorld, kind())
	require.Zero(t, kind())
}
