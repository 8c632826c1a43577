package releasetest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
)

// given are the ports that Port returned.
var given sync.Map

// Port returns a port of this machine that nobody listens at, and that no other test of this process got: many
// start beside one another, and a program takes its port only some time after its test asked. Systems give
// ports of another range to whoever asks for any.
func Port(t testing.TB) int {
	t.Helper()
	for range 1000 {
		port := 20000 + rand.IntN(6000)
		if _, again := given.LoadOrStore(port, true); !again && isFree(fmt.Sprint("127.0.0.1:", port)) {
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}

func isFree(address string) bool {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return false
	}
	defer l.Close()
	c, err := net.ListenPacket("udp", address)
	if err != nil {
		return false
	}
	return c.Close() == nil
}
