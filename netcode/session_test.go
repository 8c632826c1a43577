package netcode_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/foretick/foretick/netcode"
)

func TestSessionMessagesRoundTrip(t *testing.T) {
	architecture := rapid.StringMatching("[a-z0-9]{0,16}")
	rapid.Check(t, func(t *rapid.T) {
		token := rapid.Custom(func(t *rapid.T) (a [16]byte) {
			copy(a[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "token"))
			return a
		})
		h := netcode.Hello{Version: netcode.Version, Role: netcode.Role(rapid.Byte().Draw(t, "role")), Architecture: architecture.Draw(t, "a"), Protocol: rapid.Uint64().Draw(t, "p"), Resume: token.Draw(t, "r"),
			SnapshotRate: rapid.Byte().Draw(t, "s"), Data: rapid.SliceOfN(rapid.Byte(), 1, 256).Draw(t, "d"), Taken: rapid.SliceOfN(rapid.Uint32(), 1, 8).Draw(t, "n")}
		h2, err := netcode.ParseHello(h.Append(nil))
		require.NoError(t, err)
		require.Equal(t, h, h2)
		w := netcode.Welcome{Owner: rapid.Uint16().Draw(t, "o"), TickRate: rapid.Uint8Range(1, 255).Draw(t, "tr"),
			SnapshotInterval: rapid.Uint8Range(1, 255).Draw(t, "i"), Tick: rapid.Uint32().Draw(t, "t"),
			Epoch: rapid.Byte().Draw(t, "e"), Resume: token.Draw(t, "r2"), CommandSize: rapid.Uint16().Draw(t, "c"), Taken: rapid.Uint32().Draw(t, "t2"),
			Architecture: architecture.Draw(t, "a2"), Server: rapid.Uint64().Draw(t, "s"), Resumed: rapid.Bool().Draw(t, "r3"), Code: rapid.Uint16().Draw(t, "c2"), Text: rapid.StringN(0, -1, 120).Draw(t, "t3")}
		if w.Late = rapid.Byte().Draw(t, "l"); w.Late > 0 {
			w.LateShare = rapid.Byte().Draw(t, "l2")
		}
		w.Tags = rapid.Uint64().Draw(t, "t4")
		if rapid.Bool().Draw(t, "holds") {
			w.Hold = rapid.Uint32Min(netcode.DefaultHold+1).Draw(t, "hold")
		}
		w2, err := netcode.ParseWelcome(w.Append(nil))
		require.NoError(t, err)
		require.Equal(t, w, w2)
		s := netcode.SnapshotHeader{Epoch: rapid.Byte().Draw(t, "e"), Tick: rapid.Uint32().Draw(t, "t"), CommandAck: rapid.Uint32().Draw(t, "a")}
		if rapid.Bool().Draw(t, "has") {
			s.HasEarly, s.Early = true, rapid.Int16().Draw(t, "early")
		}
		if s.Bare = rapid.Bool().Draw(t, "bare"); s.Bare {
			s.Tick = 0
		}
		if rapid.Bool().Draw(t, "slips") {
			s.Lost = rapid.Uint32Min(1).Draw(t, "lost")
		}
		s2, rest, err := netcode.ParseSnapshotHeader(append(s.Append(nil), 1, 2, 3))
		require.NoError(t, err)
		require.Equal(t, s, s2)
		require.Equal(t, []byte{1, 2, 3}, rest)
	})
}

func TestSessionMessagesRefuseEveryCut(t *testing.T) {
	hello := netcode.Hello{Version: netcode.Version, Architecture: "arm64", Data: []byte("abc")}.Append(nil)
	welcome := netcode.Welcome{TickRate: 30, SnapshotInterval: 1, Architecture: "arm64"}.Append(nil)
	for i := range hello {
		_, err := netcode.ParseHello(hello[:i])
		require.ErrorIs(t, err, netcode.ErrMalformed)
	}
	_, err := netcode.ParseHello(append(hello, 0))
	require.ErrorIs(t, err, netcode.ErrMalformed)
	_, err = netcode.ParseHello(append(append(hello[:len(hello)-1:len(hello)-1], 9), make([]byte, 36)...))
	require.ErrorIs(t, err, netcode.ErrMalformed, "more channels than there can be")
	_, err = netcode.ParseHello(append(hello[:28:28], append([]byte("ARM64"), hello[33:]...)...))
	require.ErrorIs(t, err, netcode.ErrMalformed, "no name of an architecture")
	h, err := netcode.ParseHello([]byte{2, 9})
	require.NoError(t, err)
	require.Equal(t, netcode.Hello{Version: 2}, h, "of another version nothing is read")
	for i := range welcome {
		_, err := netcode.ParseWelcome(welcome[:i])
		require.ErrorIs(t, err, netcode.ErrMalformed)
	}
	late := netcode.Welcome{TickRate: 30, SnapshotInterval: 1, Late: 6, LateShare: 13}.Append(nil)
	const bits, ticks, share = 39, 42, 43
	require.Equal(t, []byte{6, 13}, late[ticks:share+1])
	for i := range late {
		_, err := netcode.ParseWelcome(late[:i])
		require.ErrorIs(t, err, netcode.ErrMalformed)
	}
	tagged := netcode.Welcome{TickRate: 30, SnapshotInterval: 1, Late: 6, LateShare: 13, Tags: 1 << 63}.Append(nil)
	for i := range tagged {
		_, err := netcode.ParseWelcome(tagged[:i])
		require.ErrorIs(t, err, netcode.ErrMalformed)
	}
	tagged[len(tagged)-2] = 0
	_, err = netcode.ParseWelcome(tagged)
	require.ErrorIs(t, err, netcode.ErrMalformed, "none of the bits")
	for at, v := range map[int]byte{ticks: 0, share: 0, bits: 4} { // a share needs its ticks
		b := slices.Clone(late)
		b[at] = v
		_, err := netcode.ParseWelcome(b)
		require.ErrorIs(t, err, netcode.ErrMalformed, "byte %d is %d", at, v)
	}
	w, err := netcode.ParseWelcome(netcode.Welcome{TickRate: 30, SnapshotInterval: 1, LateShare: 13}.Append(nil))
	require.NoError(t, err)
	require.Zero(t, w.LateShare, "a share needs its ticks")
	for _, w := range []netcode.Welcome{{TickRate: 30}, {SnapshotInterval: 1}} {
		_, err := netcode.ParseWelcome(w.Append(nil))
		require.ErrorIs(t, err, netcode.ErrMalformed)
	}
	for _, h := range []netcode.SnapshotHeader{{Tick: 9, HasEarly: true, Early: 5}, {Bare: true, Epoch: 3, HasEarly: true}, {Bare: true, Lost: 300}} {
		snap := h.Append(nil)
		for i := range snap {
			_, _, err := netcode.ParseSnapshotHeader(snap[:i])
			require.ErrorIs(t, err, netcode.ErrMalformed)
		}
	}
	for _, b := range [][]byte{{16, 0, 0, 0, 0, 0, 0}, {10, 0, 0}, {10, 0, 0x80, 0}, {10, 0, 0x80, 0x80, 0x80, 0x80, 0x10}, {4, 1, 0, 0, 0, 0, 0}, {6, 0, 0}} {
		_, _, err := netcode.ParseSnapshotHeader(b)
		require.ErrorIs(t, err, netcode.ErrMalformed)
	}
}

func TestLongTextsAreCut(t *testing.T) {
	r, err := netcode.ParseReject(netcode.Reject{Code: 3, Protocol: 4, Text: strings.Repeat("x", 300)}.Append(nil))
	require.NoError(t, err)
	require.Equal(t, netcode.Reject{Code: 3, Protocol: 4, Text: strings.Repeat("x", 200)}, r)
	h, err := netcode.ParseHello(netcode.Hello{Version: netcode.Version, Architecture: "x86-64", Data: make([]byte, 300)}.Append(nil))
	require.NoError(t, err)
	require.Len(t, h.Data, 256)
	require.Equal(t, "x86", h.Architecture)
}

func TestCloseTellsCodeAndText(t *testing.T) {
	a, b := netcode.NewConn(netcode.Config{}), netcode.NewConn(netcode.Config{})
	_, _, ok := b.Closed()
	require.False(t, ok)
	a.Close(7, strings.Repeat("é", 150))
	for i := range 3 {
		_, d := finish(a.Begin(time.Duration(i) * tick))
		if i > 0 { // the first is lost
			require.NoError(t, b.Receive(tick, d))
		}
	}
	code, text, ok := b.Closed()
	require.True(t, ok)
	require.EqualValues(t, 7, code)
	require.Equal(t, strings.Repeat("é", 100), text)
}
