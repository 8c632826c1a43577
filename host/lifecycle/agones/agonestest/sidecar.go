package agonestest

import (
	"context"
	"errors"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Counter is a counter of the game server.
type Counter struct {
	Count, Capacity int64
}

// List is a list of the game server.
type List struct {
	Capacity int64
	Values   []string
}

// GameServer is the game server that a Sidecar stands for.
type GameServer struct {
	// State is Scheduled, RequestReady, Ready, Allocated, Unhealthy or Shutdown.
	State string
	// Deleted says that the cluster has begun to delete the game server.
	Deleted bool
	// Labels and Annotations are its metadata.
	Labels, Annotations map[string]string
	// Counters and Lists are what the fleet declares, by name.
	Counters map[string]Counter
	Lists    map[string]List
	// Address and Ports are where players dial. Listen sets 127.0.0.1, and 7777 as the port "default".
	Address string
	Ports   map[string]int
}

func (g *GameServer) clone() GameServer {
	c := *g
	c.Labels, c.Annotations, c.Ports = maps.Clone(g.Labels), maps.Clone(g.Annotations), maps.Clone(g.Ports)
	c.Counters, c.Lists = maps.Clone(g.Counters), maps.Clone(g.Lists)
	for k, l := range c.Lists {
		l.Values = slices.Clone(l.Values)
		c.Lists[k] = l
	}
	return c
}

// Sidecar is a stand-in for an SDK server. Listen makes one. Any goroutine may call its methods.
type Sidecar struct {
	listener net.Listener
	server   *http.Server
	done     chan struct{}

	mu       sync.Mutex
	gs       GameServer
	version  int
	watchers map[chan struct{}]bool
	calls    []string
	fails    map[string][]http.HandlerFunc
	alive    time.Time // the newest sign of life
}

// Listen starts a sidecar at a TCP address, such as "127.0.0.1:0". Its game server is scheduled. It
// has a counter "rooms" and a list "players", like the SDK server of Agones in local mode.
func Listen(addr string) (*Sidecar, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	s := &Sidecar{listener: l, done: make(chan struct{}), watchers: map[chan struct{}]bool{}, fails: map[string][]http.HandlerFunc{}, alive: time.Now(),
		gs: GameServer{State: "Scheduled", Address: "127.0.0.1", Ports: map[string]int{"default": 7777}, Labels: map[string]string{}, Annotations: map[string]string{},
			Counters: map[string]Counter{"rooms": {Count: 1, Capacity: 10}},
			Lists:    map[string]List{"players": {Capacity: 100, Values: []string{"test0", "test1", "test2"}}}}}
	s.server = &http.Server{Handler: s.handler(), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.server.Serve(l) }()
	return s, nil
}

// Port returns the port that it listens on.
func (s *Sidecar) Port() int { return s.listener.Addr().(*net.TCPAddr).Port }

// Close stops it, and cuts all connections.
func (s *Sidecar) Close() error {
	select {
	case <-s.done:
		return errors.New("agonestest: closed already")
	default:
	}
	close(s.done)
	return s.server.Close()
}

// Calls returns the calls that came, in order: the last element of their path, such as "ready",
// "health", "watch", "label", "counters" and "lists", with "!" behind those that Fail made fail.
func (s *Sidecar) Calls() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// Fail makes the next times calls of a name fail. how is the handler that replies in place of the
// sidecar, such as Refuse, Hang, Break, Garbage or Endless. The name "line" is a line of a watch.
func (s *Sidecar) Fail(name string, times int, how http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range times {
		s.fails[name] = append(s.fails[name], how)
	}
}

// GameServer returns the game server as it is now.
func (s *Sidecar) GameServer() GameServer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gs.clone()
}

// Change changes the game server as somebody else in the cluster does, and tells the watchers.
func (s *Sidecar) Change(fn func(g *GameServer)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fn(&s.gs)
	s.tellWatchers()
}

// Allocate does what an allocation does: it allocates a game server that is ready or allocated, and
// adds annotations. It reports whether it could.
func (s *Sidecar) Allocate(annotations map[string]string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gs.Deleted || s.gs.State != "Ready" && s.gs.State != "Allocated" {
		return false
	}
	s.gs.State = "Allocated"
	s.gs.Annotations["agones.dev/last-allocated"] = time.Now().UTC().Format(time.RFC3339Nano)
	maps.Copy(s.gs.Annotations, annotations)
	s.tellWatchers()
	return true
}

// CheckHealth makes the game server unhealthy when threshold periods in a row passed without a sign
// of life. It runs until Close. Without it health is not checked.
func (s *Sidecar) CheckHealth(period time.Duration, threshold int) {
	go func() {
		ticker := time.NewTicker(period)
		defer ticker.Stop()
		for failed := 0; ; {
			select {
			case <-s.done:
				return
			case now := <-ticker.C:
				s.mu.Lock()
				if failed++; now.Sub(s.alive) <= period {
					failed = 0
				}
				if failed >= threshold && s.gs.State != "Unhealthy" {
					s.enterState("Unhealthy")
				}
				s.mu.Unlock()
			}
		}
	}()
}

// enterState changes the state as far as Agones allows it.
func (s *Sidecar) enterState(state string) {
	if s.gs.Deleted || s.gs.State == "Unhealthy" || s.gs.State == "Shutdown" {
		return
	}
	s.gs.State = state
	s.tellWatchers()
}

// tellWatchers tells the watchers.
func (s *Sidecar) tellWatchers() {
	s.version++
	for w := range s.watchers {
		select {
		case w <- struct{}{}:
		default:
		}
	}
}

// recordCall records a call, and returns what is to answer in its place.
func (s *Sidecar) recordCall(name string) http.HandlerFunc {
	s.mu.Lock()
	defer s.mu.Unlock()
	if all := s.fails[name]; len(all) > 0 {
		s.fails[name] = all[1:]
		s.calls = append(s.calls, name+"!")
		return all[0]
	}
	s.calls = append(s.calls, name)
	return nil
}

// Refuse replies with status 500.
func Refuse(w http.ResponseWriter, _ *http.Request) {
	refuse(w, http.StatusInternalServerError, 2, "the API server is not there")
}

// Hang sends no reply until the caller gives up.
func Hang(_ http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), time.Minute)
	defer cancel()
	<-ctx.Done()
}

// Break begins a reply, and breaks the connection.
func Break(w http.ResponseWriter, _ *http.Request) {
	_, _ = w.Write([]byte(`{"result":{"status":`))
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// Garbage replies with status 200 and HTML.
func Garbage(w http.ResponseWriter, _ *http.Request) {
	_, _ = w.Write([]byte("<html>not what you asked for</html>\n"))
}

// Endless replies with JSON that never ends.
func Endless(w http.ResponseWriter, r *http.Request) {
	b := make([]byte, 64<<10)
	for i := range b {
		b[i] = '['
	}
	for r.Context().Err() == nil {
		if _, err := w.Write(b); err != nil {
			return
		}
	}
}
