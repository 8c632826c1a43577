package nettest

import (
	"errors"
	"net"
	"net/netip"
	"sync"
	"testing"
)

// tap forwards datagrams to a server, from a separate port for each sender, and inspects them. It
// knows the datagram types: a0 is a hello, a8 proves a path, and a5 carries the game's bytes to a
// client.
type tap struct {
	front   *net.UDPConn
	server  netip.AddrPort
	running sync.WaitGroup

	mu    sync.Mutex
	paths map[netip.AddrPort]*tapped
}

// tapped is one sender's path to the server.
type tapped struct {
	back     *net.UDPConn
	greeted  bool // the handshake used this path, which proves it in another way
	proved   bool
	up, down int // bytes before it was proved
	early    int // game datagrams to the client before it was proved
}

func newTap(t *testing.T, server netip.AddrPort) (*tap, error) {
	front, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	p := &tap{front: front, server: server, paths: make(map[netip.AddrPort]*tapped)}
	p.running.Add(1)
	go p.forward()
	t.Cleanup(func() {
		front.Close()
		p.mu.Lock()
		for _, m := range p.paths {
			m.back.Close()
		}
		p.mu.Unlock()
		p.running.Wait()
	})
	return p, nil
}

func (p *tap) forward() {
	defer p.running.Done()
	buf := make([]byte, 1500)
	for {
		k, from, err := p.front.ReadFromUDPAddrPort(buf)
		if err != nil {
			return
		}
		p.mu.Lock()
		m := p.paths[from]
		if m == nil {
			back, err := net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(p.server))
			if err != nil {
				p.mu.Unlock()
				return
			}
			m = &tapped{back: back}
			p.paths[from] = m
			p.running.Add(1)
			go p.answer(m, from)
		}
		m.greeted = m.greeted || k > 0 && buf[0] == 0xa0
		m.proved = m.proved || m.greeted || k > 0 && buf[0] == 0xa8
		if !m.proved {
			m.up += k
		}
		p.mu.Unlock()
		m.back.Write(buf[:k])
	}
}

func (p *tap) answer(m *tapped, to netip.AddrPort) {
	defer p.running.Done()
	buf := make([]byte, 1500)
	for {
		k, err := m.back.Read(buf)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		p.mu.Lock()
		if !m.proved {
			m.down += k
			if k > 0 && buf[0] == 0xa5 {
				m.early++
			}
		}
		p.mu.Unlock()
		_, _ = p.front.WriteToUDPAddrPort(buf[:k], to)
	}
}
