package nettest

import (
	"testing"
	"time"

	"github.com/foretick/foretick/transport"
)

// Wait waits for an event of a kind; before it, only data events may come.
func Wait(t testing.TB, ep transport.Endpoint, k transport.EventKind) transport.Event {
	t.Helper()
	for {
		if ev := event(t, ep, k); ev.Kind == k {
			return ev
		} else if ev.Kind != transport.Data {
			t.Fatalf("%v %v %q instead of %v", ev.Kind, ev.Code, ev.Reason, k)
		}
	}
}

// Next waits for the next event, which must be of a kind.
func Next(t testing.TB, ep transport.Endpoint, k transport.EventKind) transport.Event {
	t.Helper()
	ev := event(t, ep, k)
	if ev.Kind != k {
		t.Fatalf("%v %v %q instead of %v", ev.Kind, ev.Code, ev.Reason, k)
	}
	return ev
}

// event waits for any event.
func event(t testing.TB, ep transport.Endpoint, k transport.EventKind) transport.Event {
	t.Helper()
	deadline := time.After(Patience)
	var ev [1]transport.Event
	for ep.Recv(ev[:]) == 0 {
		select {
		case <-ep.Ready():
		case <-deadline:
			t.Fatalf("timed out waiting for a %v event", k)
		}
	}
	return ev[0]
}

// Pair waits until a client and its server are connected, and returns their ids of each other.
func Pair(t testing.TB, srv, cli transport.Endpoint) (toServer, toClient transport.PeerID) {
	t.Helper()
	return Wait(t, cli, transport.Connected).Peer, Wait(t, srv, transport.Connected).Peer
}

// Talk sends a datagram each way and expects it as the next one.
func Talk(t testing.TB, srv, cli transport.Endpoint, toServer, toClient transport.PeerID) {
	t.Helper()
	say := func(from, to transport.Endpoint, p transport.PeerID, what string) {
		t.Helper()
		if err := from.Send(p, []byte(what)); err != nil {
			t.Fatal(err)
		}
		if got := string(Wait(t, to, transport.Data).Data); got != what {
			t.Fatalf("%q arrived as %q", what, got)
		}
	}
	say(cli, srv, toServer, "ping")
	say(srv, cli, toClient, "pong")
}
