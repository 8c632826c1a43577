//go:build unix

package udp

import (
	"errors"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/nettest"
)

// A meter accepts everything that fits, and never more. If not everything fits, a client that always
// sends at the same time of a tick has the same chance as others.
func TestMeter(t *testing.T) {
	var m meter
	for tick := uint32(10); tick < 20; tick++ {
		for range 50 {
			require.True(t, m.allow(tick, 50))
		}
	}
	require.False(t, m.allow(19, 50))
	late := 0
	const ticks, crowd = 2000, 500
	for tick := uint32(100); tick < 100+ticks; tick++ {
		passed := 0
		for i := range crowd {
			if m.allow(tick, 50) {
				if passed++; i == crowd/2 {
					late++
				}
			}
		}
		require.LessOrEqual(t, passed, 50)
	}
	assert.InDelta(t, 0.1, float64(late)/ticks, 0.03, "of those in the middle of a tick, a tenth pass")
	assert.True(t, m.allow(1e6, 50), "a flood that is over is forgotten")
}

// All ports of an address, or of a network of IPv6, share one meter. Other addresses have others.
func TestMetersByAddress(t *testing.T) {
	l := newLimits(1000)
	slot := func(a string) uint64 { return l.meterOf(netip.MustParseAddrPort(a)) }
	assert.Equal(t, slot("192.0.2.1:1"), slot("192.0.2.1:2"))
	assert.Equal(t, slot("192.0.2.1:1"), slot("[::ffff:192.0.2.1]:1"))
	assert.Equal(t, slot("[2001:db8:1:2::1]:1"), slot("[2001:db8:1:2:3:4:5:6]:9"))
	others := map[uint64]bool{}
	for i := range 200 {
		others[l.meterOf(netip.AddrPortFrom(netip.AddrFrom4([4]byte{198, 51, 100, byte(i)}), 1))] = true
		others[l.meterOf(netip.AddrPortFrom(netip.AddrFrom16([16]byte{0x20, 1, 0xd, 0xb8, 7: byte(i)}), 1))] = true
	}
	assert.Greater(t, len(others), 350)
	a := netip.MustParseAddrPort("192.0.2.1:1")
	assert.Zero(t, testing.AllocsPerRun(100, func() { l.reply(1, a); l.allowAsk(1, a) }))
}

// An address that sends hellos as fast as it can gets its share of replies and of calls of the accept
// hook, and others get theirs.
func TestOneAddressHasItsShare(t *testing.T) {
	const rate = 400 // a second: 20 a tick
	var asked atomic.Int64
	srv, err := Listen("127.0.0.1:0", Config{HelloRate: rate, Accept: func(_ netip.AddrPort, token []byte) ([]byte, error) {
		if asked.Add(1); string(token) == "ann" {
			return token, nil
		}
		return nil, errors.New("no")
	}})
	require.NoError(t, err)
	defer srv.Close(0, "")
	raw, err := net.DialUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 9)}, net.UDPAddrFromAddrPort(srv.LocalAddr()))
	require.NoError(t, err)
	defer raw.Close()

	buf := make([]byte, 2048)
	begin := srv.clock.Load()
	flood := func(h *hello, n int) {
		b, before := appendHello(nil, h), srv.Counters().Hellos
		for i := range n {
			raw.Write(b)
			if i%50 == 0 {
				time.Sleep(time.Millisecond)
			}
		}
		for until := time.Now().Add(5 * time.Second); time.Now().Before(until); time.Sleep(time.Millisecond) {
			if srv.Counters().Hellos-before >= uint64(n)*9/10 {
				break
			}
		}
	}
	flood(&hello{nonce: 5}, 2000)
	passed := int(srv.clock.Load() - begin + 1)
	replies := drain(raw, buf) / replySize
	t.Logf("2000 hellos in %d ticks: %d answers", passed, replies)
	assert.Positive(t, replies)
	assert.LessOrEqual(t, replies, rate/ticksASecond*passed)
	assert.NotZero(t, srv.Counters().Limited)

	cli, err := Dial(srv.LocalAddr().String(), Config{Token: []byte("ann")}) // from 127.0.0.1
	require.NoError(t, err)
	defer cli.Close(0, "")
	nettest.Next(t, cli, transport.Connected)

	h := &hello{nonce: 6, token: []byte("mallory")}
	for h.cookie == (cookie{}) {
		raw.Write(appendHello(nil, &hello{nonce: 6}))
		require.NoError(t, raw.SetReadDeadline(time.Now().Add(30*time.Millisecond)))
		n, err := raw.Read(buf)
		if nonce, c, bad := parseCookie(buf[:n]); err == nil && bad == nil && nonce == 6 {
			h.cookie = c
		}
	}
	before := asked.Load()
	begin = srv.clock.Load()
	flood(h, 4000)
	passed = int(srv.clock.Load() - begin + 1)
	calls := int(asked.Load() - before)
	t.Logf("4000 hellos with a right cookie in %d ticks: the hook was asked %d times", passed, calls)
	assert.Positive(t, calls)
	assert.LessOrEqual(t, calls, rate/ticksASecond*passed)
}
