//go:build unix

package udp

import (
	"errors"
	"net"
	"strconv"
	"syscall"

	"github.com/foretick/foretick/transport"
)

// socket writes with system calls that do not block. The net package would block while the send buffer
// is full.
type socket struct {
	raw       syscall.RawConn
	connected bool
	v6        bool
	b         []byte
	to        syscall.Sockaddr
	sa4       syscall.SockaddrInet4
	sa6       syscall.SockaddrInet6
	says      control // control message with the address to send from
	said      int     // length of the control message; 0: the system chooses the address
	err       error
	call      func(fd uintptr) bool
}

func (s *socket) attach(c *net.UDPConn, connected, tells bool) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	s.raw, s.connected, s.call = raw, connected, s.once
	var fault error
	err = raw.Control(func(fd uintptr) {
		sa, _ := syscall.Getsockname(int(fd))
		if _, s.v6 = sa.(*syscall.SockaddrInet6); tells {
			fault = tellLocal(fd, s.v6)
		}
	})
	return errors.Join(err, fault)
}

// once makes the system call. It returns true, so that the net package does not wait.
func (s *socket) once(fd uintptr) bool {
	for {
		switch {
		case s.connected:
			_, s.err = syscall.Write(int(fd), s.b)
		case s.said > 0:
			_, s.err = syscall.SendmsgN(int(fd), s.b, s.says.memory()[:s.said], s.to, 0)
		default:
			s.err = syscall.Sendto(int(fd), s.b, 0, s.to)
		}
		if s.err != syscall.EINTR {
			return true
		}
	}
}

// writeDatagram sends b. Errors: transport.ErrBacklog, errRefused, net.ErrClosed, or the system's error.
func (s *socket) writeDatagram(b []byte, to route) error {
	if s.raw == nil {
		return net.ErrClosed
	}
	s.b = b
	if !s.connected {
		s.address(to)
	}
	err := s.raw.Write(s.call)
	told := err == nil && s.err == syscall.ECONNREFUSED
	if told { // the error is about an earlier datagram, and this one was not sent
		err = s.raw.Write(s.call)
	}
	s.b = nil
	if err != nil {
		return err
	}
	switch s.err {
	case nil:
		if told {
			return errRefused
		}
		return nil
	case syscall.EAGAIN, syscall.ENOBUFS:
		return transport.ErrBacklog
	case syscall.ECONNREFUSED:
		return errRefused
	}
	return s.err
}

func (s *socket) address(to route) {
	if s.said = 0; to.local.IsValid() {
		s.said = s.says.setSource(to.local, s.v6)
	}
	if !s.v6 {
		s.sa4.Port, s.sa4.Addr = int(to.Port()), to.Addr().Unmap().As4()
		s.to = &s.sa4
		return
	}
	s.sa6.Port, s.sa6.Addr, s.sa6.ZoneId = int(to.Port()), to.Addr().As16(), zone(to.Addr().Zone())
	s.to = &s.sa6
}

// zone returns the number of an IPv6 zone, which only link-local addresses have.
func zone(name string) uint32 {
	if name == "" {
		return 0
	}
	if i, err := net.InterfaceByName(name); err == nil {
		return uint32(i.Index)
	}
	n, _ := strconv.ParseUint(name, 10, 32)
	return uint32(n)
}

// zoneName is the reverse of zone.
func zoneName(zone uint32) string {
	if i, err := net.InterfaceByIndex(int(zone)); err == nil {
		return i.Name
	}
	return strconv.Itoa(int(zone))
}

func isRefused(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED)
}
