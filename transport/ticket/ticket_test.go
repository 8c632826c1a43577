package ticket_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/transport/ticket"
)

var (
	here  = netip.MustParseAddrPort("192.0.2.7:27015")
	there = netip.MustParseAddrPort("[2001:db8::7]:27015")
	start = time.Unix(1_700_000_000, 0)
)

type clock struct{ t time.Time }

func (c *clock) now() time.Time { return c.t }

func gate(t testing.TB, key []byte, c *clock, servers ...netip.AddrPort) *ticket.Gate {
	t.Helper()
	g, err := ticket.NewGate(key, servers, c.now)
	require.NoError(t, err)
	return g
}

func issue(t testing.TB, key []byte, c ticket.Claims) *ticket.Ticket {
	t.Helper()
	if c.Expires.IsZero() {
		c.Expires = start.Add(30 * time.Second)
	}
	if c.Servers == nil {
		c.Servers = []netip.AddrPort{here}
	}
	tk, err := ticket.Issue(key, c)
	require.NoError(t, err)
	return tk
}

func TestATicketLetsInOnce(t *testing.T) {
	key := ticket.NewKey()
	g := gate(t, key, &clock{start}, there, here)
	tk := issue(t, key, ticket.Claims{Identity: []byte("ann"), Servers: []netip.AddrPort{here, there}})
	b, err := tk.MarshalBinary()
	require.NoError(t, err)
	var got ticket.Ticket
	require.NoError(t, got.UnmarshalBinary(b))
	assert.Equal(t, tk, &got)

	c, secret, err := g.Check(tk.Sealed)
	require.NoError(t, err)
	assert.Equal(t, "ann", string(c.Identity))
	assert.Equal(t, tk.Servers, c.Servers)
	assert.Equal(t, tk.Secret, secret)
	require.NoError(t, g.Use(c))
	assert.ErrorIs(t, g.Use(c), ticket.ErrUsed)
	_, _, err = g.Check(tk.Sealed)
	assert.ErrorIs(t, err, ticket.ErrUsed)
	_, err = g.Accept(here, tk.Sealed)
	assert.ErrorIs(t, err, ticket.ErrUsed)

	other := issue(t, key, ticket.Claims{Identity: []byte("ann")})
	assert.NotEqual(t, tk.Secret, other.Secret)
	id, err := g.Accept(here, other.Sealed)
	require.NoError(t, err)
	assert.Equal(t, "ann", string(id))
}

func TestWhatIsRefused(t *testing.T) {
	key := ticket.NewKey()
	now := &clock{start}
	g := gate(t, key, now, here)
	check := func(tk *ticket.Ticket) error { _, _, err := g.Check(tk.Sealed); return err }
	assert.ErrorIs(t, check(issue(t, ticket.NewKey(), ticket.Claims{})), ticket.ErrForged)
	assert.ErrorIs(t, check(issue(t, key, ticket.Claims{Servers: []netip.AddrPort{there}})), ticket.ErrServer)
	assert.ErrorIs(t, check(issue(t, key, ticket.Claims{Expires: start})), ticket.ErrExpired)
	assert.ErrorIs(t, check(issue(t, key, ticket.Claims{Expires: start.Add(25 * time.Hour)})), ticket.ErrExpired)
	last := issue(t, key, ticket.Claims{Expires: start.Add(time.Second)})
	require.NoError(t, check(last))
	now.t = start.Add(time.Second)
	assert.ErrorIs(t, check(last), ticket.ErrExpired)
	now.t = start

	g.Ban([]byte("bob"), start.Add(time.Minute))
	bob := issue(t, key, ticket.Claims{Identity: []byte("bob"), Expires: start.Add(time.Hour)})
	require.NoError(t, check(issue(t, key, ticket.Claims{Identity: []byte("bobby")})))
	assert.ErrorIs(t, check(bob), ticket.ErrBanned)
	now.t = start.Add(time.Minute)
	require.NoError(t, check(bob), "the ban is over")
	g.Ban([]byte("bob"), start.Add(time.Hour))
	assert.ErrorIs(t, check(bob), ticket.ErrBanned)
	g.Unban([]byte("bob"))
	require.NoError(t, check(bob))
	g.Ban([]byte("bob"), time.Time{}) // permanent, as in transport.BanList
	assert.ErrorIs(t, check(bob), ticket.ErrBanned)
	g.Ban([]byte("ann"), start.Add(time.Second))
	assert.ErrorIs(t, check(bob), ticket.ErrBanned, "it is not swept")
	g.Unban([]byte("bob"))
	require.NoError(t, check(bob))
	g.Ban(nil, start.Add(time.Hour)) // no identity
	require.NoError(t, check(issue(t, key, ticket.Claims{Expires: start.Add(time.Hour)})))

	sealed := bob.Sealed
	for bit := range len(sealed) * 8 {
		b := bytes.Clone(sealed)
		b[bit/8] ^= 1 << (bit % 8)
		_, _, err := g.Check(b)
		require.Error(t, err, "bit %d", bit)
	}
	for n := range len(sealed) {
		_, _, err := g.Check(sealed[:n])
		require.Error(t, err, "%d bytes", n)
	}
}

// A gate forgets used tickets when they have expired. If the same ticket is used many times at once, it
// accepts one.
func TestGateForgets(t *testing.T) {
	key := ticket.NewKey()
	now := &clock{start}
	g := gate(t, key, now, here)
	for i := range 200 {
		now.t = start.Add(time.Duration(i) * time.Second)
		tk := issue(t, key, ticket.Claims{Expires: now.t.Add(10 * time.Second)})
		_, err := g.Accept(here, tk.Sealed)
		require.NoError(t, err)
		require.LessOrEqual(t, ticket.Remembered(g), 16)
	}
	tk := issue(t, key, ticket.Claims{Expires: now.t.Add(time.Minute)})
	var in atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := g.Accept(here, tk.Sealed); err == nil {
				in.Add(1)
			}
		})
	}
	wg.Wait()
	assert.EqualValues(t, 1, in.Load())
}

func TestFaultsOfTheCaller(t *testing.T) {
	key := ticket.NewKey()
	good := ticket.Claims{Expires: start, Servers: []netip.AddrPort{here}}
	for name, fn := range map[string]func() error{
		"key": func() error { _, err := ticket.Issue(key[:16], good); return err },
		"Identity": func() error {
			c := good
			c.Identity = make([]byte, ticket.MaxIdentity+1)
			_, err := ticket.Issue(key, c)
			return err
		},
		"Servers":   func() error { _, err := ticket.Issue(key, ticket.Claims{Expires: start}); return err },
		"Expires":   func() error { _, err := ticket.Issue(key, ticket.Claims{Servers: good.Servers}); return err },
		"needs 32":  func() error { _, err := ticket.NewGate(nil, good.Servers, nil); return err },
		"addresses": func() error { _, err := ticket.NewGate(key, nil, nil); return err },
		"not an address": func() error {
			_, err := ticket.NewGate(key, []netip.AddrPort{netip.MustParseAddrPort("0.0.0.0:1")}, nil)
			return err
		},
	} {
		assert.ErrorContains(t, fn(), name)
	}
	full := ticket.Claims{Identity: make([]byte, ticket.MaxIdentity), Expires: start}
	for range ticket.MaxServers {
		full.Servers = append(full.Servers, here)
	}
	assert.Len(t, issue(t, key, full).Sealed, ticket.MaxSealed)
}

// FuzzTicket passes bytes to the client's parser and to the server's opening of tickets, also with a
// valid seal.
func FuzzTicket(f *testing.F) {
	key := bytes.Repeat([]byte{7}, ticket.KeySize)
	g := gate(f, key, &clock{start}, here)
	tk := issue(f, key, ticket.Claims{Identity: []byte("ann")})
	whole, _ := tk.MarshalBinary()
	f.Add(whole)
	f.Add(tk.Sealed)
	plain := binary.BigEndian.AppendUint64(make([]byte, 16), uint64(start.Unix()+9))
	f.Add(append(plain, 0))
	f.Add(append(plain, 1, 2, 3))
	f.Fuzz(func(t *testing.T, b []byte) {
		costtest.Bound(t, len(b), func() { _ = new(ticket.Ticket).UnmarshalBinary(b) })
		var tk ticket.Ticket
		if tk.UnmarshalBinary(b) == nil {
			again, _ := tk.MarshalBinary()
			var back ticket.Ticket
			if back.UnmarshalBinary(again) != nil || len(back.Servers) > ticket.MaxServers {
				t.Fatalf("%x came back as %x", b, again)
			}
		}
		for _, sealed := range [][]byte{b, ticket.Seal(key, b)} {
			c, _, err := g.Check(sealed)
			if err == nil && (len(c.Servers) == 0 || !c.Expires.After(start)) {
				t.Fatalf("%x claims %+v", b, c)
			}
		}
	})
}

// The matchmaker issues a ticket, and the server's gate checks it.
func Example() {
	key := ticket.NewKey() // the configuration of both has it
	server := netip.MustParseAddrPort("192.0.2.7:27015")

	t, err := ticket.Issue(key, ticket.Claims{Identity: []byte("player 4711"),
		Expires: time.Now().Add(30 * time.Second), Servers: []netip.AddrPort{server}})
	if err != nil {
		fmt.Println(err)
		return
	}

	gate, err := ticket.NewGate(key, []netip.AddrPort{server}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		identity, err := gate.Accept(netip.AddrPort{}, t.Sealed)
		fmt.Printf("%q %v\n", identity, err)
	}
	// Output:
	// "player 4711" <nil>
	// "" ticket: already used
}
