package rollbacktest

import (
	"time"

	"github.com/foretick/foretick/rollback"
	"github.com/foretick/foretick/transport/sim"
)

// makeFaults gives every kind of fault its own timer.
func (m *match) makeFaults() {
	p := &m.plan
	peers := time.Duration(p.Players + p.Observers)
	m.every(p.Change/peers, func(s *seat) {
		s.link = m.anyLink()
		m.net.SetLink(s.end, s.link, s.link)
	})
	m.every(p.Stay/peers, m.leave)
	m.every(p.Hides, m.hide)
	m.every(p.Drops, m.drop)
}

// every calls what with a random seat, repeatedly until faults end, at random intervals with this mean.
func (m *match) every(mean time.Duration, what func(s *seat)) {
	if mean <= 0 {
		return
	}
	var again func()
	wait := func() { m.later(mean/2+time.Duration(m.rand.Int64N(int64(mean)+1)), again) }
	again = func() {
		if len(m.seats) > 0 {
			what(m.seats[m.rand.IntN(len(m.seats))])
		}
		wait()
	}
	wait()
}

// later calls what once, after a time. What was to come after the end of faults is left out.
func (m *match) later(after time.Duration, what func()) {
	round := m.round
	m.net.At(m.net.Now()+after, func() {
		if m.round == round && m.fault == nil {
			what()
		}
	})
}

func (m *match) anyLink() sim.Link { return m.plan.Links[m.rand.IntN(len(m.plan.Links))] }

// leave lets a peer leave, and another one take its place.
func (m *match) leave(s *seat) {
	others := 0
	for _, o := range m.seats {
		if o != s && !o.observes && o.plays() {
			others++
		}
	}
	if !s.observes && others == 0 {
		return // nobody would have the match's world
	}
	_ = s.peer.Close() // its error would say that the connection was lost before
	m.remove(s)
	m.out.Leaves++
	m.later(m.plan.Absence, func() { m.join(s.observes) })
}

// hide freezes a peer's process for a time.
func (m *match) hide(s *seat) {
	if s.hidden || s.peer.View().State == rollback.Connecting { // who is silent before it is let in is not held a place
		return
	}
	s.hidden = true
	m.out.Hides++
	m.later(time.Duration(m.rand.Int64N(int64(m.plan.Hidden)+1)), func() { s.hidden = false })
}

// drop ends a peer's connection without notice.
func (m *match) drop(s *seat) {
	if s.plays() {
		m.net.Kill(s.end)
		s.needs = s.peer.Stats().Connections + 1
		m.out.Drops++
	}
}

// calm is the link of all peers once faults have ended.
var calm = sim.Link{Latency: 30 * time.Millisecond}

// endFaults ends all faults, and brings back the peers that are away.
func (m *match) endFaults() {
	m.round++
	m.plan.Links = []sim.Link{calm}
	for _, s := range m.seats {
		s.hidden, s.link = false, calm
		m.net.SetLink(s.end, calm, calm)
	}
	for n := m.count(false); n < m.plan.Players; n++ {
		m.join(false)
	}
	for n := m.count(true); n < m.plan.Observers; n++ {
		m.join(true)
	}
}
