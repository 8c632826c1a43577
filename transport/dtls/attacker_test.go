package dtls_test

import (
	"encoding/binary"
	"errors"
	"net"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// attacker sits on the path between one client and a server: it reads all that passes, and forges what it likes. It
// knows from docs/STANDARD-udp.md how datagrams are carried.
type attacker struct {
	front, back *net.UDPConn
	running     sync.WaitGroup

	mu       sync.Mutex
	client   *net.UDPAddr
	id       []byte   // of the connection, from the client's datagrams
	tag      []byte   // of the server's
	up, down [][]byte // DTLS datagrams that passed
	meddle   [][]byte // what it adds in both directions after each datagram
}

func newAttacker(t testing.TB, server string) *attacker {
	t.Helper()
	to, err := net.ResolveUDPAddr("udp4", server)
	require.NoError(t, err)
	a := &attacker{}
	a.front, err = net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	a.back, err = net.DialUDP("udp4", nil, to)
	require.NoError(t, err)
	a.running.Add(2)
	go a.forward()
	go a.answer()
	t.Cleanup(a.stop)
	return a
}

func (a *attacker) stop() {
	a.front.Close()
	a.back.Close()
	a.running.Wait()
}

func (a *attacker) addr() string { return a.front.LocalAddr().String() }

func (a *attacker) forward() {
	defer a.running.Done()
	buf := make([]byte, 2048)
	for {
		n, from, err := a.front.ReadFromUDP(buf)
		if err != nil {
			return
		}
		a.mu.Lock()
		a.client = from
		if buf[0] == 0xA4 && n >= 9 {
			a.id = slices.Clone(buf[1:9])
			a.up = append(a.up, slices.Clone(buf[9:n]))
		}
		a.mu.Unlock()
		a.back.Write(buf[:n])
		a.add()
	}
}

func (a *attacker) answer() {
	defer a.running.Done()
	buf := make([]byte, 2048)
	for {
		n, err := a.back.Read(buf)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // the server's port is closed for a while
			continue
		}
		a.mu.Lock()
		if buf[0] == 0xA5 && n >= 5 {
			a.tag = slices.Clone(buf[1:5])
			a.down = append(a.down, slices.Clone(buf[5:n]))
		}
		client := a.client
		a.mu.Unlock()
		a.front.WriteToUDP(buf[:n], client)
		a.add()
	}
}

func (a *attacker) add() {
	a.mu.Lock()
	meddle := a.meddle
	a.mu.Unlock()
	for _, b := range meddle {
		a.forge(b)
	}
}

// forge sends a DTLS datagram of the attacker's to both ends.
func (a *attacker) forge(b []byte) {
	a.forgeUp(b)
	a.mu.Lock()
	tag, client := a.tag, a.client
	a.mu.Unlock()
	if tag != nil {
		a.front.WriteToUDP(append(append([]byte{0xA5}, tag...), b...), client)
	}
}

func (a *attacker) forgeUp(b []byte) {
	a.mu.Lock()
	id := a.id
	a.mu.Unlock()
	if id != nil {
		a.back.Write(append(append([]byte{0xA4}, id...), b...))
	}
}

func (a *attacker) seen() (up, down [][]byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.up), slices.Clone(a.down)
}

// record makes a plain record.
func record(kind byte, epoch uint16, sequence uint64, payload ...byte) []byte {
	b := []byte{kind, 0xFE, 0xFD}
	b = binary.BigEndian.AppendUint64(b, uint64(epoch)<<48|sequence)
	b = binary.BigEndian.AppendUint16(b, uint16(len(payload)))
	return append(b, payload...)
}

// handshake makes a handshake message that is one fragment.
func handshake(kind byte, number uint16, length int, body ...byte) []byte {
	b := []byte{kind, byte(length >> 16), byte(length >> 8), byte(length), byte(number >> 8), byte(number), 0, 0, 0,
		byte(len(body) >> 16), byte(len(body) >> 8), byte(len(body))}
	return append(b, body...)
}
