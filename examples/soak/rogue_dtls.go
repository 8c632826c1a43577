package main

import (
	"encoding/binary"
	"net/netip"
	"time"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/dtls"
	"github.com/foretick/foretick/transport/udp"
)

// dtlsWays are those of package dtls, by a server's certificate.
type dtlsWays struct {
	udpWays
	pins []dtls.Pin
}

func overDTLS() (*socketNet, error) {
	cert, err := dtls.NewCertificate()
	if err != nil {
		return nil, err
	}
	e, err := dtls.Listen("127.0.0.1:0", dtls.Config{
		Certificate: &cert, MaxPeers: socketRoom, Timeout: silence, HelloRate: 1 << 20, MaxHandshakes: socketRoom, MaxHandshakesPerAddr: socketRoom,
		Accept: func(_ netip.AddrPort, token []byte) ([]byte, error) { return token, nil },
	})
	if err != nil {
		return nil, err
	}
	w := dtlsWays{udpWays{e.Below().(*udp.Endpoint).LocalAddr()}, []dtls.Pin{dtls.PinOf(cert)}}
	return &socketNet{ways: w, server: e, next: time.Now()}, nil
}

func (w dtlsWays) honest() (transport.Endpoint, error) {
	return dtls.Dial(w.addr.String(), dtls.Config{Pins: w.pins, Token: honestName()})
}

// dtlsRogue is the project's own client above a udp that keeps no rules.
type dtlsRogue struct {
	*dtls.Endpoint
	below *udpRogue
}

func (w dtlsWays) rogue() (rogueEnd, error) { return w.dial(-1, -1) }

// dial has the client send so many datagrams, of which one is damaged; negative: all,
// and none.
func (w dtlsWays) dial(sends, spoil int) (*dtlsRogue, error) {
	u, err := dialUDP(w.addr)
	if err != nil {
		return nil, err
	}
	u.mu.Lock()
	u.sends, u.spoil = sends, spoil
	u.mu.Unlock()
	e, err := dtls.WrapClient(u, dtls.Config{Pins: w.pins})
	if err != nil {
		_ = u.Close(0, "")
		return nil, err
	}
	return &dtlsRogue{e, u}, nil
}

func (d *dtlsRogue) mute() { d.below.mute() }

// misuse implements rogueEnd: records of anything, beside what udp's rogues do.
func (d *dtlsRogue) misuse(draw func(int) int) {
	if draw(2) == 0 {
		d.below.misuse(draw)
		return
	}
	for range 1 + draw(10) {
		_ = d.below.Send(1, anyRecord(draw))
	}
}

// anyRecord is a record of any kind, epoch and length, or a handshake's message.
func anyRecord(draw func(int) int) []byte {
	if draw(6) == 0 {
		return junk(nil, draw(1100), draw)
	}
	body := junk(nil, draw(200), draw)
	kind := byte(20 + draw(7))
	if kind == 22 && draw(4) > 0 { // a message that claims some length
		m := []byte{byte(draw(24)), byte(draw(2)), byte(draw(256)), byte(draw(256)), 0, byte(draw(4)), 0, 0, byte(draw(200)), 0, 0, byte(len(body))}
		body = append(m, body...)
	}
	b := []byte{kind, 0xFE, byte(0xFD + draw(3))}
	b = binary.BigEndian.AppendUint64(b, uint64(draw(3))<<48|uint64(draw(1<<16)))
	b = binary.BigEndian.AppendUint16(b, uint16(len(body)))
	return append(b, body...)
}

// breaks implements ways: half a handshake, one with a damaged datagram, one that is
// all records of anything, or what udp's rogues do.
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

// records says records of anything instead of a handshake's.
func (w dtlsWays) records(draw func(int) int) func() {
	u, err := dialUDP(w.addr)
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
