package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/simtest/campaign"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/impair"
	"github.com/foretick/foretick/transport/sim"
	"github.com/foretick/foretick/transport/udp"
)

// wire is a match over real sockets in real time. It uses one process, so that
// both ends can be compared. A proxy between them delays, loses, duplicates,
// reorders and damages datagrams, drops everything at times, and changes its
// port like a NAT.
type wire struct {
	listen  *udp.Endpoint
	proxy   *impair.Proxy
	server  *server.Server
	game    *Game
	clients []*wired
	letters map[foretick.PlayerID]*letters
	rest    bool
	result  result
	first   error

	joins, rebinds, blackholes int
	messages                   uint64
}

// wired is one client.
type wired struct {
	client *client.Client
	next   time.Time // when its next frame is due
	until  time.Time // when the client leaves
}

// letters are messages that were sent to a player over its newest connection and have not arrived yet.
type letters struct {
	session uint64
	queue   []string
}

const (
	wirePicture = time.Second / 30
	wireStay    = 20 * time.Second
	wireTrouble = 7 * time.Second // time between blackholes and port changes
	wireRest    = 4 * time.Second
	wireLimit   = 10 * wireRest // longest time for a busy machine to come to rest
)

// playUDP plays for a number of real seconds, and compares both ends.
func playUDP(ctx context.Context, o options, out io.Writer) error {
	goroutines := runtime.NumGoroutine()
	w := &wire{letters: map[foretick.PlayerID]*letters{}}
	if err := w.open(o); err != nil {
		return err
	}
	heap, err := w.play(ctx, o)
	if err == nil {
		w.compare()
		w.result.HeapGrowth = 100 * (float64(heapNow())/float64(heap) - 1)
	}
	for _, c := range w.clients {
		if n := c.client.Stats().CorePanics; n > 0 && err == nil {
			err = fmt.Errorf("%d packets could not be read for a panic", n)
		}
	}
	w.close()
	if err != nil {
		return err
	}
	for range 500 { // goroutines of sockets take some time to end
		if w.result.GoroutinesDelta = runtime.NumGoroutine() - goroutines; w.result.GoroutinesDelta <= 0 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	st := w.server.Stats()
	if st.CorePanics > 0 && w.first == nil {
		w.first = fmt.Errorf("the server counted %d panics in decoding", st.CorePanics)
	}
	fmt.Fprintf(out, "%d ticks, %d packets out, %d in; %d joins, %d came back, %d messages, %d resent; the proxy changed its port %d times and dropped everything %d times\n",
		st.Ticks, st.PacketsOut, st.PacketsIn, w.joins, st.Resumed, w.messages, st.MessagesResent, w.rebinds, w.blackholes)
	if err := json.NewEncoder(out).Encode(w.result); err != nil {
		return err
	}
	if w.first == nil && w.messages == 0 {
		return fmt.Errorf("no message arrived: nothing was tested")
	}
	return w.first
}

func (w *wire) open(o options) error {
	var err error
	if w.listen, err = udp.Listen("127.0.0.1:0", udp.Config{}); err != nil {
		return err
	}
	l := o.links(sim.Train)[0]
	if w.proxy, err = impair.NewProxy("127.0.0.1:0", w.listen.LocalAddr().String(), l, l, o.seed); err != nil {
		return err
	}
	w.game = &Game{}
	w.server, err = server.New(server.Config{
		Protocol: w.game.Protocol(), Transport: w.listen, ReconnectWindow: 3 * time.Second, MaxWaitingPerAddress: -1,
	})
	if err != nil {
		return err
	}
	campaign.OnSent(w.server, func(m simtest.MessageSent) {
		q := w.letters[m.To]
		if q == nil || q.session != m.Session {
			q = &letters{session: m.Session}
			w.letters[m.To] = q
		}
		q.queue = append(q.queue, string(m.Payload))
	})
	return nil
}

func (w *wire) close() {
	for _, c := range w.clients {
		_ = c.client.Close()
	}
	_ = w.server.Close("the soak is over")
	_ = w.proxy.Close()
}

func (w *wire) fail(count *int, err error) {
	*count++
	if w.first == nil {
		w.first = err
	}
}

// join dials through the proxy.
func (w *wire) join(now time.Time, n int) error {
	dial := func() (transport.Endpoint, error) { return udp.Dial(w.proxy.Addr().String(), udp.Config{}) }
	e, err := dial()
	if err != nil {
		return err
	}
	g, c := &Game{}, &wired{next: now, until: now.Add(wireStay + time.Duration(n)*time.Second)}
	p := g.Protocol()
	cfg := client.Config{
		Protocol: p, Transport: e, Redial: dial,
		Sample: client.Sample(&g.Cmd, func(v client.View) Command {
			if w.rest {
				return Command{}
			}
			return g.play(v)
		}),
	}
	if c.client, err = client.New(cfg); err != nil {
		return err
	}
	campaign.OnReceived(c.client, func(m simtest.MessageReceived) {
		w.messages++
		q := w.letters[c.client.View().Player]
		if q == nil || len(q.queue) == 0 || q.queue[0] != string(m.Payload) {
			w.fail(&w.result.EventsLost, fmt.Errorf("player %d: a message of tick %d is not the one that was to come", c.client.View().Player, m.Tick))
			return
		}
		q.queue = q.queue[1:]
	})
	w.clients = append(w.clients, c)
	w.joins++
	return nil
}

// play runs the match until it is at rest. It returns the size of the heap after a quarter of the play.
func (w *wire) play(ctx context.Context, o options) (heap uint64, err error) {
	start := time.Now()
	end := start.Add(time.Duration(o.seconds * float64(time.Second)))
	trouble := start.Add(wireTrouble)
	look := end.Add(wireRest)
	for now := start; now.Before(end.Add(wireLimit)); now = time.Now() {
		if now.After(look) {
			if w.agreed() {
				break
			}
			look = now.Add(wireRest / 10)
		}
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		if heap == 0 && now.Sub(start) > end.Sub(start)/4 {
			heap = heapNow()
		}
		switch {
		case now.After(end):
			w.quiet()
		case now.After(trouble):
			trouble = now.Add(wireTrouble)
			if err := w.disturb(); err != nil {
				return 0, err
			}
		}
		for len(w.clients) < o.clients && !w.rest {
			if err := w.join(now, len(w.clients)); err != nil {
				return 0, err
			}
		}
		if err := w.step(ctx, now); err != nil {
			return 0, err
		}
	}
	return heap, nil
}

// disturb changes the proxy's port, or blocks all traffic for a while.
func (w *wire) disturb() error {
	if w.rebinds <= w.blackholes {
		w.rebinds++
		return w.proxy.Rebind()
	}
	w.blackholes++
	w.proxy.Blackhole(2 * time.Second)
	return nil
}

// quiet makes the match come to rest over a good network.
func (w *wire) quiet() {
	if !w.rest {
		w.rest, w.game.rest = true, true
		good := sim.Link{Latency: 20 * time.Millisecond}
		w.proxy.SetLinks(good, good)
	}
}

// step does the work that is due, and waits until more is due.
func (w *wire) step(ctx context.Context, now time.Time) error {
	w.server.Step(now)
	next := w.server.Next()
	kept := w.clients[:0]
	for _, c := range w.clients {
		if !w.rest && now.After(c.until) {
			_ = c.client.Close()
			continue
		}
		if !now.Before(c.next) {
			if v := c.client.Step(time.Now()); v.State == client.Closed {
				return fmt.Errorf("player %d: %w", v.Player, v.Err)
			}
			c.next = now.Add(wirePicture)
		}
		if c.next.Before(next) {
			next = c.next
		}
		kept = append(kept, c)
	}
	w.clients = kept
	timer := time.NewTimer(max(time.Until(next), 0))
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-w.listen.Ready():
	case <-timer.C:
	}
	return nil
}

// unlike returns the number of messages that a client has not received, and its
// first difference from the server.
func (w *wire) unlike(c *wired) (pending int, difference error) {
	me := c.client.View().Player
	if q := w.letters[me]; q != nil {
		pending = len(q.queue)
	}
	a := simtest.Audit(w.server, me, c.client)
	if a.Differences > 0 || a.Fields == 0 {
		difference = fmt.Errorf("player %d: %d fields compared, %d differ: %s", me, a.Fields, a.Differences, a.First)
	}
	return pending, difference
}

// agreed reports whether all messages have arrived and every client agrees with the server.
func (w *wire) agreed() bool {
	return !slices.ContainsFunc(w.clients, func(c *wired) bool {
		pending, difference := w.unlike(c)
		return difference != nil || pending > 0
	})
}

// compare compares every client with the server.
func (w *wire) compare() {
	for _, c := range w.clients {
		pending, difference := w.unlike(c)
		if difference != nil {
			w.fail(&w.result.Desyncs, difference)
		}
		if pending > 0 {
			w.fail(&w.result.EventsLost, fmt.Errorf("player %d: %d messages did not arrive", c.client.View().Player, pending))
		}
	}
}
