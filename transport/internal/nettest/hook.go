package nettest

import (
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/foretick/foretick/transport"
)

// Hook tests an accept hook that calls its own endpoint: it drops a connected client, and bans the
// client it decides on. That client is then refused although the hook accepts it.
func Hook(t *testing.T, listen func(transport.Accept) transport.BanList, dial func(srv transport.BanList, token string) transport.Endpoint) {
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
	if ev := Next(t, bob, transport.Disconnected); ev.Code != transport.Refused || ev.Reason != "banned by the hook" {
		t.Fatalf("bob: %v %q", ev.Code, ev.Reason)
	}
	for _, ep := range []transport.Endpoint{ann, srv} {
		if ev := Next(t, ep, transport.Disconnected); ev.Code != transport.Kicked || ev.Reason != "by the hook" {
			t.Fatalf("ann: %v %q", ev.Code, ev.Reason)
		}
	}
	eve := dial(srv, "eve")
	toServer, toClient := Pair(t, srv, eve)
	Talk(t, srv, eve, toServer, toClient)
}

// Failures is a transport.Logger that counts lines.
type Failures struct {
	mu    sync.Mutex
	lines int
}

// Info implements transport.Logger.
func (f *Failures) Info(string, ...any) {}

// Warn implements transport.Logger.
func (f *Failures) Warn(string, ...any) {}

// Error implements transport.Logger.
func (f *Failures) Error(msg string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lines++
}

// Lines returns the number of lines.
func (f *Failures) Lines() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lines
}

// HookFails tests an accept hook that panics, or ends its goroutine, for some tokens. Their clients are
// refused, one line is logged, and all other clients connect. panics reads the endpoint's counter.
func HookFails(t *testing.T, listen func(transport.Accept, transport.Logger) transport.BanList, dial func(srv transport.BanList, token string) transport.Endpoint, panics func(transport.BanList) uint64) {
	t.Helper()
	log := &Failures{}
	srv := listen(func(_ netip.AddrPort, token []byte) ([]byte, error) {
		switch {
		case strings.HasPrefix(string(token), "panic"):
			panic("of the game")
		case strings.HasPrefix(string(token), "exit"):
			runtime.Goexit()
		}
		return token, nil
	}, log)
	ann := dial(srv, "ann")
	toServer, toClient := Pair(t, srv, ann)
	for _, token := range []string{"panic1", "exit1", "panic2", "exit2"} {
		if ev := Next(t, dial(srv, token), transport.Disconnected); ev.Code != transport.Refused || !strings.Contains(ev.Reason, "the server failed") {
			t.Fatalf("%s: %v %q", token, ev.Code, ev.Reason)
		}
	}
	if n := panics(srv); n < 4 { // a client may have asked twice
		t.Errorf("%d panics counted", n)
	}
	if lines := log.Lines(); lines != 1 {
		t.Errorf("%d lines", lines)
	}
	Talk(t, srv, ann, toServer, toClient)
	bob := dial(srv, "bob")
	toServer, toClient = Pair(t, srv, bob)
	Talk(t, srv, bob, toServer, toClient)
}
