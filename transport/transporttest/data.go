package transporttest

import (
	"bytes"
	"errors"
	"testing"

	"github.com/foretick/foretick/transport"
)

func delivers(s *suite) {
	l := s.pair()
	const n = 200
	for i := range n {
		l.cli.mustSend(l.toServer, datagram(uint64(i), 8+i))
		l.srv.mustSend(l.toClient, datagram(uint64(i), 8+2*i))
		if i%20 == 19 {
			s.net.Wait(step)
			s.pump()
		}
	}
	all := func(e *end, p transport.PeerID) func() bool {
		return func() bool { return len(e.data(p)) >= n }
	}
	s.until("all datagrams reached the server", all(l.srv, l.toClient))
	s.until("all datagrams reached the client", all(l.cli, l.toServer))
	s.waitForArrivals()
	for _, got := range [][][]byte{l.srv.data(l.toClient), l.cli.data(l.toServer)} {
		seen := make(map[uint64]int)
		for _, b := range got {
			k, ok := number(b)
			if !ok {
				s.Fatalf("a datagram of %d bytes arrived changed", len(b))
			}
			seen[k]++
		}
		for i := range uint64(n) {
			if seen[i] != 1 {
				s.Errorf("datagram %d arrived %d times over a network that loses nothing", i, seen[i])
			}
		}
	}
}

func keepsBoundaries(s *suite) {
	l := s.pair()
	mtu := l.cli.info(l.toServer).MTU
	sizes := []int{0, 1, 2, 3, 7, 8, 9, 63, 64, 255, 256, 257, 511, mtu - 1, mtu}
	for i, n := range sizes {
		b := bytes.Repeat([]byte{byte(i + 1)}, n)
		l.cli.mustSend(l.toServer, b)
		s.until("the datagram is there", func() bool { return len(l.srv.data(l.toClient)) == i+1 })
		if got := l.srv.data(l.toClient)[i]; !bytes.Equal(got, b) {
			s.Errorf("%d bytes arrived as %d", n, len(got))
		}
	}
	mtu = l.srv.info(l.toClient).MTU
	l.srv.mustSend(l.toClient, datagram(1, mtu))
	s.until("the largest datagram is there", func() bool { return len(l.cli.data(l.toServer)) == 1 })
	if got := l.cli.data(l.toServer)[0]; !bytes.Equal(got, datagram(1, mtu)) {
		s.Errorf("%d bytes arrived as %d", mtu, len(got))
	}
}

func refusesTooBig(s *suite) {
	l := s.pair()
	mtu := l.srv.info(l.toClient).MTU
	for _, n := range []int{mtu + 1, mtu + 100, 1 << 16, 1 << 20} {
		err := l.srv.ep.Send(l.toClient, make([]byte, n))
		var big *transport.TooBigError
		if !errors.Is(err, transport.ErrTooBig) || !errors.As(err, &big) {
			s.Fatalf("Send of %d bytes with an MTU of %d: %v", n, mtu, err)
		}
		if big.Size != n || big.Limit != mtu {
			s.Errorf("Send of %d bytes with an MTU of %d: %+v", n, mtu, *big)
		}
	}
	s.waitForArrivals()
	if len(l.cli.data(l.toServer)) != 0 {
		s.Error("a datagram that was too big arrived")
	}
}

func knowsNoStrangers(s *suite) {
	l := s.pair()
	p := l.toClient
	for _, id := range []transport.PeerID{0, transport.MakePeerID(p.Slot(), p.Generation()+1),
		transport.MakePeerID(p.Slot(), 0), transport.MakePeerID(p.Slot()+1, p.Generation()), ^transport.PeerID(0)} {
		if err := l.srv.ep.Send(id, []byte("x")); err != transport.ErrNoPeer {
			s.Errorf("Send to unknown peer %v: %v", id, err)
		}
		var info transport.Info
		if l.srv.ep.Info(id, &info) {
			s.Errorf("Info exists for unknown peer %v", id)
		}
		l.srv.ep.Disconnect(id, transport.Kicked, "")
	}
	l.cli.mustSend(l.toServer, []byte("x"))
	s.until("the right peer still sends", func() bool { return len(l.srv.data(p)) == 1 })
}

func leavesBuffersAlone(s *suite) {
	l := s.pair()
	b := datagram(1, 100)
	l.cli.mustSend(l.toServer, b)
	for i := range b {
		b[i] = 0xFF // Send must not keep it
	}
	s.until("the datagram is there", func() bool { return len(l.srv.data(l.toClient)) == 1 })
	if _, ok := number(l.srv.data(l.toClient)[0]); !ok {
		s.Error("Send reads its argument after it returned")
	}
	// Data stays valid while the endpoint works on, and may be overwritten.
	var ev [1]transport.Event
	l.cli.mustSend(l.toServer, datagram(2, 200))
	for range 2000 {
		if l.srv.ep.Recv(ev[:]) == 1 {
			break
		}
		s.net.Wait(step)
	}
	if ev[0].Kind != transport.Data {
		s.Fatalf("got %v", ev[0].Kind)
	}
	for i := range 50 {
		l.cli.mustSend(l.toServer, datagram(uint64(i+3), 200))
		l.srv.mustSend(l.toClient, datagram(uint64(i+3), 200))
	}
	for range 25 {
		s.net.Wait(step)
	}
	if n, ok := number(ev[0].Data); !ok || n != 2 {
		s.Error("Data changed before the next Recv")
	}
	clear(ev[0].Data[:cap(ev[0].Data)][:len(ev[0].Data)])
	s.until("the rest is there", func() bool { return len(l.srv.data(l.toClient)) == 51 })
	for _, b := range l.srv.data(l.toClient) {
		if _, ok := number(b); !ok {
			s.Fatal("writing to Data changed another datagram")
		}
	}
}

func counts(s *suite) {
	l := s.pair()
	for i := range 10 {
		l.cli.mustSend(l.toServer, datagram(uint64(i), 50))
	}
	s.until("all is there", func() bool { return len(l.srv.data(l.toClient)) == 10 })
	sent, got := l.cli.info(l.toServer).Stats, l.srv.info(l.toClient).Stats
	if sent.Sent != 10 || sent.SentBytes != 500 || sent.Received != 0 {
		s.Errorf("the sender counts %+v", sent)
	}
	if got.Received != 10 || got.ReceivedBytes != 500 || got.Sent != 0 {
		s.Errorf("the receiver counts %+v", got)
	}
}

func allocatesLittle(s *suite) {
	l := s.pair()
	b := datagram(1, 200)
	var ev [16]transport.Event
	round := func() {
		for range 8 {
			if err := l.cli.ep.Send(l.toServer, b); err != nil {
				s.Fatal(err)
			}
		}
		l.cli.ep.Flush()
		for got, tries := 0, 0; got < 8; tries++ {
			if tries > 5000 {
				s.Fatal("datagrams were lost")
			}
			if k := l.srv.ep.Recv(ev[:]); k > 0 {
				got += k
				continue
			}
			s.net.Wait(step / 10)
		}
	}
	for range 20 {
		round()
	}
	least := testing.AllocsPerRun(25, round) / 8
	for range 2 { // other goroutines count too, and grow what they have when the machine lets them wait
		if least > s.net.Allocs {
			least = min(least, testing.AllocsPerRun(25, round)/8)
		}
	}
	if least > s.net.Allocs {
		s.Errorf("%v allocations per datagram; at most %v are allowed", least, s.net.Allocs)
	}
}
