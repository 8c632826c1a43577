package nettest

import (
	"net/netip"
	"testing"
	"time"

	"github.com/foretick/foretick/transport"
)

// Accept is an accept hook.
type Accept func(addr netip.AddrPort, token []byte) (identity []byte, err error)

// Hook tests an accept hook that calls its own endpoint: it drops a connected client, and bans the
// client it decides on. That client is then refused although the hook accepts it.
func Hook(t *testing.T, listen func(Accept) transport.BanList, dial func(srv transport.BanList, token string) transport.Endpoint) {
	t.Helper()
	var srv transport.BanList
	srv = listen(func(_ netip.AddrPort, token []byte) ([]byte, error) {
		if string(token) == "bob" {
			srv.DisconnectIdentity([]byte("ann"), transport.Kicked, "by the hook")
			srv.Ban([]byte("bob"), time.Time{}, "banned by the hook")
			srv.Disconnect(transport.MakePeerID(7, 7), transport.Kicked, "")
		}
		return token, nil
	})
	ann := dial(srv, "ann")
	Pair(t, srv, ann)
	bob := dial(srv, "bob")
	if ev := Next(t, bob, transport.Disconnected); ev.Code != transport.Refused || ev.Detail != "banned by the hook" {
		t.Fatalf("bob: %v %q", ev.Code, ev.Detail)
	}
	for _, ep := range []transport.Endpoint{ann, srv} {
		if ev := Next(t, ep, transport.Disconnected); ev.Code != transport.Kicked || ev.Detail != "by the hook" {
			t.Fatalf("ann: %v %q", ev.Code, ev.Detail)
		}
	}
	eve := dial(srv, "eve")
	toServer, toClient := Pair(t, srv, eve)
	Talk(t, srv, eve, toServer, toClient)
}
