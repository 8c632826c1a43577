package rollbacktest

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"math/rand/v2"
	"time"

	"github.com/foretick/foretick/relay"
	"github.com/foretick/foretick/transport/sim"
)

// epoch is the wall-clock time at which every match starts.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

const (
	relayStep = 3 * time.Millisecond   // relayStep is the time from one Step of the relay to the next.
	slice     = 100 * time.Millisecond // slice is the time from one look at the match to the next.
	history   = 12 * time.Second       // history is longer than the silence after which a player leaves.
	// patience is how long peers may take to come back after the last fault: a place is held for 10 s, and a peer dials
	// for up to 30 s.
	patience = 45 * time.Second
	// settling is how long the match goes on after that, so that the newest ticks are compared.
	settling = 3 * time.Second
	// searching is how long the match goes on until a cause is found.
	searching = 10 * time.Second
)

// match is a relay, its peers and the network between them.
type match struct {
	plan   Plan
	net    *sim.Network
	rand   *rand.Rand
	listen *sim.Endpoint
	relay  *relay.Relay
	seats  []*seat
	trace  hash.Hash
	round  int // round is 1 once no more faults are made. What was planned before is then left out.
	out    Outcome
	fault  *Fault
}

func newMatch(p Plan, seed uint64) (*match, error) {
	m := &match{plan: p, net: sim.NewNetwork(seed), rand: rand.New(rand.NewPCG(seed, 0x9E3779B97F4A7C15)), trace: sha256.New()}
	m.out.Seed = seed
	var head [16]byte
	m.net.Trace(func(now time.Duration, from, to int, b []byte) {
		binary.LittleEndian.PutUint64(head[:], uint64(now))
		binary.LittleEndian.PutUint32(head[8:], uint32(from)<<16|uint32(to)&0xFFFF)
		binary.LittleEndian.PutUint32(head[12:], uint32(len(b)))
		m.trace.Write(head[:])
		m.trace.Write(b)
	})
	m.listen = m.net.Listen()
	var chance [32]byte
	binary.LittleEndian.PutUint64(chance[:], m.rand.Uint64())
	cfg := relay.Config{Transport: m.listen, Players: p.Players, MaxObservers: 16 + 2*p.Observers, History: history, Rand: rand.NewChaCha8(chance)}
	if p.Relay != nil {
		p.Relay(&cfg)
	}
	var err error
	if m.relay, err = relay.New(cfg); err != nil {
		return nil, err
	}
	m.repeat(0, relayStep, func() bool {
		m.relay.Step(epoch.Add(m.net.Now()))
		return true
	})
	return m, nil
}

// repeat calls what at a time from now, and then at an interval for as long as it returns true.
func (m *match) repeat(first, interval time.Duration, what func() bool) {
	next := m.net.Now() + first
	var again func()
	again = func() {
		if what() {
			next += interval
			m.net.At(next, again)
		}
	}
	m.net.At(next, again)
}

// play plays the match, with faults and then without. It leaves what is wrong in m.fault.
func (m *match) play() {
	for i := range m.plan.Players + m.plan.Observers {
		observes := i >= m.plan.Players
		m.later(time.Duration(i)*time.Duration(m.rand.Int64N(int64(time.Second/2))), func() { m.join(observes) })
	}
	m.makeFaults()
	m.run(m.plan.Play, func() bool { return false })
	m.endFaults()
	m.run(patience, m.allBack)
	m.run(settling, func() bool { return false })
	switch {
	case m.fault != nil:
	case m.differs():
		m.explain()
	case !m.allBack():
		m.fail("%s %v after the last fault", m.missing(), m.net.Now()-m.plan.Play)
	case m.plan.Players > 1 && m.relay.Stats().Compared == 0:
		m.fail("nothing was compared: players compare their worlds once a second, so give the match a longer Plan.Play")
	}
}

// run runs the match for a time, until a fault, until worlds differ, or until enough returns true.
func (m *match) run(d time.Duration, enough func() bool) {
	for end := m.net.Now() + d; m.net.Now() < end && m.fault == nil && !m.differs() && !enough(); {
		m.net.Run(min(end, m.net.Now()+slice))
	}
}

// differs reports whether worlds differed.
func (m *match) differs() bool { return m.relay.Stats().Differed > 0 }

// explain waits until a player knows why the worlds differ, and ends the match with that.
func (m *match) explain() {
	m.endFaults()
	told := func() *seat {
		for _, s := range m.seats {
			if s.desync != nil && s.desync.Cause != nil {
				return s
			}
		}
		return nil
	}
	for end := m.net.Now() + searching; m.net.Now() < end && told() == nil; {
		m.net.Run(m.net.Now() + slice)
	}
	s := told()
	for _, other := range m.seats {
		if s == nil && other.desync != nil {
			s = other
		}
	}
	m.fault = nil // a peer that ends meanwhile ends because of the difference
	if s == nil {
		m.fail("%w: at least two players sent other sums, and were not told why", errDiffer)
		return
	}
	m.differ(s.player(), *s.desync)
}

var errDiffer = errors.New("the worlds of two players differ")
