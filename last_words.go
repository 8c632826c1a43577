package foretick

import (
	"runtime"
	"time"

	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
)

const (
	// lastWords is for how long reliable messages are sent again to the other end of a
	// connection that this end closes, until they are acknowledged.
	lastWords  = time.Second
	lastEvery  = 10 * time.Millisecond // between two packets of them
	lastAtOnce = 8                     // packets over a transport that keeps their order
	lastLeast  = 128                   // bytes of one behind which more may be due
)

// parting is a connection that is closed once its last messages have arrived.
type parting struct {
	peer   transport.PeerID
	conn   *netcode.Conn
	code   transport.Code
	detail string
}

// partings sends the last messages of an end that closes.
type partings struct {
	endpoint transport.Endpoint
	all      []parting
	from     time.Duration // from is the connections' time when the end closed.
	most     time.Duration
	events   [16]transport.Event
}

// timer is an endpoint in virtual time.
type timer interface {
	After(d time.Duration, fn func())
}

// closeEndpoint sends what the peers have not acknowledged, and closes the endpoint. It waits for at
// most so long; with an endpoint in virtual time it returns at once, and the endpoint closes
// later.
func (w *partings) closeEndpoint(code transport.Code, detail string) error {
	if virtual, ok := transport.As[timer](w.endpoint); ok && len(w.all) > 0 {
		passed := time.Duration(0)
		var next func()
		next = func() {
			if w.sendLast(passed) {
				_ = w.endpoint.Close(code, detail)
				return
			}
			passed += lastEvery
			virtual.After(lastEvery, next)
		}
		next()
		return nil
	}
	w.runPartings()
	return w.endpoint.Close(code, detail)
}

// sendLast reads what came, sends what is due, and takes leave of who has it all. It reports
// whether nobody is left.
func (w *partings) sendLast(passed time.Duration) (done bool) {
	now := w.from + passed
	for n := len(w.events); n == len(w.events) && len(w.all) > 0; {
		n = w.endpoint.Recv(w.events[:])
		for i := range w.events[:n] {
			w.takeEvent(now, &w.events[i])
		}
	}
	kept := w.all[:0]
	for _, p := range w.all {
		if p.conn.Pending() > 0 && passed < w.most {
			if w.sendTo(now, &p) {
				kept = append(kept, p)
				continue
			}
		}
		w.endpoint.Disconnect(p.peer, p.code, p.detail)
	}
	w.all = kept
	w.endpoint.Flush()
	return len(w.all) == 0
}

func (w *partings) takeEvent(now time.Duration, ev *transport.Event) {
	for i, p := range w.all {
		switch {
		case p.peer != ev.Peer:
		case ev.Kind == transport.Data:
			_ = p.conn.Receive(now, ev.Data) // for its acknowledgements
		case ev.Kind == transport.Disconnected:
			w.all = append(w.all[:i:i], w.all[i+1:]...)
		}
	}
}

// sendTo sends a peer what it has not acknowledged, and reports whether to wait for it. Over a
// transport that keeps the order, the farewell comes behind it. A browser does not wait.
func (w *partings) sendTo(now time.Duration, p *parting) (waits bool) {
	var info transport.Info
	waits = runtime.GOOS != "js" && !(w.endpoint.Info(p.peer, &info) && info.Ordered)
	packets := 1
	if !waits {
		packets = lastAtOnce
	}
	for range packets {
		pk := p.conn.Begin(now)
		if !waits {
			pk.Press()
		}
		for _, ok := p.conn.NextFate(); ok; _, ok = p.conn.NextFate() {
			continue
		}
		if _, b := pk.Finish(); w.endpoint.Send(p.peer, b) != nil || len(b) < lastLeast {
			break
		}
	}
	return waits
}

// runPartings sends last messages until nobody is left to wait for. It does not look at each packet that
// comes: with many players each one's acknowledgement would have all the others sent to again.
func (w *partings) runPartings() {
	for begun := time.Now(); !w.sendLast(time.Since(begun)); {
		time.Sleep(lastEvery)
	}
}
