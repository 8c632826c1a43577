package nettest

import (
	"sync"
	"testing"
	"time"

	"github.com/foretick/foretick/transport"
)

// Restarting tests servers that are killed and restart on the same port. The client must notice and reconnect
// quickly. Replayed datagrams from before the restart must be ignored.
type Restarting struct {
	Listen func(at string) (srv transport.Endpoint, err error)
	Addr   func(srv transport.Endpoint) string
	Dial   func(t testing.TB, addr string) transport.Endpoint
	Vanish func(ep transport.Endpoint) // like the end of its process
	// Keys returns values that must differ between any two connections.
	Keys func(srv, cli transport.Endpoint, toClient, toServer transport.PeerID) []string

	mu           sync.Mutex
	keys         map[string]bool
	drawn        int
	notice, back []time.Duration
	replayed     int
}

// Run makes the restarts: 1 000 with -soak.
func (r *Restarting) Run(t *testing.T) {
	t.Helper()
	lanes := Length(t, "servers", 2, 25)
	times := Length(t, "restarts of each", 3, 40)
	r.keys = make(map[string]bool)
	var busy sync.WaitGroup
	for range lanes {
		busy.Go(func() { r.lane(t, times) }) // a failed requirement ends this goroutine, and with it the test
	}
	busy.Wait()
	if t.Failed() {
		return
	}
	t.Logf("%d restarts: noticed after p99 %v, max %v (at most 5 s), back %v after dialling at most (2 s), %d datagrams of before "+
		"replayed, %d keys, none twice", len(r.notice), Percentile(r.notice, 99), Percentile(r.notice, 100), Percentile(r.back, 100),
		r.replayed, len(r.keys))
	if len(r.notice) != lanes*times || Percentile(r.notice, 100) > Limit(5*time.Second) || Percentile(r.back, 100) > Limit(2*time.Second) {
		t.Error("a restart took too long")
	}
	if r.drawn == 0 || len(r.keys) != r.drawn || r.replayed == 0 {
		t.Errorf("%d keys, of which %d are distinct; %d datagrams replayed", r.drawn, len(r.keys), r.replayed)
	}
}

// server listens at an address, as soon as it is free.
func (r *Restarting) server(t *testing.T, at string) transport.Endpoint {
	t.Helper()
	for begin := time.Now(); ; time.Sleep(time.Millisecond) {
		srv, err := r.Listen(at)
		if err == nil {
			return srv
		}
		if time.Since(begin) > Patience {
			t.Fatal(err)
		}
	}
}

func (r *Restarting) lane(t *testing.T, times int) {
	srv := r.server(t, "127.0.0.1:0")
	defer func() { srv.Close(0, "") }()
	at := r.Addr(srv)
	var old, raw [][]byte
	var ev [1]transport.Event
	for i := range times {
		a := NewAttacker(t, at) // it records everything
		begin := time.Now()
		cli := r.Dial(t, a.Addr())
		toServer, toClient := Pair(t, srv, cli)
		back := time.Since(begin)
		if err := cli.Send(toServer, []byte("before")); err != nil {
			t.Fatal(err)
		}
		Wait(t, srv, transport.Data)
		r.noteLocked(func() {
			if i > 0 {
				r.back = append(r.back, back)
			}
			for _, k := range r.Keys(srv, cli, toClient, toServer) {
				r.keys[k] = true
				r.drawn++
			}
		})
		r.Vanish(srv)
		begin = time.Now()
		srv = r.server(t, at)
		for cli.Recv(ev[:]) == 0 {
			_ = cli.Send(toServer, []byte("still there?"))
			select {
			case <-cli.Ready():
			case <-time.After(20 * time.Millisecond):
			}
			if time.Since(begin) > Patience {
				t.Fatal("the client has not noticed")
			}
		}
		if ev[0].Kind != transport.Disconnected {
			t.Fatalf("the client heard %v", ev[0])
		}
		notice := time.Since(begin)
		up, _ := a.Seen()
		old, raw = last(append(old, up...)), last(append(raw, a.Raw()...))
		for _, b := range old {
			a.ForgeUp(b)
		}
		for _, b := range raw {
			a.Inject(b)
		}
		cli.Close(0, "")
		time.Sleep(20 * time.Millisecond)
		if srv.Recv(ev[:]) != 0 {
			t.Fatalf("something from before the restart was received: %v", ev[0])
		}
		r.noteLocked(func() { r.notice, r.replayed = append(r.notice, notice), r.replayed+len(old)+len(raw) })
		a.Stop()
	}
}

func (r *Restarting) noteLocked(fn func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fn()
}

func last(b [][]byte) [][]byte { return b[max(0, len(b)-500):] }
