//go:build !js

package ws

import (
	"context"
	"errors"
	"io"
	"net"

	"github.com/coder/websocket"

	"github.com/foretick/foretick/transport"
)

// kernelBuffer is the most bytes that the system queues, after SendQueue. They are sent however old
// they are.
const kernelBuffer = 64 << 10

// native is a connection of coder/websocket.
type native struct {
	c    *websocket.Conn
	conn net.Conn // the connection under c; nil if a RoundTripper hides it
}

func newSocket(c *websocket.Conn, conn net.Conn) *native {
	c.SetReadLimit(maxMessage)
	for { // find the TCP connection, because closing a TLS connection may block
		inner, ok := conn.(interface{ NetConn() net.Conn })
		if !ok {
			break
		}
		conn = inner.NetConn()
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		tcp.SetWriteBuffer(kernelBuffer)
		_ = tcp.SetNoDelay(true) // may fail, as may setting the buffer's size
	}
	return &native{c: c, conn: conn}
}

// onPing and onPong make the library call tolerated for each ping and pong.
func onPing(tolerated func() bool) func(context.Context, []byte) bool {
	return func(context.Context, []byte) bool { return tolerated() }
}

func onPong(tolerated func() bool) func(context.Context, []byte) {
	return func(context.Context, []byte) { tolerated() }
}

// readBytes never passes Reader a context that can end, because that would cost an allocation and a
// timer for each read.
func (s *native) readBytes(buf []byte) (int, error) {
	kind, r, err := s.c.Reader(context.Background())
	n := 0
	for err == nil && n < len(buf) {
		var k int
		k, err = r.Read(buf[n:])
		n += k
	}
	if err == io.EOF {
		if kind != websocket.MessageBinary {
			n = copy(buf, notBinary)
		}
		return n, nil
	}
	return 0, lost(err)
}

// lost translates an error of a connection.
func lost(err error) error {
	var ce websocket.CloseError
	if errors.As(err, &ce) {
		return closedWith(int(ce.Code), ce.Reason)
	}
	if errors.Is(err, websocket.ErrMessageTooBig) {
		return &transport.DisconnectError{Code: transport.Malformed, Reason: "a message that is too long"}
	}
	return &transport.DisconnectError{Code: transport.Unreachable, Reason: "the connection was lost"}
}

func (s *native) writeMessage(b []byte) error {
	return s.c.Write(context.Background(), websocket.MessageBinary, b)
}

func (s *native) closeSocket(status int, reason string) {
	s.c.Close(websocket.StatusCode(status), reason)
}

// abort closes the underlying connection, since the library's own ways of closing may wait.
func (s *native) abort() {
	if s.conn != nil {
		s.conn.Close()
		return
	}
	go func() { _ = s.c.CloseNow() }()
}

func (s *native) freeSocket() { _ = s.c.CloseNow() }
