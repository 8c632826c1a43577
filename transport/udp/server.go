package udp

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/hook"
)

// Listen returns a server's endpoint on a local address, such as ":27015" or "127.0.0.1:0". It returns an error that
// lists all faults of the config, or one that says why the address is not available.
//
// A machine may have several addresses. On Linux an endpoint on ":27015" sends to each client from the address that
// the client dialled. Other systems choose the address themselves, and clients that dialled another one do not
// connect: listen on each address separately there.
func Listen(addr string, cfg Config) (*Endpoint, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	local, err := net.ResolveUDPAddr("udp", addr)
	if err != nil {
		return nil, fmt.Errorf("udp: cannot listen: %w", err)
	}
	network := "udp"
	if local.IP.To4() != nil {
		network = "udp4"
	}
	conn, err := net.ListenUDP(network, local)
	if err != nil {
		return nil, fmt.Errorf("udp: cannot listen: %w", err)
	}
	e := newEndpoint(cfg)
	e.byConn, e.byNonce, e.mint = make(map[uint64]*peer), make(map[uint64]*peer), newMint()
	e.graves = newGraves()
	e.limits = newLimits(cfg.HelloRate)
	e.accept = hook.Accept{Fn: cfg.Accept, Log: cfg.Logger}
	if _, err := e.attach(conn, false); err != nil {
		conn.Close()
		return nil, fmt.Errorf("udp: cannot listen: %w", err)
	}
	if e.batches() {
		e.out.held = newHeld(cfg.Batch)
	}
	e.running.Add(2)
	go func() {
		defer e.running.Done()
		e.listenTo(conn)
	}()
	go func() {
		defer e.running.Done()
		e.tend()
	}()
	return e, nil
}

// serveDatagram handles a datagram received by a server.
func (e *Endpoint) serveDatagram(buf []byte, n int, from route) []byte {
	b := buf[:n]
	if n == 0 || n > transport.MaxDatagram {
		e.countInvalid(nil)
		return buf
	}
	switch b[0] {
	case typeUp:
		if n < upHeader {
			e.countInvalid(errMalformed)
			return buf
		}
		return e.serveData(buf, n, from)
	case typeHello:
		e.serveHello(b, from)
	case typeAlive:
		e.serveAlive(b, from)
	case typeResponse:
		e.serveResponse(b, from)
	case typeClose:
		e.serveClose(b, from)
	case typeGone:
		e.serveGone(b)
	default:
		e.countInvalid(nil)
	}
	return buf
}

func (e *Endpoint) serveData(buf []byte, n int, from route) []byte {
	conn := binary.BigEndian.Uint64(buf[1:])
	e.mu.Lock()
	p := e.byConn[conn]
	if p == nil {
		e.mu.Unlock()
		e.unknown(conn, n, from)
		return buf
	}
	p.stats.Received++
	p.stats.ReceivedBytes += uint64(n - upHeader)
	if e.in.Push(p.q, buf, buf[upHeader:n]) {
		p.stats.ReceiveDropped++
		e.counters.Overrun++
	}
	buf = e.in.Buffer()
	moved := !e.known(p, from)
	if moved {
		p.tries(from, n)
	}
	e.mu.Unlock()
	if moved {
		e.challenge(conn, n, from)
	}
	return buf
}

// known records that p was heard, if from is its address.
func (e *Endpoint) known(p *peer, from route) bool {
	if p.addr == from {
		p.heard, p.trial = e.clock.Load(), trial{} // the client is still at its old address
		return true
	}
	return false
}

// unknown replies to a datagram of n bytes (at least 9) for an unknown connection. The reply is no
// longer than the datagram.
func (e *Endpoint) unknown(conn uint64, n int, from route) {
	now := e.clock.Load()
	e.mu.Lock()
	e.counters.UnknownID++
	g := e.graves.byConn[conn]
	var reply []byte
	switch {
	case g == nil:
		reply = appendGone(e.note[:0], conn)
	case g.told == now: // once a tick is enough
	default:
		g.told = now
		reply = appendEnd(e.note[:0], typeClose, conn, g.code, g.reason)
		if len(reply) > n {
			reply = appendGone(e.note[:0], conn)
		}
	}
	e.mu.Unlock()
	if reply != nil {
		e.reply(reply, from)
	}
}

// reply replies to an address that has proved nothing, within the limits.
func (e *Endpoint) reply(b []byte, to route) {
	if !e.limits.reply(e.clock.Load(), to.AddrPort) {
		e.limited()
		return
	}
	e.out.sendDatagram(b, to)
}

func (e *Endpoint) limited() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.counters.Limited++
}

// challenge asks the sender of n bytes for a known connection to prove its new address. The challenge
// is no longer than n bytes.
func (e *Endpoint) challenge(conn uint64, n int, to route) {
	now := e.clock.Load()
	e.mu.Lock()
	p := e.byConn[conn]
	if p == nil || p.challenged == now || n < signalSize || p.trial.addr == to && p.trial.left < signalSize {
		e.mu.Unlock()
		return
	}
	p.challenged = now
	if p.trial.addr == to {
		p.trial.left -= signalSize
	}
	e.counters.Challenges++
	moves := p.stats.Migrations
	e.mu.Unlock()
	e.reply(appendPair(e.note[:0], typeChallenge, conn, e.mint.proof(e.seconds(), conn, moves, to.AddrPort)), to)
}

func (e *Endpoint) serveAlive(b []byte, from route) {
	conn, value, err := parsePair(b, typeAlive)
	if err != nil {
		e.countInvalid(err)
		return
	}
	e.mu.Lock()
	p := e.byConn[conn]
	ok := p != nil && e.known(p, from)
	if p != nil && !ok {
		p.tries(from, len(b))
	}
	e.mu.Unlock()
	if p == nil {
		e.unknown(conn, len(b), from)
	} else if !ok {
		e.challenge(conn, len(b), from)
	} else if value == ask {
		e.out.sendDatagram(appendPair(e.note[:0], typeAlive, conn, 0), from)
	}
}

func (e *Endpoint) serveResponse(b []byte, from route) {
	conn, proof, err := parsePair(b, typeResponse)
	if err != nil {
		e.countInvalid(err)
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	p := e.byConn[conn]
	if p == nil {
		e.counters.UnknownID++
		return
	}
	if e.known(p, from) {
		return
	}
	if !e.mint.proven(e.seconds(), proof, conn, p.stats.Migrations, from.AddrPort) {
		e.counters.BadProof++
		return
	}
	e.migrate(p, from)
}

func (e *Endpoint) migrate(p *peer, to route) {
	p.moveTo(to)
	p.stats.Migrations++
	p.heard = e.clock.Load()
}

func (e *Endpoint) serveClose(b []byte, from route) {
	conn, c, reason, err := parseEnd(b, typeClose)
	if err != nil {
		e.countInvalid(err)
		return
	}
	e.mu.Lock()
	p := e.byConn[conn]
	if p != nil && !e.believed(p, c, text(reason)) {
		e.mu.Unlock()
		return
	}
	if p != nil {
		e.endPeer(p, c, text(reason))
	}
	e.mu.Unlock()
	e.reply(appendGone(e.note[:0], conn), from) // the client need not repeat its message
}

func (e *Endpoint) serveGone(b []byte) {
	conn, err := parseGone(b)
	if err != nil {
		e.countInvalid(err)
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.farewellConfirmed(conn)
}

func (e *Endpoint) serveHello(b []byte, from route) {
	h, err := parseHello(b)
	if err != nil {
		e.countInvalid(err)
		return
	}
	now := e.seconds()
	first := h.cookie == cookie{}
	proved := !first && e.mint.valid(now, &h.cookie, h.nonce, from.AddrPort)
	e.mu.Lock()
	e.counters.Hellos++
	if !first && !proved {
		e.counters.BadCookie++
	}
	e.mu.Unlock()
	if !proved {
		c := e.mint.cookie(now, h.nonce, from.AddrPort)
		e.reply(appendCookie(e.note[:0], h.nonce, &c), from)
		return
	}
	if !e.limits.allowAsk(e.clock.Load(), from.AddrPort) {
		e.limited()
		return
	}
	e.out.sendDatagram(e.admit(&h, from), from)
}

// admit decides on a client that has proved its address, and returns the reply.
func (e *Endpoint) admit(h *hello, from route) []byte {
	e.mu.Lock()
	answer := e.again(h, from)
	if answer == nil {
		answer = e.crowded(h, e.cfg.Same == transport.ReplaceOld && e.named.Len() > 0)
	}
	e.mu.Unlock()
	if answer != nil {
		return answer
	}
	var identity []byte
	if e.cfg.Accept != nil {
		id, err, panicked := e.accept.Ask(from.AddrPort, h.token)
		if err != nil {
			e.mu.Lock()
			if panicked {
				e.counters.AcceptPanics++
			}
			e.counters.Refused++
			e.refusals.Add(err)
			e.mu.Unlock()
			return e.refusal(h.nonce, err)
		}
		identity = append(identity, id...)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if answer = e.identify(h, identity); answer != nil {
		return answer
	}
	p := &peer{nonce: h.nonce, identity: identity, heard: e.clock.Load(), sent: e.clock.Load()}
	p.moveTo(from)
	for p.conn == 0 || e.byConn[p.conn] != nil {
		var r [8]byte
		rand.Read(r[:])
		p.conn = binary.BigEndian.Uint64(r[:])
	}
	p.id = e.peers.Add(p)
	e.byConn[p.conn], e.byNonce[p.nonce] = p, p
	e.named.Add(identity, p)
	p.q = e.in.Add(p.id, true)
	e.counters.Connections++
	return appendPair(e.note[:0], typeAccept, p.nonce, p.conn)
}

// again repeats the reply to a hello that was replied to before. It returns nil for a new hello.
func (e *Endpoint) again(h *hello, from route) []byte {
	if p := e.byNonce[h.nonce]; p != nil {
		if !e.known(p, from) {
			e.migrate(p, from)
		}
		return appendPair(e.note[:0], typeAccept, p.nonce, p.conn)
	}
	if g := e.graves.byNonce[h.nonce]; g != nil {
		return appendEnd(e.note[:0], typeRefuse, h.nonce, g.code, g.reason)
	}
	return nil
}

// crowded returns a refusal if there is no room, and nil otherwise. A client that may replace another
// peer needs no free place.
func (e *Endpoint) crowded(h *hello, replaces bool) []byte {
	if e.closed {
		return appendEnd(e.note[:0], typeRefuse, h.nonce, transport.Closed, "")
	}
	// Ended peers whose event the caller has not read also count, since they use memory.
	if (replaces || e.peers.Len() < e.cfg.MaxPeers) && e.in.Open() < 2*e.cfg.MaxPeers {
		return nil
	}
	e.counters.Full++
	return appendEnd(e.note[:0], typeRefuse, h.nonce, transport.Full, "")
}

func (e *Endpoint) refusal(nonce uint64, err error) []byte {
	var refusal *transport.DisconnectError
	if errors.As(err, &refusal) {
		return appendEnd(e.note[:0], typeRefuse, nonce, refusal.Code, refusal.Reason)
	}
	return appendEnd(e.note[:0], typeRefuse, nonce, transport.Refused, err.Error())
}
