package game

import (
	"runtime"
	"time"

	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
)

const (
	// LastWords is for how long reliable messages are sent again to the other end of a
	// connection that this end closes, until they are acknowledged.
	LastWords  = time.Second
	lastEvery  = 10 * time.Millisecond // between two packets of them
	lastAtOnce = 8                     // packets over a transport that keeps their order
	lastLeast  = 128                   // bytes of one behind which more may be due
)

// Parting is a connection that is closed once its last messages have arrived.
type Parting struct {
	Peer   transport.PeerID
	Conn   *netcode.Conn
	Code   transport.Code
	Detail string
}

// Partings sends the last messages of an end that closes.
type Partings struct {
	Endpoint transport.Endpoint
	All      []Parting
	From     time.Duration // From is the connections' time when the end closed.
	Most     time.Duration
	events   [16]transport.Event
}

// timer is an endpoint in virtual time.
type timer interface {
	After(d time.Duration, fn func())
}

// CloseEndpoint sends what the peers have not acknowledged, and closes the endpoint. It waits for
// Most at the longest. With an endpoint in virtual time it returns at once, and the endpoint closes
// later.
func (w *Partings) CloseEndpoint(code transport.Code, detail string) error {
	if virtual, ok := transport.As[timer](w.Endpoint); ok && len(w.All) > 0 {
		passed := time.Duration(0)
		var next func()
		next = func() {
			if w.sendLast(passed) {
				_ = w.Endpoint.Close(code, detail)
				return
			}
			passed += lastEvery
			virtual.After(lastEvery, next)
		}
		next()
		return nil
	}
	w.runPartings()
	return w.Endpoint.Close(code, detail)
}

// sendLast reads what came, sends what is due, and takes leave of who has it all. It reports
// whether nobody is left.
func (w *Partings) sendLast(passed time.Duration) (done bool) {
	now := w.From + passed
	for n := len(w.events); n == len(w.events) && len(w.All) > 0; {
		n = w.Endpoint.Recv(w.events[:])
		for i := range w.events[:n] {
			w.takeEvent(now, &w.events[i])
		}
	}
	kept := w.All[:0]
	for _, p := range w.All {
		if p.Conn.Pending() > 0 && passed < w.Most {
			if w.sendTo(now, &p) {
				kept = append(kept, p)
				continue
			}
		}
		w.Endpoint.Disconnect(p.Peer, p.Code, p.Detail)
	}
	w.All = kept
	w.Endpoint.Flush()
	return len(w.All) == 0
}

func (w *Partings) takeEvent(now time.Duration, ev *transport.Event) {
	for i, p := range w.All {
		switch {
		case p.Peer != ev.Peer:
		case ev.Kind == transport.Data:
			_ = p.Conn.Receive(now, ev.Data) // for its acknowledgements
		case ev.Kind == transport.Disconnected:
			w.All = append(w.All[:i:i], w.All[i+1:]...)
		}
	}
}

// sendTo sends a peer what it has not acknowledged, and reports whether to wait for it. Over a
// transport that keeps the order, the farewell comes behind it. A browser does not wait.
func (w *Partings) sendTo(now time.Duration, p *Parting) (waits bool) {
	var info transport.Info
	waits = runtime.GOOS != "js" && !(w.Endpoint.Info(p.Peer, &info) && info.Ordered)
	packets := 1
	if !waits {
		packets = lastAtOnce
	}
	for range packets {
		pk := p.Conn.Begin(now)
		if !waits {
			pk.Press()
		}
		for _, ok := p.Conn.NextFate(); ok; _, ok = p.Conn.NextFate() {
			continue
		}
		if _, b := pk.Finish(); w.Endpoint.Send(p.Peer, b) != nil || len(b) < lastLeast {
			break
		}
	}
	return waits
}

// runPartings sends last messages until nobody is left to wait for. It does not look at each packet
// that comes: with many players each one's acknowledgement would have all the others sent to again.
func (w *Partings) runPartings() {
	for begun := time.Now(); !w.sendLast(time.Since(begun)); {
		time.Sleep(lastEvery)
	}
}
