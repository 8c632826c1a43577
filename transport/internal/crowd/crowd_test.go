package crowd_test

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/foretick/foretick/transport/internal/crowd"
)

func TestNetwork(t *testing.T) {
	for _, c := range [][2]string{
		{"192.0.2.1", "192.0.2.1"},
		{"::ffff:192.0.2.1", "192.0.2.1"},
		{"2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"},
		{"2001:db8:1:2::9", "2001:db8:1:2::"},
		{"2001:db8:1:3::9", "2001:db8:1:3::"},
		{"fe80::1%eth0", "fe80::"},
	} {
		assert.Equal(t, c[1], crowd.Network(netip.MustParseAddr(c[0])).String(), c[0])
	}
	assert.False(t, crowd.Network(netip.Addr{}).IsValid())
}

// A flood from one network displaces only connections of that network, whatever addresses it uses.
func TestOldestOfTheMost(t *testing.T) {
	var c crowd.Crowd[int]
	_, ok := c.Oldest()
	require.False(t, ok)
	c.Add(1, netip.MustParseAddr("192.0.2.1"))
	c.Add(2, netip.MustParseAddr("2001:db8::1"))
	c.Add(3, netip.MustParseAddr("2001:db8::2"))
	c.Add(4, netip.MustParseAddr("::ffff:192.0.2.1"))
	c.Add(5, netip.MustParseAddr("2001:db8::3"))
	for _, want := range []int{2, 1, 3, 4, 5} {
		p, ok := c.Oldest()
		require.True(t, ok)
		require.Equal(t, want, p)
		require.True(t, c.Remove(p))
		require.False(t, c.Remove(p))
	}
	require.Zero(t, c.Len())
}

// A crowd holds the same connections as a slice would.
func TestCrowd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c crowd.Crowd[int]
		var want [][2]int // connection and its network
		addr := func(net int) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, 0, byte(net)}) }
		next := 0
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				next++
				net := rapid.IntRange(0, 3).Draw(t, "net")
				c.Add(next, addr(net))
				want = append(want, [2]int{next, net})
			},
			"remove": func(t *rapid.T) {
				p := rapid.IntRange(0, next).Draw(t, "who")
				i := slices.IndexFunc(want, func(w [2]int) bool { return w[0] == p })
				require.Equal(t, i >= 0, c.Remove(p))
				if i >= 0 {
					want = slices.Delete(want, i, i+1)
				}
			},
			"": func(t *rapid.T) {
				require.Equal(t, len(want), c.Len())
				var from [4]int
				for _, w := range want {
					from[w[1]]++
				}
				for net, n := range from {
					require.Equal(t, n, c.From(addr(net)))
				}
				p, ok := c.Oldest()
				require.Equal(t, len(want) > 0, ok)
				for _, w := range want {
					if from[w[1]] == slices.Max(from[:]) {
						require.Equal(t, w[0], p)
						break
					}
				}
			},
		})
	})
}
