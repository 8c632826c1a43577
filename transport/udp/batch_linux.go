//go:build linux && (amd64 || arm64)

package udp

import (
	"net"
	"net/netip"
	"syscall"
	"time"
	"unsafe"

	"github.com/foretick/foretick/transport"
)

// message is the system's struct mmsghdr: a datagram for sendmmsg and recvmmsg.
type message struct {
	head syscall.Msghdr
	n    uint32
	_    [4]byte
}

// messages are datagrams that one system call sends or receives. The system stores addresses of this
// memory, so it is allocated once and never grows.
type messages struct {
	all     []message
	vectors []syscall.Iovec
	names   []syscall.RawSockaddrInet6 // addresses of the other ends; an IPv4 address takes the first bytes
	says    []control                  // control messages with the local addresses
}

func newMessages(n int) messages {
	m := messages{make([]message, n), make([]syscall.Iovec, n), make([]syscall.RawSockaddrInet6, n), make([]control, n)}
	for i := range m.all {
		h := &m.all[i].head
		h.Name = (*byte)(unsafe.Pointer(&m.names[i]))
		h.Iov, h.Iovlen = &m.vectors[i], 1
	}
	return m
}

// point makes b the buffer of the i-th datagram.
func (m *messages) point(i int, b []byte) {
	m.vectors[i].Base = unsafe.SliceData(b)
	m.vectors[i].SetLen(len(b))
}

// call makes a system call for the datagrams from i to end.
func (m *messages) call(trap, fd uintptr, i, end int) (n int, err syscall.Errno) {
	for {
		r, _, errno := syscall.Syscall6(trap, fd, uintptr(unsafe.Pointer(&m.all[i])), uintptr(end-i), syscall.MSG_DONTWAIT, 0, 0)
		if errno != syscall.EINTR {
			return int(r), errno
		}
	}
}

// to sets the route that the i-th datagram is sent on.
func (m *messages) to(i int, a route, v6 bool) {
	h := &m.all[i].head
	if h.Control, h.Controllen = nil, 0; a.local.IsValid() {
		h.Control = (*byte)(unsafe.Pointer(&m.says[i]))
		h.SetControllen(m.says[i].setSource(a.local, v6))
	}
	if !v6 {
		sa := (*syscall.RawSockaddrInet4)(unsafe.Pointer(&m.names[i]))
		*sa = syscall.RawSockaddrInet4{Family: syscall.AF_INET, Port: swapped(a.Port()), Addr: a.Addr().Unmap().As4()}
		m.all[i].head.Namelen = syscall.SizeofSockaddrInet4
		return
	}
	m.names[i] = syscall.RawSockaddrInet6{Family: syscall.AF_INET6, Port: swapped(a.Port()), Addr: a.Addr().As16(), Scope_id: zone(a.Addr().Zone())}
	m.all[i].head.Namelen = syscall.SizeofSockaddrInet6
}

// route returns the route that the i-th datagram came on.
func (m *messages) route(i int) route {
	return route{plain(m.from(i)), m.says[i].local(int(m.all[i].head.Controllen))}
}

// from returns the address that the i-th datagram came from.
func (m *messages) from(i int) netip.AddrPort {
	if name := &m.names[i]; name.Family == syscall.AF_INET6 {
		a := netip.AddrFrom16(name.Addr)
		if name.Scope_id != 0 && !a.Is4In6() {
			a = a.WithZone(zoneName(name.Scope_id))
		}
		return netip.AddrPortFrom(a, swapped(name.Port))
	}
	name := (*syscall.RawSockaddrInet4)(unsafe.Pointer(&m.names[i]))
	return netip.AddrPortFrom(netip.AddrFrom4(name.Addr), swapped(name.Port))
}

// swapped converts a port between the network's byte order and this machine's, which is
// little-endian.
func swapped(port uint16) uint16 { return port<<8 | port>>8 }

// canBatch says that this system can send and read several datagrams in one call.
const canBatch = true

// held holds datagrams that wait for Flush.
type held struct {
	messages
	bufs [][transport.MaxDatagram]byte
	n    int
	fd   func(fd uintptr) bool
	sent int
	err  syscall.Errno
	tell batchCounters
}

func newHeld(n int) *held {
	h := &held{messages: newMessages(n), bufs: make([][transport.MaxDatagram]byte, n)}
	h.fd = func(fd uintptr) bool {
		h.sent, h.err = h.call(sysSendmmsg, fd, h.sent, h.n)
		return true
	}
	return h
}

// nextBuffer returns the memory for the next datagram. There is room for one.
func (h *held) nextBuffer() *[transport.MaxDatagram]byte { return &h.bufs[h.n] }

// addDatagram holds the datagram of size bytes that is in the next buffer, and reports whether h is
// full.
func (h *held) addDatagram(size int, to route, s *socket) (full bool) {
	h.point(h.n, h.bufs[h.n][:size])
	h.to(h.n, to, s.v6)
	h.n++
	return h.n == len(h.bufs)
}

// sendHeld sends all datagrams that wait. If the send buffer is full, it drops the rest. It skips a
// datagram that the system refuses.
func (h *held) sendHeld(s *socket) error {
	if s.raw == nil {
		return net.ErrClosed
	}
	for i := 0; i < h.n; {
		h.sent = i
		if err := s.raw.Write(h.fd); err != nil {
			h.n = 0
			return err // the socket is closed
		}
		h.tell.calls++
		switch h.err {
		case 0:
			i += h.sent
		case syscall.EAGAIN, syscall.ENOBUFS:
			h.tell.backlog += uint64(h.n - i)
			h.n = 0
			return transport.ErrBacklog
		case syscall.ECONNREFUSED: // the error is about an earlier datagram: try this one again
		default:
			h.tell.errors++
			i++
		}
	}
	h.n = 0
	return nil
}

// readMany reads the socket until it is closed, several datagrams at a time.
func (e *Endpoint) readMany(raw syscall.RawConn, take func(buf []byte, n int, from route) []byte) (err error) {
	in, bufs := newMessages(e.cfg.Batch), make([][]byte, e.cfg.Batch)
	e.mu.Lock()
	for i := range bufs {
		bufs[i] = e.in.Buffer()
	}
	e.mu.Unlock()
	var n int
	var errno syscall.Errno
	read := func(fd uintptr) bool {
		for i, b := range bufs {
			in.point(i, b)
			in.all[i].head.Namelen = syscall.SizeofSockaddrInet6
			in.all[i].head.Control = (*byte)(unsafe.Pointer(&in.says[i]))
			in.all[i].head.SetControllen(controlSize)
		}
		n, errno = in.call(sysRecvmmsg, fd, 0, len(bufs))
		e.reads.Add(1)
		return errno != syscall.EAGAIN
	}
	for {
		if err := raw.Read(read); err != nil {
			return err
		}
		if errno != 0 {
			return errno
		}
		for i := range n {
			bufs[i] = take(bufs[i], int(in.all[i].n), in.route(i))
		}
		if n < len(bufs) {
			time.Sleep(gatherTime)
		}
	}
}
