package transporttest

import (
	"strings"

	"github.com/foretick/foretick/transport"
)

func connects(s *suite) {
	l := s.pair()
	for _, e := range []struct {
		end *end
		p   transport.PeerID
	}{{l.srv, l.toClient}, {l.cli, l.toServer}} {
		info := e.end.info(e.p)
		if info.Addr == "" {
			s.Error("Info.Addr is empty")
		}
		if info.MTU < 512 || info.MTU > 1<<16 {
			s.Errorf("Info.MTU is %d", info.MTU)
		}
		if len(e.end.seen) != 1 {
			s.Errorf("events after connecting: %v", e.end.seen)
		}
	}
}

func neverUsesAnIDAgain(s *suite) {
	srv := s.server()
	known := make(map[transport.PeerID]bool)
	for range 12 {
		l := s.connectTo(srv)
		if known[l.toClient] {
			s.Fatalf("peer id %v was used before", l.toClient)
		}
		for old := range known {
			if err := srv.ep.Send(old, []byte("late")); err != transport.ErrNoPeer {
				s.Fatalf("Send to the former peer %v: %v", old, err)
			}
		}
		known[l.toClient] = true
		if slot := l.toClient.Slot(); slot > 64 {
			s.Errorf("with one client at a time, the slot is %d, not 0", slot)
		}
		l.cli.mustClose(transport.Closed, "")
		s.until("the client is gone", func() bool { return srv.endOf(l.toClient) != nil })
	}
}

func serverDisconnects(s *suite) {
	srv := s.server()
	for _, c := range endings {
		l := s.connectTo(srv)
		srv.ep.Disconnect(l.toClient, c.code, c.reason)
		s.until("the client is told", func() bool { return l.cli.endOf(l.toServer) != nil })
		sameEnd(s, l.cli.endOf(l.toServer), c)
	}
	s.waitForArrivals()
}

func clientDisconnects(s *suite) {
	srv := s.server()
	for _, c := range endings {
		l := s.connectTo(srv)
		l.cli.ep.Disconnect(l.toServer, c.code, c.reason)
		s.until("the server is told", func() bool { return srv.endOf(l.toClient) != nil })
		sameEnd(s, srv.endOf(l.toClient), c)
	}
	s.waitForArrivals()
}

type ending struct {
	code   transport.Code
	reason string
}

var endings = []ending{
	{transport.None, ""},
	{transport.Kicked, "seen behind a wall"},
	{transport.FirstUserCode + 44, "später"},
	{0xFFFF, strings.Repeat("ö", transport.MaxReason)},
	{transport.Mismatch, strings.Repeat("x", 5000)},
}

func sameEnd(s *suite, ev *transport.Event, want ending) {
	s.Helper()
	if ev.Code != want.code || ev.Reason != transport.CutReason(want.reason) {
		s.Errorf("ended with %v %q; the other end said %v %q", ev.Code, ev.Reason, want.code, want.reason)
	}
}

func disconnectIsSilentHere(s *suite) {
	l := s.pair()
	for i := range 20 {
		l.cli.mustSend(l.toServer, datagram(uint64(i), 20))
	}
	for range 25 {
		s.net.Wait(step) // the datagrams wait at the server, unread
	}
	before := len(l.srv.seen)
	l.srv.ep.Disconnect(l.toClient, transport.Kicked, "")
	s.waitForArrivals()
	if n := len(l.srv.seen) - before; n != 0 {
		s.Errorf("%d events for a peer that was dropped locally", n)
	}
	if err := l.srv.ep.Send(l.toClient, nil); err != transport.ErrNoPeer {
		s.Errorf("Send to a peer that was dropped locally: %v", err)
	}
	var info transport.Info
	if l.srv.ep.Info(l.toClient, &info) {
		s.Error("Info exists for a peer that was dropped locally")
	}
	l.srv.ep.Disconnect(l.toClient, transport.Kicked, "twice")
}

func serverCloses(s *suite) {
	srv := s.server()
	links := []*link{s.connectTo(srv), s.connectTo(srv), s.connectTo(srv)}
	srv.mustClose(transport.Closed, "the match is over")
	for _, l := range links {
		s.until("the client is told", func() bool { return l.cli.endOf(l.toServer) != nil })
		sameEnd(s, l.cli.endOf(l.toServer), ending{transport.Closed, "the match is over"})
	}
}

func clientCloses(s *suite) {
	l := s.pair()
	l.cli.mustClose(transport.FirstUserCode, "good night")
	s.until("the server is told", func() bool { return l.srv.endOf(l.toClient) != nil })
	sameEnd(s, l.srv.endOf(l.toClient), ending{transport.FirstUserCode, "good night"})
}

func endsAfterTheLastData(s *suite) {
	l := s.pair()
	for i := range 5 {
		l.cli.mustSend(l.toServer, datagram(uint64(i), 30))
	}
	for range 50 {
		s.net.Wait(step) // all of it is waiting when the end comes
	}
	l.cli.mustClose(transport.Closed, "")
	for range 50 {
		s.net.Wait(step) // and so is the end
	}
	s.until("the server is told", func() bool { return l.srv.endOf(l.toClient) != nil })
	s.waitForArrivals()
	if n := len(l.srv.data(l.toClient)); n != 5 {
		s.Errorf("%d of 5 datagrams received before the end were returned", n)
	}
}

func livesWhenIdle(s *suite) {
	l := s.pair()
	for t := s.net.Timeout * 0; t < 2*s.net.Timeout; t += s.net.Timeout / 20 {
		s.net.Wait(s.net.Timeout / 20)
		s.pump()
	}
	l.cli.mustSend(l.toServer, datagram(1, 30))
	l.srv.mustSend(l.toClient, datagram(2, 30))
	s.until("the idle connection carries", func() bool {
		return len(l.srv.data(l.toClient)) == 1 && len(l.cli.data(l.toServer)) == 1
	})
}

func noticesTheVanished(s *suite) {
	l := s.pair()
	s.net.Vanish(l.cli.raw)
	l.cli.closed = true
	for t := s.net.Timeout * 0; t < 2*s.net.Timeout; t += s.net.Timeout / 20 {
		s.net.Wait(s.net.Timeout / 20)
		s.pump()
		if ev := l.srv.endOf(l.toClient); ev != nil {
			if ev.Code != transport.Timeout {
				s.Errorf("the vanished client was reported as %v", ev.Code)
			}
			if t < s.net.Timeout/2 {
				s.Errorf("dropped after %v, with a timeout of %v", t, s.net.Timeout)
			}
			return
		}
	}
	s.Errorf("a vanished client was not noticed for twice the timeout of %v", s.net.Timeout)
}

func tellsTheRefused(s *suite) {
	want := ending{transport.FirstUserCode + 1, "not on the list"}
	srv := s.addEnd(s.net.Refuse(want.code, want.reason), false)
	cli := s.dial(srv)
	s.until("the client is refused", func() bool { return cli.peerOf(0, transport.Disconnected) != 0 })
	sameEnd(s, cli.endOf(cli.peerOf(0, transport.Disconnected)), want)
	s.waitForArrivals()
	if len(srv.seen) != 0 || len(cli.seen) != 1 {
		s.Errorf("events of a refusal: %v at the server, %v at the client", srv.seen, cli.seen)
	}
}
