package ticket_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport/ticket"
)

// TestKeysRotate: a key is changed in three steps, and no honest player is refused in any of them.
func TestKeysRotate(t *testing.T) {
	old, next := ticket.NewKey(), ticket.NewKey()
	g := gate(t, old, &clock{start}, here)
	accept := func(tk *ticket.Ticket) error { _, err := g.Accept(here, tk.Sealed); return err }
	one := func(key []byte) *ticket.Ticket { return issue(t, key, ticket.Claims{Identity: []byte("ann")}) }
	early := one(old)
	require.NoError(t, accept(early))
	require.ErrorIs(t, accept(one(next)), ticket.ErrForged, "the servers come first")

	require.NoError(t, g.SetKeys(next, old))
	require.NoError(t, accept(one(old)))
	tk := one(next)
	_, secret, err := g.Check(tk.Sealed)
	require.NoError(t, err)
	require.Equal(t, tk.Secret, secret)
	require.NoError(t, accept(tk))
	require.ErrorIs(t, accept(early), ticket.ErrUsed, "it stays used")
	require.ErrorIs(t, accept(one(ticket.NewKey())), ticket.ErrForged)

	late := one(old)
	require.NoError(t, g.SetKeys(next))
	require.NoError(t, accept(one(next)))
	require.ErrorIs(t, accept(late), ticket.ErrForged)

	for _, keys := range [][][]byte{{}, {old, next, old}, {next, old[:16]}} {
		require.Error(t, g.SetKeys(keys...))
	}
	require.NoError(t, accept(one(next)), "the keys are as before")
	key := ticket.NewKey()
	require.NoError(t, g.SetKeys(key))
	mine := one(key)
	clear(key) // the gate has its own copy
	require.NoError(t, accept(mine))
}

// TestExpiredNamesBothClocks: the error names the ticket's time and the server's, so that a wrong clock
// of the server is noticed.
func TestExpiredNamesBothClocks(t *testing.T) {
	key := ticket.NewKey()
	for _, c := range []struct {
		off  time.Duration // the error of the server's clock
		text string
	}{
		{31 * time.Second, "ticket: expired at 2023-11-14 22:13:50 UTC by the matchmaker's clock; this server's clock says 2023-11-14 22:13:51 UTC, 1s later"},
		{-48 * time.Hour, "ticket: valid until 2023-11-14 22:13:50 UTC, which is over 24h0m0s after this server's clock, 2023-11-12 22:13:20 UTC: issue it for less, or set the clock"},
	} {
		g := gate(t, key, &clock{start.Add(c.off)}, here)
		_, err := g.Accept(here, issue(t, key, ticket.Claims{}).Sealed)
		require.ErrorIs(t, err, ticket.ErrExpired)
		assert.EqualError(t, err, c.text)
		assert.Less(t, len(err.Error()), 200, "clients receive it whole")
	}
}
