//go:build !js

package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/ws"
)

// wsWays implements ways for package ws.
type wsWays struct{ addr netip.AddrPort }

func overWS() (*socketNet, error) {
	e, err := ws.Listen("127.0.0.1:0", ws.Config{
		MaxPeers: socketRoom, Timeout: silence, MaxPending: socketRoom, MaxPendingPerAddr: socketRoom,
		Accept: func(_ netip.AddrPort, token []byte) ([]byte, error) { return token, nil },
	})
	if err != nil {
		return nil, err
	}
	return newSocketNet(wsWays{e.LocalAddr()}, e), nil
}

func (w wsWays) url() string { return "ws://" + w.addr.String() }

func (w wsWays) honest() (transport.Endpoint, error) {
	return ws.Dial(w.url(), ws.Config{Token: honestName()})
}

// wsRogue is the project's own client over a TCP connection that can be misused.
type wsRogue struct {
	transport.Endpoint
	tcp *tcpRogue
}

// Unwrap implements transport.Wrapper.
func (r *wsRogue) Unwrap() transport.Endpoint { return r.Endpoint }

// tcpRogue is the TCP connection of a wsRogue.
type tcpRogue struct {
	net.Conn
	mu    sync.Mutex
	muted bool
}

func (w wsWays) rogue() (rogueEnd, error) {
	r := &wsRogue{tcp: &tcpRogue{}}
	t := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		r.tcp.mu.Lock()
		defer r.tcp.mu.Unlock()
		r.tcp.Conn = c
		return r.tcp, nil
	}}
	var err error
	r.Endpoint, err = ws.DialWith(&http.Client{Transport: t}, w.url(), ws.Config{Timeout: rogueDial})
	return r, err
}

// Write discards data once the connection is muted.
func (t *tcpRogue) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.muted {
		return len(b), nil
	}
	return t.Conn.Write(b)
}

// Close closes the connection at once, so that the system need not remember it.
func (t *tcpRogue) Close() error {
	cut(t.Conn)
	return nil
}

// cut ends a connection without a farewell.
func cut(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}

func (r *wsRogue) mute() {
	r.tcp.mu.Lock()
	defer r.tcp.mu.Unlock()
	r.tcp.muted = true
}

// misuse implements rogueEnd: it sends arbitrary frames, or a part of one.
func (r *wsRogue) misuse(draw func(int) int) {
	r.tcp.mu.Lock()
	defer r.tcp.mu.Unlock()
	if r.tcp.Conn == nil || r.tcp.muted {
		return
	}
	_ = r.tcp.SetWriteDeadline(time.Now().Add(10 * time.Millisecond))
	_, _ = r.tcp.Conn.Write(anyFrames(draw))
	_ = r.tcp.SetWriteDeadline(time.Time{})
}

// frame returns a WebSocket frame as clients send it.
func frame(first byte, length int, masked bool, body []byte) []byte {
	b := []byte{first, 0}
	switch {
	case length < 126:
		b[1] = byte(length)
	case length < 1<<16:
		b[1] = 126
		b = binary.BigEndian.AppendUint16(b, uint16(length))
	default:
		b[1] = 127
		b = binary.BigEndian.AppendUint64(b, uint64(length))
	}
	if masked {
		b[1] |= 0x80
		b = append(b, 0, 0, 0, 0)
	}
	return append(b, body...)
}

// anyFrames returns frames of any kind and length, mostly well formed.
func anyFrames(draw func(int) int) (b []byte) {
	for range 1 + draw(12) {
		body := junk(nil, draw(130), draw)
		if draw(2) == 0 && len(body) > 0 {
			body[0] = byte(draw(6)) // a message of the transport
		}
		switch draw(10) {
		case 0:
			b = append(b, frame(byte(draw(256)), len(body), draw(2) == 0, body)...)
		case 1: // claims to be longer than it is, or than allowed
			b = append(b, frame(0x82, 1<<draw(62), true, body)...)
		case 2: // text
			b = append(b, frame(0x81, len(body), true, body)...)
		case 3: // started and not finished
			b = append(b, frame(0x02, len(body), true, body)...)
		case 4:
			b = append(b, frame(0x80, len(body), true, body)...)
		case 5:
			b = append(b, bytes.Repeat(frame(0x89, 2, true, []byte{1, 2}), 1+draw(60))...)
		case 6: // a close frame
			b = append(b, frame(0x88, len(body)%126, true, body[:len(body)%126])...)
		case 7: // a hello
			body = append([]byte{1}, body...)
			fallthrough
		default:
			b = append(b, frame(0x82, len(body), true, body)...)
		}
	}
	if draw(4) == 0 {
		b = b[:draw(len(b))]
	}
	return b
}

// breaks implements ways: nothing at all, a part of a request, an invalid one,
// or an upgrade followed by arbitrary frames or nothing.
func (w wsWays) breaks(draw func(int) int) func() {
	c, err := net.Dial("tcp", w.addr.String())
	if err != nil {
		return func() {}
	}
	_ = c.SetWriteDeadline(time.Now().Add(10 * time.Millisecond))
	_, _ = c.Write(anyRequest(w.addr, draw))
	if draw(4) == 0 {
		cut(c)
	}
	return func() { cut(c) }
}

func anyRequest(addr netip.AddrPort, draw func(int) int) []byte {
	if draw(8) == 0 {
		return junk(nil, draw(2000), draw)
	}
	version, key, protocol := 13, "dGhlIHNhbXBsZSBub25jZQ==", ws.Subprotocol
	switch draw(8) {
	case 0:
		version = draw(20)
	case 1:
		key = key[:draw(len(key))]
	case 2:
		protocol = "other.1"
	}
	b := fmt.Appendf(nil, "GET / HTTP/1.1\r\nHost: %v\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: %d\r\nSec-WebSocket-Key: %s\r\nSec-WebSocket-Protocol: %s\r\n\r\n", addr, version, key, protocol)
	switch draw(4) {
	case 0: // half an upgrade
		return b[:draw(len(b))]
	case 1: // nothing after it
		return b
	}
	return append(b, anyFrames(draw)...)
}
