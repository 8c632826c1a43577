package nettest

import (
	"math/rand/v2"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/foretick/foretick/transport"
)

// Flood sends datagrams made by fill to an address for the time d, at the given rate a second if the machine can, and
// returns their number. Any goroutine may call it.
func Flood(t testing.TB, to string, rate int, d time.Duration, fill func(b []byte, r *rand.Rand) []byte) (sent int) {
	c, err := net.Dial("udp4", to)
	if err != nil {
		t.Error(err)
		return 0
	}
	defer c.Close()
	r, buf := rand.New(rand.NewPCG(1, 2)), make([]byte, 0, 1500)
	for begin := time.Now(); time.Since(begin) < d; time.Sleep(time.Millisecond) {
		for so := time.Since(begin); so < d && sent < int(so.Seconds()*float64(rate)); so = time.Since(begin) {
			c.Write(fill(buf, r)) // a slow machine never catches up, but the loop still ends
			sent++
		}
	}
	return sent
}

// Besieged is the effect of a flood on a server's client and on the server's own tick.
type Besieged struct {
	Sent int           // datagrams of the flood
	Late time.Duration // delay of the tick, p99
	// Ticks counts ticks with one client datagram each, Got the datagrams that arrived.
	Ticks, Got int
	Grown      int64 // growth of the heap, in bytes
	More       int   // additional goroutines
}

// Besiege floods a server with 100 000 datagrams a second while a client plays at 60 Hz. Any disconnect fails the
// test.
func Besiege(t *testing.T, to string, srv, cli transport.Endpoint, toServer transport.PeerID, d time.Duration,
	fill func(b []byte, r *rand.Rand) []byte) (s Besieged) {
	t.Helper()
	before, threads := Heap(), runtime.NumGoroutine()
	done := make(chan int)
	go func() { done <- Flood(t, to, 100_000, d, fill) }()
	var ev [64]transport.Event
	var late []time.Duration
	due := time.Now()
	for over := false; !over; {
		due = due.Add(time.Second / 60)
		select {
		case s.Sent = <-done:
			over = true
		case <-time.After(time.Until(due)):
			late = append(late, time.Since(due))
			s.Ticks++
			_ = cli.Send(toServer, make([]byte, 50))
		}
		for _, e := range ev[:srv.Recv(ev[:])] {
			if e.Kind != transport.Data {
				t.Fatalf("the server heard of %v: %v %q", e.Kind, e.Code, e.Reason)
			}
			s.Got++
		}
		if cli.Recv(ev[:]) != 0 {
			t.Fatalf("the client heard of %v: %v %q", ev[0].Kind, ev[0].Code, ev[0].Reason)
		}
	}
	subside(threads) // the flood's own goroutine may still be ending
	s.More, s.Grown, s.Late = runtime.NumGoroutine()-threads, int64(Heap())-int64(before), Percentile(late, 99)
	t.Logf("%d datagrams in %v: ticks late p99 %v (at most 8 ms), %d of the client's %d got through, heap %+d kB, %d goroutines more",
		s.Sent, d, s.Late, s.Got, s.Ticks, s.Grown/1024, s.More)
	if *Soak && s.Late > 8*time.Millisecond || s.Got == 0 || s.Grown > 16<<20 || s.More > 0 {
		t.Errorf("a flood has an effect: %+v", s)
	}
	return s
}

// subside waits a while until there are at most this many goroutines, since some take time to end.
func subside(most int) {
	for range 1000 {
		if runtime.NumGoroutine() <= most {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// GreetAgain floods a server with 5 000 hellos a second. A client that dials at the same time must connect within 3
// s. The heap may grow by that many bytes, and the process by ten goroutines, including the client's.
func GreetAgain(t *testing.T, to string, srv transport.Endpoint, dial func() transport.Endpoint, grow int64,
	fill func(b []byte, r *rand.Rand) []byte) (sent int) {
	t.Helper()
	d := Length(t, "a flood of", time.Second, 30*time.Second)
	before, threads := Heap(), runtime.NumGoroutine()
	done := make(chan int)
	go func() { done <- Flood(t, to, 5000, d, fill) }()
	time.Sleep(d / 5)
	begin := time.Now()
	cli := dial()
	toServer, toClient := Pair(t, srv, cli)
	took := time.Since(begin)
	Talk(t, srv, cli, toServer, toClient)
	sent = <-done
	subside(threads + 10)
	more, grown := runtime.NumGoroutine()-threads, int64(Heap())-int64(before)
	t.Logf("%d hellos in %v: a client connected in %v (at most 3 s), %d goroutines more, the client's included, heap %+d kB", sent, d,
		took.Round(time.Millisecond), more, grown/1024)
	if took > Limit(3*time.Second) || more > 10 || grown > grow {
		t.Error("a flood of hellos has an effect")
	}
	return sent
}
