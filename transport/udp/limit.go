package udp

import (
	"hash/maphash"
	"math"
	"math/rand/v2"
	"net/netip"
)

// limits bounds the work for addresses without a connection: in total, and per address. Only the reading goroutine
// uses it.
type limits struct {
	seed    maphash.Seed
	perAddr uint32        // datagrams a tick for each address
	all     meter         // replies to all clients without proof
	replies [meters]meter // replies to clients without proof, by address
	// asks counts calls of the accept hook by address. Only clients with a proved address use it, so
	// the flood of another client does not use it up.
	asks [meters]meter
}

const meters = 1 << 12 // addresses that share a meter by chance share its limit

// newLimits takes the limit for each address a second. Negative means no limit.
func newLimits(perSecond int) *limits {
	l := &limits{seed: maphash.MakeSeed(), perAddr: math.MaxUint32}
	if perSecond >= 0 {
		l.perAddr = uint32(max(1, perSecond/ticksASecond))
	}
	return l
}

// reply reports whether to reply to an address that has proved nothing.
func (l *limits) reply(now uint32, to netip.AddrPort) bool {
	return l.replies[l.meterOf(to)].allow(now, l.perAddr) && l.all.allow(now, replyLimit)
}

// allowAsk reports whether to process a client that has proved its address.
func (l *limits) allowAsk(now uint32, from netip.AddrPort) bool {
	return l.asks[l.meterOf(from)].allow(now, l.perAddr)
}

// meterOf returns the meter of the address range that one client easily controls.
func (l *limits) meterOf(a netip.AddrPort) uint64 {
	ip := a.Addr().As16()
	b := ip[:8] // IPv6: the /64
	if a.Addr().Is4() || a.Addr().Is4In6() {
		b = ip[12:]
	}
	return maphash.Bytes(l.seed, b) % meters
}

// meter lets a number of calls pass each tick. If more came in the tick before, it chooses among them
// at random: the first calls of each tick would always be those of the same clients, which also repeat
// once a tick.
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
