package main

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/dtls"
	"github.com/foretick/foretick/transport/ticket"
)

// dtlsWays implements ways for package dtls, with a server's certificate or with
// tickets.
type dtlsWays struct {
	udpWays
	pins []dtls.Pin
	key  []byte // nil with a certificate
}

// dtlsServers counts the servers: every other one uses tickets.
var dtlsServers atomic.Uint32

func overDTLS() (*socketNet, error) {
	cert, err := dtls.NewCertificate()
	if err != nil {
		return nil, err
	}
	var w dtlsWays
	cfg := dtls.Config{
		MaxPeers: socketRoom, Timeout: silence, HelloRate: 1 << 20, MaxHandshakes: socketRoom, MaxHandshakesPerAddr: socketRoom,
	}
	if dtlsServers.Add(1)%2 == 1 {
		cfg.Certificate, w.pins = &cert, []dtls.Pin{dtls.PinOf(cert)}
		cfg.Accept = func(_ netip.AddrPort, token []byte) ([]byte, error) { return token, nil }
	} else {
		w.key = ticket.NewKey()
		if cfg.Gate, err = ticket.NewGate(w.key, []netip.AddrPort{ticketServer}, nil); err != nil {
			return nil, err
		}
	}
	e, err := dtls.Listen("127.0.0.1:0", cfg)
	if err != nil {
		return nil, err
	}
	w.addr = e.LocalAddr()
	return newSocketNet(w, e), nil
}

// ticketServer is the server's address in tickets.
var ticketServer = netip.MustParseAddrPort("192.0.2.7:27015")

// config returns a client's configuration for an identity, and the token that its udp hello carries.
func (w dtlsWays) config(identity []byte) (cfg dtls.Config, token []byte, err error) {
	if w.key == nil {
		return dtls.Config{Pins: w.pins, Token: identity}, nil, nil
	}
	t, err := ticket.Issue(w.key, ticket.Claims{Identity: identity, Expires: time.Now().Add(time.Minute), Servers: []netip.AddrPort{ticketServer}})
	if err != nil {
		return cfg, nil, err
	}
	cfg.Ticket, err = t.MarshalBinary()
	return cfg, t.Sealed, err
}

func (w dtlsWays) honest() (transport.Endpoint, error) {
	cfg, _, err := w.config(honestName())
	if err != nil {
		return nil, err
	}
	return dtls.Dial(w.addr.String(), cfg)
}

// dtlsRogue is the project's own client on top of a udp endpoint that follows no
// rules.
type dtlsRogue struct {
	*dtls.Endpoint
	below *udpRogue
}

func (w dtlsWays) rogue() (rogueEnd, error) { return w.dial(-1, -1) }

// dial connects a client that sends only sends datagrams and damages the one with number spoil.
// Negative means that it sends all, and damages none.
func (w dtlsWays) dial(sends, spoil int) (*dtlsRogue, error) {
	cfg, token, err := w.config(fmt.Appendf(nil, "rogue %x", rand.Uint64()))
	if err != nil {
		return nil, err
	}
	u, err := dialUDP(w.addr, token)
	if err != nil {
		return nil, err
	}
	u.mu.Lock()
	u.sends, u.spoil = sends, spoil
	u.mu.Unlock()
	e, err := dtls.WrapClient(u, cfg)
	if err != nil {
		_ = u.Close(0, "")
		return nil, err
	}
	return &dtlsRogue{e, u}, nil
}

func (d *dtlsRogue) mute() { d.below.mute() }

// misuse implements rogueEnd: it sends arbitrary records, or does what udp's rogues
// do.
func (d *dtlsRogue) misuse(draw func(int) int) {
	if draw(2) == 0 {
		d.below.misuse(draw)
		return
	}
	for range 1 + draw(10) {
		_ = d.below.Send(1, anyRecord(draw))
	}
}

// anyRecord returns a record of any kind, epoch and length, or a handshake message.
func anyRecord(draw func(int) int) []byte {
	if draw(6) == 0 {
		return junk(nil, draw(1100), draw)
	}
	body := junk(nil, draw(200), draw)
	kind := byte(20 + draw(7))
	if kind == 22 && draw(4) > 0 { // a message whose length fields may be wrong
		m := []byte{byte(draw(24)), byte(draw(2)), byte(draw(256)), byte(draw(256)), 0, byte(draw(4)), 0, 0, byte(draw(200)), 0, 0, byte(len(body))}
		body = append(m, body...)
	}
	b := []byte{kind, 0xFE, byte(0xFD + draw(3))}
	b = binary.BigEndian.AppendUint64(b, uint64(draw(3))<<48|uint64(draw(1<<16)))
	b = binary.BigEndian.AppendUint16(b, uint16(len(body)))
	return append(b, body...)
}

// breaks implements ways: it makes half a handshake, a handshake with a damaged datagram, one with
// arbitrary records, or does what udp's rogues do.
func (w dtlsWays) breaks(draw func(int) int) func() {
	var d *dtlsRogue
	var err error
	switch draw(6) {
	case 0, 1:
		d, err = w.dial(1+draw(6), -1)
	case 2:
		d, err = w.dial(-1, draw(8))
	case 3:
		return w.records(draw)
	default:
		return w.udpWays.breaks(draw)
	}
	if err != nil {
		return func() {}
	}
	return func() {
		d.mute()
		_ = d.Close(0, "")
	}
}

// records sends arbitrary records instead of a handshake.
func (w dtlsWays) records(draw func(int) int) func() {
	_, token, err := w.config([]byte("rogue"))
	if err != nil {
		return func() {}
	}
	if draw(4) == 0 {
		token = junk(nil, draw(200), draw)
	}
	u, err := dialUDP(w.addr, token)
	if err != nil {
		return func() {}
	}
	var says [][]byte
	for range 1 + draw(10) {
		says = append(says, anyRecord(draw))
	}
	u.mu.Lock()
	u.first = says
	u.mu.Unlock()
	return func() {
		u.mute()
		_ = u.Close(0, "")
	}
}
