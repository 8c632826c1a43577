//go:build unix

package udp

import (
	"net"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// listenRaw returns a plain socket.
func listenRaw(t testing.TB) *net.UDPConn {
	t.Helper()
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// drain reads all datagrams that wait at a socket, and returns how many bytes they had.
func drain(c *net.UDPConn, buf []byte) (total int) {
	raw, err := c.SyscallConn()
	if err != nil {
		panic(err)
	}
	err = raw.Control(func(fd uintptr) {
		for {
			n, _, err := syscall.Recvfrom(int(fd), buf, syscall.MSG_DONTWAIT)
			if err != nil {
				return
			}
			total += n
		}
	})
	if err != nil {
		panic(err)
	}
	return total
}
