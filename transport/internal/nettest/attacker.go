package nettest

import (
	"errors"
	"net"
	"slices"
	"sync"
	"testing"
)

// Attacker sits on the path between one client and a server. It reads everything, and forges the
// datagrams that a test chooses. It knows the datagram format of docs/STANDARD-udp.md.
type Attacker struct {
	front, back *net.UDPConn
	running     sync.WaitGroup

	mu       sync.Mutex
	client   *net.UDPAddr
	id       []byte   // connection id, from the client's datagrams
	tag      []byte   // tag of the server's datagrams
	up, down [][]byte // payloads of the datagrams that passed
	raw      [][]byte // everything the client sent
	meddle   [][]byte // datagrams added in both directions after each one
}

// NewAttacker returns an Attacker between a server and the client that dials its Addr. It ends with the test, or
// with Stop.
func NewAttacker(t testing.TB, server string) *Attacker {
	t.Helper()
	fatal := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	to, err := net.ResolveUDPAddr("udp4", server)
	fatal(err)
	a := &Attacker{}
	a.front, err = net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	fatal(err)
	a.back, err = net.DialUDP("udp4", nil, to)
	fatal(err)
	a.running.Add(2)
	go a.forward()
	go a.answer()
	t.Cleanup(a.Stop)
	return a
}

// Stop ends it. It may be called again.
func (a *Attacker) Stop() {
	a.front.Close()
	a.back.Close()
	a.running.Wait()
}

// Addr returns the address for the client to dial.
func (a *Attacker) Addr() string { return a.front.LocalAddr().String() }

func (a *Attacker) forward() {
	defer a.running.Done()
	buf := make([]byte, 2048)
	for {
		n, from, err := a.front.ReadFromUDP(buf)
		if err != nil {
			return
		}
		a.mu.Lock()
		a.client = from
		a.raw = append(a.raw, slices.Clone(buf[:n]))
		if buf[0] == 0xA4 && n >= 9 {
			a.id = slices.Clone(buf[1:9])
			a.up = append(a.up, slices.Clone(buf[9:n]))
		}
		a.mu.Unlock()
		a.back.Write(buf[:n])
		a.addForged()
	}
}

func (a *Attacker) answer() {
	defer a.running.Done()
	buf := make([]byte, 2048)
	for {
		n, err := a.back.Read(buf)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // the server's port is closed temporarily
			continue
		}
		a.mu.Lock()
		if buf[0] == 0xA5 && n >= 5 {
			a.tag = slices.Clone(buf[1:5])
			a.down = append(a.down, slices.Clone(buf[5:n]))
		}
		client := a.client
		a.mu.Unlock()
		_, _ = a.front.WriteToUDP(buf[:n], client)
		a.addForged()
	}
}

func (a *Attacker) addForged() {
	a.mu.Lock()
	meddle := a.meddle
	a.mu.Unlock()
	for _, b := range meddle {
		a.Forge(b)
	}
}

// Forge sends a forged datagram to both ends.
func (a *Attacker) Forge(b []byte) {
	a.ForgeUp(b)
	a.mu.Lock()
	tag, client := a.tag, a.client
	a.mu.Unlock()
	if tag != nil {
		_, _ = a.front.WriteToUDP(append(append([]byte{0xA5}, tag...), b...), client)
	}
}

// ForgeUp sends a forged datagram to the server in the client's name.
func (a *Attacker) ForgeUp(b []byte) {
	a.mu.Lock()
	id := a.id
	a.mu.Unlock()
	if id != nil {
		a.back.Write(append(append([]byte{0xA4}, id...), b...))
	}
}

// Meddle adds datagrams in both directions after each one that passes.
func (a *Attacker) Meddle(with ...[]byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.meddle = with
}

// ID returns the connection's id, nil before it is known.
func (a *Attacker) ID() []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.id)
}

// Inject sends raw bytes to the server.
func (a *Attacker) Inject(b []byte) { a.back.Write(b) }

// Return sends raw bytes to the client.
func (a *Attacker) Return(b []byte) {
	a.mu.Lock()
	client := a.client
	a.mu.Unlock()
	_, _ = a.front.WriteToUDP(b, client)
}

// Raw returns everything that the client sent.
func (a *Attacker) Raw() [][]byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.raw)
}

// Seen returns the payloads of the datagrams that passed.
func (a *Attacker) Seen() (up, down [][]byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.up), slices.Clone(a.down)
}
