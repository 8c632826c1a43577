package ticket_test

import (
	"bytes"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport/ticket"
)

// A ticket contains its match, which the gate reports. The identity of a plain ticket cannot pretend
// to a match.
func TestMatchOfATicket(t *testing.T) {
	key, at := ticket.NewKey(), netip.MustParseAddrPort("192.0.2.1:27015")
	gate, err := ticket.NewGate(key, []netip.AddrPort{at}, nil)
	require.NoError(t, err)
	claims := ticket.Claims{Identity: []byte("ann"), Match: "duel 7", Expires: time.Now().Add(time.Minute), Servers: []netip.AddrPort{at}}
	issued, err := ticket.Issue(key, claims)
	require.NoError(t, err)
	c, _, err := gate.Check(issued.Sealed)
	require.NoError(t, err)
	require.Equal(t, "duel 7", c.Match)
	require.Equal(t, "ann", string(c.Identity))
	shown, err := gate.Accept(at, issued.Sealed)
	require.NoError(t, err)
	match, identity, ok := ticket.SplitIdentity(shown)
	require.True(t, ok)
	require.Equal(t, "duel 7", match)
	require.Equal(t, "ann", string(identity))
	gate.Ban([]byte("ann"), time.Time{}) // the ban is in effect in every match
	again, err := ticket.Issue(key, claims)
	require.NoError(t, err)
	_, err = gate.Accept(at, again.Sealed)
	require.ErrorIs(t, err, ticket.ErrBanned)

	claims.Match = strings.Repeat("m", ticket.MaxMatch+1)
	_, err = ticket.Issue(key, claims)
	require.ErrorContains(t, err, "Claims.Match has 65 bytes")
	claims.Match, claims.Identity = "m", bytes.Repeat([]byte("i"), ticket.MaxIdentity-3)
	_, err = ticket.Issue(key, claims)
	require.ErrorContains(t, err, "with Match, has 257 bytes")
	claims.Match, claims.Identity = "", ticket.JoinIdentity("other", []byte("eve"))
	_, err = ticket.Issue(key, claims)
	require.ErrorContains(t, err, "which marks a match")
}

// Only identities that JoinIdentity made are split.
func TestSplitIdentity(t *testing.T) {
	for _, b := range []string{"", "ann", "\x00M", "\x00M\x00ann", "\x00M\x05abc", "\x00M\x41" + strings.Repeat("a", 80)} {
		_, _, ok := ticket.SplitIdentity([]byte(b))
		require.False(t, ok, "%q", b)
	}
	long := strings.Repeat("a", 80)
	match, identity, ok := ticket.SplitIdentity(ticket.JoinIdentity(long, nil))
	require.True(t, ok)
	require.Equal(t, long[:ticket.MaxMatch], match)
	require.Empty(t, identity)
}
