package rollback

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/settled"
)

// simulation runs the whole world of a match: the settled ticks, and ahead of them ticks that it predicts. A
// settled tick with other inputs than predicted makes it roll back.
//
// A settled tick goes through these steps, in this order:
//
//  1. If it ran with other inputs, the world returns to the tick before it.
//  2. Its inputs become the newest that are known, from which those of later ticks are guessed.
//  3. It runs, unless it ran with its inputs before.
//  4. Its events are confirmed, and it is summed where a sum is due. Nothing can change it any more.
//
// The tick before a settled one is settled, so its save is the oldest that a rollback needs. A slot is used again
// only for ticks that come more than the window later.
type simulation struct {
	p       *compiled
	world   *ecs.World
	frame   foretick.Frame
	frames  *frameState
	history *ecs.History

	inputs inputs
	roster roster
	events events
	sums   worldSums

	apart bool   // apart is true for a playback, which needs no saves.
	shows bool   // shows is true for a playback whose handlers for screens run.
	quiet bool   // quiet is true for a tick that ran long ago: what happened in it is not shown any more.
	mark  func() // mark, when set, is called in a tick before and after its handlers of OnServer.

	// window is how many ticks may run ahead of the settled ones.
	window  foretick.Tick
	settled foretick.Tick // settled is the newest tick that nothing can change any more.
	newest  foretick.Tick // newest is the tick of the world.
	ran     foretick.Tick // ran is the newest tick that ever ran.
	counts  simulationCounts
}

// simulationCounts counts what a simulation did.
type simulationCounts struct {
	ticks     uint64 // ticks counts the runs of ticks, those that ran again too.
	again     uint64 // again counts the runs of ticks that had run before.
	rollbacks uint64
	deepest   uint64 // deepest is the most ticks that a rollback undid.
}

// newSimulation makes the simulation of a match with an empty world.
func newSimulation(p *compiled, tags []string, window int) *simulation {
	m := &simulation{p: p, window: foretick.Tick(window)}
	m.world = ecs.NewWorld(p.Types, ecs.WorldConfig{Tags: append([]string{foretick.TagRender, foretick.TagClient}, tags...)})
	m.history = ecs.Engine(m.world).NewExactHistory(window + 1)
	m.frame = foretick.Frame{World: m.world, DT: 1 / float32(p.TickRate)}
	m.frames = game.NewState(m.world, p.TickRate, p.NewQueues())
	running := bindFrame(&m.frame, m.frames)
	m.inputs = newInputs(p, m.world, window+1)
	m.roster = roster{p: p, world: m.world}
	m.events = newEvents(p, m.frames)
	m.sums = worldSums{rate: uint8(p.TickRate)}
	m.frames.Attach(&frameEnd{p: p, world: m.world, running: running, frames: m.frames, sim: m})
	ecs.Engine(m.world).WatchOutside(true)
	return m
}

// start makes the next settled tick first, with the world as it is.
func (m *simulation) start(first foretick.Tick) {
	m.settled, m.newest, m.ran = first-1, first-1, first-1
	m.frame.Tick = first - 1
	m.inputs.forget()
	m.events.clear()
	m.sums.waiting = m.sums.waiting[:0]
	m.save()
}

// startFrom replaces the world by the bytes of the world at the end of a settled tick. most is the most entities
// that they may have room for.
func (m *simulation) startFrom(world []byte, t foretick.Tick, most int) error {
	m.events.cancel(&m.frame)
	if err := ecs.Engine(m.world).ReadWorld(world, most); err != nil {
		return err
	}
	m.start(t + 1)
	return nil
}

// settle takes the next settled tick. What a rollback undoes runs again in advance.
func (m *simulation) settle(s *settled.Tick) {
	if int32(m.newest-s.Tick) >= 0 && !m.inputs.ranAs(s) {
		m.rollBack()
	}
	m.inputs.know(s)
	if m.newest == m.settled {
		m.runTick(s.Tick, s)
	}
	m.settled = s.Tick
	m.events.settle(&m.frame, m.settled)
	if !m.apart && m.sums.due(m.settled) {
		m.takeSum()
	}
}

// rollBack returns to the end of the newest settled tick.
func (m *simulation) rollBack() {
	m.counts.rollbacks++
	m.counts.deepest = max(m.counts.deepest, uint64(m.newest-m.settled))
	m.history.Restore(m.slotOf(m.settled))
	m.events.restore(m.slotOf(m.settled), m.settled)
	m.newest, m.frame.Tick = m.settled, m.settled
}

// advance predicts the ticks up to t, but no more than the window allows, and at least those that ran before a
// rollback.
func (m *simulation) advance(t foretick.Tick) {
	if int32(m.ran-t) > 0 {
		t = m.ran
	}
	if int32(t-m.settled) > int32(m.window) {
		t = m.settled + m.window
	}
	for int32(t-m.newest) > 0 {
		m.runTick(m.newest+1, nil)
	}
}

// runTick computes the tick after the world's. s is nil for a tick that is not settled.
func (m *simulation) runTick(t foretick.Tick, s *settled.Tick) {
	f := &m.frame
	f.Tick, f.Replay = t, int32(m.ran-t) >= 0
	ecs.Engine(m.world).WatchOutside(false)
	m.events.begin(t)
	if s != nil {
		m.roster.change(f, s.Changes)
	}
	m.inputs.fill(f, s)
	m.p.Schedule.Execute(m.world, f)
	if m.mark != nil {
		m.mark()
	}
	m.events.drain(f)
	if m.mark != nil {
		m.mark()
	}
	m.events.end(f)
	ecs.Engine(m.world).WatchOutside(true)
	m.newest = t
	m.save()
	m.counts.ticks++
	if f.Replay {
		m.counts.again++
	} else {
		m.ran = t
	}
	f.Replay = false
}

func (m *simulation) slotOf(t foretick.Tick) int { return int(t % (m.window + 1)) }

// save keeps the world for a rollback, and to find what code outside of systems writes.
func (m *simulation) save() {
	if m.apart {
		return
	}
	slot := m.slotOf(m.newest)
	m.history.Save(slot)
	m.events.save(slot)
}

// bytes returns the world as bytes.
func (m *simulation) bytes() []byte {
	b, _ := ecs.Engine(m.world).AppendWorld(nil) // New refuses worlds that cannot be written
	return b
}

// takeSum computes the sum of the newest settled tick. The world may be ahead of it, and is brought back.
func (m *simulation) takeSum() {
	ahead := m.newest != m.settled
	if ahead {
		m.history.Restore(m.slotOf(m.settled))
	}
	m.sums.take(m.world, m.settled)
	if ahead {
		m.history.Restore(m.slotOf(m.newest))
	}
}
