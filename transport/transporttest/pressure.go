package transporttest

import (
	"errors"
	"net"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/foretick/foretick/transport"
)

func signals(s *suite) {
	l := s.pair()
	s.waitForArrivals()
	first := l.srv.ep.Ready()
	if again := l.srv.ep.Ready(); first != again || cap(first) != 1 {
		s.Error("Ready must always be the same channel, of capacity 1")
	}
	signalled := func() bool {
		for range 2000 {
			select {
			case <-l.srv.ep.Ready():
				return true
			default:
				s.net.Wait(step)
			}
		}
		return false
	}
	var ev [1]transport.Event
	for range 3 { // when everything is taken, a remaining signal is spurious
		select {
		case <-l.srv.ep.Ready():
		default:
		}
		l.srv.pump()
	}
	for i := range 5 {
		l.cli.mustSend(l.toServer, datagram(uint64(i), 20))
		if !signalled() {
			s.Fatal("no signal for a datagram received by an idle endpoint")
		}
		if l.srv.ep.Recv(ev[:]) != 1 {
			s.Fatal("a signal, but no event")
		}
		if l.srv.ep.Recv(ev[:]) != 0 {
			s.Fatal("more events than datagrams sent")
		}
	}
	l.cli.mustSend(l.toServer, datagram(7, 20))
	l.cli.mustSend(l.toServer, datagram(8, 20))
	for i := range 2 { // Recv takes one, so there must be another signal
		if !signalled() {
			s.Fatalf("no signal for datagram %d of 2", i+1)
		}
		for range 2000 {
			if l.srv.ep.Recv(ev[:]) == 1 {
				break
			}
			s.net.Wait(step)
		}
	}
}

func closedStaysClosed(s *suite) {
	l := s.pair()
	l.cli.mustSend(l.toServer, datagram(1, 20))
	for range 10 {
		s.net.Wait(step)
	}
	l.srv.mustClose(transport.Closed, "")
	if err := l.srv.ep.Close(transport.Closed, ""); !errors.Is(err, net.ErrClosed) {
		s.Errorf("the second Close: %v", err)
	}
	if err := l.srv.ep.Send(l.toClient, []byte("x")); !errors.Is(err, net.ErrClosed) || !errors.Is(err, transport.ErrClosed) {
		s.Errorf("Send on a closed endpoint: %v", err)
	}
	var ev [4]transport.Event
	if n := l.srv.ep.Recv(ev[:]); n != 0 {
		s.Errorf("a closed endpoint returned %d events", n)
	}
	var info transport.Info
	if l.srv.ep.Info(l.toClient, &info) {
		s.Error("a closed endpoint has Info")
	}
	l.srv.ep.Disconnect(l.toClient, transport.Kicked, "")
	l.srv.ep.Flush()
	unborn := s.dial(l.srv) // and no client is accepted
	for range 50 {
		s.net.Wait(step)
		s.pump()
	}
	if unborn.peerOf(0, transport.Connected) != 0 {
		s.Error("a client connected to a closed endpoint")
	}
}

func tellsClientsApart(s *suite) {
	srv := s.server()
	var links []*link
	ids := make(map[transport.PeerID]bool)
	for range 16 {
		l := s.connectTo(srv)
		links = append(links, l)
		ids[l.toClient] = true
	}
	if len(ids) != len(links) {
		s.Fatalf("%d clients have %d ids", len(links), len(ids))
	}
	for i, l := range links {
		l.cli.mustSend(l.toServer, datagram(uint64(i), 40))
		srv.mustSend(l.toClient, datagram(uint64(100+i), 40))
	}
	for i, l := range links {
		s.until("both are there", func() bool {
			return len(srv.data(l.toClient)) == 1 && len(l.cli.data(l.toServer)) == 1
		})
		if n, _ := number(srv.data(l.toClient)[0]); n != uint64(i) {
			s.Errorf("peer %v is listed as client %d, but is %d", l.toClient, n, i)
		}
		if n, _ := number(l.cli.data(l.toServer)[0]); n != uint64(100+i) {
			s.Errorf("client %d got a datagram for client %d", i, n-100)
		}
	}
	links[3].cli.mustClose(transport.Closed, "")
	s.until("one has left", func() bool { return srv.endOf(links[3].toClient) != nil })
	s.waitForArrivals()
	for i, l := range links {
		var info transport.Info
		if i != 3 && (srv.endOf(l.toClient) != nil || l.cli.endOf(l.toServer) != nil || !srv.ep.Info(l.toClient, &info)) {
			s.Errorf("client %d was disconnected with another", i)
		}
	}
}

// flood sends n datagrams of a kilobyte to a server that does not read them.
func flood(s *suite, l *link, n int) {
	for i := range n {
		if err := l.cli.ep.Send(l.toServer, datagram(uint64(i), 1000)); err != nil && err != transport.ErrBacklog {
			s.Fatal(err)
		}
		if i%10 == 9 {
			s.net.Wait(step / 2)
		}
	}
	for range 50 {
		s.net.Wait(step)
	}
}

func boundsTheQueue(s *suite) {
	const n = 2000
	l := s.pair()
	flood(s, l, n)
	var ev [64]transport.Event
	var waited, last uint64
	for {
		k := l.srv.ep.Recv(ev[:])
		for i := range ev[:k] {
			if ev[i].Kind == transport.Data {
				waited++
				last, _ = number(ev[i].Data)
			}
		}
		if k < len(ev) {
			break
		}
	}
	if waited > 256 {
		s.Errorf("%d kB waited for a server that read nothing; at most 256 kB may", waited)
	}
	if last != n-1 {
		s.Errorf("the newest waiting datagram is %d of %d: the dropped ones were not the oldest", last, n-1)
	}
	if dropped := l.srv.info(l.toClient).Stats.ReceiveDropped; dropped+waited != n {
		s.Errorf("%d waited and %d were counted as dropped, of %d sent", waited, dropped, n)
	}
	l.cli.mustSend(l.toServer, datagram(n, 100))
	s.until("the connection goes on", func() bool { return len(l.srv.data(l.toClient)) == 1 })
	flood(s, l, 300)
	l.cli.mustClose(transport.Closed, "")
	for range 25 {
		s.net.Wait(step)
	}
	s.until("the end is told although the queue was full", func() bool { return l.srv.endOf(l.toClient) != nil })
}

func servesPeersInTurn(s *suite) {
	srv := s.server()
	loud, quiet := s.connectTo(srv), s.connectTo(srv)
	flood(s, loud, 100)
	quiet.cli.mustSend(quiet.toServer, datagram(1, 20))
	for range 50 {
		s.net.Wait(step)
	}
	var ev [8]transport.Event
	for i := range ev[:srv.ep.Recv(ev[:])] {
		if ev[i].Peer == quiet.toClient {
			return
		}
	}
	s.Error("a datagram had to wait for another peer's")
}

func bearsConcurrentUse(s *suite) {
	srv := s.server()
	links := []*link{s.connectTo(srv), s.connectTo(srv), s.connectTo(srv), s.connectTo(srv)}
	var busy sync.WaitGroup
	for i, l := range links {
		busy.Add(1)
		go func() {
			defer busy.Done()
			var info transport.Info
			for k := range 200 {
				l.cli.ep.Send(l.toServer, datagram(uint64(k), 100))
				srv.ep.Send(l.toClient, datagram(uint64(k), 100))
				srv.ep.Info(l.toClient, &info)
				srv.ep.Flush()
			}
			if i == 0 {
				srv.ep.Disconnect(l.toClient, transport.Kicked, "")
			}
		}()
	}
	done := make(chan struct{})
	go func() { busy.Wait(); close(done) }()
	for over := false; !over; {
		select {
		case <-done:
			over = true
		case <-time.After(step):
		}
		s.pump()
	}
	s.until("the dropped client is told", func() bool { return links[0].cli.endOf(links[0].toServer) != nil })
	s.waitForArrivals()
	for _, e := range s.ends {
		for _, ev := range e.seen {
			if _, ok := number(ev.Data); ev.Kind == transport.Data && !ok {
				s.Fatal("a datagram arrived changed")
			}
		}
	}
}

func bearsConcurrentClose(s *suite) {
	for range 10 {
		srv := s.server()
		links := []*link{s.connectTo(srv), s.connectTo(srv)}
		var busy sync.WaitGroup
		closes := make(chan error, 3)
		begin := make(chan struct{})
		run := func(fn func()) {
			busy.Add(1)
			go func() {
				defer busy.Done()
				<-begin
				fn()
			}()
		}
		for _, l := range links {
			run(func() {
				for {
					if err := srv.ep.Send(l.toClient, datagram(1, 100)); errors.Is(err, net.ErrClosed) {
						return
					}
				}
			})
			run(func() {
				for range 100 {
					l.cli.ep.Send(l.toServer, datagram(1, 100))
				}
			})
		}
		run(func() {
			var ev [4]transport.Event
			for range 100 {
				srv.ep.Recv(ev[:])
			}
		})
		for range 3 {
			run(func() { closes <- srv.ep.Close(transport.Closed, "") })
		}
		srv.closed = true
		close(begin)
		ended := make(chan struct{})
		go func() { busy.Wait(); close(ended) }()
		select {
		case <-ended:
		case <-time.After(patience.get()):
			s.Fatal("Close and other calls wait for each other")
		}
		first := 0
		for range 3 {
			if err := <-closes; err == nil {
				first++
			} else if !errors.Is(err, net.ErrClosed) {
				s.Errorf("Close: %v", err)
			}
		}
		if first != 1 {
			s.Errorf("%d of 3 concurrent Close calls succeeded, want 1", first)
		}
	}
}

func leaksNoGoroutine(s *suite) {
	before := stacks()
	for range 5 {
		srv := s.server()
		l := s.connectTo(srv)
		unheard := s.dial(srv) // closed while it dials
		unheard.mustClose(transport.Closed, "")
		l.cli.mustSend(l.toServer, datagram(1, 100))
		l.cli.mustClose(transport.Closed, "")
		srv.mustClose(transport.Closed, "")
		s.net.Release()
	}
	var after []string
	for begin := time.Now(); time.Since(begin) < patience.get(); {
		if after = stacks(); len(after) <= len(before) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.Errorf("%d goroutines before, %d after:\n%s", len(before), len(after), strings.Join(after, "\n\n"))
}

// stacks returns the goroutines' stacks.
func stacks() []string {
	buf := make([]byte, 1<<20)
	return strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n")
}
