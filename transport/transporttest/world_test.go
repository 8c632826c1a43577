package transporttest_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
	"github.com/foretick/foretick/transport/transporttest"
)

// recorder is a testing.TB that records failures without failing the test.
type recorder struct {
	testing.TB // nil: for methods that the suite does not use
	mu         sync.Mutex
	log        []string
}

func (r *recorder) Helper()                      {}
func (r *recorder) Logf(string, ...any)          {}
func (r *recorder) Error(args ...any)            { r.note(fmt.Sprint(args...)) }
func (r *recorder) Errorf(f string, args ...any) { r.note(fmt.Sprintf(f, args...)) }
func (r *recorder) Fatal(args ...any) {
	r.note(fmt.Sprint(args...))
	runtime.Goexit()
}
func (r *recorder) Fatalf(f string, args ...any) { r.Fatal(fmt.Sprintf(f, args...)) }

func (r *recorder) note(s string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	first, _, _ := strings.Cut(s, "\n")
	r.log = append(r.log, first)
}

// failed runs one case in a separate goroutine and returns its messages.
func failed(name string, network func(t testing.TB) transporttest.Net) []string {
	return recorded(func(r *recorder) { transporttest.Try(r, name, network) })
}

// failedDoor does the same with a case of identities.
func failedDoor(name string, doors func(t testing.TB) transporttest.Doors) []string {
	return recorded(func(r *recorder) { transporttest.TryDoor(r, name, doors) })
}

func recorded(try func(r *recorder)) []string {
	r := &recorder{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		try(r)
	}()
	<-done
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log
}

// world is a simulated network that any goroutine may use, so that the whole suite runs over it, in virtual time.
type world struct {
	mu    sync.Mutex
	net   *sim.Network
	polls []func() // called as time passes
}

// locked is an endpoint of a world.
type locked struct {
	w  *world
	ep *sim.Endpoint
}

func (w *world) wait(d time.Duration) {
	w.mu.Lock()
	w.net.Run(w.net.Now() + d)
	w.mu.Unlock()
	for _, poll := range w.polls {
		poll()
	}
}

func (w *world) now() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.net.Now()
}

func (w *world) listen() *locked {
	w.mu.Lock()
	defer w.mu.Unlock()
	return &locked{w, w.net.Listen()}
}

func (w *world) dial(srv *locked) *locked {
	w.mu.Lock()
	defer w.mu.Unlock()
	return &locked{w, w.net.Dial(srv.ep, sim.Link{}, sim.Link{})}
}

// vanish cuts a client off from the network.
func (w *world) vanish(cli *locked) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.net.Blackhole(cli.ep, w.net.Now(), w.net.Now()+time.Hour)
}

func (l *locked) Ready() <-chan struct{} { return l.ep.Ready() }
func (l *locked) Flush()                 {}

func (l *locked) Recv(ev []transport.Event) int {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	return l.ep.Recv(ev)
}

func (l *locked) Send(p transport.PeerID, b []byte) error {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	return l.ep.Send(p, b)
}

func (l *locked) Disconnect(p transport.PeerID, c transport.Code, reason string) {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	l.ep.Disconnect(p, c, reason)
}

func (l *locked) Info(p transport.PeerID, out *transport.Info) bool {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	return l.ep.Info(p, out)
}

func (l *locked) Close(c transport.Code, reason string) error {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	return l.ep.Close(c, reason)
}

// bent is an endpoint with some of its methods replaced.
type bent struct {
	transport.Endpoint
	recv       func(ev []transport.Event) int
	ready      func() <-chan struct{}
	send       func(p transport.PeerID, b []byte) error
	disconnect func(p transport.PeerID, c transport.Code, reason string)
	info       func(p transport.PeerID, out *transport.Info) bool
	close      func(c transport.Code, reason string) error
}

func (b *bent) Recv(ev []transport.Event) int {
	if b.recv != nil {
		return b.recv(ev)
	}
	return b.Endpoint.Recv(ev)
}

func (b *bent) Ready() <-chan struct{} {
	if b.ready != nil {
		return b.ready()
	}
	return b.Endpoint.Ready()
}

func (b *bent) Send(p transport.PeerID, d []byte) error {
	if b.send != nil {
		return b.send(p, d)
	}
	return b.Endpoint.Send(p, d)
}

func (b *bent) Disconnect(p transport.PeerID, c transport.Code, reason string) {
	if b.disconnect != nil {
		b.disconnect(p, c, reason)
		return
	}
	b.Endpoint.Disconnect(p, c, reason)
}

func (b *bent) Info(p transport.PeerID, out *transport.Info) bool {
	if b.info != nil {
		return b.info(p, out)
	}
	return b.Endpoint.Info(p, out)
}

func (b *bent) Close(c transport.Code, reason string) error {
	if b.close != nil {
		return b.close(c, reason)
	}
	return b.Endpoint.Close(c, reason)
}

// edited wraps an endpoint: each of its events is replaced by those that edit returns for it.
func edited(ep transport.Endpoint, edit func(ev transport.Event) []transport.Event) *bent {
	var waiting []transport.Event
	return &bent{Endpoint: ep, recv: func(ev []transport.Event) int {
		in := make([]transport.Event, len(ev))
		for _, e := range in[:ep.Recv(in)] {
			waiting = append(waiting, edit(e)...)
		}
		k := copy(ev, waiting)
		waiting = append([]transport.Event(nil), waiting[k:]...)
		return k
	}}
}

// changed wraps an endpoint: change may change each event, and returns false to leave it out.
func changed(ep transport.Endpoint, change func(ev *transport.Event) bool) *bent {
	return edited(ep, func(ev transport.Event) []transport.Event {
		if !change(&ev) {
			return nil
		}
		return []transport.Event{ev}
	})
}
