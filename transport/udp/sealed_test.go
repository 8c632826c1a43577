package udp_test

import (
	"encoding/binary"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/udp"
)

// Who reads a sealed connection's traffic cannot end it; one that is truly at its end is given up after a second.
func TestSealedBelievesNoForgedEnd(t *testing.T) {
	srv, err := udp.Listen("127.0.0.1:0", udp.Config{Sealed: true})
	require.NoError(t, err)
	defer srv.Close(0, "")
	relay := newForger(t, srv.LocalAddr().String())
	cli, err := udp.Dial(relay.addr(), udp.Config{Sealed: true})
	require.NoError(t, err)
	defer cli.Close(0, "")
	toServer := wait(t, cli, transport.Connected).Peer
	toClient := wait(t, srv, transport.Connected).Peer
	require.NoError(t, cli.Send(toServer, []byte("hi")))
	wait(t, srv, transport.Data)
	for range 5 {
		relay.forge()
		time.Sleep(20 * time.Millisecond)
	}
	require.NoError(t, cli.Send(toServer, []byte("still here")))
	assert.Equal(t, "still here", string(wait(t, srv, transport.Data).Data))
	require.NoError(t, srv.Send(toClient, []byte("so am I")))
	wait(t, cli, transport.Data)
	assert.GreaterOrEqual(t, srv.Counters().Unbelieved, uint64(5))
	assert.GreaterOrEqual(t, cli.Counters().Unbelieved, uint64(10))

	for begin := time.Now(); time.Since(begin) < 1500*time.Millisecond; time.Sleep(20 * time.Millisecond) {
		require.NoError(t, cli.Send(toServer, []byte("on and on"))) // the rumours come to nothing
		require.NoError(t, srv.Send(toClient, []byte("on and on")))
		var ev [8]transport.Event
		for _, e := range append(ev[:srv.Recv(ev[:4]):4], ev[4:4+cli.Recv(ev[4:])]...) {
			require.NotEqual(t, transport.Disconnected, e.Kind)
		}
	}

	begin := time.Now()
	srv.Disconnect(toClient, transport.Kicked, "really")
	var ev [1]transport.Event
	for n := 0; n == 0 || ev[0].Kind == transport.Data; n = cli.Recv(ev[:]) {
		time.Sleep(10 * time.Millisecond)
		require.Less(t, time.Since(begin), 3*time.Second)
	}
	assert.Equal(t, transport.Kicked, ev[0].Code)
	assert.Greater(t, time.Since(begin), 500*time.Millisecond)
}

// forger passes datagrams on, reads the connection id, and forges.
type forger struct {
	t        *testing.T
	near     *net.UDPConn // to the client
	far      *net.UDPConn // to the server
	conn     chan uint64
	client   chan *net.UDPAddr
	id       uint64
	returnTo *net.UDPAddr
}

func newForger(t *testing.T, server string) *forger {
	to, err := net.ResolveUDPAddr("udp4", server)
	require.NoError(t, err)
	near, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	far, err := net.DialUDP("udp4", nil, to)
	require.NoError(t, err)
	p := &forger{t: t, near: near, far: far, conn: make(chan uint64, 1), client: make(chan *net.UDPAddr, 1)}
	t.Cleanup(func() { near.Close(); far.Close() })
	addr := make(chan *net.UDPAddr, 1)
	go func() {
		buf := make([]byte, 2048)
		for first := true; ; {
			n, from, err := near.ReadFromUDP(buf)
			if err != nil {
				return
			}
			if first {
				first = false
				addr <- from
				p.client <- from
			}
			if buf[0] == 0xA4 && n > 9 {
				select {
				case p.conn <- binary.BigEndian.Uint64(buf[1:]):
				default:
				}
			}
			far.Write(buf[:n])
		}
	}()
	go func() {
		back := <-addr
		buf := make([]byte, 2048)
		for {
			n, err := far.Read(buf)
			if err != nil {
				return
			}
			near.WriteToUDP(buf[:n], back)
		}
	}()
	return p
}

func (p *forger) addr() string { return p.near.LocalAddr().String() }

// forge sends a close to both ends, and a gone to the client.
func (p *forger) forge() {
	if p.id == 0 {
		p.id, p.returnTo = <-p.conn, <-p.client
	}
	b := binary.BigEndian.AppendUint64([]byte{0xA9}, p.id)
	b = udp.AppendSum(append(b, 0, byte(transport.Closed), 0))
	p.far.Write(b)
	p.near.WriteToUDP(b, p.returnTo)
	p.near.WriteToUDP(binary.BigEndian.AppendUint64([]byte{0xAA}, p.id), p.returnTo)
}
