//go:build js

package ws

import (
	"context"
	"fmt"
	"net"
	"sync"
	"syscall/js"
	"time"

	"github.com/foretick/foretick/transport"
)

// browser is a connection of the browser's WebSocket. It does not use coder/websocket, which does not
// report how much the browser has queued (bufferedAmount). That package also loses messages that arrive
// just before the end, and the close status.
type browser struct {
	ws      js.Value
	funcs   []js.Func
	opened  chan struct{}
	signal  chan struct{} // has room for one value: there is something to read
	closed  chan struct{}
	mu      sync.Mutex
	waiting [][]byte
	end     *transport.DisconnectError // why the connection ended; nil while it is open
}

const (
	browserBuffer = 64 << 10 // bytes that the browser may queue, after SendQueue
	browserQueue  = 4096     // messages that may wait to be read
	drainTime     = 5 * time.Millisecond
	stateOpen     = 1
)

// openBrowser opens a connection. Its errors are of type *transport.DisconnectError.
func openBrowser(ctx context.Context, url string) (s *browser, err error) {
	defer func() { // catches exceptions of JavaScript
		if r := recover(); r != nil {
			s, err = nil, &transport.DisconnectError{Code: transport.Unreachable, Reason: fmt.Sprint(r)}
		}
	}()
	class := js.Global().Get("WebSocket")
	if class.IsUndefined() {
		return nil, &transport.DisconnectError{Code: transport.Unreachable, Reason: "there is no WebSocket here"}
	}
	s = &browser{opened: make(chan struct{}), signal: make(chan struct{}, 1), closed: make(chan struct{})}
	s.ws = class.New(url, []any{Subprotocol})
	s.ws.Set("binaryType", "arraybuffer")
	s.on("open", func(js.Value) { close(s.opened) })
	s.on("message", s.receiveMessage)
	s.on("error", func(js.Value) { s.finishSocket(0, "the connection failed") }) // the browser's close event has no reason
	s.on("close", func(ev js.Value) { s.finishSocket(ev.Get("code").Int(), ev.Get("reason").String()) })
	select {
	case <-s.opened:
		return s, nil
	case <-s.closed:
		return nil, s.end
	case <-ctx.Done():
		s.abort()
		return nil, &transport.DisconnectError{Code: transport.Timeout}
	}
}

func (s *browser) on(event string, fn func(ev js.Value)) {
	f := js.FuncOf(func(_ js.Value, args []js.Value) any {
		fn(args[0])
		return nil
	})
	s.funcs = append(s.funcs, f)
	s.ws.Set("on"+event, f)
}

func (s *browser) receiveMessage(ev js.Value) {
	data := ev.Get("data")
	var b []byte
	if data.Type() == js.TypeString {
		b = notBinary
	} else {
		a := js.Global().Get("Uint8Array").New(data)
		b = make([]byte, min(a.Length(), bufferSize))
		js.CopyBytesToGo(b, a)
	}
	s.mu.Lock()
	if len(s.waiting) < browserQueue {
		s.waiting = append(s.waiting, b)
	}
	s.mu.Unlock()
	s.wake()
}

func (s *browser) wake() {
	select {
	case s.signal <- struct{}{}:
	default:
	}
}

// finishSocket records the end, once, and releases the browser's object.
func (s *browser) finishSocket(status int, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end != nil {
		return
	}
	s.end = &transport.DisconnectError{Code: transport.Unreachable, Reason: reason}
	if status != 0 {
		s.end = closedWith(status, reason)
	}
	for _, name := range []string{"onopen", "onmessage", "onerror", "onclose"} {
		s.ws.Set(name, js.Null())
	}
	for _, f := range s.funcs {
		f.Release()
	}
	close(s.closed)
}

func (s *browser) readBytes(buf []byte) (int, error) {
	for {
		s.mu.Lock()
		if len(s.waiting) > 0 {
			n := copy(buf, s.waiting[0])
			s.waiting[0] = nil
			s.waiting = s.waiting[1:]
			s.mu.Unlock()
			return n, nil
		}
		end := s.end
		s.mu.Unlock()
		if end != nil {
			return 0, end
		}
		select {
		case <-s.signal:
		case <-s.closed:
		}
	}
}

func (s *browser) writeMessage(b []byte) error {
	for s.ws.Get("readyState").Int() == stateOpen {
		if s.ws.Get("bufferedAmount").Int() <= browserBuffer {
			a := js.Global().Get("Uint8Array").New(len(b))
			js.CopyBytesToJS(a, b)
			s.ws.Call("send", a)
			return nil
		}
		time.Sleep(drainTime)
	}
	return net.ErrClosed
}

func (s *browser) closeSocket(status int, reason string) {
	s.ws.Call("close", status, reason)
	<-s.closed
}

func (s *browser) freeSocket() {}

func (s *browser) abort() {
	select {
	case <-s.closed:
		return
	default:
	}
	s.ws.Call("close")
	s.finishSocket(0, "the connection was lost")
}
