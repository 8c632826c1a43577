package dtls

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"slices"
	"time"

	pion "github.com/pion/dtls/v2"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/crowd"
)

const flightInterval = 250 * time.Millisecond

// shake starts a handshake, if the limits allow it.
func (e *Endpoint) shake(p *peer) {
	if e.dial == nil && !e.roomToShake(p) {
		return
	}
	e.silent.Remove(p)
	ctx, cancel := context.WithTimeout(context.Background(), e.handshake)
	p.state, p.cancel, p.released = shaking, cancel, make(chan struct{})
	p.until = e.clock.Load() + ticks(e.handshake)
	below, summed := p.below, p.summed
	p.shim = newShim(func(b []byte) {
		if summed {
			b = appendSum(slices.Clone(b))
		}
		e.below.Send(below, b)
	})
	e.shakes, e.unreleased = append(e.shakes, p), append(e.unreleased, p)
	e.counters.Handshakes++
	e.running.Add(1)
	go func() {
		defer e.running.Done()
		defer cancel()
		e.shakeHands(ctx, p)
	}()
}

// roomToShake makes room for one more handshake. It drops p if p's address has too many, and aborts the
// oldest handshake if there are too many in all. It returns false if it dropped p.
func (e *Endpoint) roomToShake(p *peer) bool {
	same, key := 0, crowd.Network(p.addr.Addr())
	for _, q := range e.shakes {
		if crowd.Network(q.addr.Addr()) == key {
			same++
		}
	}
	if most := e.cfg.MaxHandshakesPerAddr; most > 0 && same >= most {
		e.counters.Limited++
		e.cut(p, transport.Full, "too many handshakes")
		return false
	}
	if len(e.shakes) >= e.cfg.MaxHandshakes {
		e.counters.Evicted++
		e.cut(e.shakes[0], transport.Full, "too many handshakes")
	}
	return true
}

func (e *Endpoint) unshake(p *peer) {
	if i := slices.Index(e.shakes, p); i >= 0 {
		e.shakes = slices.Delete(e.shakes, i, i+1)
	}
}

// shakeHands runs a handshake. Then it lets the library reply to repeats of the client's last flight
// until none can come any more.
func (e *Endpoint) shakeHands(ctx context.Context, p *peer) {
	s := &suite{psk: e.cfg.Gate != nil || e.ticket != nil}
	var conn *pion.Conn
	cfg, err := e.library(p, s)
	switch {
	case err != nil:
		e.uncertified(p, err)
	case e.dial != nil:
		conn, err = pion.ClientWithContext(ctx, p.shim, cfg)
	default:
		conn, err = pion.ServerWithContext(ctx, p.shim, cfg)
	}
	k := s.keys.Load()
	if err == nil && k == nil {
		err = errNoKeys
	}
	if err != nil {
		e.failed(p, err)
	} else {
		e.keyed(p, k)
		<-p.released
	}
	p.shim.Close()
	e.mu.Lock()
	if i := slices.Index(e.unreleased, p); i >= 0 {
		e.unreleased = slices.Delete(e.unreleased, i, i+1)
	}
	e.mu.Unlock()
	if conn != nil {
		conn.Close()
	}
}

// library returns the library's configuration for one connection.
func (e *Endpoint) library(p *peer, s *suite) (*pion.Config, error) {
	cfg := &pion.Config{
		CipherSuites:            []pion.CipherSuiteID{}, // none of the library's suites
		CustomCipherSuites:      func() []pion.CipherSuite { return []pion.CipherSuite{s} },
		ExtendedMasterSecret:    pion.RequireExtendedMasterSecret,
		FlightInterval:          flightInterval,
		ReplayProtectionWindow:  windowSize,
		MTU:                     p.mtu - handshakeHeader - sumSize, // size of a fragment: 1200 would not fit into the datagram below
		InsecureSkipVerifyHello: true,                              // the layer below has proved the address
	}
	switch {
	case e.ticket != nil:
		cfg.PSKIdentityHint = e.ticket.Sealed
		cfg.PSK = func([]byte) ([]byte, error) { return e.ticket.Secret[:], nil }
	case e.cfg.Gate != nil:
		cfg.PSK = func(sealed []byte) ([]byte, error) {
			claims, secret, err := e.cfg.Gate.Check(sealed)
			e.mu.Lock()
			p.claims, p.verdict = claims, err
			e.mu.Unlock()
			return secret[:], err
		}
	case e.dial == nil:
		cert, err := e.certificate(p)
		if err != nil {
			return nil, err
		}
		cfg.Certificates = []tls.Certificate{*cert}
	default:
		cfg.InsecureSkipVerify = true // the pin decides instead
		cfg.VerifyPeerCertificate = e.pinned
	}
	return cfg, nil
}

// certificate returns the server's certificate for a handshake.
func (e *Endpoint) certificate(p *peer) (*tls.Certificate, error) {
	if e.cfg.GetCertificate == nil {
		return e.cfg.Certificate, nil
	}
	e.asking.Lock()
	defer e.asking.Unlock()
	var cert *tls.Certificate
	err := e.certify.Ask(p.addr, func() (err error) {
		if cert, err = e.cfg.GetCertificate(); err == nil && !usable(cert) {
			err = errCertificate
		}
		return err
	})
	return cert, err
}

// uncertified refuses a client because the server has no certificate. The error's text does not go to
// the client.
func (e *Endpoint) uncertified(p *peer, err error) {
	const reason = "the server has no certificate to show"
	e.mu.Lock()
	defer e.mu.Unlock()
	if p.state != shaking {
		return
	}
	e.counters.Failed++
	e.counters.Refused++
	e.refusals.Add(err)
	e.cut(p, transport.Refused, reason)
}

var errCertificate = errors.New("dtls: Config.GetCertificate returned no certificate with an ECDSA key")

var errPin = errors.New("dtls: the server's certificate is not one of those expected")

func (e *Endpoint) pinned(raw [][]byte, _ [][]*x509.Certificate) error {
	if len(raw) == 0 || !slices.Contains(e.cfg.Pins, Pin(sha256.Sum256(raw[0]))) {
		return errPin
	}
	return nil
}

// failed records that a handshake failed.
func (e *Endpoint) failed(p *peer, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if p.state != shaking {
		return
	}
	e.counters.Failed++
	code, reason := transport.Refused, "the handshake failed: "+err.Error()
	switch {
	case p.verdict != nil:
		e.counters.Refused++
		e.refusals.Add(p.verdict)
		reason = p.verdict.Error()
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		code, reason = transport.Timeout, "the handshake was not finished"
	case errors.Is(err, errPin):
		code, reason = transport.Refused, errPin.Error()
	}
	e.reportEnd(p, code, reason)
	e.cut(p, code, reason)
}

// keyed stores the keys of a successful handshake.
func (e *Endpoint) keyed(p *peer, k *keys) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if p.state != shaking || e.closed {
		p.releaseLibrary()
		return
	}
	e.sending.Lock()
	p.write = writer{half: k.write, next: firstSequence}
	e.sending.Unlock()
	p.read = reader{half: k.read}
	p.guard.done = true
	p.state, p.heard = greeting, e.clock.Load()
	if len(p.early) > 0 {
		select {
		case e.kick <- struct{}{}:
		default:
		}
	}
	switch {
	case e.dial != nil:
		p.releaseLibrary()
		e.greet(p)
	case e.cfg.Gate != nil:
		if err := e.cfg.Gate.Use(p.claims); err != nil {
			e.counters.Refused++
			e.refusals.Add(err)
			e.refuseClient(p, err)
			return
		}
		e.admit(p, p.claims.Shown())
	}
}

// greet sends the client's hello. It releases the lock temporarily.
func (e *Endpoint) greet(p *peer) {
	p.sent = e.clock.Load()
	e.later(p, msgHello, e.cfg.Token...)
}

// hello handles a client's hello.
func (e *Endpoint) hello(p *peer, token []byte) {
	if p.state == greeting && e.cfg.Gate == nil {
		e.admit(p, token)
		return
	}
	if p.state == open {
		e.later(p, msgAccept)
	}
}

// admit decides on a client that has proved all that it can.
func (e *Endpoint) admit(p *peer, token []byte) {
	if e.crowded(p, e.cfg.Same == transport.ReplaceOld && e.named.Len() > 0) {
		return
	}
	identity := slices.Clone(token)
	if e.cfg.Gate == nil {
		identity = nil
	}
	if e.cfg.Accept != nil {
		e.mu.Unlock()
		e.asking.Lock()
		id, err, panicked := e.accept.Ask(p.addr, token)
		e.asking.Unlock()
		e.mu.Lock()
		if panicked {
			e.counters.AcceptPanics++
		}
		switch {
		case p.state != greeting: // dropped in the meantime
			return
		case err != nil:
			e.counters.Refused++
			e.refusals.Add(err)
			e.refuseClient(p, err)
			return
		}
		if id != nil {
			identity = slices.Clone(id)
		}
	}
	p.identity = identity
	if !e.identify(p) {
		return
	}
	e.unshake(p)
	p.state, p.sent = open, e.clock.Load()
	p.id = e.peers.Add(p)
	p.q = e.in.Add(p.id, true)
	e.named.Add(p.identity, p)
	e.counters.Connections++
	e.later(p, msgAccept)
}

// crowded refuses a peer when there is no room, unless it may replace another. Ended peers whose event the caller has
// not read also count, since they use memory.
func (e *Endpoint) crowded(p *peer, replaces bool) bool {
	if e.closed || p.state != greeting {
		return true
	}
	if (replaces || e.peers.Len() < e.cfg.MaxPeers) && e.in.Open() < 2*e.cfg.MaxPeers {
		return false
	}
	e.counters.Full++
	e.refuseClient(p, &transport.DisconnectError{Code: transport.Full})
	return true
}

// refuseClient notifies a client that it is not accepted. The client's connection is protected by then.
func (e *Endpoint) refuseClient(p *peer, err error) {
	var why *transport.DisconnectError
	if !errors.As(err, &why) {
		why = &transport.DisconnectError{Code: transport.Refused, Reason: err.Error()}
	}
	e.dropPeer(p, why.Code, why.Reason)
	e.mu.Unlock()
	e.farewell(p)
	e.mu.Lock()
}
