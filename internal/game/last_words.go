package game

import (
	"errors"
	"runtime"
	"time"

	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
)

const (
	// LastWords is how long an end that closes a connection repeats its reliable messages, until they
	// are acknowledged.
	LastWords  = time.Second
	lastEvery  = 10 * time.Millisecond // time between two packets
	lastAtOnce = 8                     // packets sent at once over a transport that keeps their order
	lastLeast  = 128                   // a packet shorter than this many bytes had room left: no more is due
)

// Parting is a connection that closes once its last messages have arrived.
type Parting struct {
	Peer   transport.PeerID
	Conn   *netcode.Conn
	Code   transport.Code
	Reason string
}

// Partings sends the last messages of an end that closes.
type Partings struct {
	Endpoint transport.Endpoint
	All      []Parting
	From     time.Duration // From is the time of the connections' clock when the end closed.
	Most     time.Duration // Most is the longest time that CloseEndpoint waits.
	events   [16]transport.Event
}

// timer is an endpoint in virtual time.
type timer interface {
	After(d time.Duration, fn func())
}

// CloseEndpoint sends the messages that the peers have not acknowledged, and closes the endpoint. It
// waits for Most at the longest. With an endpoint in virtual time it returns at once, and the endpoint
// closes later.
func (w *Partings) CloseEndpoint(code transport.Code, reason string) error {
	if virtual, ok := transport.As[timer](w.Endpoint); ok && len(w.All) > 0 {
		passed := time.Duration(0)
		var next func()
		next = func() {
			if w.sendLast(passed) {
				_ = w.Endpoint.Close(code, reason)
				return
			}
			passed += lastEvery
			virtual.After(lastEvery, next)
		}
		next()
		return nil
	}
	w.runPartings()
	return w.Endpoint.Close(code, reason)
}

// sendLast reads what arrived, sends the messages that are due, and disconnects the peers that have
// them all. It reports whether no peer is left.
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
		w.Endpoint.Disconnect(p.Peer, p.Code, p.Reason)
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
			_ = p.Conn.Receive(now, ev.Data) // for its acknowledgements alone
		case ev.Kind == transport.Disconnected:
			w.All = append(w.All[:i:i], w.All[i+1:]...)
		}
	}
}

// sendTo sends a peer the messages that it has not acknowledged, and reports whether to wait for
// acknowledgements. It does not wait over a transport that keeps the order, where the disconnect
// arrives after the messages, nor in a browser.
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

// runPartings calls sendLast until no peer is left. It does so at a fixed interval, not for each packet
// that arrives: with many players, the acknowledgement of one would make it send to all others again.
func (w *Partings) runPartings() {
	for begun := time.Now(); !w.sendLast(time.Since(begun)); {
		time.Sleep(lastEvery)
	}
}

// Orderly returns the error of Run after an end that the program asked for, where err is the result of
// closing. It is nil if the end or its endpoint was closed already.
func Orderly(err error) error {
	if errors.Is(err, transport.ErrClosed) {
		return nil
	}
	return err
}
