package rollbacktest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/rollback"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// seat is a peer in a match.
type seat struct {
	m        *match
	of       Player
	cfg      rollback.Config
	peer     *rollback.Peer
	end      *sim.Endpoint
	link     sim.Link
	observes bool
	hidden   bool // hidden is true while the peer's process is frozen.
	gone     bool
	joined   bool             // joined is true once the peer has come to play or to watch.
	needs    uint64           // needs is how many connections the peer must have had, after those that were lost.
	desync   *rollback.Desync // desync is what the peer was told of worlds that differ, with the cause if that is known.
}

// join lets a peer join the match.
func (m *match) join(observes bool) {
	s := &seat{m: m, of: m.plan.New(m.rand.Uint64()), observes: observes, link: m.anyLink()}
	if s.of.Protocol == nil {
		m.fail("Plan.New returned no Protocol")
		return
	}
	s.cfg = rollback.Config{Protocol: s.of.Protocol, Redial: s.dial, Observe: observes}
	s.cfg.Transport, _ = s.dial()
	if !observes {
		s.cfg.Sample = s.of.Sample
	} else {
		s.cfg.Behind = m.rand.IntN(2) * s.of.Protocol.TickRate()
	}
	if m.plan.Peer != nil {
		m.plan.Peer(&s.cfg)
	}
	theirs := s.cfg.OnDesync
	s.cfg.OnDesync = func(d rollback.Desync) {
		if s.desync == nil || s.desync.Cause == nil {
			s.desync = &d
		}
		if theirs != nil {
			theirs(d)
		}
	}
	var err error
	if s.peer, err = rollback.New(s.cfg); err != nil {
		m.fail("%w", err)
		return
	}
	m.seats = append(m.seats, s)
	interval := time.Second / time.Duration(m.plan.FrameRate)
	m.repeat(time.Duration(m.rand.Int64N(int64(interval))), interval, s.step)
}

// dial connects the seat with the relay.
func (s *seat) dial() (transport.Endpoint, error) {
	s.end = s.m.net.Dial(s.m.listen, s.link, s.link)
	return s.end, nil
}

// step renders a frame. It returns false once the peer is gone.
func (s *seat) step() bool {
	m := s.m
	if s.gone || s.hidden {
		return !s.gone
	}
	v := s.peer.Step(epoch.Add(m.net.Now()))
	if s.of.Draw != nil {
		s.of.Draw(v)
	}
	if v.State == rollback.Playing && !s.joined {
		s.joined = true
		m.out.countJoin(s.observes)
	}
	if v.State != rollback.Closed {
		return true
	}
	m.remove(s)
	var end *transport.DisconnectError
	if errors.As(v.Err, &end) && end.Code == transport.Full { // the place of one that left is held for a time
		m.later(m.plan.Absence, func() { m.join(s.observes) })
	} else {
		m.fail("%v ended: %w", s, v.Err)
	}
	return false
}

// player returns the seat's player. It is nobody for a spectator.
func (s *seat) player() foretick.PlayerID { return s.peer.View().Player }

// plays reports whether the peer is in the match.
func (s *seat) plays() bool { return s.peer.View().State == rollback.Playing }

// back reports whether the peer is in the match and in time.
func (s *seat) back() bool {
	late := int32(s.m.relay.Stats().Tick - s.peer.View().Settled)
	return s.plays() && s.peer.Stats().Connections >= s.needs && late <= int32(2*s.of.Protocol.TickRate()+s.cfg.Behind)
}

// String returns a name for errors.
func (s *seat) String() string {
	switch {
	case s.observes:
		return "a spectator"
	case s.player() == ecs.Nobody:
		return "a player that joins"
	}
	return fmt.Sprintf("player %d", s.player())
}

// remove removes a seat whose peer is gone.
func (m *match) remove(s *seat) {
	s.gone = true
	m.out.addPeer(s)
	m.seats = slices.DeleteFunc(m.seats, func(x *seat) bool { return x == s })
}

// count returns how many players or spectators there are.
func (m *match) count(observe bool) (n int) {
	for _, s := range m.seats {
		if s.observes == observe {
			n++
		}
	}
	return n
}

// allBack reports whether all peers are in the match and in time.
func (m *match) allBack() bool { return m.missing() == "" }

// missing names a peer that is not in the match, or not in time. It returns "" if there is none.
func (m *match) missing() string {
	for _, s := range m.seats {
		if !s.back() {
			v := s.peer.View()
			return fmt.Sprintf("%v is %v, with tick %d settled, and not back in the match", s, v.State, v.Settled)
		}
	}
	if players, observers := m.count(false), m.count(true); players < m.plan.Players || observers < m.plan.Observers {
		return fmt.Sprintf("only %d of %d players and %d of %d spectators are back in the match", players, m.plan.Players, observers, m.plan.Observers)
	}
	return ""
}
