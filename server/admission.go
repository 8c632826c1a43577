package server

import (
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport"
)

// admission decides which peers may send a hello: it has the bans, and limits the connections of each
// address.
type admission struct {
	endpoint transport.Endpoint
	sessions *sessions
	clock    *matchClock
	logs     *peerLog
	stats    *stats.Counters
	figures  *stats.Server
	library  *netcode.SchemaLibrary
	// conn is the config of new connections, except for their MTU.
	conn netcode.Config
	// mostWaiting is Config.MaxWaitingPerAddress.
	mostWaiting int

	bans map[string]ban
	// banSweep is when expired bans are removed next.
	banSweep time.Duration
	// barred has the bans that are passed to the transport at the end of the tick.
	barred []barred
	visits visits
	// waiting counts connections that do not play yet, by origin.
	waiting map[string]int
}

// ban keeps an identity out of the match.
type ban struct {
	until  time.Time // zero: forever
	reason string
}

func (b ban) over(now time.Time) bool { return !b.until.IsZero() && !now.Before(b.until) }

// banSweep is the time between two removals of expired bans.
const banSweep = time.Minute

// barred is a ban that is passed to the transport later: first the banned players get their last
// packet.
type barred struct {
	identity []byte
	until    time.Time
	reason   string
}

// ban bans an identity, and passes the ban to the transport at the end of the tick.
func (a *admission) ban(identity []byte, until time.Time, reason string) {
	if a.bans == nil {
		a.bans = map[string]ban{}
	}
	a.bans[string(identity)] = ban{until, reason}
	a.barred = append(a.barred, barred{slices.Clone(identity), until, reason})
}

// unban removes the ban of an identity.
func (a *admission) unban(identity []byte) {
	delete(a.bans, string(identity))
	if list, ok := transport.As[transport.BanList](a.endpoint); ok {
		list.Unban(identity)
	}
}

// tellBans passes new bans to the transport, except those that were lifted since.
func (a *admission) tellBans() {
	list, ok := transport.As[transport.BanList](a.endpoint)
	for _, b := range a.barred {
		if ok && a.bans[string(b.identity)] == (ban{b.until, b.reason}) {
			list.Ban(b.identity, b.until, b.reason)
		}
	}
	clear(a.barred)
	a.barred = a.barred[:0]
}

// admitPeer lets a peer that has connected send a hello, or refuses it. over is true if the match has
// reached its last tick.
func (a *admission) admitPeer(t time.Duration, peer transport.PeerID, over bool) {
	var info transport.Info
	if !a.endpoint.Info(peer, &info) {
		info = transport.Info{}
	}
	origin := originOf(info.Addr)
	text, banned := a.banned(info.Identity, a.clock.start.Add(t))
	switch {
	case over:
		a.countRefused(stats.RefusedDraining)
		a.endpoint.Disconnect(peer, transport.Closed, ended)
		return
	case banned:
		a.turnAway(peer, transport.Refused, &info, stats.RefusedBanned, "refused: banned", text)
		return
	case a.visits.now(origin, t) < 1:
		a.turnAway(peer, transport.Full, &info, stats.RefusedTooOften, "refused: comes and goes too often", "comes and goes too often; try again in a few seconds")
		return
	case !a.mayWait(origin, a.mostWaiting):
		a.turnAway(peer, transport.Full, &info, stats.RefusedWaiting, "refused: too many from one address do not play", "too many connections from this address do not play yet; try again in a few seconds")
		return
	}
	conn := a.conn
	conn.MTU = max(info.MTU, 0)
	p := &player{session: session{peer: peer, address: info.Addr, origin: origin, came: t, since: t, conn: netcode.NewConn(conn), identity: slices.Clone(info.Identity)}}
	p.schemas.answers.Library = a.library
	a.await(&p.session)
	p.outbox.sent = netcode.NewSequenceBuffer[sentPacket](sentWindow)
	a.sessions.add(p)
}

// turnAway refuses a peer before it is a player. The code Refused is permanent. Full is temporary: a
// client that lost its connection tries again.
func (a *admission) turnAway(peer transport.PeerID, code transport.Code, info *transport.Info, why stats.Refusal, kind, text string) {
	a.countRefused(why)
	a.logs.refusal(kind, peer, info.Addr, info.Identity)
	a.endpoint.Disconnect(peer, code, text)
}

// countRefused counts a peer that is refused.
func (a *admission) countRefused(why stats.Refusal) {
	a.stats.Refused++
	a.figures.Refusals.Count(why, 1)
}

// banned reports whether an identity is banned, and returns the ban's text.
func (a *admission) banned(identity []byte, now time.Time) (text string, banned bool) {
	if len(identity) == 0 {
		return "", false
	}
	b, banned := a.bans[string(identity)]
	if banned && b.over(now) {
		delete(a.bans, string(identity))
		banned = false
	}
	return b.reason, banned
}

// sweep removes expired bans, so that those of identities that never return do not add up. It also
// removes addresses that have their whole allowance again.
func (a *admission) sweep(start time.Time, t time.Duration) {
	a.visits.forget(t)
	if t < a.banSweep || len(a.bans) == 0 {
		return
	}
	a.banSweep = t + banSweep
	now := start.Add(t)
	maps.DeleteFunc(a.bans, func(_ string, b ban) bool { return b.over(now) })
}

// Limits for how often connections of one address may begin and end.
const (
	brief     = 10 * time.Second // a connection that ends sooner is charged to its address
	briefMost = 32               // how many of them an address may have at once
	briefRate = 2                // how many of them an address may have a second, permanently
	maxVisits = 4096             // how many addresses are remembered
)

// visits limits how often the connections of one address begin and end. Many connections at the same
// time may be a family or a school, but many that end soon are not.
type visits struct {
	by    map[string]visit
	swept time.Duration
}

// visit is the allowance of an address.
type visit struct {
	left float64 // how many brief connections the address might have at time at
	at   time.Duration
}

// now returns how many brief connections an address may have now.
func (v *visits) now(addr string, t time.Duration) float64 {
	e, known := v.by[addr]
	if !known {
		return briefMost
	}
	return min(briefMost, e.left+briefRate*(t-e.at).Seconds())
}

// charge takes a brief connection from its address's allowance.
func (v *visits) charge(addr string, t time.Duration) {
	if addr == "" {
		return
	}
	left := v.now(addr, t) - 1
	if v.by == nil {
		v.by = map[string]visit{}
	}
	if len(v.by) >= maxVisits {
		clear(v.by) // this bounds the memory
	}
	v.by[addr] = visit{max(left, -1), t}
}

// forget removes the addresses that have their whole allowance again. It does so once a second.
func (v *visits) forget(t time.Duration) {
	if len(v.by) == 0 || t-v.swept < time.Second {
		return
	}
	v.swept = t
	for addr := range v.by {
		if v.now(addr, t) >= briefMost {
			delete(v.by, addr)
		}
	}
}

// mayWait reports whether an origin may have one more connection that does not play yet. A negative
// most is no limit.
func (a *admission) mayWait(origin string, most int) bool {
	return most < 0 || origin == "" || a.waiting[origin] < most
}

// await counts a connection that does not play yet.
func (a *admission) await(c *session) {
	if c.origin != "" {
		c.pending = true
		a.waiting[c.origin]++
	}
}

// settle ends the count of a connection that now plays, or is gone.
func (a *admission) settle(c *session) {
	if !c.pending {
		return
	}
	c.pending = false
	if a.waiting[c.origin]--; a.waiting[c.origin] <= 0 {
		delete(a.waiting, c.origin)
	}
}

// provenAfter is for how long a connection must play until it no longer counts as one that does not
// play yet.
const provenAfter = 2 * time.Second

// charge charges a connection that ends to its address, if it was brief.
func (a *admission) charge(now time.Duration, c *session) {
	if now-c.came < brief {
		a.visits.charge(c.origin, now)
	}
}

// originOf returns the address that limits use: an address without its port, and for IPv6 the /64,
// because one subscriber has all of it.
func originOf(addr string) string {
	at, err := netip.ParseAddrPort(addr)
	if err != nil {
		return addr // a transport may have another form of addresses
	}
	ip := at.Addr().Unmap().WithZone("")
	if ip.Is6() {
		net, err := ip.Prefix(64)
		if err == nil {
			return net.String()
		}
	}
	return ip.String()
}
