package server

import (
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/seat"
	"github.com/foretick/foretick/schema"
)

// previewServer is what a preview uses of its server.
type previewServer interface {
	Step(now time.Time)
	Close(reason string) error
}

// previewMatch is what a preview's player uses of the server.
type previewMatch struct {
	server   previewServer
	sim      *simulation
	clock    *matchClock
	run      *progress
	levels   *playedLevel
	sessions *sessions
	seats    *seats
	views    *shotViews
	entities *frameEntities
	turnover *turnover
}

// CheckPreview is for package preview, which calls it without a server. It checks a configuration and
// fills in its defaults.
func (*internals) CheckPreview(cfg *Config) error { return cfg.check() }

// NewPreview is for package preview, which calls it without a server. It makes the server of a preview
// from a configuration that was checked.
func (*internals) NewPreview(cfg Config) (*Server, seat.Match, error) {
	s, err := newServer(cfg)
	if err != nil {
		return nil, nil, err
	}
	s.run.inner = true
	return s, &previewMatch{s, &s.sim, &s.clock, &s.run, &s.level, &s.sessions, &s.seats, &s.views, &s.entities, &s.turnover}, nil
}

func (m *previewMatch) Join(owner foretick.PlayerID, at *seat.Player) { m.seats.joinLocal(owner, at) }

func (m *previewMatch) Show(s seat.Screen) { m.sim.screen = s }

func (m *previewMatch) Step(epoch time.Time, t foretick.Tick) {
	m.run.stepping = true
	defer func() { m.run.stepping = false }()
	m.server.Step(epoch.Add(m.clock.due(t)))
}

func (m *previewMatch) Due(t foretick.Tick) time.Duration { return m.clock.due(t) }

func (m *previewMatch) Interval() time.Duration { return m.clock.interval }

func (m *previewMatch) Close() error { return m.server.Close("") }

func (m *previewMatch) Tick() foretick.Tick { return m.sim.frame.Tick }

func (m *previewMatch) Ended() bool { return m.sim.ended() }

func (m *previewMatch) Closed() bool { return m.run.closed }

func (m *previewMatch) Level() seat.Level {
	l := m.levels
	return seat.Level{Epoch: l.epoch, Named: l.named, Tick: l.tick, Data: l.data}
}

func (m *previewMatch) Edit(fn func(f *foretick.ServerFrame)) {
	fn(forServer(&m.sim.frame))
	m.sim.roundTick(true)
}

func (m *previewMatch) Leave() {
	m.run.changing = true
	m.turnover.changePlayers()
	m.run.changing = false
	m.sim.roundTick(true)
}

func (m *previewMatch) Sits(owner foretick.PlayerID, at *seat.Player) bool {
	p := m.sessions.player(owner)
	return p != nil && p.local == at
}

func (m *previewMatch) Request(owner foretick.PlayerID, kind uint8, packed []byte) {
	m.sessions.player(owner).requests.add(kind, packed)
}

func (m *previewMatch) Sight(owner foretick.PlayerID, shown foretick.Tick, fraction float32) game.Sight {
	p := m.sessions.player(owner)
	if p == nil {
		return game.Sight{Bare: len(m.sim.p.Hitboxes) == 0}
	}
	t := m.sim.frame.Tick
	return m.views.sightOf(p.shooter.ViewBehind(t+1, float32(t+1-shown)-fraction))
}

func (m *previewMatch) SharedRuns() bool { return m.sim.writes.sharedRuns() }

func (m *previewMatch) PrefabOf(e ecs.Entity) *ecs.Prefab { return m.entities.PrefabOf(e) }

func (m *previewMatch) Final() foretick.Tick { return m.entities.Final() }

func (m *previewMatch) World() *ecs.World { return m.sim.world }

func (m *previewMatch) Queues() []game.EventQueue[*foretick.Frame] { return m.sim.frames.Queues }

func (m *previewMatch) Row() *game.SingletonRow { return &m.sim.row }

func (m *previewMatch) Parents() *game.Hierarchy { return &m.sim.parents }

func (m *previewMatch) Refs() schema.Refs { return referenceMap{m.sim} }
