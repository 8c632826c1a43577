package rollbacktest

import (
	"bytes"
	"errors"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/settled"
	"github.com/foretick/foretick/rollback"
)

// replays are the replays of a match's peers.
type replays struct {
	worlds map[foretick.Tick]uint64 // worlds has the sum of each tick's world.
	of     map[foretick.Tick]*seat  // of has whose replay worlds was made from.
	used   activity
	bytes  []byte
}

// replay plays the match of each peer again, and compares the worlds of each tick.
func (m *match) replay() {
	r := replays{worlds: map[foretick.Tick]uint64{}, of: map[foretick.Tick]*seat{}}
	s := m.relay.Stats()
	r.used.others = int(s.Joined + s.Left)
	for _, s := range m.seats {
		if m.replaySeat(s, &r); m.fault != nil {
			return
		}
	}
	m.out.Unset, m.out.Unmatched = unused(r.used.command), unused(r.used.systems)
	if why := r.used.still(); why != "" && !m.plan.Idle {
		m.fail("nothing happened: %s. Set Plan.Idle if the match is meant to stand still", why)
	}
}

func (m *match) replaySeat(s *seat, r *replays) {
	var file bytes.Buffer
	if err := s.peer.WriteReplay(&file); err != nil {
		m.fail("the replay of %v: %w", s, err)
		return
	}
	m.out.ReplayBytes = max(m.out.ReplayBytes, file.Len())
	p := m.plan.New(m.rand.Uint64())
	play, err := rollback.NewReplay(rollback.ReplayConfig{Protocol: p.Protocol, From: &file, Tags: s.cfg.Tags, MaxWorld: s.cfg.MaxWorld})
	if err != nil {
		m.fail("the replay of %v: %w", s, err)
		return
	}
	r.used.begin(p.Protocol, s.cfg.Tags)
	for {
		more, err := play.Step()
		var d *rollback.Divergence
		switch {
		case errors.As(err, &d):
			m.fail("the replay of %v has another world than the match, since a tick after %d and up to %d: a system, OnJoin, OnLeave or a handler of OnServer uses what is not in the world, such as a field of the game struct. foretick-vet shows which: %w", s, d.Agreed, d.Tick, err)
		case err != nil:
			m.fail("the replay of %v: %w", s, err)
		case more:
			m.compare(s, play, r)
			r.used.look(play.World())
		}
		if !more || m.fault != nil {
			return
		}
	}
}

// compare compares the world of a replay with those of other peers' replays in the same tick.
func (m *match) compare(s *seat, play *rollback.Replay, r *replays) {
	var err error
	if r.bytes, err = ecs.Engine(play.World()).AppendWorld(r.bytes[:0]); err != nil {
		m.fail("the world of tick %d cannot be written: %w", play.Tick(), err)
		return
	}
	sum, t := settled.SumOf(r.bytes), play.Tick()
	was, known := r.worlds[t]
	switch {
	case !known:
		r.worlds[t], r.of[t] = sum, s
	case was != sum:
		m.fail("the replays of %v and %v have other worlds in tick %d: a system uses what is not in the world, or a value that a late player does not receive", r.of[t], s, t)
	default:
		m.out.Replayed++
	}
}
