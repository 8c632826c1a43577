package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/foretick/foretick/transport"
)

// A frame is a datagram after its length in two big-endian bytes. Lengths above MTU have special
// meanings.
const (
	welcome = 0xFFFF // from the server, the first frame: the client is accepted
	alive   = 0xFFFE // from both: only shows that the end still runs
	goodbye = 0xFFFD // from both, the last frame: code (2), detail's length (1), detail
)

const (
	timeout  = 5 * time.Second
	parting  = 200 * time.Millisecond // how long the last frames may take to be sent
	mostHead = 2 + 3 + transport.MaxReason
)

var errFrame = errors.New("a frame that is not understood")

func frame(b []byte) []byte {
	return append(binary.BigEndian.AppendUint16(make([]byte, 0, 2+len(b)), uint16(len(b))), b...)
}

func farewell(c transport.Code, detail string) []byte {
	detail = transport.CutReason(detail)
	b := binary.BigEndian.AppendUint16(make([]byte, 0, mostHead), goodbye)
	b = binary.BigEndian.AppendUint16(b, uint16(c))
	return append(append(b, byte(len(detail))), detail...)
}

// hurry limits how long reads and writes of a closing connection may take.
func hurry(c net.Conn) { _ = c.SetDeadline(time.Now().Add(parting)) }

// Listen returns a server's endpoint at an address. It accepts at most limit clients.
func Listen(addr string, limit int) (*Endpoint, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("cannot listen: %w", err)
	}
	e := newEndpoint(limit)
	e.listen = l
	e.running.Go(func() {
		for {
			c, err := l.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil { // out of file descriptors, for example
				time.Sleep(10 * time.Millisecond)
				continue
			}
			e.enter(c)
		}
	})
	return e, nil
}

// Addr returns the address of a server's endpoint.
func (e *Endpoint) Addr() string { return e.listen.Addr().String() }

// enter accepts a client, or sends it a goodbye if there is no room.
func (e *Endpoint) enter(c net.Conn) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed || len(e.peers) >= e.limit {
		hurry(c)
		_, _ = c.Write(farewell(transport.Full, "")) // a new connection's buffer has room for it
		_ = c.Close()
		return
	}
	p := e.add(c.RemoteAddr().String())
	p.conn = c
	p.out <- binary.BigEndian.AppendUint16(nil, welcome)
	e.connected(p)
	e.start(p)
}

// Dial returns a client's endpoint, which connects in the background.
func Dial(addr string) *Endpoint {
	e := newEndpoint(1)
	p := e.add(addr)
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	e.running.Go(func() {
		defer cancel()
		c, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
		if err != nil {
			e.over(p, transport.Unreachable, err.Error())
			return
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		if p.left {
			_ = c.Close()
			return
		}
		p.conn, p.name = c, c.RemoteAddr().String()
		e.start(p)
	})
	e.running.Go(func() { // cancels the dialling when the endpoint is closed
		select {
		case <-p.leave:
			cancel()
		case <-ctx.Done():
		}
	})
	return e
}

func (e *Endpoint) start(p *peer) {
	e.running.Go(func() { e.read(p) })
	e.running.Go(func() { e.write(p) })
}

// read handles a peer's frames until the connection ends.
func (e *Endpoint) read(p *peer) {
	in := bufio.NewReader(p.conn)
	for {
		e.mu.Lock()
		if !p.left { // otherwise hurry has set it
			_ = p.conn.SetReadDeadline(time.Now().Add(timeout))
		}
		e.mu.Unlock()
		if err := e.take(p, in); err != nil {
			e.lost(p, err)
			break
		}
	}
	close(p.gone)
}

// take reads and handles one frame.
func (e *Endpoint) take(p *peer, in io.Reader) error {
	var head [3]byte
	if _, err := io.ReadFull(in, head[:2]); err != nil {
		return err
	}
	switch n := binary.BigEndian.Uint16(head[:]); {
	case n <= MTU:
		b := make([]byte, n)
		if _, err := io.ReadFull(in, b); err != nil {
			return err
		}
		e.received(p, b)
	case n == alive:
	case n == welcome && e.listen == nil:
		e.mu.Lock()
		defer e.mu.Unlock()
		if p.up || p.left {
			return errFrame
		}
		e.connected(p)
	case n == goodbye:
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return err
		}
		detail := make([]byte, head[2])
		if _, err := io.ReadFull(in, detail); err != nil {
			return err
		}
		return &transport.DisconnectError{Code: transport.Code(binary.BigEndian.Uint16(head[:])), Reason: strings.ToValidUTF8(string(detail), "?")}
	default:
		return errFrame
	}
	return nil
}

// lost records that a connection ended, with the code for err.
func (e *Endpoint) lost(p *peer, err error) {
	var said *transport.DisconnectError
	var late net.Error
	switch {
	case errors.As(err, &said):
		e.over(p, said.Code, said.Reason)
	case errors.As(err, &late) && late.Timeout():
		e.over(p, transport.Timeout, "nothing heard")
	case errors.Is(err, errFrame):
		e.over(p, transport.Malformed, err.Error())
	default:
		e.over(p, transport.Unreachable, "the connection was lost")
	}
}

// write sends frames, and alive when it has had none for a while. It returns when the connection ends,
// and closes it.
func (e *Endpoint) write(p *peer) {
	idle := time.NewTicker(timeout / 5)
	defer idle.Stop()
	defer p.conn.Close()
	for {
		var b []byte
		select {
		case b = <-p.out:
		case <-idle.C:
			b = binary.BigEndian.AppendUint16(nil, alive)
		case <-p.leave:
			e.farewell(p)
			return
		case <-p.gone:
			return
		}
		e.mu.Lock()
		if !p.left {
			_ = p.conn.SetWriteDeadline(time.Now().Add(timeout))
		}
		e.mu.Unlock()
		if _, err := p.conn.Write(b); err != nil {
			e.over(p, transport.Overflow, "takes nothing of what it is sent")
			_ = p.conn.Close() // then read returns
			<-p.gone
			return
		}
	}
}

// farewell sends the waiting frames and the goodbye, and waits until the other end has closed. Closing
// a TCP connection with unread data would discard what was sent.
func (e *Endpoint) farewell(p *peer) {
	for len(p.out) > 0 {
		if _, err := p.conn.Write(<-p.out); err != nil {
			return
		}
	}
	if _, err := p.conn.Write(p.bye); err == nil {
		<-p.gone
	}
}
