package udp

import (
	"net/netip"
	"syscall"
	"unsafe"
)

// controlSize is the size of a control message with a datagram's local address: IP_PKTINFO of ip(7), or
// IPV6_PKTINFO of ipv6(7).
const controlSize = syscall.SizeofCmsghdr + 24

// canAnswer says that this system reports which of its addresses a datagram was sent to.
const canAnswer = true

// control is a control message, aligned as the system requires.
type control struct {
	head syscall.Cmsghdr
	data [24]byte // IPv4: index, local, destination; IPv6: local, index
}

// memory returns the control message's memory.
func (c *control) memory() []byte { return (*[controlSize]byte)(unsafe.Pointer(c))[:] }

// tellLocal makes the system add a control message to each datagram that is read.
func tellLocal(fd uintptr, v6 bool) error {
	if v6 {
		return syscall.SetsockoptInt(int(fd), syscall.IPPROTO_IPV6, syscall.IPV6_RECVPKTINFO, 1)
	}
	return syscall.SetsockoptInt(int(fd), syscall.IPPROTO_IP, syscall.IP_PKTINFO, 1)
}

// local returns the local address in a control message of n bytes that came with a datagram. It returns
// no multicast address, because none can be sent from.
func (c *control) local(n int) netip.Addr {
	if a := c.address(n); !a.IsMulticast() {
		return a
	}
	return netip.Addr{}
}

func (c *control) address(n int) netip.Addr {
	switch {
	case n < syscall.CmsgLen(syscall.SizeofInet4Pktinfo):
	case c.head.Level == syscall.IPPROTO_IP && c.head.Type == syscall.IP_PKTINFO:
		return netip.AddrFrom4([4]byte(c.data[4:8]))
	case c.head.Level == syscall.IPPROTO_IPV6 && c.head.Type == syscall.IPV6_PKTINFO && n >= syscall.CmsgLen(syscall.SizeofInet6Pktinfo):
		return netip.AddrFrom16([16]byte(c.data[:16])).Unmap()
	}
	return netip.Addr{}
}

// setSource makes the control message name the address to send from, and returns its length.
func (c *control) setSource(local netip.Addr, v6 bool) int {
	size := syscall.SizeofInet4Pktinfo
	c.data = [24]byte{}
	if v6 {
		size = syscall.SizeofInet6Pktinfo
		c.head.Level, c.head.Type = syscall.IPPROTO_IPV6, syscall.IPV6_PKTINFO
		*(*[16]byte)(c.data[:16]) = local.As16()
	} else {
		c.head.Level, c.head.Type = syscall.IPPROTO_IP, syscall.IP_PKTINFO
		*(*[4]byte)(c.data[4:8]) = local.As4()
	}
	c.head.SetLen(syscall.CmsgLen(size))
	return syscall.CmsgSpace(size)
}
