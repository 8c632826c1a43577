package foretick

import (
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
)

// admission decides which peers may join.
type admission struct {
	bans     map[string]ban
	banSweep time.Duration // bans that are over are looked for from then on
	barred   []barred      // bans that the transport is told at the end of the tick
	visits   visits
	waiting  map[string]int // connections that do not play yet, by origin
}

// ban keeps an identity out.
type ban struct {
	until  time.Time // zero: forever
	detail string
}

func (b ban) over(now time.Time) bool { return !b.until.IsZero() && !now.Before(b.until) }

// banSweep is the time between two looks for bans that are over.
const banSweep = time.Minute

// barred is a ban that will be passed to the transport, after the banned players got their
// last packet.
type barred struct {
	identity []byte
	until    time.Time
	detail   string
}

// ban keeps an identity out, and passes the ban to the transport at the end of the tick.
func (a *admission) ban(identity []byte, until time.Time, detail string) {
	if a.bans == nil {
		a.bans = map[string]ban{}
	}
	a.bans[string(identity)] = ban{until, detail}
	a.barred = append(a.barred, barred{slices.Clone(identity), until, detail})
}

// unban lets an identity in again.
func (a *admission) unban(identity []byte, e transport.Endpoint) {
	delete(a.bans, string(identity))
	if list, ok := transport.As[transport.BanList](e); ok {
		list.Unban(identity)
	}
}

// tellBans passes new bans to a transport, except those lifted since.
func (a *admission) tellBans(e transport.Endpoint) {
	list, ok := transport.As[transport.BanList](e)
	for _, b := range a.barred {
		if ok && a.bans[string(b.identity)] == (ban{b.until, b.detail}) {
			list.Ban(b.identity, b.until, b.detail)
		}
	}
	clear(a.barred)
	a.barred = a.barred[:0]
}

// banned reports whether an identity is banned, and the ban's text.
func (a *admission) banned(identity []byte, now time.Time) (text string, banned bool) {
	if len(identity) == 0 {
		return "", false
	}
	b, banned := a.bans[string(identity)]
	if banned && b.over(now) {
		delete(a.bans, string(identity))
		banned = false
	}
	return b.detail, banned
}

// sweep forgets expired bans, so that bans of identities that never return do not pile up.
// It also forgets addresses that behaved for a while.
func (a *admission) sweep(start time.Time, t time.Duration) {
	a.visits.forget(t)
	if t < a.banSweep || len(a.bans) == 0 {
		return
	}
	a.banSweep = t + banSweep
	now := start.Add(t)
	maps.DeleteFunc(a.bans, func(_ string, b ban) bool { return b.over(now) })
}

// Limits of how often connections of one address may come and go.
const (
	brief     = 10 * time.Second // a connection that ends before is charged to its address
	briefMost = 32               // of them at once
	briefRate = 2                // and a second, on end
	maxVisits = 4096             // addresses remembered
)

// visits limits how often the connections of one address come and go. Many connections at
// once may be a family or a school. Many that end quickly are not.
type visits struct {
	by    map[string]visit
	swept time.Duration
}

type visit struct {
	left float64
	at   time.Duration
}

// now is what an address may still spend.
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
		clear(v.by) // memory is bounded whatever comes
	}
	v.by[addr] = visit{max(left, -1), t}
}

// forget drops the addresses that have their whole allowance again, once a second.
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

// mayWait reports whether an origin may have one more connection that does not play;
// a negative most is no limit.
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

// settle ends the count: the connection plays, or is gone.
func (a *admission) settle(c *session) {
	if !c.pending {
		return
	}
	c.pending = false
	if a.waiting[c.origin]--; a.waiting[c.origin] <= 0 {
		delete(a.waiting, c.origin)
	}
}

// settledAfter is the play time after which a connection no longer counts among those of
// its address that do not play yet.
const settledAfter = 2 * time.Second

// charge charges a connection that ends to its address, if it was short.
func (a *admission) charge(now time.Duration, c *session) {
	if now-c.came < brief {
		a.visits.charge(c.origin, now)
	}
}

// originOf returns what limits go by: an address without its port, and of an IPv6
// address the /64, because one subscriber has all of it.
func originOf(addr string) string {
	at, err := netip.ParseAddrPort(addr)
	if err != nil {
		return addr // the transport's own form
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

// otherBuilds tells a peer of another build that it may ask for the schema and then send a
// Hello for it.
func (s *Server) otherBuilds(t time.Duration, p *player, h netcode.Hello) {
	if !p.schemas.otherBuilds {
		s.logs.Logger.Info("another build", append(p.who(), "theirs", h.Protocol, "ours", s.p.Hash)...)
	}
	p.schemas.otherBuilds = true
	pk := p.session.conn.Begin(t)
	p.fates(s.clock.now)
	pk.Message(netcode.MessageReject, netcode.Reject{Code: rejectBuildDifference, Protocol: s.p.Hash, Text: "another build of the game: ask for the schema"}.Append(nil))
	s.finish(p, pk)
}
