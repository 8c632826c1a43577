//go:build !js

package ws

import (
	"errors"
	"net"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/nettest"
)

// starved is a listener of a process that has no free descriptors for a while.
type starved struct {
	net.Listener
	err   error
	left  atomic.Int64 // how many calls will still fail
	calls atomic.Int64
}

func (s *starved) Accept() (net.Conn, error) {
	s.calls.Add(1)
	if s.left.Add(-1) >= 0 {
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: s.err}
	}
	return s.Listener.Accept()
}

// TestAcceptFails: a server that cannot accept connections counts that, logs it once, waits longer each
// time, and continues. It makes no difference whether Go calls the error temporary.
func TestAcceptFails(t *testing.T) {
	for _, failure := range []error{syscall.EMFILE, syscall.ENOBUFS, errors.New("of another kind")} {
		log := &nettest.Failures{}
		srv, err := NewServer(Config{Logger: log})
		require.NoError(t, err)
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		s := &starved{Listener: l, err: failure}
		s.left.Store(5)
		begun := time.Now()
		srv.acceptFrom(s)
		cli, err := Dial("ws://"+l.Addr().String(), Config{})
		require.NoError(t, err)
		nettest.Next(t, cli, transport.Connected)
		require.GreaterOrEqual(t, time.Since(begun), (5+10+20+40+80)*time.Millisecond, "it waits longer each time")
		require.EqualValues(t, 5, srv.Counters().AcceptErrors)
		require.Equal(t, 1, log.Lines())
		require.NoError(t, cli.Close(0, ""))

		s.left.Store(1 << 40) // permanently
		cli, err = Dial("ws://"+l.Addr().String(), Config{})
		require.NoError(t, err)
		defer func() { _ = cli.Close(0, "") }()
		require.Eventually(t, func() bool { return srv.Counters().AcceptErrors >= 7 }, nettest.Patience, time.Millisecond)
		require.NoError(t, srv.Close(0, ""), "Close does not wait")
		require.Less(t, s.calls.Load(), int64(100))
	}
}
