package netcode_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/netcode"
)

func TestConfigReportsEveryFault(t *testing.T) {
	require.NoError(t, netcode.Config{}.Validate())
	bad := netcode.Config{MTU: 100, Timeout: -1, Rate: -5, MinRate: 9}
	err := bad.Validate()
	var ce *netcode.ConfigError
	require.ErrorAs(t, err, &ce)
	for _, field := range []string{"MTU", "Timeout", "Rate", "MinRate"} {
		require.ErrorContains(t, err, field)
	}
	require.PanicsWithError(t, err.Error(), func() { netcode.NewConn(bad) })
	require.Panics(t, func() { netcode.NewCommandSender(0, netcode.CommandConfig{}) })
	require.Panics(t, func() { netcode.NewCommandBuffer(1025, 32) })
	require.Equal(t, 5*time.Second, netcode.NewConn(netcode.Config{}).Timeout())
}

func TestSmallMTUStillCarriesTheStream(t *testing.T) {
	cfg := netcode.Config{MTU: netcode.MinMTU}
	a, b := netcode.NewConn(cfg), netcode.NewConn(cfg)
	require.NoError(t, a.SendReliable(1, 1, make([]byte, 5000)))
	for now := time.Duration(0); a.Pending() > 0; now += tick {
		require.Less(t, now, 10*time.Second)
		p := a.Begin(now)
		p.Message(99, make([]byte, p.Room())) // a caller that takes all it can
		_, d := finish(p)
		require.LessOrEqual(t, len(d), netcode.MinMTU)
		require.NoError(t, b.Receive(now, d))
		_, d = finish(b.Begin(now))
		require.NoError(t, a.Receive(now, d))
		for _, ok := b.NextReliable(); ok; _, ok = b.NextReliable() {
		}
	}
	require.EqualValues(t, 1, b.Stats().ReliableReceived)
}

func TestSecureLeavesTheChecksumOut(t *testing.T) {
	a, b := netcode.NewConn(netcode.Config{Secure: true}), netcode.NewConn(netcode.Config{Secure: true})
	_, d := finish(a.Begin(0))
	require.Len(t, d, 3)
	require.NoError(t, b.Receive(0, d))
	require.ErrorIs(t, netcode.NewConn(netcode.Config{}).Receive(0, d), netcode.ErrMalformed)
}

func TestAnotherMagicIsAnotherConnection(t *testing.T) {
	a, b := netcode.NewConn(netcode.Config{Magic: 7}), netcode.NewConn(netcode.Config{Magic: 8})
	_, d := finish(a.Begin(0))
	require.ErrorIs(t, b.Receive(0, d), netcode.ErrChecksum)
}
