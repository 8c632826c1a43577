package transporttest_test

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/transporttest"
	"github.com/foretick/foretick/transport/udp"
)

// lax is a doorkeeper that does some of its work wrong.
type lax struct {
	*udp.Endpoint
	ban        func(e *udp.Endpoint, identity []byte, until time.Time, reason string)
	unban      func(e *udp.Endpoint, identity []byte)
	disconnect func(e *udp.Endpoint, identity []byte, c transport.Code, reason string) bool
	untold     bool // it does not report connections that it ended itself
}

func (l *lax) Ban(identity []byte, until time.Time, reason string) {
	if l.ban == nil {
		l.Endpoint.Ban(identity, until, reason)
		return
	}
	l.ban(l.Endpoint, identity, until, reason)
}

func (l *lax) Unban(identity []byte) {
	if l.unban == nil {
		l.Endpoint.Unban(identity)
	}
}

func (l *lax) DisconnectIdentity(identity []byte, c transport.Code, reason string) bool {
	if l.disconnect == nil {
		return l.Endpoint.DisconnectIdentity(identity, c, reason)
	}
	return l.disconnect(l.Endpoint, identity, c, reason)
}

func (l *lax) Recv(ev []transport.Event) int {
	n := l.Endpoint.Recv(ev)
	if l.untold {
		n = len(slices.DeleteFunc(ev[:n], func(e transport.Event) bool {
			return e.Kind == transport.Disconnected && e.Code != transport.Closed
		}))
	}
	return n
}

func doors(fault lax, same func(transport.Same) transport.Same, room int) func(testing.TB) transporttest.Doors {
	return func(t testing.TB) transporttest.Doors {
		return transporttest.Doors{
			Server: func(s transport.Same, maxPeers int) transport.BanList {
				l := fault
				l.Endpoint, _ = udp.Listen("127.0.0.1:0", udp.Config{Same: same(s), MaxPeers: maxPeers + room,
					Accept: func(_ netip.AddrPort, token []byte) ([]byte, error) { return token, nil }})
				return &l
			},
			Client: func(srv transport.BanList, identity string) transport.Endpoint {
				cli, _ := udp.Dial(srv.(*lax).LocalAddr().String(), udp.Config{Token: []byte(identity)})
				return cli
			},
		}
	}
}

// The suite of identities finds each fault of a doorkeeper, and none in a correct one.
func TestIdentitySuite(t *testing.T) {
	patience := transporttest.SetPatience(300 * time.Millisecond)
	defer transporttest.SetPatience(patience)
	as := func(s transport.Same) transport.Same { return s }
	always := func(to transport.Same) func(transport.Same) transport.Same {
		return func(transport.Same) transport.Same { return to }
	}
	caught := make(map[string]bool)
	for _, c := range []struct {
		name   string
		caught string
		fault  lax
		same   func(transport.Same) transport.Same
		room   int
	}{
		{name: "the old stays", caught: "ReplaceOld", same: always(transport.AllowBoth)},
		{name: "the old is not told of", caught: "ReplaceOld", fault: lax{untold: true}, same: as},
		{name: "a full server knows nobody", caught: "ReplaceOldWhenFull", same: always(transport.RefuseNew)},
		{name: "a server has more room than it should", caught: "ReplaceOldWhenFull", same: as, room: 1},
		{name: "the new replaces", caught: "RefuseNew", same: always(transport.ReplaceOld)},
		{name: "the new is refused", caught: "AllowBoth", same: always(transport.RefuseNew)},
		{name: "a kick finds nobody", caught: "Kick", same: as, fault: lax{
			disconnect: func(*udp.Endpoint, []byte, transport.Code, string) bool { return false }}},
		{name: "a kick has another code", caught: "Kick", same: as, fault: lax{
			disconnect: func(e *udp.Endpoint, identity []byte, _ transport.Code, reason string) bool {
				return e.DisconnectIdentity(identity, transport.Kicked, reason)
			}}},
		{name: "a ban keeps nobody out", caught: "Ban", same: as, fault: lax{
			ban: func(e *udp.Endpoint, identity []byte, _ time.Time, reason string) {
				e.DisconnectIdentity(identity, transport.Kicked, reason)
			}}},
		{name: "a ban has no end", caught: "Ban", same: as, fault: lax{
			ban: func(e *udp.Endpoint, identity []byte, _ time.Time, reason string) {
				e.Ban(identity, time.Time{}, reason)
			}}},
		{name: "a ban is not ended", caught: "Ban", same: as, fault: lax{unban: func(*udp.Endpoint, []byte) {}}},
		{name: "nobody is somebody", caught: "Nobody", same: as, fault: lax{
			disconnect: func(*udp.Endpoint, []byte, transport.Code, string) bool { return true }}},
	} {
		said := failedDoor(c.caught, doors(c.fault, c.same, c.room))
		assert.NotEmpty(t, said, "%s did not find: %s", c.caught, c.name)
		caught[c.caught] = true
	}
	transporttest.SetPatience(patience)
	for _, name := range transporttest.DoorCases() {
		assert.True(t, caught[name], "no fault shows that %s finds any", name)
		assert.Empty(t, failedDoor(name, doors(lax{}, as, 0)), name)
	}
}
