package udp

import (
	"hash/maphash"
	"math"
	"math/rand/v2"
	"net/netip"
)

// limits bounds what a server does for addresses that have no connection: for all of them together, and for each. It
// belongs to the goroutine that reads.
type limits struct {
	seed    maphash.Seed
	perAddr uint32 // a tick
	all     meter
	replies [meters]meter // by address, to those who proved nothing
	asks    [meters]meter // of the accept hook, by those who proved their address: nobody else's flood uses them up
}

const meters = 1 << 12 // addresses that share one by chance share its limit

// newLimits takes what an address may in a second. Negative is no limit.
func newLimits(perSecond int) *limits {
	l := &limits{seed: maphash.MakeSeed(), perAddr: math.MaxUint32}
	if perSecond >= 0 {
		l.perAddr = uint32(max(1, perSecond/ticksASecond))
	}
	return l
}

// reply reports whether to answer an address that has proved nothing.
func (l *limits) reply(now uint32, to netip.AddrPort) bool {
	return l.replies[l.slot(to)].allow(now, l.perAddr) && l.all.allow(now, replyLimit)
}

// ask reports whether to look at who has proved its address.
func (l *limits) ask(now uint32, from netip.AddrPort) bool {
	return l.asks[l.slot(from)].allow(now, l.perAddr)
}

// slot is the meter of what one client can easily have many addresses of.
func (l *limits) slot(a netip.AddrPort) uint64 {
	ip := a.Addr().As16()
	b := ip[:8] // IPv6: a /64
	if a.Addr().Is4() || a.Addr().Is4In6() {
		b = ip[12:]
	}
	return maphash.Bytes(l.seed, b) % meters
}

// meter lets a number pass each tick. When more came in the tick before, it chooses by chance: the first of each tick
// would always be the same, as clients repeat themselves once a tick too.
type meter struct{ tick, came, before, passed uint32 }

func (m *meter) allow(now, limit uint32) bool {
	if m.tick != now {
		m.before = 0
		if now-m.tick == 1 {
			m.before = m.came
		}
		m.tick, m.came, m.passed = now, 0, 0
	}
	m.came++
	if m.before > limit && rand.Uint32N(m.before) >= limit || m.passed >= limit {
		return false
	}
	m.passed++
	return true
}
