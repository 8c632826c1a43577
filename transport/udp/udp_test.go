package udp_test

import (
	"testing"
	"time"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/udp"
)

func wait(t testing.TB, ep transport.Endpoint, k transport.EventKind) transport.Event {
	t.Helper()
	var ev [1]transport.Event
	deadline := time.After(8 * time.Second)
	for {
		if ep.Recv(ev[:]) == 1 {
			if ev[0].Kind != k {
				t.Fatalf("got %v, want %v", ev[0], k)
			}
			return ev[0]
		}
		select {
		case <-ep.Ready():
		case <-deadline:
			t.Fatalf("no %v came", k)
		}
	}
}

func TestSmoke(t *testing.T) {
	srv, err := udp.Listen("127.0.0.1:0", udp.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t0 := time.Now()
	cli, err := udp.Dial(srv.LocalAddr().String(), udp.Config{})
	if err != nil {
		t.Fatal(err)
	}
	s := wait(t, cli, transport.Connected).Peer
	c := wait(t, srv, transport.Connected).Peer
	t.Log(time.Since(t0))
	if err := cli.Send(s, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	t.Logf("%q", wait(t, srv, transport.Data).Data)
	if err := srv.Send(c, []byte("you")); err != nil {
		t.Fatal(err)
	}
	t.Logf("%q", wait(t, cli, transport.Data).Data)
	srv.Close(transport.Kicked, "bye")
	t.Log(wait(t, cli, transport.Disconnected))
	cli2, err := udp.Dial(cli.LocalAddr().String(), udp.Config{})
	if err != nil {
		t.Fatal(err)
	}
	cli.Close(0, "")
	t.Log(wait(t, cli2, transport.Disconnected))
	cli2.Close(0, "")
}
